/* A shape was never registered.
 * found by: AL_CHECK
 * says: not registered with this heap
 */
#include "wrong.h"

int main(void) {
  begin();
  al_shape none = {0, 24, 0};
  al_alloc(mu, none); /* HERE */
  return 0;
}
