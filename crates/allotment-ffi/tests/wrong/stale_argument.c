/* Rule 2: an argument is used after a call that allocates.
 * found by: AL_CHECK
 * says: al_store uses a reference from before
 */
#include "wrong.h"

static void prepend(al_value list) {
  pair *fresh = new_pair();
  al_store(mu, &fresh->cdr, list); /* HERE */
}

int main(void) {
  begin();
  AL_LOCALS(mu, L, list);
  L.list = al_ref(new_pair());
  prepend(L.list);
  return 0;
}
