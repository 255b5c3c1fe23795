/* A frame is put on the list a second time: the list has no end any more.
 * found by: AL_CHECK
 * says: is on the thread's list of frames already
 */
#include "wrong.h"

int main(void) {
  begin();
  al_value value = AL_NULL;
  al_frame frame;
  al_link(mu, &frame, &value, 1);
  al_link(mu, &frame, &value, 1); /* HERE */
  al_unlink(&frame);
  end();
  return 0;
}
