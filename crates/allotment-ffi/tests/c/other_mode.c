/* The other file of `one_mode.c`. */
#include <allotment.h>

void collect(al_mutator *mu);
void collect(al_mutator *mu) {
  AL_LOCALS(mu, L, own);
  L.own = al_immediate(1);
  al_collect(mu);
}
