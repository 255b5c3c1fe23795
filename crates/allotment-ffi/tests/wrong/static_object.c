/* Rule 5: a reference to a static object.
 * found by: AL_CHECK
 * says: is no address of an object of this heap
 */
#include "wrong.h"

static pair nil;

int main(void) {
  begin();
  AL_LOCALS(mu, L, nil);
  L.nil = al_ref(&nil); /* HERE */
  return 0;
}
