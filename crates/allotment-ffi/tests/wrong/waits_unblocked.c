/* Rule 8: a thread waits and is not blocked, so a collection waits for it.
 * found by: line SafepointTimeoutDelay=100
 * says: it should call al_poll, or wait between al_block_enter and al_block_leave
 */
#include "wrong.h"

#include <pthread.h>
#include <unistd.h>

static void *collects(void *unused) {
  al_mutator *own;
  if (al_attach(heap, &own, NULL)) exit(3);
  al_collect(own);
  al_detach(own);
  return unused;
}

int main(void) {
  begin();
  pthread_t other;
  pthread_create(&other, NULL, collects, NULL);
  usleep(1000000);
  al_block_enter(mu);
  pthread_join(other, NULL);
  al_block_leave(mu);
  end();
  return 0;
}
