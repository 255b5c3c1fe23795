/* AL_SPAN: an allocation where nothing may move.
 * found by: AL_CHECK
 * says: within AL_SPAN
 */
#include "wrong.h"

static void new_pair_in_span(void) {
  al_alloc(mu, PAIR); /* HERE */
}

int main(void) {
  begin();
  AL_SPAN;
  new_pair_in_span();
  return 0;
}
