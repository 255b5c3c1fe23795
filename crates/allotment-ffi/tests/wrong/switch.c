/* AL_LOCALS under a `case` without braces: a jump past it leaves a frame that was never linked.
 * found by: compiler
 * says: switch
 */
#include "wrong.h"

int main(int count, char **arguments) {
  begin();
  (void)arguments;
  switch (count) {
    case 1:;
      AL_LOCALS(mu, L, kept);
      L.kept = al_ref(new_pair());
      break;
    default: /* HERE */
      al_collect(mu);
  }
  return 0;
}
