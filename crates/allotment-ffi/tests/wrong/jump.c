/* Rule 9: longjmp leaves a frame on the list.
 * found by: line
 * says: frames are still linked
 */
#include "wrong.h"

#include <setjmp.h>

static jmp_buf back;
static void jumps(void) {
  AL_LOCALS(mu, L, kept);
  L.kept = al_ref(new_pair());
  longjmp(back, 1);
}

int main(void) {
  begin();
  if (!setjmp(back)) jumps();
  end();
  return 0;
}
