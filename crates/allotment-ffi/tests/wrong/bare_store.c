/* Rule 6: a slot is written without al_store.
 * found by: compiler
 * says: error
 */
#include "wrong.h"

int main(void) {
  begin();
  pair *fresh = new_pair();
  fresh->car = al_ref(fresh); /* HERE */
  return 0;
}
