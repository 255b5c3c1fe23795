/* Heaps: options, errors, the end of a heap. Included by inputs.c. */

static void heap_place_null(void) { say(al_heap_new(NULL, NULL, &error)); }
static void heap_abi(void) { say(al_heap_new_abi(AL_ABI + 1, NULL, &heap, &error)); }
static void options_size_0(void) {
  al_options options = {.size = 0};
  say(al_heap_new(&options, &heap, &error));
}
static void options_too_small(void) {
  al_options options = {.size = sizeof options - 8};
  say(al_heap_new(&options, &heap, &error));
}
static void options_unknown_member(void) {
  struct {
    al_options known;
    uint64_t more;
  } options = {.known = {.size = sizeof options}, .more = 1};
  say(al_heap_new(&options.known, &heap, &error));
}
static void options_zero_tail(void) {
  struct {
    al_options known;
    uint64_t more;
  } options = {.known = {.size = sizeof options}};
  say(al_heap_new(&options.known, &heap, &error));
}
static void error_size_0(void) {
  al_error small = {.size = 0};
  printf("%s\n", al_code_text(al_heap_new(NULL, &heap, &small)));
}
static void error_larger(void) {
  struct {
    al_error known;
    uint64_t more;
  } larger = {.known = {.size = sizeof larger}, .more = 7};
  demand(al_heap_free(NULL, &larger.known));
  al_code code = al_heap_reset(NULL, &larger.known);
  if (larger.more != 7) exit(6);
  printf("%s: %s\n", al_code_text(code), larger.known.text);
}
static void option_unknown(void) {
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSiz=1g"};
  say(al_heap_new(&options, &heap, &error));
}
static void option_value(void) {
  al_options options = {.size = sizeof options, .options = "MaxHeapSize=many"};
  say(al_heap_new(&options, &heap, &error));
}
static void option_not_text(void) {
  al_options options = {.size = sizeof options, .options = "\xff"};
  say(al_heap_new(&options, &heap, &error));
}
static void option_environment(void) {
  setenv("ALLOTMENT_OPTIONS", "TLABSiz=64k", 1);
  say(al_heap_new(NULL, &heap, &error));
}
static void free_null(void) { say(al_heap_free(NULL, &error)); }
static void free_attached(void) {
  attached();
  say(al_heap_free(heap, &error));
}
static void free_with_handle(void) {
  attached();
  al_handle_new(mu, AL_NULL);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
static void free_with_pin(void) {
  attached();
  al_pin_new(mu, al_alloc(mu, CELL));
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
/* A handle that another thread frees at the same time counts as long as it is there. */
static void *frees_handles(void *handles) {
  for (int i = 0; i < 1000; i++) al_handle_free(((al_handle **)handles)[i]);
  return NULL;
}
static void free_while_handles_end(void) {
  attached();
  static al_handle *handles[1000];
  for (int i = 0; i < 1000; i++) handles[i] = al_handle_new(mu, al_ref(al_alloc(mu, CELL)));
  al_detach(mu);
  pthread_t other;
  pthread_create(&other, NULL, frees_handles, handles);
  al_code code;
  while ((code = al_heap_free(heap, &error)) == AL_E_ROOTED) {
  }
  pthread_join(other, NULL);
  say(code);
}
static void reset_attached(void) {
  attached();
  say(al_heap_reset(heap, &error));
}
static void reset_null(void) { say(al_heap_reset(NULL, &error)); }
static void uncommit_null(void) { al_heap_uncommit(NULL); }
