/* Threads: attaching, detaching, blocking, stops, children of fork(). Included by inputs.c. */

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
/* A child of a thread that is attached: another thread was, too, so the heap cannot be used. */
static void in_forked_child(bool blocked, void (*run)(void)) {
  attached();
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t other;
  pthread_create(&other, NULL, stays_attached, &barrier);
  pthread_barrier_wait(&barrier);
  if (blocked) al_block_enter(mu);
  pid_t child = fork();
  if (child == 0) {
    run();
    fflush(stdout);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
  }
  _exit(WEXITSTATUS(status));
}
/* While another thread makes and frees handles all the time. */
static void *makes_handles(void *barrier) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  pthread_barrier_wait(barrier);
  for (;;) {
    al_handle *handles[3] = {al_handle_new(own, AL_NULL), al_weak_new(own, AL_NULL), al_handle_new(own, AL_NULL)};
    for (int i = 0; i < 3; i++) al_handle_free(handles[i]);
    al_pin_free(al_pin_new(own, al_alloc(own, CELL)));
  }
  return NULL;
}
static void free_handles_in_forked_child(void) {
  attached();
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t other;
  pthread_create(&other, NULL, makes_handles, &barrier);
  pthread_barrier_wait(&barrier);
  al_handle *handle = al_handle_new(mu, AL_NULL);
  al_pin *pin = al_pin_new(mu, al_alloc(mu, CELL));
  for (int i = 0; i < 300; i++) {
    al_poll(mu);
    pid_t child = fork();
    if (child == 0) {
      al_handle_free(handle);
      al_pin_free(pin);
      al_detach(mu);
      _exit(al_heap_free(heap, NULL) == AL_OK ? 0 : 4);
    }
    int status;
    waitpid(child, &status, 0);
    if (status) {
      fprintf(stderr, "child %d: %#x\n", i, (unsigned)status);
      _exit(5);
    }
  }
  puts("no error");
  _exit(0);
}
/* The only thread forks: its heap goes on in the child. */
static void fork_alone(void) {
  attached();
  AL_LOCALS(mu, L, kept);
  L.kept = al_ref(al_alloc(mu, CELL));
  ((cell *)al_addr(L.kept))->key = 7;
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 2000000; i++) {
      if (!al_alloc(mu, CELL)) _exit(4);
    }
    al_collect(mu);
    _exit(((cell *)al_addr(L.kept))->key == 7 ? 0 : 5);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child %#x\n", (unsigned)status);
}
static void collects(void) { al_collect(mu); }
static void allocates_in_child(void) {
  for (;;) al_alloc(mu, CELL);
}
static void detaches_and_frees(void) {
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
static void collect_in_forked_child(void) { in_forked_child(false, collects); }
static void alloc_in_forked_child(void) { in_forked_child(false, allocates_in_child); }
static void detach_in_forked_child(void) { in_forked_child(false, detaches_and_frees); }
static void detach_blocked_in_forked_child(void) { in_forked_child(true, detaches_and_frees); }
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
static void nothing_stopped(al_world *world, void *data) { *(size_t *)data = al_threads(world); }
static void *ends_blocked(void *unused) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  al_block_enter(own);
  return unused;
}
static void thread_ends_blocked(void) {
  begin("MaxHeapSize=16m");
  pthread_t other;
  pthread_create(&other, NULL, ends_blocked, NULL);
  pthread_join(other, NULL);
  say(al_heap_free(heap, &error));
}
static void *attaches_and_waits(void *barrier) {
  al_mutator *own;
  demand(al_attach(heap, &own, NULL));
  al_frame frame;
  al_value value = AL_NULL;
  al_link(own, &frame, &value, 1);
  mu = own;
  pthread_barrier_wait(barrier);
  al_block_enter(own);
  for (;;) pause();
  return NULL;
}
/* A heap with a thread that waits in a blocked stretch is looked at, and not freed. */
static void free_with_blocked_thread(void) {
  begin("MaxHeapSize=16m");
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t other;
  pthread_create(&other, NULL, attaches_and_waits, &barrier);
  pthread_barrier_wait(&barrier);
  size_t threads = 0;
  demand(al_stop(heap, nothing_stopped, &threads, &error));
  if (threads != 1) exit(6);
  say(al_heap_free(heap, &error));
  _exit(0);
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
static void stop_blocked(void) {
  attached();
  al_block_enter(mu);
  size_t threads = 0;
  demand(al_stop(heap, nothing_stopped, &threads, &error));
  if (threads != 1) exit(6);
  al_block_leave(mu);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
static void detach_blocked(void) {
  attached();
  al_block_enter(mu);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
