/* Rule 2: an old word goes into a handle.
 * found by: AL_CHECK
 * says: al_handle_new uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  al_value old = al_ref(new_pair());
  al_poll(mu);
  al_handle_free(al_handle_new(mu, old)); /* HERE */
  return 0;
}
