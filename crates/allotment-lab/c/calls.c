/* The functions of liballotment that the inlines of allotment.h call.
 *
 * The library is the lab itself. A jump through a table leads to each of its functions, as through
 * the table that the linker makes for calls into liballotment.so. Refused: exporting the functions
 * from the lab's executable. Whether that works depends on the linker and on LTO. */
#include "lab.h"

typedef struct lab_calls {
  __typeof__(&al_alloc_slow) alloc_slow;
  __typeof__(&al_alloc_raw_slow) alloc_raw_slow;
  __typeof__(&al_unlink_slow) unlink_slow;
} lab_calls;

static lab_calls calls;

/* Called once, before all other functions. */
LAB_EXPORT void lab_connect(const lab_calls *functions) { calls = *functions; }

void *al_alloc_slow(al_mutator *mu, uint64_t header, size_t bytes) {
  return calls.alloc_slow(mu, header, bytes);
}
void *al_alloc_raw_slow(al_mutator *mu, uint64_t header, size_t bytes) {
  return calls.alloc_raw_slow(mu, header, bytes);
}
void al_unlink_slow(al_mutator *mu, al_frame *frame) { calls.unlink_slow(mu, frame); }
