/* A copy whose length is wrong: as bytes it overflows.
 * found by: AL_CHECK
 * says: is no slot of an object of this heap
 */
#include "wrong.h"

int main(void) {
  begin();
  array *object = (array *)al_alloc_array(mu, ARRAY, 10);
  volatile size_t count = SIZE_MAX / 8 + 2; /* no compiler sees it */
  al_copy(mu, &object->at[0], &object->at[1], count); /* HERE */
  end();
  return 0;
}
