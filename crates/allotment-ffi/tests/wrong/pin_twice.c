/* A pin is freed twice.
 * found by: AL_CHECK
 * says: was freed at
 */
#include "wrong.h"

int main(void) {
  begin();
  al_pin *pin = al_pin_new(mu, new_pair());
  al_pin_free(pin);
  al_pin_free(pin); /* HERE */
  return 0;
}
