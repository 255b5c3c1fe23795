/* Rule 5: a reference to the inside of an object.
 * found by: AL_CHECK
 * says: there is no object at
 */
#include "wrong.h"

int main(void) {
  begin();
  pair *fresh = new_pair();
  al_store(mu, &fresh->car, al_ref(&fresh->cdr)); /* HERE */
  return 0;
}
