/* Rule 2: a loaded word is used after a poll in its loop.
 * found by: AL_CHECK
 * says: al_addr uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, list);
  for (int i = 0; i < 3; i++) {
    pair *fresh = new_pair();
    al_init(&fresh->cdr, L.list);
    L.list = al_ref(fresh);
  }
  for (al_value at = L.list; !al_is_null(at);) {
    al_poll(mu);
    at = al_load(mu, &((pair *)al_addr(at))->cdr); /* HERE */
  }
  return 0;
}
