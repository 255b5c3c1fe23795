/* A trace function shows the header as a slot.
 * found by: line
 * says: the trace function of the shape `Traced` shows
 */
#include "wrong.h"

static void trace(void *object, al_tracer *tracer, void *data) {
  pair *own = (pair *)object;
  (void)data;
  al_trace(tracer, (al_slot *)(void *)&own->header);
}

int main(void) {
  begin();
  al_shape shape;
  al_shape_desc desc = {.size = sizeof desc, .name = "Traced", .fixed = sizeof(pair)};
  desc.trace = trace;
  desc.trace_lasts = true;
  if (al_shape_register(heap, &desc, &shape, NULL)) return 3;
  AL_LOCALS(mu, L, kept);
  L.kept = al_ref(al_alloc(mu, shape));
  pair *fresh = new_pair();
  al_store(mu, &((pair *)al_addr(L.kept))->car, al_ref(fresh));
  for (int i = 0; i < 100; i++) al_collect(mu);
  return 0;
}
