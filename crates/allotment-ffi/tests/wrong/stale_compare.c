/* Rule 7: an old word is compared with a new one.
 * found by: AL_CHECK
 * says: al_same uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  L.kept = al_ref(new_pair());
  al_value old = L.kept;
  al_collect(mu);
  return al_same(old, L.kept); /* HERE */
  return 0;
}
