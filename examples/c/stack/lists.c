/* lists.c: pairs, arrays, boxes, weak and soft references. */
#include "stack.h"

/* ---- Pairs and lists ---- */

/* ( first rest -- pair ) */
static bool word_cons(vm_state *vm) {
  takes(vm, "..");
  pair *fresh = MADE(vm, pair, al_alloc_raw(vm->mu, shapes.pair));
  al_init(&fresh->first, peek(vm, 1));
  al_init(&fresh->rest, peek(vm, 0));
  drop(vm, 2);
  push(vm, TAGGED(fresh, PAIR));
  return false;
}

static bool word_first(vm_state *vm) {
  takes(vm, "p");
  al_value of = pop(vm);
  push(vm, al_load(vm->mu, &AT(pair, of)->first));
  return false;
}
static bool word_rest(vm_state *vm) {
  takes(vm, "p");
  al_value of = pop(vm);
  push(vm, al_load(vm->mu, &AT(pair, of)->rest));
  return false;
}

/* ( pair value -- ) */
static bool word_set_first(vm_state *vm) {
  takes(vm, "p.");
  al_store(vm->mu, &AT(pair, peek(vm, 1))->first, peek(vm, 0));
  drop(vm, 2);
  return false;
}
static bool word_set_rest(vm_state *vm) {
  takes(vm, "p.");
  al_store(vm->mu, &AT(pair, peek(vm, 1))->rest, peek(vm, 0));
  drop(vm, 2);
  return false;
}

/* ( .. n -- list ) A list of the n values below. Room first; then nothing moves. */
static bool word_list(vm_state *vm) {
  takes(vm, "n");
  int64_t count = number_at(vm, 0);
  if (count < 0) fail(vm, "a list of fewer than no values");
  need(vm, (size_t)count + 1);
  size_t room = (size_t)count * al_bytes(shapes.pair, 0);
  if (al_room(vm->mu, room, NULL) != AL_OK) fail(vm, "no memory");
  AL_SPAN;
  drop(vm, 1);
  al_value list = AL_NULL;
  for (; count; count--) {
    pair *fresh = MADE(vm, pair, al_try_alloc_raw(vm->mu, shapes.pair));
    al_init(&fresh->first, pop(vm));
    al_init(&fresh->rest, list);
    list = TAGGED(fresh, PAIR);
  }
  push(vm, list);
  return false;
}

/* ---- Arrays ---- */

/* ( n value -- array ) */
static bool word_array(vm_state *vm) {
  takes(vm, "n.");
  int64_t length = number_at(vm, 1);
  if (length < 0) fail(vm, "a length below 0");
  array *fresh = MADE(vm, array, al_alloc_array(vm->mu, shapes.array, (size_t)length));
  al_fill(vm->mu, fresh->at, (size_t)length, peek(vm, 0));
  drop(vm, 2);
  push(vm, TAGGED(fresh, ARRAY));
  return false;
}

/* Whether `count` elements from `first` on are in an array. */
AL_NO_SAFEPOINT static void in_array(vm_state *vm, const array *of, int64_t first, int64_t count) {
  size_t length = al_length(of);
  if (first < 0 || count < 0 || (size_t)first > length || (size_t)count > length - (size_t)first) {
    fail(vm, "element %lld of %zu", (long long)first, length);
  }
}

/* ( array index -- value ) */
static bool word_at(vm_state *vm) {
  takes(vm, "an");
  array *of = AT(array, peek(vm, 1));
  int64_t index = number_at(vm, 0);
  in_array(vm, of, index, 1);
  drop(vm, 2);
  push(vm, al_load(vm->mu, &of->at[index]));
  return false;
}

/* ( array index value -- ) */
static bool word_put(vm_state *vm) {
  takes(vm, "an.");
  array *of = AT(array, peek(vm, 2));
  int64_t index = number_at(vm, 1);
  in_array(vm, of, index, 1);
  al_store(vm->mu, &of->at[index], peek(vm, 0));
  drop(vm, 3);
  return false;
}

/* ( array from to n -- ) Moves n elements within the array. */
static bool word_move(vm_state *vm) {
  takes(vm, "annn");
  array *of = AT(array, peek(vm, 3));
  int64_t from = number_at(vm, 2), to = number_at(vm, 1), count = number_at(vm, 0);
  in_array(vm, of, from, count);
  in_array(vm, of, to, count);
  al_copy(vm->mu, &of->at[to], &of->at[from], (size_t)count);
  drop(vm, 4);
  return false;
}

