/* Ends: of heaps whose own threads are at work, of threads that are attached, of processes.
 *
 * usage: lifetimes CASE OPTIONS
 *
 * Compiled without -fexceptions: pthread_exit leaves the frames of this program linked. */
#define _GNU_SOURCE
#include <allotment.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEMAND(condition)                                                \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "line %d: %s; %s\n", __LINE__, #condition, error.text); \
      abort();                                                           \
    }                                                                    \
  } while (0)

typedef struct {
  uint64_t header;
  al_slot next;
  uint64_t key;
} cell;

static al_heap *heap;
static al_mutator *mu;
static al_shape CELL, TRACED;
static al_error error = {.size = sizeof error};
static const char *choices;

static void flag(int *place) { __atomic_store_n(place, 1, __ATOMIC_SEQ_CST); }
static bool is_set(int *place) { return __atomic_load_n(place, __ATOMIC_SEQ_CST); }

/* No callback comes after the end of its heap. */
static int freed, called;
static void in_time(const char *callback) {
  if (is_set(&freed)) {
    fprintf(stderr, "%s was called after al_heap_free\n", callback);
    abort();
  }
}
static bool traces_slowly;
static void trace_next(void *object, al_tracer *tracer, void *data) {
  in_time(data);
  if (traces_slowly) {
    flag(&called);
    usleep(1000);
    in_time(data);
  }
  al_trace(tracer, &((cell *)object)->next);
}
static void provides(al_visitor *visitor, void *data) {
  static uint64_t null;
  in_time(data);
  flag(&called);
  usleep(2000);
  in_time(data);
  al_visit(visitor, (al_value *)(void *)&null);
}
static void collected(void *data, const al_record *record) {
  (void)data, (void)record;
  in_time("on_collection");
}

static void begin_with(al_options *options) {
  options->size = sizeof *options;
  options->options = choices;
  options->name = "lifetimes";
  DEMAND(al_heap_new(options, &heap, &error) == AL_OK);
  static const al_slot_desc next[] = {AL_SLOT(cell, next, AL_STRONG)};
  static char tracing[] = "a trace function";
  al_shape_desc desc = {.size = sizeof desc, .name = "Cell", .fixed = sizeof(cell)};
  desc.slots = next;
  desc.slot_count = 1;
  DEMAND(al_shape_register(heap, &desc, &CELL, &error) == AL_OK);
  al_shape_desc traced = {.size = sizeof traced, .name = "Traced", .fixed = sizeof(cell)};
  traced.trace = trace_next;
  traced.trace_data = tracing;
  traced.trace_lasts = true;
  DEMAND(al_shape_register(heap, &traced, &TRACED, &error) == AL_OK);
}
static void begin(void) {
  al_options options = {.on_collection = collected};
  begin_with(&options);
}
static void attached(void) {
  begin();
  DEMAND(al_attach(heap, &mu, &error) == AL_OK);
}
static void heap_ends(void) {
  DEMAND(al_heap_free(heap, &error) == AL_OK);
  flag(&freed);
}

static void list_and_garbage(void) {
  AL_LOCALS(mu, L, list);
  for (int i = 0; i < 2000; i++) {
    cell *fresh = al_alloc(mu, TRACED);
    DEMAND(fresh != NULL);
    al_store(mu, &fresh->next, L.list);
    L.list = al_ref(fresh);
  }
  traces_slowly = true;
  while (!is_set(&called)) DEMAND(al_alloc(mu, CELL) != NULL);
}
/* A cycle of a concurrent collector is marking. */
static void free_while_marking(void) {
  attached();
  list_and_garbage();
  al_detach(mu);
  heap_ends();
  usleep(100000);
}

/* The heap's timer collects. */
static void free_while_timer_collects(void) {
  for (int i = 0; i < 20; i++) {
    static char provider[] = "a provider";
    freed = called = 0;
    begin();
    al_provider *own;
    DEMAND(al_provider_add(heap, provides, provider, &own, &error) == AL_OK);
    while (!is_set(&called)) usleep(100);
    heap_ends();
    usleep(10000);
  }
}

/* Threads detach while another frees. */
static int detaches;
static void *place;
/* Whether the page of that object is there. Says so at once, unlike /proc/self/maps. */
static bool is_there(void) {
  return msync((void *)((uintptr_t)place & ~(uintptr_t)4095), 4096, MS_ASYNC) == 0;
}
static void *detaches_late(void *unused) {
  al_mutator *own;
  al_error other = {.size = sizeof other};
  if (al_attach(heap, &own, &other) != AL_OK) abort();
  place = al_alloc(own, CELL);
  flag(&detaches);
  al_detach(own);
  return unused;
}
static void free_while_detaching(void) {
  for (int i = 0; i < 200; i++) {
    freed = detaches = 0;
    begin();
    pthread_t other;
    pthread_create(&other, NULL, detaches_late, NULL);
    while (!is_set(&detaches)) {
    }
    DEMAND(is_there());
    al_code code;
    do code = al_heap_free(heap, &error);
    while (code == AL_E_ATTACHED);
    DEMAND(code == AL_OK && !is_there());
    flag(&freed);
    pthread_join(other, NULL);
  }
}

