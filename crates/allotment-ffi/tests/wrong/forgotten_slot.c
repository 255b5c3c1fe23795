/* Rule 5: the shape does not say that cdr is a slot.
 * found by: zeal Collector=parallel,ZealInterval=1,+ZealMove,+ZealProtect,ZealQuarantine=2
 * says: fault
 */
#include "wrong.h"

int main(void) {
  begin();
  al_slot_desc car[] = {AL_SLOT(pair, car, AL_STRONG)};
  al_shape_desc desc = {.size = sizeof desc, .name = "Half", .fixed = sizeof(pair), .slots = car, .slot_count = 1};
  al_shape half;
  if (al_shape_register(heap, &desc, &half, NULL)) return 3;
  AL_LOCALS(mu, L, kept, other);
  L.other = al_ref(new_pair());
  pair *broken = (pair *)al_alloc(mu, half);
  al_store(mu, &broken->cdr, L.other);
  L.kept = al_ref(broken);
  new_pair();
  ((pair *)al_addr(al_load(mu, &((pair *)al_addr(L.kept))->cdr)))->id = 1;
  return 0;
}
