/* Rule 5: a slot that is in no object.
 * found by: AL_CHECK
 * says: is no slot of an object of this heap
 */
#include "wrong.h"

int main(void) {
  begin();
  al_slot local = {0};
  al_store(mu, &local, AL_NULL); /* HERE */
  return 0;
}
