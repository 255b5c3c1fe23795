/* Rule 8: a blocked thread collects.
 * found by: line
 * says: the calling thread is blocked
 */
#include "wrong.h"

int main(void) {
  begin();
  al_block_enter(mu);
  al_collect(mu);
  return 0;
}
