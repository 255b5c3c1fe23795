/* Rule 8: a blocked thread makes variables of the heap.
 * found by: AL_CHECK
 * says: the thread is blocked and changes its list of frames
 */
#include "wrong.h"

int main(void) {
  begin();
  al_block_enter(mu);
  AL_LOCALS(mu, L, kept); /* HERE */
  al_block_leave(mu);
  L.kept = al_ref(new_pair());
  return 0;
}
