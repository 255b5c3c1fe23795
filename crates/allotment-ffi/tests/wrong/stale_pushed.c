/* Rule 2: a word lies in memory that is no frame.
 * found by: AL_CHECK
 * says: al_addr uses a reference from before
 */
#include "wrong.h"

int main(void) {
  begin();
  al_value stack[2];
  stack[0] = al_ref(new_pair());
  stack[1] = al_ref(new_pair());
  ((pair *)al_addr(stack[0]))->id = 1; /* HERE */
  return 0;
}
