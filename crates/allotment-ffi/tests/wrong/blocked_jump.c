/* Rule 9: longjmp leaves a blocked stretch.
 * found by: AL_CHECK
 * says: the thread is blocked and changes its list of frames
 */
#include "wrong.h"

#include <setjmp.h>

static jmp_buf back;
static void waits(void) {
  al_block_enter(mu);
  longjmp(back, 1);
}

int main(void) {
  begin();
  al_frame_mark mark = al_frames(mu);
  if (!setjmp(back)) waits();
  al_frames_reset(mu, mark); /* HERE */
  end();
  return 0;
}
