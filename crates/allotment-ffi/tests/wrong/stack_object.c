/* Rule 5: a reference to an object on the stack.
 * found by: AL_CHECK
 * says: is no address of an object of this heap
 */
#include "wrong.h"

int main(void) {
  begin();
  pair local = {0, {0}, {0}, 0};
  pair *fresh = new_pair();
  al_store(mu, &fresh->car, al_ref(&local)); /* HERE */
  return 0;
}
