/* Rule 3: the place of a result is computed before the call that moves it.
 * found by: zeal Collector=parallel,ZealInterval=1,+ZealMove,+ZealProtect,ZealQuarantine=2
 * says: fault
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, list);
  pair *last = new_pair();
  L.list = al_ref(last);
  al_slot *tail = &last->cdr;
  pair *fresh = new_pair();
  al_store(mu, tail, al_ref(fresh));
  return 0;
}
