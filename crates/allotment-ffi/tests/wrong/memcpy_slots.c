/* Rule 6: slots of an old object are written by memcpy.
 * found by: zeal Collector=parallel,+VerifyBeforeGC
 * says: without the barrier
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, old, fresh);
  L.old = al_ref(al_alloc_array(mu, ARRAY, 4));
  for (int i = 0; i < 20; i++) al_collect(mu);
  array *other = (array *)al_alloc_array(mu, ARRAY, 4);
  L.fresh = al_ref(other);
  pair *young = new_pair();
  array *from = (array *)al_addr(L.fresh);
  al_store(mu, &from->at[0], al_ref(young));
  memcpy(((array *)al_addr(L.old))->at, from->at, 4 * sizeof(al_slot));
  for (int i = 0; i < 1000000; i++) new_pair();
  return 0;
}
