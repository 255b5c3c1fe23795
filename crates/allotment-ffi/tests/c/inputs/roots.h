/* Handles, pins, providers. Included by inputs.c. */

static void visits_nothing(al_visitor *visitor, void *data) { (void)visitor, (void)data; }
static void handle_of_another_heap(void) {
  attached();
  al_handle *handle = al_handle_new(mu, AL_NULL);
  al_detach(mu);
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  demand(al_heap_new(&options, &heap, &error));
  demand(al_attach(heap, &mu, &error));
  al_handle_get(mu, handle);
}
static void handle_set_of_another_heap(void) {
  attached();
  al_handle *handle = al_handle_new(mu, AL_NULL);
  al_detach(mu);
  begin("MaxHeapSize=16m");
  demand(al_attach(heap, &mu, &error));
  al_handle_set(mu, handle, al_ref(al_alloc(mu, CELL)));
}
static void provider_of_another_heap(void) {
  begin("MaxHeapSize=16m");
  al_heap *first = heap;
  begin("MaxHeapSize=16m");
  al_provider *provider;
  demand(al_provider_add(first, visits_nothing, NULL, &provider, &error));
  al_provider_remove(heap, provider);
}
static void handle_null(void) {
  attached();
  al_handle_get(mu, NULL);
}
static void pin_null(void) {
  attached();
  al_pin_new(mu, NULL);
}
static void provider_null(void) {
  begin("MaxHeapSize=16m");
  al_provider *provider;
  say(al_provider_add(heap, NULL, NULL, &provider, &error));
}
static void allocates(al_visitor *visitor, void *data) {
  (void)visitor, (void)data;
  al_alloc_slow(mu, CELL.header, CELL.fixed);
}
static void provider_allocates(void) {
  attached();
  al_provider *provider;
  demand(al_provider_add(heap, allocates, NULL, &provider, &error));
  al_collect(mu);
}