static void frees(void *data, const al_record *record) {
  (void)data, (void)record;
  DEMAND(al_heap_free(heap, &error) == AL_E_STOPPING);
  DEMAND(strstr(error.text, "called from on_collection") && strstr(error.text, "outside of callbacks"));
  flag(&called);
}
static void free_in_callback(void) {
  al_options options = {.on_collection = frees};
  begin_with(&options);
  DEMAND(al_attach(heap, &mu, &error) == AL_OK);
  while (!is_set(&called)) al_collect(mu);
  al_detach(mu);
  while (al_heap_free(heap, &error) == AL_E_ATTACHED) usleep(1000);
}

/* A child of fork() has no other thread, so nothing there ends what they kept. */
static void *blocks(void *unused) {
  al_mutator *own;
  al_error other = {.size = sizeof other};
  if (al_attach(heap, &own, &other) != AL_OK) abort();
  al_block_enter(own);
  flag(&called);
  for (;;) pause();
  return unused;
}
static void free_in_child(void) {
  begin();
  pthread_t other;
  pthread_create(&other, NULL, blocks, NULL);
  while (!is_set(&called)) usleep(1000);
  pid_t child = fork();
  DEMAND(child >= 0);
  if (!child) {
    DEMAND(al_attach(heap, &mu, &error) == AL_OK && al_alloc(mu, CELL) != NULL);
    al_detach(mu);
    heap_ends();
    _exit(0);
  }
  int status;
  DEMAND(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Threads that end attached. */
static void *address;
static void *ends_attached(void *unused) {
  al_mutator *own;
  al_error other = {.size = sizeof other};
  if (al_attach(heap, &own, &other) != AL_OK) abort();
  address = al_alloc(own, CELL);
  return unused;
}
/* What /proc/self/maps has of the heap: its name, or the page of an object. */
static bool is_mapped(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  DEMAND(maps != NULL && address != NULL);
  char line[512];
  bool found = false;
  while (fgets(line, sizeof line, maps)) {
    unsigned long first, end;
    DEMAND(sscanf(line, "%lx-%lx", &first, &end) == 2);
    found |= first <= (unsigned long)address && (unsigned long)address < end;
    found |= strstr(line, "lifetimes]") != NULL;
  }
  fclose(maps);
  return found;
}
static void heap_of_thread_that_ended(void) {
  static char provider[] = "a provider";
  begin();
  al_provider *own;
  DEMAND(al_provider_add(heap, provides, provider, &own, &error) == AL_OK);
  pthread_t other;
  pthread_create(&other, NULL, ends_attached, NULL);
  pthread_join(other, NULL);
  DEMAND(is_mapped());
  heap_ends();
  DEMAND(!is_mapped());
  usleep(50000);
}

/* What runs after the thread's end detached it. */
static void each_row(void *data, const al_census_row *row) { (void)data, (void)row; }
static void stopped(al_world *world, void *data) { *(size_t *)data = al_threads(world) + 1; }
static void detach_late(void) {
  size_t threads = 0;
  al_mutator *again;
  DEMAND(al_current() == NULL);
  DEMAND(al_census(heap, false, each_row, NULL, &error) == AL_OK);
  DEMAND(al_stop(heap, stopped, &threads, &error) == AL_OK && threads == 1);
  DEMAND(al_attach(heap, &again, &error) == AL_E_ENDING);
  al_detach(mu);
  heap_ends();
  puts("detached late");
  fflush(stdout);
}
static void detach_at_exit(void) {
  attached();
  DEMAND(al_alloc(mu, CELL) != NULL);
  atexit(detach_late);
}
static void free_late(void) { heap_ends(); }
static void free_at_exit(void) {
  attached();
  atexit(free_late);
}
static void collect_late(void) { al_collect(mu); }
static void collect_at_exit(void) {
  attached();
  atexit(collect_late);
}
static void alloc_late(void) { al_alloc(mu, CELL); }
static void alloc_at_exit(void) {
  attached();
  DEMAND(al_alloc(mu, CELL) != NULL);
  atexit(alloc_late);
}
static void detach_twice(void) {
  al_detach(mu);
  al_detach(mu);
}
static void detach_twice_at_exit(void) {
  attached();
  atexit(detach_twice);
}
static pthread_key_t key;
static void detach_by_key(void *unused) {
  (void)unused;
  detach_late();
}
static void *attaches_with_key(void *unused) {
  pthread_setspecific(key, &key);
  DEMAND(al_attach(heap, &mu, &error) == AL_OK && al_alloc(mu, CELL) != NULL);
  return unused;
}
static void detach_in_key_destructor(void) {
  begin();
  pthread_key_create(&key, detach_by_key);
  pthread_t other;
  pthread_create(&other, NULL, attaches_with_key, NULL);
  pthread_join(other, NULL);
}

/* Frames in blocked stretches. */
static void alloc_with_frame_of_block(void) {
  attached();
  al_block_enter(mu);
  AL_LOCALS(mu, L, made);
  L.made = al_ref(al_alloc(mu, CELL));
}
static void collect_with_frame_of_block(void) {
  attached();
  DEMAND(al_alloc(mu, CELL) != NULL);
  al_block_enter(mu);
  AL_LOCALS(mu, L, made);
  L.made = AL_NULL;
  al_collect(mu);
}
static void leave_with_frame_of_block(void) {
  attached();
  al_block_enter(mu);
  AL_LOCALS(mu, L, made);
  L.made = AL_NULL;
  al_block_leave(mu);
}
static void unlink_twice_in_block(void) {
  attached();
  al_frame frame;
  al_value word = AL_NULL;
  al_link(mu, &frame, &word, 1);
  al_block_enter(mu);
  al_unlink(&frame);
  al_unlink(&frame);
}
static void unlink_twice(void) {
  attached();
  al_frame frame;
  al_value word = AL_NULL;
  al_link(mu, &frame, &word, 1);
  al_unlink(&frame);
  al_unlink(&frame);
}
static void unlink_outer_below_frame_of_block(void) {
  attached();
  al_frame outer, inner;
  al_value word = AL_NULL;
  al_link(mu, &outer, &word, 1);
  al_block_enter(mu);
  inner = (al_frame){mu->links, mu, &word, 1};
  mu->links = (uintptr_t)&inner + AL_RANGE_BIT;
  al_unlink(&outer);
}

/* Threads that end with frames. */
static int exits_now;
__attribute__((noinline)) static void exits_with_frame(al_mutator *own) {
  AL_LOCALS(own, L, list, other);
  L.list = al_ref(al_alloc(own, CELL));
  L.other = L.list;
  al_block_enter(own);
  flag(&exits_now);
  pthread_exit(NULL);
}
static void *exits(void *unused) {
  al_mutator *own;
  al_error other = {.size = sizeof other};
  if (al_attach(heap, &own, &other) != AL_OK) abort();
  exits_with_frame(own);
  return unused;
}
/* The thread waits for room in standard error, with its line about the thread that ended attached.
 * There it has overwritten the dead frames. */
static void exit_in_block(void) {
  attached();
  int ends[2], standard_error = dup(2);
  char bytes[1 << 16] = {0};
  DEMAND(pipe(ends) == 0);
  int size = fcntl(ends[1], F_SETPIPE_SZ, 4096);
  DEMAND(size >= 4096 && (size_t)size <= sizeof bytes && write(ends[1], bytes, (size_t)size) == size);
  dup2(ends[1], 2);
  pthread_t other;
  pthread_create(&other, NULL, exits, NULL);
  al_block_enter(mu);
  while (!is_set(&exits_now)) usleep(1000);
  usleep(100000);
  al_block_leave(mu);
  for (int i = 0; i < 10; i++) al_collect(mu);
  dup2(standard_error, 2);
  DEMAND(read(ends[0], bytes, sizeof bytes) == size);
  al_block_enter(mu);
  pthread_join(other, NULL);
  al_block_leave(mu);
  ssize_t said = read(ends[0], bytes, sizeof bytes);
  DEMAND(said > 0 && write(2, bytes, (size_t)said) == said);
  al_collect(mu);
  al_detach(mu);
  heap_ends();
}

#define CASE(name) {#name, name}
static const struct {
  const char *name;
  void (*run)(void);
} CASES[] = {
    CASE(free_while_marking), CASE(free_while_timer_collects), CASE(free_while_detaching),
    CASE(free_in_callback), CASE(free_in_child), CASE(heap_of_thread_that_ended), CASE(detach_at_exit), CASE(free_at_exit),
    CASE(collect_at_exit), CASE(alloc_at_exit), CASE(detach_twice_at_exit),
    CASE(detach_in_key_destructor), CASE(alloc_with_frame_of_block), CASE(collect_with_frame_of_block),
    CASE(leave_with_frame_of_block), CASE(unlink_twice_in_block), CASE(unlink_twice),
    CASE(unlink_outer_below_frame_of_block), CASE(exit_in_block),
};

int main(int count, char **arguments) {
  if (count != 3) return 2;
  choices = arguments[2];
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    if (!strcmp(CASES[i].name, arguments[1])) {
      CASES[i].run();
      puts("well");
      return 0;
    }
  }
  return 2;
}
