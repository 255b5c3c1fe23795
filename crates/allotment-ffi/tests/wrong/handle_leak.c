/* A handle is never freed.
 * found by: AL_CHECK
 * says: this handle was not freed
 */
#include "wrong.h"

int main(void) {
  begin();
  al_handle *handle = al_handle_new(mu, al_ref(new_pair())); /* HERE */
  if (!handle) return 3;
  end();
  return 0;
}
