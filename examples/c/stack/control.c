/* control.c: words that move values about the stack, decide, repeat, and handle errors; numbers. */
#include "stack.h"

/* ---- The stack ---- */

static bool word_dup(vm_state *vm) {
  takes(vm, ".");
  push(vm, peek(vm, 0));
  return false;
}
static bool word_drop(vm_state *vm) {
  takes(vm, ".");
  drop(vm, 1);
  return false;
}
static bool word_swap(vm_state *vm) {
  takes(vm, "..");
  al_value top = pop(vm), below = pop(vm);
  push(vm, top);
  push(vm, below);
  return false;
}
static bool word_over(vm_state *vm) {
  takes(vm, "..");
  push(vm, peek(vm, 1));
  return false;
}
static bool word_nil(vm_state *vm) {
  push(vm, AL_NULL);
  return false;
}
static bool word_depth(vm_state *vm) {
  push(vm, al_immediate((int64_t)vm->count));
  return false;
}

/* ---- Control ---- */

AL_NO_SAFEPOINT static bool is_true(al_value value) {
  return !al_is_null(value) && !al_same(value, al_immediate(0));
}

static bool word_call(vm_state *vm) {
  takes(vm, "c");
  return true;
}

/* ( condition then else -- .. ) */
static bool word_if(vm_state *vm) {
  takes(vm, ".cc");
  al_value chosen = is_true(peek(vm, 2)) ? peek(vm, 1) : peek(vm, 0);
  drop(vm, 3);
  push(vm, chosen);
  return true;
}

/* ( condition body -- .. ) */
static bool word_while(vm_state *vm) {
  takes(vm, "cc");
  AL_LOCALS(vm->mu, L, condition, body);
  L.body = pop(vm);
  L.condition = pop(vm);
  for (;;) {
    run(vm, L.condition);
    if (!is_true(pop(vm))) return false;
    run(vm, L.body);
  }
}

/* ( n body -- .. ) The body gets the numbers from 0 on. */
static bool word_times(vm_state *vm) {
  takes(vm, "nc");
  AL_LOCALS(vm->mu, L, body);
  L.body = pop(vm);
  int64_t count = al_number(pop(vm));
  for (int64_t i = 0; i < count; i++) {
    push(vm, al_immediate(i));
    run(vm, L.body);
  }
  return false;
}

/* ( list body -- .. ) The body gets each element. */
static bool word_each(vm_state *vm) {
  takes(vm, ".c");
  AL_LOCALS(vm->mu, L, body, at);
  L.body = pop(vm);
  L.at = pop(vm);
  while (!al_is_null(L.at)) {
    if (kind_of(L.at) != PAIR) fail(vm, "each: not a list");
    pair *here = AT(pair, L.at);
    push(vm, al_load(vm->mu, &here->first));
    L.at = al_load(vm->mu, &here->rest);
    run(vm, L.body);
  }
  return false;
}

/* ---- Errors ---- */

/* Leaves the last error on the stack: the value that was thrown, or a text. */
void error_value(vm_state *vm) {
  if (vm->has_value) {
    push(vm, *vm->thrown);
    return;
  }
  size_t length = 0;
  while (vm->error[length]) length++;
  al_value message = new_text(vm, vm->error, length);
  push(vm, message);
}

/* ( value -- ) */
static bool word_throw(vm_state *vm) {
  takes(vm, ".");
  *vm->thrown = pop(vm);
  vm->has_value = true;
  fail_again(vm);
}

AL_SAFEPOINT static void run_body(vm_state *vm, void *data) {
  (void)data;
  call_top(vm);
}

/* ( body handler -- .. ) After an error the stack is cut to its height before the body, and the
 * handler gets the error. */
static bool word_try(vm_state *vm) {
  takes(vm, "cc");
  AL_LOCALS(vm->mu, L, handler);
  L.handler = pop(vm);
  size_t height = vm->count - 1;
  if (guarded(vm, run_body, NULL)) return false;
  if (vm->count > height) drop(vm, vm->count - height);
  error_value(vm);
  run(vm, L.handler);
  return false;
}

/* ---- Numbers: 63 bits, and they wrap ---- */

#define NUMBERS(name, result)                                  \
  static bool name(vm_state *vm) {                             \
    takes(vm, "nn");                                           \
    int64_t a = number_at(vm, 1), b = number_at(vm, 0);        \
    drop(vm, 2);                                               \
    push(vm, al_immediate(result));                            \
    return false;                                              \
  }
NUMBERS(word_add, (int64_t)((uint64_t)a + (uint64_t)b))
NUMBERS(word_subtract, (int64_t)((uint64_t)a - (uint64_t)b))
NUMBERS(word_multiply, (int64_t)((uint64_t)a * (uint64_t)b))
NUMBERS(word_less, a < b)
NUMBERS(word_and, a & b)
NUMBERS(word_or, a | b)
NUMBERS(word_xor, a ^ b)

AL_NO_SAFEPOINT static int64_t divisor(vm_state *vm) {
  takes(vm, "nn");
  int64_t number = number_at(vm, 0);
  if (!number) fail(vm, "division by zero");
  return number;
}
static bool word_divide(vm_state *vm) {
  int64_t by = divisor(vm), number = number_at(vm, 1) / by;
  drop(vm, 2);
  push(vm, al_immediate(number));
  return false;
}
static bool word_rest(vm_state *vm) {
  int64_t by = divisor(vm), number = number_at(vm, 1) % by;
  drop(vm, 2);
  push(vm, al_immediate(number));
  return false;
}
static bool word_not(vm_state *vm) {
  takes(vm, ".");
  bool was = is_true(pop(vm));
  push(vm, al_immediate(!was));
  return false;
}

/* ( a b -- flag ) The same number or object. */
static bool word_same(vm_state *vm) {
  takes(vm, "..");
  bool same = al_same(peek(vm, 0), peek(vm, 1));
  drop(vm, 2);
  push(vm, al_immediate(same));
  return false;
}

const primitive control_words[] = {
    {"dup", word_dup},   {"drop", word_drop},   {"swap", word_swap},   {"over", word_over},
    {"nil", word_nil},   {"depth", word_depth}, {"call", word_call},   {"if", word_if},
    {"while", word_while}, {"times", word_times}, {"each", word_each}, {"throw", word_throw},
    {"try", word_try},   {NULL, NULL}};
const primitive number_words[] = {
    {"+", word_add}, {"-", word_subtract}, {"*", word_multiply}, {"<", word_less},
    {"and", word_and}, {"or", word_or}, {"xor", word_xor}, {"/", word_divide}, {"mod", word_rest},
    {"not", word_not}, {"=", word_same}, {NULL, NULL}};
