/* Each inline of the header in a function of its own, so that compilers see all of them used, and
 * the test of instructions finds them. */
#include <allotment.h>

typedef struct {
  uint64_t header;
  al_slot car, cdr;
} pair;

/* A shape whose numbers the compiler knows. */
static const al_shape CONSTANT = {0x40000100, 24, 0};

void *use_alloc(al_mutator *mu);
void *use_alloc_raw(al_mutator *mu);
void *use_alloc_array(al_mutator *mu, al_shape shape, size_t length);
void *use_alloc_array_raw(al_mutator *mu, al_shape shape, size_t length);
void *use_try_alloc(al_mutator *mu);
void *use_try_alloc_raw(al_mutator *mu);
void *use_try_alloc_array(al_mutator *mu, al_shape shape, size_t length);
void *use_try_alloc_array_raw(al_mutator *mu, al_shape shape, size_t length);
al_value use_load(al_mutator *mu, const pair *from);
al_value use_load_weak(al_mutator *mu, const pair *from);
bool use_weak_live(al_mutator *mu, const pair *from);
void use_store(al_mutator *mu, pair *to, al_value value);
void use_init(pair *to, al_value value);
bool use_cas(al_mutator *mu, pair *to, al_value *expected, al_value value);
void use_copy(al_mutator *mu, pair *to, const pair *from, size_t count);
void use_fill(al_mutator *mu, pair *to, size_t count, al_value value);
void use_poll(al_mutator *mu);
size_t use_walk(al_mutator *mu, al_value list);
size_t use_words(void *object, al_value one, al_value other);
al_code use_heap(al_heap **heap, al_error *error);
void use_frame(al_mutator *mu);
void use_stack(al_mutator *mu, al_value *stack, size_t count);
void other_function(al_value *one, al_value *other);

void *use_alloc(al_mutator *mu) { return al_alloc(mu, CONSTANT); }
void *use_alloc_raw(al_mutator *mu) { return al_alloc_raw(mu, CONSTANT); }
void *use_alloc_array(al_mutator *mu, al_shape shape, size_t length) {
  return al_alloc_array(mu, shape, length);
}
void *use_alloc_array_raw(al_mutator *mu, al_shape shape, size_t length) {
  return al_alloc_array_raw(mu, shape, length);
}
void *use_try_alloc(al_mutator *mu) { return al_try_alloc(mu, CONSTANT); }
void *use_try_alloc_raw(al_mutator *mu) { return al_try_alloc_raw(mu, CONSTANT); }
void *use_try_alloc_array(al_mutator *mu, al_shape shape, size_t length) {
  return al_try_alloc_array(mu, shape, length);
}
void *use_try_alloc_array_raw(al_mutator *mu, al_shape shape, size_t length) {
  return al_try_alloc_array_raw(mu, shape, length);
}
al_value use_load(al_mutator *mu, const pair *from) { return al_load(mu, &from->car); }
al_value use_load_weak(al_mutator *mu, const pair *from) { return al_load_weak(mu, &from->car); }
bool use_weak_live(al_mutator *mu, const pair *from) { return al_weak_live(mu, &from->car); }
void use_store(al_mutator *mu, pair *to, al_value value) { al_store(mu, &to->car, value); }
void use_init(pair *to, al_value value) {
  al_init(&to->car, value);
  al_init(&to->cdr, value);
}
bool use_cas(al_mutator *mu, pair *to, al_value *expected, al_value value) {
  return al_cas(mu, &to->car, expected, value);
}
void use_copy(al_mutator *mu, pair *to, const pair *from, size_t count) {
  al_copy(mu, &to->car, &from->car, count);
}
void use_fill(al_mutator *mu, pair *to, size_t count, al_value value) {
  al_fill(mu, &to->car, count, value);
}
void use_poll(al_mutator *mu) { al_poll(mu); }
size_t use_walk(al_mutator *mu, al_value list) {
  size_t count = 0;
  for (; !al_is_null(list); list = al_load(mu, &((const pair *)al_addr(list))->cdr)) count++;
  return count;
}
size_t use_words(void *object, al_value one, al_value other) {
  al_value tagged = al_with_tag(al_ref(object), al_tag(one));
  al_value number = al_immediate(al_number(other));
  al_value word = al_from_word(al_to_word(number));
  return al_length(object) + (size_t)al_is_ref(tagged) + (size_t)al_same(word, one);
}
al_code use_heap(al_heap **heap, al_error *error) { return al_heap_new(NULL, heap, error); }
#ifndef __cplusplus
void use_frame(al_mutator *mu) {
  AL_LOCALS(mu, L, one, other);
  other_function(&L.one, &L.other);
}
void use_stack(al_mutator *mu, al_value *stack, size_t count) {
  AL_WORDS(mu, S, stack, count);
  al_words_set(&S, stack, count + 1);
  AL_PINNED(mu, pin, al_addr(stack[0]));
  AL_SPAN;
  {
    AL_SPAN;
    other_function(stack, (al_value *)al_pin_address(pin));
  }
  al_frame_mark mark = al_frames(mu);
  al_frames_reset(mu, mark);
}
#else
void use_frame(al_mutator *mu) {
  al::Locals<2> locals(mu);
  other_function(&locals[0], &locals[1]);
}
void use_stack(al_mutator *mu, al_value *stack, size_t count) {
  al::Handle handle(mu, stack[count]);
  al::Handle copy(handle);
  copy = handle;
  handle.set(mu, copy.get(mu));
  al::Pin pin(mu, al_addr(handle.get(mu)));
  al::Blocked blocked(mu);
  other_function(stack, static_cast<al_value *>(pin.address()));
}
size_t use_attachment(al_heap *heap, al_shape shape, al_error *error);
size_t use_attachment(al_heap *heap, al_shape shape, al_error *error) {
  al::Attachment thread(heap, error);
  if (thread.code() != AL_OK) return 0;
  struct vector {
    uint64_t header;
    size_t length;
  };
  auto *made = static_cast<vector *>(al_alloc_array(thread, shape, 2));
  al_store(thread, &al::tail<al_slot>(made)[1], al_ref(made));
  return made->length;
}
#endif
