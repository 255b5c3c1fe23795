/* An array is allocated as an object without a length.
 * found by: AL_CHECK
 * says: have a tail: al_alloc_array
 */
#include "wrong.h"

int main(void) {
  begin();
  al_alloc(mu, ARRAY); /* HERE */
  return 0;
}
