/* NULL for each pointer that may not be NULL.
 *
 * usage: nulls list        prints, for each case, its number, "code" or "ends", and the words of its answer
 *        nulls NUMBER      runs the case
 *
 * A case of "code" prints the code and the text. A case of "ends" ends the process. */
#include <allotment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t key;
} cell;

static al_heap *heap, *no_heap;
static al_mutator *mu;
static al_shape CELL;
static al_handle *handle;
static al_pin *pin;
static al_provider *provider;
static al_world *world;
static al_error error = {.size = sizeof error};
static al_slot_desc next_slot[] = {AL_SLOT(cell, next, AL_STRONG)};
static al_shape_desc desc = {.size = sizeof desc, .name = "Cell", .fixed = sizeof(cell), .slots = next_slot, .slot_count = 1};

static void visits_nothing(al_visitor *visitor, void *data) { (void)visitor, (void)data; }
static void stopped(al_world *own, void *data) { (void)own, (void)data; }
static void each_object(void *data, const al_object *object) { (void)data, (void)object; }
static void each_root(void *data, const al_root *root) { (void)data, (void)root; }
static void each_census(void *data, const al_census_row *row) { (void)data, (void)row; }
static void each_metric(void *data, const al_metric *metric) { (void)data, (void)metric; }
static void each_record(void *data, const al_record *record) { (void)data, (void)record; }
static void each_option(void *data, const al_option *option) { (void)data, (void)option; }

static void needs_detached(void) {
  al_handle_free(handle);
  al_pin_free(pin);
  al_detach(mu);
}

/* Runs `body` in a stop. */
static void (*in_stop)(void);
static void runs_in_stop(al_world *own, void *data) {
  (void)data;
  world = own;
  in_stop();
}
static void stop_and(void (*body)(void)) {
  in_stop = body;
  al_stop(heap, runs_in_stop, NULL, NULL);
}
static al_code walk_code;
static void walk_world(void) { walk_code = al_walk(NULL, each_object, NULL, &error); }
static void walk_each(void) { walk_code = al_walk(world, NULL, NULL, &error); }
static al_code walk(void (*body)(void)) {
  stop_and(body);
  return walk_code;
}
static void roots_world(void) { al_roots(NULL, each_root, NULL); }
static void roots_each(void) { al_roots(world, NULL, NULL); }
static void threads_world(void) { al_threads(NULL); }
static al_code detached(al_code code) { return code; }

