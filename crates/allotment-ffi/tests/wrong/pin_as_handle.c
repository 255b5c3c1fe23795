/* A pin is freed as a handle.
 * found by: AL_CHECK
 * says: is used as a handle
 */
#include "wrong.h"

int main(void) {
  begin();
  al_pin *pin = al_pin_new(mu, new_pair());
  al_handle_free((al_handle *)pin); /* HERE */
  return 0;
}
