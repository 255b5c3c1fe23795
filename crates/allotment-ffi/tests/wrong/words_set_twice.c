/* Each word is a root once: a frame that grows into another one.
 * found by: AL_CHECK
 * says: words of this frame are roots already
 */
#include "wrong.h"

int main(void) {
  static al_value stack[8];
  begin();
  AL_WORDS(mu, low, stack, 4);
  AL_WORDS(mu, high, stack + 4, 4);
  al_words_set(&low, stack, 5); /* HERE */
  al_collect(mu);
  return 0;
}