/* X(kind, the word in the answer, the call) */
#define CASES(CODE, ENDS)                                                                        \
  CODE("`heap`", al_heap_new(NULL, NULL, &error))                                                 \
  CODE("`heap`", al_heap_reset(NULL, &error))                                                     \
  CODE("`heap`", al_attach(NULL, &mu, &error))                                                    \
  CODE("`mutator`", (needs_detached(), al_attach(heap, NULL, &error)))                            \
  CODE("`heap`", al_shape_register(NULL, &desc, &CELL, &error))                                   \
  CODE("`desc`", al_shape_register(heap, NULL, &CELL, &error))                                    \
  CODE("`shape`", al_shape_register(heap, &desc, NULL, &error))                                   \
  CODE("`heap`", al_stop(NULL, stopped, NULL, &error))                                            \
  CODE("`stopped`", al_stop(heap, NULL, NULL, &error))                                            \
  CODE("`world`", walk(walk_world))                                                               \
  CODE("`each`", walk(walk_each))                                                                 \
  CODE("`heap`", al_provider_add(NULL, visits_nothing, NULL, &provider, &error))                  \
  CODE("`visit`", al_provider_add(heap, NULL, NULL, &provider, &error))                           \
  CODE("`provider`", al_provider_add(heap, visits_nothing, NULL, NULL, &error))                   \
  CODE("`heap`", al_verify(NULL, &error))                                                         \
  CODE("`heap`", al_snapshot(NULL, 1, AL_HPROF, &error))                                          \
  CODE("`heap`", al_census(NULL, false, each_census, NULL, &error))                               \
  CODE("`each`", al_census(heap, false, NULL, NULL, &error))                                      \
  CODE("`heap`", al_profile(NULL, 1, &error))                                                     \
  ENDS("al_heap_uncommit: `heap`", al_heap_uncommit(NULL))                                        \
  ENDS("al_collector: `heap`", al_collector(NULL))                                                \
  ENDS("al_request_safepoint: `heap`", al_request_safepoint(NULL))                                \
  ENDS("al_provider_remove: `heap`", al_provider_remove(NULL, provider))                          \
  ENDS("al_roots: `world`", stop_and(roots_world))                                                \
  ENDS("al_roots: `each`", stop_and(roots_each))                                                  \
  ENDS("al_threads: `world`", stop_and(threads_world))                                            \
  ENDS("al_metrics: `heap`", al_metrics(NULL, each_metric, NULL))                                 \
  ENDS("al_metrics: `each`", al_metrics(heap, NULL, NULL))                                        \
  ENDS("al_records: `heap`", al_records(NULL, 0, each_record, NULL))                              \
  ENDS("al_records: `each`", al_records(heap, 0, NULL, NULL))                                     \
  ENDS("al_option_rows: `heap`", al_option_rows(NULL, each_option, NULL))                         \
  ENDS("al_option_rows: `each`", al_option_rows(heap, NULL, NULL))                                \
  ENDS("al_sample_interval: `heap`", al_sample_interval(NULL, 1))                                 \
  ENDS("al_handle_get: `handle`", al_handle_get(mu, NULL))                                        \
  ENDS("al_handle_set: `handle`", al_handle_set(mu, NULL, AL_NULL))                               \
  ENDS("al_handle_copy: `handle`", al_handle_copy(NULL))                                          \
  ENDS("al_pin_new: `object`", al_pin_new(mu, NULL))                                              \
  ENDS("al_pin_address: `pin`", al_pin_address(NULL))                                             \
  ENDS("al_shape_of: `object`", (void)al_shape_of(mu, NULL))                                      \
  ENDS("al_size: `object`", al_size(mu, NULL))                                                    \
  ENDS("al_identity_hash: `object`", al_identity_hash(mu, NULL))                                  \
  ENDS("al_unlink: `frame`", al_unlink_slow(mu, NULL))                                            \
  ENDS("al_visit: ", al_visit(NULL, NULL))                                                        \
  ENDS("al_visit_weak: ", al_visit_weak(NULL, NULL))                                              \
  ENDS("al_visit_pinned: ", al_visit_pinned(NULL, 0))                                             \
  ENDS("al_visit_frames: ", al_visit_frames(NULL, 0))                                             \
  ENDS("al_trace: `tracer`", al_trace(NULL, NULL))                                                \
  ENDS("al_trace_weak: `tracer`", al_trace_weak(NULL, NULL))                                      \
  ENDS("al_detach: ", al_detach(NULL))                                                            \
  ENDS("al_poll: ", al_poll_slow(NULL))                                                           \
  ENDS("al_collect: ", al_collect(NULL))                                                          \
  ENDS("al_block_enter: ", al_block_enter(NULL))                                                  \
  ENDS("al_block_leave: ", al_block_leave(NULL))                                                  \
  ENDS("al_alloc: ", al_alloc_slow(NULL, CELL.header, CELL.fixed))                                \
  ENDS("al_alloc_raw: ", al_alloc_raw_slow(NULL, CELL.header, CELL.fixed))                        \
  ENDS("al_alloc_array: ", al_alloc_array_slow(NULL, &CELL, 1))                                   \
  ENDS("al_alloc_array_raw: ", al_alloc_array_raw_slow(NULL, &CELL, 1))                           \
  ENDS("al_alloc_array: ", al_alloc_array_slow(mu, NULL, 1))                                      \
  ENDS("al_alloc_array_raw: ", al_alloc_array_raw_slow(mu, NULL, 1))                              \
  ENDS("al_try_alloc: ", al_try_alloc_slow(NULL, CELL.header, CELL.fixed))                        \
  ENDS("al_try_alloc_raw: ", al_try_alloc_raw_slow(NULL, CELL.header, CELL.fixed))                \
  ENDS("al_try_alloc_array: ", al_try_alloc_array_slow(NULL, &CELL, 1))                           \
  ENDS("al_try_alloc_array_raw: ", al_try_alloc_array_raw_slow(NULL, &CELL, 1))                   \
  ENDS("al_try_alloc_array: ", al_try_alloc_array_slow(mu, NULL, 1))                              \
  ENDS("al_try_alloc_array_raw: ", al_try_alloc_array_raw_slow(mu, NULL, 1))                      \
  ENDS("al_alloc_error: ", al_alloc_error(NULL, &error))                                          \
  ENDS("al_room: ", al_room(NULL, 8, &error))                                                     \
  ENDS("al_handle_new: ", al_handle_new(NULL, AL_NULL))                                           \
  ENDS("al_weak_new: ", al_weak_new(NULL, AL_NULL))                                               \
  ENDS("al_handle_get: ", al_handle_get(NULL, handle))                                            \
  ENDS("al_handle_set: ", al_handle_set(NULL, handle, AL_NULL))                                   \
  ENDS("al_pin_new: ", al_pin_new(NULL, al_pin_address(pin)))                                     \
  ENDS("al_shape_of: ", (void)al_shape_of(NULL, al_pin_address(pin)))                             \
  ENDS("al_size: ", al_size(NULL, al_pin_address(pin)))                                           \
  ENDS("al_identity_hash: ", al_identity_hash(NULL, al_pin_address(pin)))                         \
  ENDS("al_weak_live: ", al_weak_live_slow(NULL, NULL))                                           \
  ENDS("al_copy: ", al_copy_slow(NULL, NULL, NULL, 1))                                            \
  ENDS("al_fill: ", al_fill_slow(NULL, NULL, 1, AL_NULL))

static void nulls_may_be(void) {
  if (al_heap_free(no_heap, NULL) != AL_OK) exit(4);
  al_handle_free(NULL);
  al_pin_free(NULL);
  al_provider_remove(heap, NULL);
  if (al_layout(NULL) == NULL) exit(4);
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  bool list = count == 2 && !strcmp(arguments[1], "list");
  long wanted = count == 2 && !list ? atol(arguments[1]) : -1, number = 0;
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  if (al_heap_new(&options, &heap, &error) || al_shape_register(heap, &desc, &CELL, &error) ||
      al_attach(heap, &mu, &error)) {
    return 3;
  }
  nulls_may_be();
  handle = al_handle_new(mu, AL_NULL);
  pin = al_pin_new(mu, al_alloc(mu, CELL));
  if (al_provider_add(heap, visits_nothing, NULL, &provider, &error)) return 3;
#define CODE(words, call)                                                        \
  if (list) printf("%ld code %s\n", number, words);                              \
  if (number++ == wanted) {                                                      \
    al_code code = detached(call);                                               \
    printf("%s: %s\n", al_code_text(code), error.text);                          \
  }
#define ENDS(words, call)                                                        \
  if (list) printf("%ld ends %s\n", number, words);                              \
  if (number++ == wanted) {                                                      \
    (void)(call);                                                                \
    puts("it went on");                                                          \
  }
  CASES(CODE, ENDS)
  return 0;
}
