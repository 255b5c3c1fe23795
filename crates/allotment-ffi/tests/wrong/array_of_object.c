/* An object without a tail is allocated as an array.
 * found by: AL_CHECK
 * says: have no tail: al_alloc
 */
#include "wrong.h"

int main(void) {
  begin();
  al_alloc_array(mu, PAIR, 3); /* HERE */
  return 0;
}
