/* Rule 3: two calls that allocate in one statement.
 * found by: AL_CHECK
 * says: al_store uses a reference from before
 */
#include "wrong.h"

static void pair_of(al_value car, al_value cdr) {
  pair *fresh = new_pair();
  al_store(mu, &fresh->car, car); /* HERE */
  al_store(mu, &fresh->cdr, cdr);
}

int main(void) {
  begin();
  pair_of(al_ref(new_pair()), al_ref(new_pair()));
  return 0;
}
