/* Rule 2: an old word goes into a frame.
 * found by: AL_CHECK
 * says: al_collect uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  al_value old = al_ref(new_pair());
  new_pair();
  L.kept = old;
  al_collect(mu); /* HERE */
  return 0;
}
