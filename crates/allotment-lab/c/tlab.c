/* The loops of the experiment `tlab` in C: `pairs` pairs of objects of SIZE bytes, each of which goes
 * to the sink. They return the number of objects: fewer than asked for if there is no room. */
#include "lab.h"

typedef struct object {
  uint64_t header;
  uint64_t fields[SIZE / 8 - 1];
} object;

/* Writes all fields one by one, which compilers turn into wide stores. gcc turns a memset into
 * narrower stores, or into a call. */
static inline __attribute__((always_inline)) void initialise(object *made) {
  _Pragma("GCC unroll 64") for (size_t i = 0; i < SIZE / 8 - 1; i++) made->fields[i] = 0;
}

/* Objects whose fields the program writes. */
LAB_EXPORT size_t lab_tlab(al_mutator *mu, uint64_t header, size_t pairs) {
  const al_shape shape = {header, sizeof(object), 0};
  size_t allocated = 0;
  for (; pairs > 0; pairs--) {
    object *one = al_alloc_raw(mu, shape);
    if (!one) break;
    initialise(one);
    keep(one);
    object *other = al_alloc_raw(mu, shape);
    if (!other) break;
    initialise(other);
    keep(other);
    allocated += 2;
  }
  return allocated;
}

/* Objects whose fields are zero ahead. */
LAB_EXPORT size_t lab_tlab_zeroed(al_mutator *mu, uint64_t header, size_t pairs) {
  const al_shape shape = {header, sizeof(object), 0};
  size_t allocated = 0;
  for (; pairs > 0; pairs--) {
    object *one = al_alloc(mu, shape);
    if (!one) break;
    keep(one);
    object *other = al_alloc(mu, shape);
    if (!other) break;
    keep(other);
    allocated += 2;
  }
  return allocated;
}
