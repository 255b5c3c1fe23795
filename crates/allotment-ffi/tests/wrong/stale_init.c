/* Rule 2: an old word goes into a new object.
 * found by: AL_CHECK
 * says: al_init uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  al_value old = al_ref(new_pair());
  pair *fresh = new_pair();
  al_init(&fresh->car, old); /* HERE */
  return 0;
}
