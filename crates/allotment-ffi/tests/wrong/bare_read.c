/* Rule 6: a slot is read without al_load.
 * found by: compiler
 * says: error
 */
#include "wrong.h"

int main(void) {
  begin();
  pair *fresh = new_pair();
  al_value value = fresh->car; /* HERE */
  return al_is_null(value);
  return 0;
}
