/* Rule 2: a pointer into an array of bytes is used after an allocation.
 * found by: zeal Collector=parallel,ZealInterval=1,+ZealMove,+ZealProtect,ZealQuarantine=2
 * says: fault
 */
#include "wrong.h"

int main(void) {
  begin();
  AL_LOCALS(mu, L, kept);
  bytes *name = (bytes *)al_alloc_array(mu, BYTES, 100);
  L.kept = al_ref(name);
  char *text = name->text;
  new_pair();
  strcpy(text, "name");
  return 0;
}
