/* A thread ends while it is attached.
 * found by: line
 * says: ended while it was attached
 */
#include "wrong.h"

#include <pthread.h>

static void *leaves(void *unused) {
  al_mutator *own;
  if (al_attach(heap, &own, NULL)) exit(3);
  return unused;
}

int main(void) {
  begin();
  al_block_enter(mu);
  pthread_t other;
  pthread_create(&other, NULL, leaves, NULL);
  pthread_join(other, NULL);
  al_block_leave(mu);
  end();
  return 0;
}
