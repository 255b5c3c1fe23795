/* Rule 8: a blocked thread reads a slot.
 * found by: AL_CHECK
 * says: the thread is blocked and uses a slot
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  pair *fresh = new_pair();
  L.kept = al_ref(fresh);
  al_block_enter(mu);
  al_load(mu, &fresh->car); /* HERE */
  return 0;
}
