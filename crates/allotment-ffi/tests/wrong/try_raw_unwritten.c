/* Rule 4: a raw object has a slot that was not written.
 * found by: AL_CHECK ALLOTMENT_OPTIONS=+VerifyBeforeGC
 * says: slot `cdr`
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  pair *fresh = (pair *)al_try_alloc_raw(mu, PAIR);
  if (!fresh) return 3;
  al_init(&fresh->car, AL_NULL);
  L.kept = al_ref(fresh);
  al_collect(mu);
  return 0;
}
