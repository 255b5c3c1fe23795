/* Wrong inputs, one for each name in the list at the end.
 *
 * usage: inputs CASE
 *
 * A case prints the code of its answer and the text, or it ends the process within the library. */
#define _GNU_SOURCE
#include <allotment.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t key;
} cell;

static al_heap *heap;
static al_mutator *mu;
static al_shape CELL, BYTES;
static al_error error = {.size = sizeof error};

static void say(al_code code) { printf("%s: %s\n", al_code_text(code), error.text); }

static void demand(al_code code) {
  if (code != AL_OK) {
    fprintf(stderr, "before the case: %s: %s\n", al_code_text(code), error.text);
    exit(3);
  }
}

static al_slot_desc next_slot[] = {AL_SLOT(cell, next, AL_STRONG)};

static al_shape_desc cell_desc(void) {
  al_shape_desc desc = {.size = sizeof desc, .name = "Cell", .fixed = sizeof(cell)};
  desc.slots = next_slot;
  desc.slot_count = 1;
  return desc;
}

static void begin(const char *options) {
  al_options choices = {.size = sizeof choices, .defaults = options};
  demand(al_heap_new(&choices, &heap, &error));
  al_shape_desc desc = cell_desc();
  demand(al_shape_register(heap, &desc, &CELL, &error));
  al_shape_desc bytes = {.size = sizeof bytes, .name = "Bytes", .fixed = 16, .tail = AL_TAIL_1};
  demand(al_shape_register(heap, &bytes, &BYTES, &error));
}

static void attached(void) {
  begin("MaxHeapSize=16m");
  demand(al_attach(heap, &mu, &error));
}

/* Heaps. */
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
static void reset_attached(void) {
  attached();
  say(al_heap_reset(heap, &error));
}
static void reset_null(void) { say(al_heap_reset(NULL, &error)); }
static void uncommit_null(void) { al_heap_uncommit(NULL); }