/* ( array n -- array ) A copy of another length. New elements are nil. */
static bool word_resized(vm_state *vm) {
  takes(vm, "an");
  int64_t length = number_at(vm, 0);
  if (length < 0) fail(vm, "a length below 0");
  array *fresh = MADE(vm, array, al_alloc_array(vm->mu, shapes.array, (size_t)length));
  const array *from = AT(array, peek(vm, 1));
  size_t count = al_length(from) < (size_t)length ? al_length(from) : (size_t)length;
  al_copy(vm->mu, fresh->at, from->at, count);
  drop(vm, 2);
  push(vm, TAGGED(fresh, ARRAY));
  return false;
}

/* ---- Boxes, which threads share ---- */

/* ( value -- box ) */
static bool word_box(vm_state *vm) {
  takes(vm, ".");
  box *fresh = MADE(vm, box, al_alloc(vm->mu, shapes.box));
  al_init(&fresh->held, peek(vm, 0));
  drop(vm, 1);
  push(vm, TAGGED(fresh, BOX));
  return false;
}
static bool word_get(vm_state *vm) {
  takes(vm, "b");
  al_value of = pop(vm);
  push(vm, al_load(vm->mu, &AT(box, of)->held));
  return false;
}

/* ( value box -- ) */
static bool word_set(vm_state *vm) {
  takes(vm, ".b");
  al_store(vm->mu, &AT(box, peek(vm, 0))->held, peek(vm, 1));
  drop(vm, 2);
  return false;
}

/* ( box old new -- flag ) */
static bool word_cas(vm_state *vm) {
  takes(vm, "b..");
  al_value expected = peek(vm, 1);
  bool done = al_cas(vm->mu, &AT(box, peek(vm, 2))->held, &expected, peek(vm, 0));
  drop(vm, 3);
  push(vm, al_immediate(done));
  return false;
}

/* ---- Weak references: a collection clears them. Soft ones: a full heap does. ---- */

/* ( value -- weak ) */
static bool word_weak(vm_state *vm) {
  takes(vm, ".");
  box *fresh = MADE(vm, box, al_alloc(vm->mu, shapes.weak));
  al_init(&fresh->held, peek(vm, 0));
  drop(vm, 1);
  push(vm, TAGGED(fresh, WEAK));
  return false;
}

/* ( weak -- value ) nil: it is dead. */
static bool word_strong(vm_state *vm) {
  takes(vm, "w");
  al_value of = pop(vm);
  push(vm, al_load_weak(vm->mu, &AT(box, of)->held));
  return false;
}

/* ( value -- number ) Keeps a value until the heap is full, or the place is needed. */
static bool word_soft(vm_state *vm) {
  takes(vm, ".");
  machine *m = &the_machine;
  al_handle *handle = al_handle_new(vm->mu, peek(vm, 0));
  pthread_mutex_lock(&m->lock);
  size_t place = m->soft_next++ % SOFT;
  al_handle *old = m->soft[place];
  m->soft[place] = handle;
  pthread_mutex_unlock(&m->lock);
  al_handle_free(old);
  drop(vm, 1);
  push(vm, al_immediate((int64_t)place));
  return false;
}

/* ( number -- value ) nil: it was given up. */
static bool word_kept(vm_state *vm) {
  takes(vm, "n");
  machine *m = &the_machine;
  size_t place = (size_t)al_number(pop(vm)) % SOFT;
  pthread_mutex_lock(&m->lock);
  al_handle *handle = m->soft[place];
  al_value value = handle ? al_handle_get(vm->mu, handle) : AL_NULL;
  pthread_mutex_unlock(&m->lock);
  push(vm, value);
  return false;
}

const primitive list_words[] = {
    {"cons", word_cons},           {"first", word_first},       {"rest", word_rest},
    {"set-first", word_set_first}, {"set-rest", word_set_rest}, {"list", word_list},
    {"array", word_array},         {"at", word_at},             {"put", word_put},
    {"move", word_move},           {"resized", word_resized},   {"box", word_box},
    {"@", word_get},               {"!", word_set},             {"cas", word_cas},
    {"weak", word_weak},           {"strong", word_strong},     {"soft", word_soft},
    {"kept", word_kept},           {NULL, NULL}};
