/* A handle is used after it was freed.
 * found by: AL_CHECK
 * says: was freed at
 */
#include "wrong.h"

int main(void) {
  begin();
  al_handle *handle = al_handle_new(mu, al_ref(new_pair()));
  al_handle_free(handle);
  return al_is_null(al_handle_get(mu, handle)); /* HERE */
  return 0;
}