/* Shapes. */
static void shape_null(void) {
  begin("MaxHeapSize=16m");
  say(al_shape_register(heap, NULL, &CELL, &error));
}
static void shape_without_name(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.name = NULL;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_size_0(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.size = 0;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_slot(size_t offset, al_slot_kind kind, size_t count) {
  begin("MaxHeapSize=16m");
  al_slot_desc slots[2] = {{"a", offset, kind}, {"b", offset, kind}};
  al_shape_desc desc = cell_desc();
  desc.slots = slots;
  desc.slot_count = count;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_slot_outside(void) { shape_slot(24, AL_STRONG, 1); }
static void shape_slot_off_a_word(void) { shape_slot(12, AL_STRONG, 1); }
static void shape_slot_twice(void) { shape_slot(8, AL_STRONG, 2); }
static void shape_slot_kind(void) { shape_slot(8, (al_slot_kind)7, 1); }
static void shape_slots_null(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.slots = NULL;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_tail(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = cell_desc();
  desc.tail = (al_tail)3;
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void shape_too_small(void) {
  begin("MaxHeapSize=16m");
  al_shape_desc desc = {.size = sizeof desc, .name = "Small", .fixed = 8};
  say(al_shape_register(heap, &desc, &CELL, &error));
}
static void trace(void *object, al_tracer *tracer, void *data) {
  (void)data;
  al_trace(tracer, &((cell *)object)->next);
}
static void shape_trace_may_change(void) {
  begin("Collector=shenandoah,MaxHeapSize=32m");
  al_shape_desc desc = {.size = sizeof desc, .name = "Traced", .fixed = sizeof(cell), .trace = trace};
  say(al_shape_register(heap, &desc, &CELL, &error));
}

/* Threads. */
static void attach_null(void) { say(al_attach(NULL, &mu, &error)); }
static void attach_place_null(void) {
  begin("MaxHeapSize=16m");
  say(al_attach(heap, NULL, &error));
}
static void attach_twice(void) {
  attached();
  say(al_attach(heap, &mu, &error));
}
static void attach_two_heaps(void) {
  attached();
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_heap *other;
  demand(al_heap_new(&options, &other, &error));
  say(al_attach(other, &mu, &error));
}
static void attach_in_stop_(al_world *world, void *data) {
  (void)world, (void)data;
  say(al_attach(heap, &mu, &error));
}
static void attach_in_stop(void) {
  begin("MaxHeapSize=16m");
  demand(al_stop(heap, attach_in_stop_, NULL, &error));
}
static void stop_in_stop_(al_world *world, void *data) {
  (void)world, (void)data;
  say(al_stop(heap, stop_in_stop_, NULL, &error));
}
static void stop_in_stop(void) {
  begin("MaxHeapSize=16m");
  demand(al_stop(heap, stop_in_stop_, NULL, &error));
}
static void stop_null(void) {
  begin("MaxHeapSize=16m");
  say(al_stop(heap, NULL, NULL, &error));
}
static void stop_of_another_heap(void) {
  attached();
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_heap *other;
  demand(al_heap_new(&options, &other, &error));
  say(al_stop(other, stop_in_stop_, NULL, &error));
}
static void *stays_attached(void *barrier) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  pthread_barrier_wait(barrier);
  for (;;) {
    al_poll(own);
  }
  return NULL;
}
static void attach_in_forked_child(void) {
  begin("MaxHeapSize=16m");
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t other;
  pthread_create(&other, NULL, stays_attached, &barrier);
  pthread_barrier_wait(&barrier);
  pid_t child = fork();
  if (child == 0) {
    say(al_attach(heap, &mu, &error));
    say(al_verify(heap, &error));
    say(al_heap_reset(heap, &error));
    say(al_stop(heap, stop_in_stop_, NULL, &error));
    fflush(stdout);
    _exit(al_heap_free(heap, &error) == AL_OK ? 0 : 4);
  }
  int status;
  waitpid(child, &status, 0);
  if (status) exit(5);
  _exit(0);
}
static void detach_with_frames(void) {
  attached();
  AL_LOCALS(mu, L, one);
  AL_LOCALS(mu, M, two);
  al_detach(mu);
  (void)L, (void)M;
}
static void detach_twice(void) {
  attached();
  al_detach(mu);
  al_detach(mu);
}
static void *detaches_mu(void *unused) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  al_detach(mu);
  return unused;
}
static void detach_foreign(void) {
  attached();
  pthread_t other;
  pthread_create(&other, NULL, detaches_mu, NULL);
  al_block_enter(mu);
  pthread_join(other, NULL);
}
static void *collects_with_mu(void *unused) {
  al_collect(mu);
  return unused;
}
static void foreign_mutator(void) {
  attached();
  pthread_t other;
  pthread_create(&other, NULL, collects_with_mu, NULL);
  al_block_enter(mu);
  pthread_join(other, NULL);
}
static void null_mutator(void) { al_collect(NULL); }
static void *ends_attached(void *unused) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  return unused;
}
static void thread_ends_attached(void) {
  begin("MaxHeapSize=16m");
  pthread_t other;
  pthread_create(&other, NULL, ends_attached, NULL);
  pthread_join(other, NULL);
  say(al_heap_free(heap, &error));
}
static void poll_blocked(void) {
  attached();
  al_block_enter(mu);
  al_poll_slow(mu);
}
static void alloc_blocked(void) {
  attached();
  al_block_enter(mu);
  al_alloc_slow(mu, CELL.header, CELL.fixed);
}
static void block_twice(void) {
  attached();
  al_block_enter(mu);
  al_block_enter(mu);
}
static void leave_twice(void) {
  attached();
  al_block_enter(mu);
  al_block_leave(mu);
  al_block_leave(mu);
}
static void detach_blocked(void) {
  attached();
  al_block_enter(mu);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}

/* Allocations. */
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
static int asked;
static al_handle *cache;
static bool free_cache(void *data, const al_error *why) {
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

/* Roots. */
static void handle_of_another_heap(void) {
  attached();
  al_handle *handle = al_handle_new(mu, AL_NULL);
  al_detach(mu);
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  demand(al_heap_new(&options, &heap, &error));
  demand(al_attach(heap, &mu, &error));
  al_handle_get(mu, handle);
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
static void verify_attached(void) {
  attached();
  say(al_verify(heap, &error));
}
static void snapshot_fd(void) {
  begin("MaxHeapSize=16m");
  say(al_snapshot(heap, -1, AL_HEAPSNAPSHOT, &error));
}
static void snapshot_format(void) {
  begin("MaxHeapSize=16m");
  say(al_snapshot(heap, 1, (al_snapshot_format)9, &error));
}
static void profile_closed(void) {
  begin("MaxHeapSize=16m");
  say(al_profile(heap, 987, &error));
}
static jmp_buf back;
static void jumps_over_frames(void) {
  AL_LOCALS(mu, L, one);
  (void)L;
  longjmp(back, 1);
}
static void jump_with_reset(void) {
  attached();
  al_frame_mark mark = al_frames(mu);
  if (!setjmp(back)) jumps_over_frames();
  al_frames_reset(mu, mark);
  al_collect(mu);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
static void jump_without_reset(void) {
  attached();
  if (!setjmp(back)) jumps_over_frames();
  al_detach(mu);
}
static void no_such_code(void) { puts(al_code_text((al_code)999)); }

#define CASE(name) {#name, name}
static const struct {
  const char *name;
  void (*run)(void);
} CASES[] = {
    CASE(heap_place_null), CASE(heap_abi), CASE(options_size_0), CASE(options_too_small),
    CASE(options_unknown_member), CASE(options_zero_tail), CASE(error_size_0), CASE(option_unknown),
    CASE(option_value), CASE(option_not_text), CASE(option_environment), CASE(free_null),
    CASE(free_attached), CASE(free_with_handle), CASE(free_with_pin), CASE(reset_attached),
    CASE(reset_null), CASE(uncommit_null), CASE(shape_null), CASE(shape_without_name),
    CASE(shape_size_0), CASE(shape_slot_outside), CASE(shape_slot_off_a_word), CASE(shape_slot_twice),
    CASE(shape_slot_kind), CASE(shape_slots_null), CASE(shape_tail), CASE(shape_too_small),
    CASE(shape_trace_may_change), CASE(attach_null), CASE(attach_place_null), CASE(attach_twice),
    CASE(attach_two_heaps), CASE(attach_in_stop), CASE(stop_in_stop), CASE(stop_null),
    CASE(stop_of_another_heap), CASE(attach_in_forked_child), CASE(detach_with_frames),
    CASE(detach_twice), CASE(detach_foreign), CASE(foreign_mutator), CASE(null_mutator),
    CASE(thread_ends_attached), CASE(poll_blocked), CASE(alloc_blocked), CASE(block_twice),
    CASE(leave_twice), CASE(detach_blocked), CASE(length_max), CASE(length_2_43), CASE(length_0),
    CASE(room_max), CASE(array_without_tail), CASE(heap_full), CASE(heap_full_with_hook),
    CASE(handle_of_another_heap), CASE(handle_null), CASE(pin_null), CASE(provider_null),
    CASE(provider_allocates), CASE(verify_attached), CASE(snapshot_fd), CASE(snapshot_format),
    CASE(profile_closed), CASE(jump_with_reset), CASE(jump_without_reset), CASE(no_such_code),
};

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (size_t i = 0; count == 2 && i < sizeof CASES / sizeof *CASES; i++) {
    if (!strcmp(CASES[i].name, arguments[1])) {
      CASES[i].run();
      return 0;
    }
    if (!strcmp("list", arguments[1])) puts(CASES[i].name);
  }
  return count == 2 && !strcmp("list", arguments[1]) ? 0 : 2;
}
