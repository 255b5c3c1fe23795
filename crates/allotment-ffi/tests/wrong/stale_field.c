/* Rule 2: the address of a field is used after an allocation.
 * found by: zeal Collector=parallel,ZealInterval=1,+ZealMove,+ZealProtect,ZealQuarantine=2
 * says: fault
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  pair *first = new_pair();
  L.kept = al_ref(first);
  al_slot *slot = &first->car;
  new_pair();
  al_store(mu, slot, L.kept);
  return 0;
}
