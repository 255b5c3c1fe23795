/* allotment/roots.h: roots: frames, handles, pins, providers. Included by allotment.h. */
#ifndef ALLOTMENT_ROOTS_H
#define ALLOTMENT_ROOTS_H

/* ---- Frames: variables that are always current ---- */

/* A range of words that are roots, on its thread's list. Each word is a root once: a collection
 * that moves objects would replace a second time what it has replaced already. A frame ends on the
 * thread that began it. */
typedef struct al_frame {
  uintptr_t below;
  al_mutator *mutator; /* with AL_CHECK: AL_OWNER_ */
  al_value *values;
  size_t count; /* of words: AL_COUNT_ */
} al_frame;

/* A place on a thread's list of frames. */
typedef uintptr_t al_frame_mark;

/* The mark of a list without frames. */
#define AL_NO_FRAMES ((al_frame_mark)0)

/* The number of words in `values` values. */
#define AL_COUNT_(values) ((values) * (sizeof(al_value) / sizeof(al_word)))

/* The mutator of a frame, with a mark of the frames of files that are compiled with AL_CHECK. */
#if defined(AL_CHECK)
#define AL_CHECKED_ ((uintptr_t)1)
#define AL_OWNER_(mu) ((al_mutator *)((uintptr_t)(mu) | AL_CHECKED_))
#define AL_OWNER_OF_(frame) ((al_mutator *)((uintptr_t)(frame)->mutator & ~AL_CHECKED_))
#else
#define AL_OWNER_(mu) (mu)
#define AL_OWNER_OF_(frame) ((frame)->mutator)
#endif

/* [N] Takes a frame off its thread's list, wherever it is there. The thread may be blocked. */
AL_NO_SAFEPOINT AL_COLD_ void al_unlink_slow(al_mutator *mu, al_frame *frame);

/* [N] Puts `count` values at `values` on the thread's list: roots until al_unlink. No other frame
 * and no provider has them. */
AL_NO_SAFEPOINT AL_HOT_ void al_link(al_mutator *mu, al_frame *frame, al_value *values,
                                     size_t count) {
  frame->below = mu->links;
  frame->mutator = AL_OWNER_(mu);
  frame->values = values;
  frame->count = AL_COUNT_(count);
  mu->links = (uintptr_t)frame + AL_RANGE_BIT;
}

/* [N] Takes a frame off the list of its thread, which calls. */
AL_NO_SAFEPOINT AL_HOT_ void al_unlink(al_frame *frame) {
  al_mutator *mu = AL_OWNER_OF_(frame);
  if (AL_UNLIKELY_(mu->links != (uintptr_t)frame + AL_RANGE_BIT)) {
    al_unlink_slow(mu, frame);
  } else {
    mu->links = frame->below;
  }
}

/* [N] The values of a frame are `count` at `values` from here on. For a stack that grows. */
AL_NO_SAFEPOINT AL_HOT_ void al_words_set(al_frame *frame, al_value *values, size_t count) {
  frame->values = values;
  frame->count = AL_COUNT_(count);
}

/* [N] The place on the thread's list now, and going back there: after longjmp, or when a coroutine
 * is switched. A coroutine begins with al_frames_reset(mu, AL_NO_FRAMES), so that its frames do not
 * lead to those of its resumer. While it runs, its resumer is a suspended coroutine. A provider
 * shows the frames of each suspended one by al_visit_frames, and those of the running one not. */
AL_NO_SAFEPOINT AL_HOT_ al_frame_mark al_frames(al_mutator *mu) { return mu->links; }
AL_NO_SAFEPOINT AL_HOT_ void al_frames_reset(al_mutator *mu, al_frame_mark mark) {
  mu->links = mark;
}

/* The head of a thread's list of frames. */
#ifndef AL_CHECK
#define AL_LINKS_(mu) ((mu)->links)
#endif

#ifndef __cplusplus
AL_HOT_ void al_leave_(void *frame) { al_unlink((al_frame *)frame); }

/* AL_LOCALS(mu, L, car, cdr); L.car = ...; The variables L.car and L.cdr are null at first, and
 * always current: each stop replaces them. They are roots to the end of the scope. Under a `case`
 * the scope needs braces of its own: a jump past AL_LOCALS leaves a frame that was never linked
 * (-Wjump-misses-init). If a C++ exception or pthread_exit leaves the scope, the file is compiled
 * with -fexceptions. */
