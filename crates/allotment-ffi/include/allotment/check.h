/* allotment/check.h: the checks of -DAL_CHECK. Included by allotment.h.
 *
 * Each call of allotment.h becomes a macro that knows its place. A value carries the number of the
 * thread's [S] calls before it was read. Its use after another [S] ends the process with a line
 * that names both places, even if nothing moved. All files of a program are compiled with AL_CHECK,
 * or none is. */
#ifndef ALLOTMENT_CHECK_H
#define ALLOTMENT_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's number of [S] calls, and of AL_SPANs that it is in. */
typedef struct al_check_thread {
  uintptr_t calls;
  uintptr_t spans;
} al_check_thread;
al_check_thread *al_check_current(void);

__attribute__((noreturn)) void al_check_stale(const char *use, const al_place *read,
                                              const al_place *here);
__attribute__((noreturn)) void al_check_span(const char *use, const al_place *here);
__attribute__((noreturn)) void al_check_unchecked(const al_place *here);
void al_check_frame(al_mutator *mu, const al_frame *frame, const al_value *values, size_t words,
                    const al_place *here);
void al_check_words(al_mutator *mu, const al_frame *frame, const al_value *values, size_t words,
                    const al_place *here);
void al_check_object(al_mutator *mu, const void *object, const al_place *here);
void al_check_slot(al_mutator *mu, const al_slot *slot, size_t count, const al_place *here);
void al_check_shape(al_mutator *mu, const al_shape *shape, bool tail, const al_place *here);
void al_check_made(const void *thing, const char *what, const al_place *here);
void al_check_freed(const void *thing, const char *what, const al_place *here);
void al_check_used(const void *thing, const char *what, const al_place *here);
void al_check_left(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#define AL_HERE_                                                 \
  __extension__({                                                \
    static const al_place here_ = {__FILE__, (size_t)__LINE__};  \
    &here_;                                                      \
  })

AL_HOT_ uintptr_t al_now_(void) { return al_check_current()->calls << 1 | 1; }

/* A value that was read here and now. */
AL_HOT_ al_value al_seen_(al_word word, const al_place *here) {
  al_value value;
  value.bits_ = word;
  value.stamp_ = al_now_();
  value.place_ = (uintptr_t)here | 1;
  return value;
}

/* The word of a value that was read since the last [S]. */
AL_HOT_ al_word al_fresh_(al_value value, const char *use, const al_place *here) {
  if ((al_is_ref)(value.bits_) && value.stamp_ != al_now_()) {
    al_check_stale(use, (const al_place *)(value.place_ & ~(uintptr_t)1), here);
  }
  return value.bits_;
}

/* The frame of an entry, which a file with AL_CHECK has linked. */
AL_HOT_ al_frame *al_frame_at_(uintptr_t entry, const al_place *here) {
  al_frame *frame = (al_frame *)(entry & ~(uintptr_t)3);
  if (!((uintptr_t)frame->mutator & AL_CHECKED_)) al_check_unchecked(here);
  return frame;
}

/* Gives the values of all frames the current number. */
AL_HOT_ void al_restamp_(al_mutator *mu, const al_place *here) {
  uintptr_t now = al_now_();
  for (uintptr_t entry = mu->links; entry & AL_RANGE_BIT;) {
    al_frame *frame = al_frame_at_(entry, here);
    for (size_t i = 0; i < frame->count / AL_COUNT_(1); i++) frame->values[i].stamp_ = now;
    entry = frame->below;
  }
}

/* Before an [S] call: no AL_SPAN is open, and the values of all frames have the current number. If
 * not, a frame was given an old one. */
AL_HOT_ void al_enter_(al_mutator *mu, const char *use, const al_place *here) {
  if (al_check_current()->spans) al_check_span(use, here);
  for (uintptr_t entry = mu->links; entry & AL_RANGE_BIT;) {
    al_frame *frame = al_frame_at_(entry, here);
    for (size_t i = 0; i < frame->count / AL_COUNT_(1); i++) al_fresh_(frame->values[i], use, here);
    entry = frame->below;
  }
}

/* After an [S] call. */
AL_HOT_ void al_passed_(al_mutator *mu, const al_place *here) {
  al_check_current()->calls++;
  al_restamp_(mu, here);
}

/* Allocations. Raw memory holds words that are no references of this heap, so the verifier finds
 * slots that were not written. */
AL_HOT_ void al_spoil_(void *object, size_t bytes, size_t from) {
  for (size_t at = from / sizeof(al_word); at < bytes / sizeof(al_word); at++) {
    ((al_word *)object)[at] = 0xFEFEFEFEFEFEFEF8u;
  }
}
AL_HOT_ void *al_checked_alloc_(al_mutator *mu, al_shape shape, bool raw, const al_place *here) {
  al_enter_(mu, "al_alloc", here);
  al_check_shape(mu, &shape, false, here);
  void *object = raw ? al_alloc_raw(mu, shape) : al_alloc(mu, shape);
  if (raw && object) al_spoil_(object, shape.fixed, AL_HEADER_BYTES);
  al_passed_(mu, here);
  return object;
}
AL_HOT_ void *al_checked_array_(al_mutator *mu, al_shape shape, size_t length, bool raw,
                                const al_place *here) {
  al_enter_(mu, "al_alloc_array", here);
  al_check_shape(mu, &shape, true, here);
  void *object = raw ? al_alloc_array_raw(mu, shape, length) : al_alloc_array(mu, shape, length);
  if (raw && object) {
    al_spoil_(object, shape.fixed + length * shape.element, AL_LENGTH_OFFSET + AL_WORD_BYTES);
  }
  al_passed_(mu, here);
  return object;
}
AL_HOT_ void *al_checked_try_(al_mutator *mu, al_shape shape, bool raw, const al_place *here) {
  al_check_shape(mu, &shape, false, here);
  void *object = raw ? al_try_alloc_raw(mu, shape) : al_try_alloc(mu, shape);
  if (raw && object) al_spoil_(object, shape.fixed, AL_HEADER_BYTES);
  return object;
}
AL_HOT_ void *al_checked_try_array_(al_mutator *mu, al_shape shape, size_t length, bool raw,
                                    const al_place *here) {
  al_check_shape(mu, &shape, true, here);
  void *object =
      raw ? al_try_alloc_array_raw(mu, shape, length) : al_try_alloc_array(mu, shape, length);
  if (raw && object) {
    al_spoil_(object, shape.fixed + length * shape.element, AL_LENGTH_OFFSET + AL_WORD_BYTES);
  }
  return object;
}
#define al_alloc(mu, shape) al_checked_alloc_((mu), (shape), false, AL_HERE_)
#define al_alloc_raw(mu, shape) al_checked_alloc_((mu), (shape), true, AL_HERE_)
#define al_alloc_array(mu, shape, length) \
  al_checked_array_((mu), (shape), (length), false, AL_HERE_)
#define al_alloc_array_raw(mu, shape, length) \
  al_checked_array_((mu), (shape), (length), true, AL_HERE_)
#define al_try_alloc(mu, shape) al_checked_try_((mu), (shape), false, AL_HERE_)
#define al_try_alloc_raw(mu, shape) al_checked_try_((mu), (shape), true, AL_HERE_)
#define al_try_alloc_array(mu, shape, length) \
  al_checked_try_array_((mu), (shape), (length), false, AL_HERE_)
#define al_try_alloc_array_raw(mu, shape, length) \
  al_checked_try_array_((mu), (shape), (length), true, AL_HERE_)

/* Other [S] calls. No address from before an attachment is good after it. */
AL_HOT_ al_code al_checked_attach_(al_heap *heap, al_mutator **mutator, al_error *error) {
  al_code code = al_attach(heap, mutator, error);
  if (!code) al_check_current()->calls++;
  return code;
}
AL_HOT_ void al_checked_detach_(al_mutator *mu, const al_place *here) {
  if (mu && mu == al_current()) al_enter_(mu, "al_detach", here);
  al_detach(mu);
  al_check_current()->calls++;
}
AL_HOT_ al_code al_checked_room_(al_mutator *mu, size_t bytes, al_error *error,
                                 const al_place *here) {
  al_enter_(mu, "al_room", here);
  al_code code = al_room(mu, bytes, error);
  al_passed_(mu, here);
  return code;
}
AL_HOT_ void al_checked_poll_(al_mutator *mu, const al_place *here) {
  al_enter_(mu, "al_poll", here);
  al_poll(mu);
  al_passed_(mu, here);
}
AL_HOT_ bool al_checked_collect_(al_mutator *mu, const al_place *here) {
  al_enter_(mu, "al_collect", here);
  bool collected = al_collect(mu);
  al_passed_(mu, here);
  return collected;
}
AL_HOT_ void al_checked_block_(al_mutator *mu, const al_place *here) {
  al_enter_(mu, "al_block_enter", here);
  al_passed_(mu, here); /* before it: later the list of frames is out of reach */
  al_block_enter(mu);
}
AL_HOT_ al_code al_checked_stop_(al_heap *heap, al_stop_function *stopped, void *data,
                                 al_error *error, const al_place *here) {
  al_mutator *mu = al_current();
  if (mu) al_enter_(mu, "al_stop", here);
  al_code code = al_stop(heap, stopped, data, error);
  if (mu && mu->links != AL_BLOCKED_LINKS) al_passed_(mu, here);
  return code;
}
AL_HOT_ al_code al_checked_snapshot_(al_heap *heap, int fd, al_snapshot_format format,
                                     al_error *error, const al_place *here) {
  al_mutator *mu = al_current();
  if (mu) al_enter_(mu, "al_snapshot", here);
  al_code code = al_snapshot(heap, fd, format, error);
  if (mu && mu->links != AL_BLOCKED_LINKS) al_passed_(mu, here);
  return code;
}
AL_HOT_ al_code al_checked_census_(al_heap *heap, bool retained,
                                   void (*each)(void *data, const al_census_row *row), void *data,
                                   al_error *error, const al_place *here) {
  al_mutator *mu = al_current();
  if (mu) al_enter_(mu, "al_census", here);
  al_code code = al_census(heap, retained, each, data, error);
  if (mu && mu->links != AL_BLOCKED_LINKS) al_passed_(mu, here);
  return code;
}
#define al_snapshot(heap, fd, format, error) \
  al_checked_snapshot_((heap), (fd), (format), (error), AL_HERE_)
#define al_census(heap, retained, each, data, error) \
  al_checked_census_((heap), (retained), (each), (data), (error), AL_HERE_)
#define al_attach(heap, mutator, error) al_checked_attach_((heap), (mutator), (error))
#define al_detach(mu) al_checked_detach_((mu), AL_HERE_)
#define al_room(mu, bytes, error) al_checked_room_((mu), (bytes), (error), AL_HERE_)
#define al_poll(mu) al_checked_poll_((mu), AL_HERE_)
#define al_collect(mu) al_checked_collect_((mu), AL_HERE_)
#define al_block_enter(mu) al_checked_block_((mu), AL_HERE_)
#define al_stop(heap, stopped, data, error) \
  al_checked_stop_((heap), (stopped), (data), (error), AL_HERE_)

/* Words. */
AL_HOT_ al_value al_checked_ref_(const void *object, const al_place *here) {
  if (object) al_check_object(al_current(), object, here);
  return al_seen_((al_ref)(object), here);
}
AL_HOT_ al_value al_retagged_(al_value value, uint64_t tag) {
  value.bits_ = (al_with_tag)(value.bits_, tag);
  return value;
}
#define al_addr(value) (al_addr)(al_fresh_((value), "al_addr", AL_HERE_))
#define al_ref(object) al_checked_ref_((object), AL_HERE_)
#define al_is_ref(value) (al_is_ref)((value).bits_)
#define al_is_null(value) (al_is_null)((value).bits_)
#define al_same(one, other) \
  (al_same)(al_fresh_((one), "al_same", AL_HERE_), al_fresh_((other), "al_same", AL_HERE_))
#define al_tag(value) (al_tag)((value).bits_)
#define al_with_tag(value, tag) al_retagged_((value), (tag))
#define al_immediate(number) al_seen_((al_immediate)(number), AL_HERE_)
#define al_number(value) (al_number)((value).bits_)
#define al_to_word(value) al_fresh_((value), "al_to_word", AL_HERE_)
#define al_from_word(word) al_seen_((word), AL_HERE_)

/* Slots. */
AL_HOT_ al_value al_checked_load_(al_mutator *mu, const al_slot *slot, const al_place *here) {
  al_check_slot(mu, slot, 1, here);
  return al_seen_(al_load(mu, slot), here);
}
AL_HOT_ al_value al_checked_load_weak_(al_mutator *mu, const al_slot *slot, const al_place *here) {
  al_check_slot(mu, slot, 1, here);
  return al_seen_(al_load_weak(mu, slot), here);
}
AL_HOT_ bool al_checked_live_(al_mutator *mu, const al_slot *slot, const al_place *here) {
  al_check_slot(mu, slot, 1, here);
  return al_weak_live(mu, slot);
}
AL_HOT_ void al_checked_store_(al_mutator *mu, al_slot *slot, al_value value,
                               const al_place *here) {
  al_check_slot(mu, slot, 1, here);
  al_store(mu, slot, al_fresh_(value, "al_store", here));
}
AL_HOT_ void al_checked_init_(al_slot *slot, al_value value, const al_place *here) {
  al_check_slot(al_current(), slot, 1, here);
  al_init(slot, al_fresh_(value, "al_init", here));
}
AL_HOT_ void al_checked_copy_(al_mutator *mu, al_slot *to, const al_slot *from, size_t count,
                              const al_place *here) {
  al_check_slot(mu, to, count, here);
  al_check_slot(mu, from, count, here);
  al_copy(mu, to, from, count);
}
AL_HOT_ void al_checked_fill_(al_mutator *mu, al_slot *to, size_t count, al_value value,
                              const al_place *here) {
  al_check_slot(mu, to, count, here);
  al_fill(mu, to, count, al_fresh_(value, "al_fill", here));
}
AL_HOT_ bool al_checked_cas_(al_mutator *mu, al_slot *slot, al_value *expected, al_value value,
                             const al_place *here) {
  al_check_slot(mu, slot, 1, here);
  al_word held = al_fresh_(*expected, "al_cas", here);
  bool done = al_cas(mu, slot, &held, al_fresh_(value, "al_cas", here));
  if (!done) *expected = al_seen_(held, here);
  return done;
}
#define al_load(mu, slot) al_checked_load_((mu), (slot), AL_HERE_)
#define al_load_weak(mu, slot) al_checked_load_weak_((mu), (slot), AL_HERE_)
#define al_weak_live(mu, slot) al_checked_live_((mu), (slot), AL_HERE_)
#define al_store(mu, slot, value) al_checked_store_((mu), (slot), (value), AL_HERE_)
#define al_init(slot, value) al_checked_init_((slot), (value), AL_HERE_)
#define al_cas(mu, slot, expected, value) \
  al_checked_cas_((mu), (slot), (expected), (value), AL_HERE_)
#define al_copy(mu, to, from, count) al_checked_copy_((mu), (to), (from), (count), AL_HERE_)
#define al_fill(mu, to, count, value) al_checked_fill_((mu), (to), (count), (value), AL_HERE_)

/* Frames. No two of them have the same word, and none is linked twice or while the thread blocks. */
AL_HOT_ uintptr_t al_links_(al_mutator *mu, const al_place *here) {
  al_check_frame(mu, NULL, NULL, 0, here);
  return mu->links;
}
#define AL_LINKS_(mu) al_links_((mu), AL_HERE_)
AL_HOT_ void al_checked_link_(al_mutator *mu, al_frame *frame, al_value *values, size_t count,
                              const al_place *here) {
  al_check_frame(mu, frame, values, AL_COUNT_(count), here);
  al_link(mu, frame, values, count);
}
AL_HOT_ void al_checked_words_(al_frame *frame, al_value *values, size_t count,
                               const al_place *here) {
  al_check_words(AL_OWNER_OF_(frame), frame, values, AL_COUNT_(count), here);
  al_words_set(frame, values, count);
}
/* A jump leaves each AL_SPAN without its end, so none is open after it. */
AL_HOT_ void al_checked_reset_(al_mutator *mu, al_frame_mark mark, const al_place *here) {
  al_check_frame(mu, NULL, NULL, 0, here);
  al_frames_reset(mu, mark);
  al_check_current()->spans = 0;
  al_restamp_(mu, here);
}
#define al_link(mu, frame, values, count) \
  al_checked_link_((mu), (frame), (values), (count), AL_HERE_)
#define al_words_set(frame, values, count) \
  al_checked_words_((frame), (values), (count), AL_HERE_)
#define al_frames_reset(mu, mark) al_checked_reset_((mu), (mark), AL_HERE_)

#ifndef __cplusplus
#undef AL_WORDS
#define AL_WORDS(mu_, S, pointer, n)                               \
  AL_FRAME_OF_(mu_, S, pointer, n);                                \
  al_check_frame((mu_), &S, S.values, S.count, AL_HERE_);          \
  (mu_)->links = (uintptr_t)&S + AL_RANGE_BIT
#endif

/* Handles and pins. */
AL_HOT_ al_handle *al_made_(al_handle *handle, const al_place *here) {
  al_check_made(handle, "handle", here);
  return handle;
}
AL_HOT_ const al_handle *al_handle_(const al_handle *handle, const al_place *here) {
  al_check_used(handle, "handle", here);
  return handle;
}
AL_HOT_ al_pin *al_checked_pin_(al_mutator *mu, void *object, const al_place *here) {
  if (object) al_check_object(mu, object, here);
  al_pin *pin = al_pin_new(mu, object);
  al_check_made(pin, "pin", here);
  return pin;
}
AL_HOT_ void al_checked_set_(al_mutator *mu, al_handle *handle, al_value value,
                             const al_place *here) {
  al_check_used(handle, "handle", here);
  al_handle_set(mu, handle, al_fresh_(value, "al_handle_set", here));
}
AL_HOT_ void al_checked_free_(al_handle *handle, const al_place *here) {
  if (handle) al_check_freed(handle, "handle", here);
  al_handle_free(handle);
}
AL_HOT_ void al_checked_unpin_(al_pin *pin, const al_place *here) {
  if (pin) al_check_freed(pin, "pin", here);
  al_pin_free(pin);
}
AL_HOT_ al_code al_checked_end_(al_heap *heap, al_error *error) {
  al_code code = al_heap_free(heap, error);
  if (code == AL_E_ROOTED) al_check_left();
  return code;
}
#define al_handle_new(mu, value) \
  al_made_((al_handle_new)((mu), al_fresh_((value), "al_handle_new", AL_HERE_)), AL_HERE_)
#define al_weak_new(mu, value) \
  al_made_((al_weak_new)((mu), al_fresh_((value), "al_weak_new", AL_HERE_)), AL_HERE_)
#define al_handle_copy(handle) \
  al_made_((al_handle_copy)(al_handle_((handle), AL_HERE_)), AL_HERE_)
#define al_handle_get(mu, handle) \
  al_seen_((al_handle_get)((mu), al_handle_((handle), AL_HERE_)), AL_HERE_)
#define al_handle_set(mu, handle, value) al_checked_set_((mu), (handle), (value), AL_HERE_)
#define al_handle_free(handle) al_checked_free_((handle), AL_HERE_)
#define al_pin_new(mu, object) al_checked_pin_((mu), (object), AL_HERE_)
#define al_pin_free(pin) al_checked_unpin_((pin), AL_HERE_)
#define al_heap_free(heap, error) al_checked_end_((heap), (error))

/* Spans. */
AL_HOT_ uintptr_t al_span_enter_(void) { return al_check_current()->spans++; }
AL_HOT_ void al_span_leave_(uintptr_t *before) { al_check_current()->spans = *before; }
/* A name for each line, so that spans may lie within one another. */
#define AL_SPAN_2_(line) \
  uintptr_t al_span_##line __attribute__((cleanup(al_span_leave_), unused)) = al_span_enter_()
#define AL_SPAN_1_(line) AL_SPAN_2_(line)
#define AL_SPAN AL_SPAN_1_(__LINE__)

#ifndef __cplusplus
AL_HOT_ void al_checked_unpin_of_(al_pin **pin) {
  static const al_place here = {"AL_PINNED", 0};
  al_checked_unpin_(*pin, &here);
}
#undef AL_PINNED
#define AL_PINNED(mu_, p, object) \
  al_pin *p __attribute__((cleanup(al_checked_unpin_of_))) = al_pin_new((mu_), (object))
#endif

#endif /* ALLOTMENT_CHECK_H */
