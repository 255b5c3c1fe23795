/* Rule 6: a plain field is described as a slot.
 * found by: compiler
 * says: error
 */
#include "wrong.h"

int main(void) {
  begin();
  al_slot_desc slots[] = {AL_SLOT(pair, id, AL_STRONG)}; /* HERE */
  return (int)slots[0].offset;
  return 0;
}
