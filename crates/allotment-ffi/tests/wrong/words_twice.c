/* Each word is a root once: a recursive interpreter that links its stack in each call.
 * found by: AL_CHECK
 * says: words of this frame are roots already
 */
#include "wrong.h"

static al_value stack[8];
static size_t count;

static void eval(int depth) {
  AL_WORDS(mu, S, stack, count); /* HERE */
  if (depth == 0) {
    al_collect(mu);
    return;
  }
  stack[count++] = al_ref(new_pair());
  al_words_set(&S, stack, count);
  eval(depth - 1);
}

int main(void) {
  begin();
  eval(2);
  end();
  return 0;
}
