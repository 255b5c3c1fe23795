/* Rule 2: a reference from before the thread was detached.
 * found by: AL_CHECK
 * says: al_store uses a reference from before an [S] call
 */
#include "wrong.h"

int main(void) {
  begin();
  al_handle *handle = al_handle_new(mu, al_ref(new_pair()));
  al_value old = al_handle_get(mu, handle);
  al_detach(mu);
  if (al_attach(heap, &mu, NULL)) return 3;
  al_slot *slot = &((pair *)al_addr(al_handle_get(mu, handle)))->car;
  al_store(mu, slot, old); /* HERE */
  return 0;
}
