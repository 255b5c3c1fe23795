/* Callbacks, and what they may call. Included by inputs.c. */

static void provider_does(al_provider_function *does) {
  attached();
  al_provider *provider;
  demand(al_provider_add(heap, does, al_handle_new(mu, AL_NULL), &provider, &error));
  al_collect(mu);
}
static void frees_handle(al_visitor *visitor, void *data) {
  (void)visitor;
  al_handle_free(data);
}
static void provider_frees_handle(void) { provider_does(frees_handle); }
static void adds_provider(al_visitor *visitor, void *data) {
  (void)visitor, (void)data;
  al_provider *provider;
  if (al_provider_add(heap, visits_nothing, NULL, &provider, &error) != AL_E_STOPPING) abort();
  static int said;
  if (!said++) say(AL_E_STOPPING);
}
static void provider_adds_provider(void) { provider_does(adds_provider); }
static al_visitor *kept_visitor;
static void keeps_visitor(al_visitor *visitor, void *data) {
  (void)data;
  kept_visitor = visitor;
}
static void visitor_after_its_call(void) {
  provider_does(keeps_visitor);
  al_word word = 0;
  al_visit(kept_visitor, &word);
}
static void trace_allocates_(void *object, al_tracer *tracer, void *data) {
  (void)object, (void)tracer, (void)data;
  al_alloc_slow(mu, CELL.header, CELL.fixed);
}
static void trace_allocates(void) {
  attached();
  al_shape shape;
  al_shape_desc desc = {.size = sizeof desc, .name = "Traced", .fixed = sizeof(cell), .trace = trace_allocates_};
  desc.trace_lasts = true;
  demand(al_shape_register(heap, &desc, &shape, &error));
  AL_LOCALS(mu, L, kept);
  L.kept = al_ref(al_alloc(mu, shape));
  al_collect(mu);
}
static al_world *kept_world;
static void keeps_world(al_world *world, void *data) {
  (void)data;
  kept_world = world;
}
static void each_object(void *data, const al_object *object) { (void)data, (void)object; }
static void each_root(void *data, const al_root *root) { (void)data, (void)root; }
static void walk_after_stop(void) {
  begin("MaxHeapSize=16m");
  demand(al_stop(heap, keeps_world, NULL, &error));
  say(al_walk(kept_world, each_object, NULL, &error));
}
static void roots_after_stop(void) {
  begin("MaxHeapSize=16m");
  demand(al_stop(heap, keeps_world, NULL, &error));
  al_roots(kept_world, each_root, NULL);
}
static void uncommits(al_world *world, void *data) {
  (void)world, (void)data;
  al_heap_uncommit(heap);
}
static void uncommit_in_stop(void) {
  begin("MaxHeapSize=16m");
  al_stop(heap, uncommits, NULL, &error);
}
static void walk_frees(void *data, const al_object *object) {
  (void)data, (void)object;
  say(al_heap_free(heap, &error));
  exit(0);
}
static void walks_and_frees(al_world *world, void *data) {
  (void)data;
  al_walk(world, walk_frees, NULL, &error);
}
static void free_in_walk(void) {
  attached();
  al_alloc(mu, CELL);
  al_detach(mu);
  demand(al_stop(heap, walks_and_frees, NULL, &error));
}
static void each_row(void *data, const al_census_row *row) { (void)data, (void)row; }
static void all_fail(void) {
  static al_mutator *other;
  static al_shape shape;
  al_shape_desc desc = cell_desc();
  al_provider *provider;
  al_code codes[] = {al_heap_free(heap, NULL),
                     al_heap_reset(heap, NULL),
                     al_attach(heap, &other, NULL),
                     al_stop(heap, keeps_world, NULL, NULL),
                     al_verify(heap, NULL),
                     al_snapshot(heap, 1, AL_HPROF, NULL),
                     al_census(heap, false, each_row, NULL, NULL),
                     al_shape_register(heap, &desc, &shape, NULL),
                     al_provider_add(heap, visits_nothing, NULL, &provider, NULL)};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    if (codes[i] != AL_E_STOPPING) fprintf(stderr, "call %zu: %s\n", i, al_code_text(codes[i])), abort();
  }
}
static void all_fail_in_stop(al_world *world, void *data) {
  (void)world, (void)data;
  all_fail();
}
static void codes_in_stop(void) {
  begin("MaxHeapSize=16m");
  demand(al_stop(heap, all_fail_in_stop, NULL, &error));
  demand(al_attach(heap, &mu, &error));
  say(al_stop(heap, all_fail_in_stop, NULL, &error));
}
static int in_collections, null_file;
static void each_record(void *data, const al_record *record) { (void)data, (void)record; }
static void each_option(void *data, const al_option *option) { (void)data, (void)option; }
static void looks_on(void *data, const al_record *record) {
  (void)data, (void)record;
  if (!heap) return;
  all_fail();
  al_metrics(heap, each_metric, NULL);
  al_records(heap, 0, each_record, NULL);
  al_option_rows(heap, each_option, NULL);
  al_request_safepoint(heap);
  al_heap_uncommit(heap);
  al_sample_interval(heap, 1000);
  if (al_profile(heap, null_file, NULL) != AL_OK) abort();
  al_handle_free(__atomic_exchange_n((al_handle **)data, (al_handle *)NULL, __ATOMIC_ACQ_REL));
  in_collections++;
}
static void codes_in_on_collection(void) {
  static al_handle *handle;
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  null_file = open("/dev/null", O_WRONLY);
  options.on_collection = looks_on;
  options.data = &handle;
  demand(al_heap_new(&options, &heap, &error));
  demand(al_attach(heap, &mu, &error));
  handle = al_handle_new(mu, AL_NULL);
  for (int i = 0; i < 3; i++) al_collect(mu);
  al_detach(mu);
  if (!in_collections) exit(6);
  say(al_heap_free(heap, &error));
}
static void unlink_twice(void) {
  attached();
  al_value values[2] = {AL_NULL, AL_NULL};
  al_frame outer, inner;
  al_link(mu, &outer, &values[0], 1);
  al_link(mu, &inner, &values[1], 1);
  al_unlink(&outer);
  al_unlink(&outer);
}
static void unlink_after_reset(void) {
  attached();
  al_frame_mark mark = al_frames(mu);
  al_value value = AL_NULL;
  al_frame frame;
  al_link(mu, &frame, &value, 1);
  al_frames_reset(mu, mark);
  al_unlink(&frame);
}
