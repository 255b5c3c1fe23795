/* Rule 5: a reference to memory of malloc.
 * found by: AL_CHECK
 * says: is no address of an object of this heap
 */
#include "wrong.h"

int main(void) {
  begin();
  pair *fresh = new_pair();
  void *other = malloc(sizeof(pair));
  al_store(mu, &fresh->car, al_ref(other)); /* HERE */
  free(other);
  return 0;
}
