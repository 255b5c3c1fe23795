/* Lengths, and a heap that is full. Included by inputs.c. */

static void array_length(size_t length) {
  attached();
  if (al_alloc_array(mu, BYTES, length)) exit(6);
  say(al_alloc_error(mu, &error));
}
static void length_max(void) { array_length(SIZE_MAX); }
static void length_2_43(void) { array_length((size_t)1 << 43); }
static void length_0(void) {
  attached();
  void *array = al_alloc_array(mu, BYTES, 0);
  if (!array || al_length(array) != 0 || al_size(mu, array) != 16) exit(6);
  say(al_alloc_error(mu, &error));
}
static void length_of_each_allocation(void) {
  attached();
  al_shape slots;
  al_shape_desc desc = {.size = sizeof desc, .name = "Slots", .fixed = 24, .tail = AL_TAIL_SLOTS};
  demand(al_shape_register(heap, &desc, &slots, &error));
  static const size_t lengths[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 8, SIZE_MAX / 8 - 2, (size_t)1 << 61,
                                   ((size_t)1 << 43) + 1, (size_t)1 << 43, ((size_t)1 << 43) - 1,
                                   (size_t)1 << 32};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    al_shape shape = i % 2 ? slots : BYTES;
    if (al_try_alloc_array(mu, shape, lengths[i]) || al_try_alloc_array_raw(mu, shape, lengths[i])) exit(6);
    if (al_alloc_array(mu, shape, lengths[i]) || al_alloc_error(mu, &error) != AL_E_MEMORY) exit(7);
    if (al_alloc_array_raw(mu, shape, lengths[i]) || al_alloc_error(mu, &error) != AL_E_MEMORY) exit(8);
  }
  if (al_length(al_alloc_array_raw(mu, slots, 0)) || al_length(al_try_alloc_array(mu, slots, 0))) exit(9);
  say(al_alloc_error(mu, &error));
}
static void room_max(void) {
  attached();
  say(al_room(mu, SIZE_MAX, &error));
}
static void array_without_tail(void) {
  attached();
  al_alloc_array_slow(mu, &CELL, 3);
}
static void fill_heap(void) {
  AL_LOCALS(mu, L, list);
  for (;;) {
    cell *fresh = al_alloc(mu, CELL);
    if (!fresh) break;
    al_init(&fresh->next, L.list);
    L.list = al_ref(fresh);
  }
  say(al_alloc_error(mu, &error));
  printf("bytes %zu of %zu\n", error.bytes, error.heap_bytes);
}
static void heap_full(void) {
  attached();
  fill_heap();
}
static void each_metric(void *data, const al_metric *metric) { (void)data, (void)metric; }
static int asked;
static al_handle *cache;
static bool free_cache(void *data, const al_error *why) {
  al_metrics(heap, each_metric, NULL);
  al_heap_uncommit(heap);
  if (data != &asked || why->code != AL_E_MEMORY || !*why->text) exit(7);
  asked++;
  bool had = cache != NULL;
  al_handle_free(cache);
  cache = NULL;
  return had;
}
static void heap_full_with_hook(void) {
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  options.on_heap_limit = free_cache;
  options.data = &asked;
  demand(al_heap_new(&options, &heap, &error));
  al_shape_desc desc = cell_desc();
  demand(al_shape_register(heap, &desc, &CELL, &error));
  demand(al_attach(heap, &mu, &error));
  cache = al_handle_new(mu, al_ref(al_alloc(mu, CELL)));
  fill_heap();
  printf("asked %d\n", asked);
}
