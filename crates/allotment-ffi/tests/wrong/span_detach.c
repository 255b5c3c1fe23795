/* AL_SPAN: the thread detaches where nothing may move.
 * found by: AL_CHECK
 * says: al_detach may reach a safepoint within AL_SPAN
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_SPAN;
  al_detach(mu); /* HERE */
  return 0;
}
