/* A program in two files: this one links a frame, and calls the other file. */
#include <allotment.h>
#include <stdio.h>

void collect(al_mutator *mu);

int main(void) {
  al_heap *heap;
  al_mutator *mu;
  if (al_heap_new(NULL, &heap, NULL) || al_attach(heap, &mu, NULL)) return 3;
  {
    AL_LOCALS(mu, L, one, other, third);
    L.one = al_immediate(5);
    collect(mu);
    if (al_number(L.one) != 5) return 1;
  }
  al_detach(mu);
  puts("kept");
  return al_heap_free(heap, NULL) != AL_OK;
}
