/* A trace function shows a slot twice: a collection updates the slot twice.
 * found by: line ALLOTMENT_OPTIONS=Collector=mark-compact,+VerifyAfterGC
 * says: the heap is broken after a collection: `Traced`
 */
#include "wrong.h"

static void trace(void *object, al_tracer *tracer, void *data) {
  pair *own = (pair *)object;
  (void)data;
  al_trace(tracer, &own->car);
  al_trace(tracer, &own->car);
}

int main(void) {
  begin();
  al_shape shape;
  al_shape_desc desc = {.size = sizeof desc, .name = "Traced", .fixed = sizeof(pair)};
  desc.trace = trace;
  desc.trace_lasts = true;
  if (al_shape_register(heap, &desc, &shape, NULL)) return 3;
  AL_LOCALS(mu, L, all);
  L.all = al_ref(al_alloc_array(mu, ARRAY, 1000));
  for (size_t i = 0; i < 1000; i++) {
    al_alloc_array(mu, BYTES, 1000 + i % 7 * 8); /* garbage: what is after it moves */
    pair *fresh = (pair *)al_alloc(mu, shape);
    array *all = (array *)al_addr(L.all);
    al_init(&fresh->car, i ? al_load(mu, &all->at[i - 1]) : AL_NULL);
    al_store(mu, &all->at[i], al_ref(fresh));
  }
  al_collect(mu);
  return 0;
}
