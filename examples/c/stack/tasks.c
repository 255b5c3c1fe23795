/* tasks.c: threads of the program's. Values go to a thread and back in handles, which any thread
 * may free. A thread that waits for another is blocked: no stop waits for it. */
#include "stack.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 2000 };

typedef struct task {
  struct task *next; /* of the machine's tasks */
  pthread_t thread;
  al_handle *body, *result, *parameter;
  al_pin *pin; /* of a text to write, instead of a body */
  bool failed, joined;
  char error[256];
} task;

AL_SAFEPOINT static void run_task(vm_state *vm, void *data) {
  task *own = data;
  push(vm, al_handle_get(vm->mu, own->body));
  call_top(vm);
  al_handle_set(vm->mu, own->result, vm->count ? peek(vm, 0) : AL_NULL);
}

static void *start(void *argument) {
  task *own = argument;
  vm_state vm = {.parameter = own->parameter, .most_depth = MOST_DEPTH};
  al_error error = {.size = sizeof error};
  al_code code = al_attach(the_machine.heap, &vm.mu, &error);
  if (code != AL_OK) {
    own->failed = true;
    snprintf(own->error, sizeof own->error, "%.200s", error.text);
    return NULL;
  }
  running = &vm;
  own->failed = !with_stack(&vm, run_task, own);
  memcpy(own->error, vm.error, sizeof vm.error);
  al_detach(vm.mu);
  running = NULL;
  return NULL;
}

/* A thread that is not attached. It has a pin, so it may read the text, and free the pin. */
static void *start_post(void *argument) {
  task *own = argument;
  const text *from = al_pin_address(own->pin);
  own->failed = !write_all(from->bytes, al_length(from));
  snprintf(own->error, sizeof own->error, "the output is closed");
  al_pin_free(own->pin);
  own->pin = NULL;
  return NULL;
}

/* An object for a new task, which begins with `run_it`. Takes a value from the stack. */
AL_NO_SAFEPOINT static void begin(vm_state *vm, native *object, task *fresh,
                                  void *(*run_it)(void *)) {
  machine *m = &the_machine;
  object->of = fresh;
  drop(vm, 1);
  push(vm, TAGGED(object, TASK));
  pthread_mutex_lock(&m->lock);
  fresh->next = m->tasks;
  m->tasks = fresh;
  pthread_mutex_unlock(&m->lock);
  if (pthread_create(&fresh->thread, NULL, run_it, fresh)) {
    fresh->failed = fresh->joined = true;
    fail(vm, "the system refused a thread");
  }
}

/* ( body -- task ) The task has the parameter of its maker. */
static bool word_spawn(vm_state *vm) {
  takes(vm, "c");
  native *object = MADE(vm, native, al_alloc(vm->mu, shapes.native));
  task *fresh = calloc(1, sizeof *fresh);
  if (!fresh) fail(vm, "no memory for a task");
  fresh->body = al_handle_new(vm->mu, peek(vm, 0));
  fresh->result = al_handle_new(vm->mu, AL_NULL);
  fresh->parameter = al_handle_copy(vm->parameter);
  begin(vm, object, fresh, start);
  return false;
}

/* ( text -- task ) Writes a text while this thread goes on. */
static bool word_post(vm_state *vm) {
  takes(vm, "t");
  native *object = MADE(vm, native, al_alloc(vm->mu, shapes.native));
  task *fresh = calloc(1, sizeof *fresh);
  if (!fresh) fail(vm, "no memory for a task");
  fresh->pin = al_pin_new(vm->mu, al_addr(peek(vm, 0)));
  begin(vm, object, fresh, start_post);
  return false;
}

AL_SAFEPOINT static void wait_for(vm_state *vm, task *other) {
  al_block_enter(vm->mu);
  pthread_join(other->thread, NULL);
  al_block_leave(vm->mu);
}

/* ( task -- value ) The value that the task left on top of its stack. */
static bool word_join(vm_state *vm) {
  takes(vm, "k");
  task *other = AT(native, peek(vm, 0))->of;
  if (__atomic_exchange_n(&other->joined, true, __ATOMIC_ACQ_REL)) fail(vm, "the task was joined");
  drop(vm, 1);
  wait_for(vm, other);
  if (other->failed) fail(vm, "the task failed: %s", other->error);
  push(vm, other->result ? al_handle_get(vm->mu, other->result) : AL_NULL);
  return false;
}

/* Waits for all tasks, and frees them. */
void join_all(vm_state *vm) {
  machine *m = &the_machine;
  for (;;) {
    pthread_mutex_lock(&m->lock);
    task *last = m->tasks;
    if (last) m->tasks = last->next;
    pthread_mutex_unlock(&m->lock);
    if (!last) return;
    if (!last->joined) wait_for(vm, last);
    al_handle_free(last->body);
    al_handle_free(last->result);
    al_handle_free(last->parameter);
    al_pin_free(last->pin);
    free(last);
  }
}

/* The variable of the thread. */
static bool word_parameter(vm_state *vm) {
  push(vm, al_handle_get(vm->mu, vm->parameter));
  return false;
}
static bool word_set_parameter(vm_state *vm) {
  takes(vm, ".");
  al_handle_set(vm->mu, vm->parameter, peek(vm, 0));
  drop(vm, 1);
  return false;
}

const primitive thread_words[] = {{"spawn", word_spawn},
                                  {"post", word_post},
                                  {"join", word_join},
                                  {"parameter", word_parameter},
                                  {"set-parameter", word_set_parameter},
                                  {NULL, NULL}};
