/* Rule 2: a variable is used after an allocation.
 * found by: AL_CHECK
 * says: al_addr uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  al_value old = al_ref(new_pair());
  new_pair();
  ((pair *)al_addr(old))->id = 1; /* HERE */
  return 0;
}