#define AL_LOCALS(mu_, L, ...)                                                            \
  struct {                                                                                \
    al_frame frame;                                                                       \
    al_value __VA_ARGS__;                                                                 \
  } L __attribute__((cleanup(al_leave_))) = {                                             \
      .frame = {AL_LINKS_(mu_), AL_OWNER_(mu_), (al_value *)(void *)(&L.frame + 1),         \
                (sizeof(L) - sizeof(al_frame)) / sizeof(al_word)}};                       \
  (mu_)->links = (uintptr_t)&L.frame + AL_RANGE_BIT

#define AL_FRAME_OF_(mu_, S, pointer, n)                                                     \
  al_frame S __attribute__((cleanup(al_leave_))) = {AL_LINKS_(mu_), AL_OWNER_(mu_), (pointer), \
                                                    AL_COUNT_(n)}

/* AL_WORDS(mu, S, stack, n); Makes n values elsewhere roots to the end of the scope: the stack of
 * an interpreter. Each value is a root once. So a stack has one AL_WORDS, in the function that the
 * program enters the interpreter by, and al_words_set(&S, stack, n) says how far it reaches now. */
#define AL_WORDS(mu_, S, pointer, n)        \
  AL_FRAME_OF_(mu_, S, pointer, n);         \
  (mu_)->links = (uintptr_t)&S + AL_RANGE_BIT
#endif

/* AL_SPAN; To the end of the scope AL_CHECK refuses [S] calls of this thread. It says what you rely
 * on: here nothing moves. After a longjmp al_frames_reset ends the spans that were left. */
#if !defined(AL_CHECK)
#define AL_SPAN \
  do {          \
  } while (0)
#endif

/* ---- Handles and pins ---- */

/* [N] An owned root that holds a word. A weak one becomes null when its referent dies. */
AL_NO_SAFEPOINT al_handle *al_handle_new(al_mutator *mu, al_word word);
AL_NO_SAFEPOINT al_handle *al_weak_new(al_mutator *mu, al_word word);

/* [N] The word of a handle, and a new one. The thread is attached to the handle's heap. */
AL_NO_SAFEPOINT al_word al_handle_get(al_mutator *mu, const al_handle *handle);
AL_NO_SAFEPOINT void al_handle_set(al_mutator *mu, al_handle *handle, al_word word);

/* [A] Another handle of the same kind with the same word; and the end of one. NULL does nothing. */
AL_ANY_THREAD al_handle *al_handle_copy(const al_handle *handle);
AL_ANY_THREAD void al_handle_free(al_handle *handle);

/* [N] Keeps an object alive and in place. */
AL_NO_SAFEPOINT al_pin *al_pin_new(al_mutator *mu, void *object);

/* [A] The object's address, which lasts as long as the pin; and the end of a pin. */
AL_ANY_THREAD void *al_pin_address(const al_pin *pin);
AL_ANY_THREAD void al_pin_free(al_pin *pin);

#ifndef __cplusplus
AL_HOT_ void al_unpin_(al_pin **pin) { al_pin_free(*pin); }

/* AL_PINNED(mu, p, object); The pin `p` to the end of the scope. A longjmp out of the scope does
 * not free it. */
#define AL_PINNED(mu_, p, object) \
  al_pin *p __attribute__((cleanup(al_unpin_))) = al_pin_new((mu_), (object))
#endif

/* ---- Providers: roots that a program keeps in its own way ---- */

/* Visits roots. Called in stops, on any collecting thread: pauses grow with it. So keep them few;
 * the stack of an interpreter is AL_WORDS. It calls al_visit and its like, and nothing else of
 * this header; it takes no lock that a stopped thread may hold. Between two safepoints of a
 * thread the answer is the same. It shows each word once, and none that a frame or another
 * provider shows. It is also asked while all threads are blocked (CollectWhenIdle), or none is
 * attached (GCInterval). */
typedef void al_provider_function(al_visitor *visitor, void *data);

/* [A] Adds a provider, and removes it. Removing frees `provider`. */
AL_ANY_THREAD al_code al_provider_add(al_heap *heap, al_provider_function *visit, void *data,
                                      al_provider **provider, al_error *error);
AL_ANY_THREAD void al_provider_remove(al_heap *heap, al_provider *provider);

/* In a provider: a root; one that becomes null when its referent dies; a word that cannot be
 * updated, whose referent stays in place; the frames of a coroutine that does not run. */
AL_NO_SAFEPOINT void al_visit(al_visitor *visitor, al_word *word);
AL_NO_SAFEPOINT void al_visit_weak(al_visitor *visitor, al_word *word);
AL_NO_SAFEPOINT void al_visit_pinned(al_visitor *visitor, al_word word);
AL_NO_SAFEPOINT void al_visit_frames(al_visitor *visitor, al_frame_mark mark);

#endif /* ALLOTMENT_ROOTS_H */
