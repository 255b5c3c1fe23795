/* generators.c: coroutines. A generator has a stack of C of its own, with frames in it, and one of
 * values. When it is switched, the thread's list of frames is switched, too: al_frames and
 * al_frames_reset. The frames of a stack that does not run are on no list: the provider shows them.
 *
 * A generator ends when its body does. One that is dropped before is found dead by a weak handle,
 * when the next one is made. It runs on the thread that made it: its frames name its mutator. */
#include "stack.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 512 << 10, GUARD_BYTES = 64 << 10, MOST_DEPTH = 200 };

typedef enum state { FRESH, SUSPENDED, ACTIVE, DONE, FAILED } state;

typedef struct generator {
  struct generator *next; /* of the machine's generators */
  vm_state vm;
  vm_state *resumer;
  ucontext_t own, other;
  al_frame_mark frames, other_frames; /* of the one that does not run */
  al_handle *body, *self;             /* self is weak */
  state state;
  char *stack;
} generator;

/* In the provider: the frames that are on no list. */
void show_generators(al_visitor *visitor) {
  for (generator *g = the_machine.generators; g; g = g->next) {
    if (g->state == SUSPENDED) al_visit_frames(visitor, g->frames);
    if (g->state == ACTIVE) al_visit_frames(visitor, g->other_frames);
  }
}

AL_NO_SAFEPOINT static void release(generator *g) {
  if (g->state == SUSPENDED) free(g->vm.stack);
  munmap(g->stack, STACK_BYTES);
  al_handle_free(g->body);
  al_handle_free(g->self);
  free(g);
}

void free_generators(void) {
  while (the_machine.generators) {
    generator *g = the_machine.generators;
    the_machine.generators = g->next;
    release(g);
  }
}

/* Releases generators of this thread that nobody has, and enters a new one. */
AL_NO_SAFEPOINT static void enter(vm_state *vm, generator *fresh) {
  AL_SPAN;
  pthread_mutex_lock(&the_machine.lock);
  for (generator **at = &the_machine.generators; *at;) {
    generator *g = *at;
    bool rests = g->vm.mu == vm->mu && g->state != ACTIVE;
    if (rests && al_is_null(al_handle_get(vm->mu, g->self))) {
      *at = g->next;
      release(g);
    } else {
      at = &g->next;
    }
  }
  fresh->next = the_machine.generators;
  the_machine.generators = fresh;
  pthread_mutex_unlock(&the_machine.lock);
}

/* ---- Switches ---- */

/* No [S] call is in a switch, so the provider sees the state of a generator together with its
 * frames. */
AL_NO_SAFEPOINT static void resume(generator *g, vm_state *by) {
  g->resumer = by;
  g->other_frames = al_frames(by->mu);
  g->state = ACTIVE;
  al_frames_reset(by->mu, g->frames);
  running = &g->vm;
  swapcontext(&g->other, &g->own);
  running = by;
}

/* Back to the one that resumed it. */
AL_NO_SAFEPOINT static void suspend(generator *g, state with) {
  g->frames = al_frames(g->vm.mu);
  g->state = with;
  al_frames_reset(g->vm.mu, g->other_frames);
  swapcontext(&g->own, &g->other);
}

AL_SAFEPOINT static void run_generator(vm_state *vm, void *data) {
  generator *g = data;
  push(vm, al_handle_get(vm->mu, g->body));
  al_handle_free(g->body);
  g->body = NULL;
  call_top(vm);
}

/* The outermost function on a generator's stack. makecontext passes numbers of 32 bits. */
static void start(unsigned high, unsigned low) {
  generator *g = (generator *)(uintptr_t)((uint64_t)high << 32 | low);
  bool well = with_stack(&g->vm, run_generator, g);
  suspend(g, well ? DONE : FAILED);
  abort();
}

/* ---- Words ---- */

/* ( body -- generator ) */
static bool word_generator(vm_state *vm) {
  takes(vm, "c");
  native *fresh = MADE(vm, native, al_alloc(vm->mu, shapes.native));
  AL_SPAN;
  generator *g = calloc(1, sizeof *g);
  char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!g || stack == MAP_FAILED || mprotect(stack, GUARD_BYTES, PROT_NONE)) {
    free(g);
    fail(vm, "no memory for a generator");
  }
  fresh->of = g;
  g->stack = stack;
  g->vm = (vm_state){.mu = vm->mu, .parameter = vm->parameter, .most_depth = MOST_DEPTH};
  g->vm.generator = g;
  g->frames = AL_NO_FRAMES;
  g->body = al_handle_new(vm->mu, peek(vm, 0));
  drop(vm, 1);
  push(vm, TAGGED(fresh, GENERATOR));
  g->self = al_weak_new(vm->mu, peek(vm, 0));
  getcontext(&g->own);
  g->own.uc_stack.ss_sp = stack + GUARD_BYTES;
  g->own.uc_stack.ss_size = STACK_BYTES - GUARD_BYTES;
  uint64_t address = (uintptr_t)g;
  makecontext(&g->own, (void (*)(void))start, 2, (unsigned)(address >> 32), (unsigned)address);
  enter(vm, g);
  return false;
}

/* ( generator -- value 1 ) or ( generator -- 0 ): it has ended. */
static bool word_next(vm_state *vm) {
  takes(vm, "g");
  generator *g = AT(native, peek(vm, 0))->of;
  if (g->vm.mu != al_current()) fail(vm, "the generator is another thread's");
  if (g->state == ACTIVE) fail(vm, "the generator is running");
  /* It stays on the stack while it runs, so it does not die. */
  if (g->state == FRESH || g->state == SUSPENDED) resume(g, vm);
  if (g->state == FAILED) {
    drop(vm, 1);
    fail(vm, "the generator failed: %s", g->vm.error);
  }
  al_value value = AL_NULL;
  bool yields = g->state == SUSPENDED;
  if (yields) {
    value = g->vm.stack[--g->vm.count];
    al_words_set(g->vm.frame, g->vm.stack, g->vm.count);
  }
  drop(vm, 1);
  if (yields) push(vm, value);
  push(vm, al_immediate(yields));
  return false;
}

/* ( value -- ) */
static bool word_yield(vm_state *vm) {
  takes(vm, ".");
  if (!vm->generator) fail(vm, "yield outside of a generator");
  suspend(vm->generator, SUSPENDED);
  return false;
}

const primitive generator_words[] = {
    {"generator", word_generator}, {"next", word_next}, {"yield", word_yield}, {NULL, NULL}};
