/* allotment/alloc.h: allocation. Included by allotment.h. */
#ifndef ALLOTMENT_ALLOC_H
#define ALLOTMENT_ALLOC_H

/* ---- Allocation ---- */

/* The slow halves of the allocations, for compilers. With `raw` the memory after the header, and
 * after an array's length, may be anything; without it the memory is zero. */
AL_SAFEPOINT AL_COLD_ void *al_alloc_slow(al_mutator *mu, uint64_t header, size_t bytes);
AL_SAFEPOINT AL_COLD_ void *al_alloc_raw_slow(al_mutator *mu, uint64_t header, size_t bytes);
AL_SAFEPOINT AL_COLD_ void *al_alloc_array_slow(al_mutator *mu, const al_shape *shape,
                                                size_t length);
AL_SAFEPOINT AL_COLD_ void *al_alloc_array_raw_slow(al_mutator *mu, const al_shape *shape,
                                                    size_t length);

/* The slow halves of the allocations without a safepoint. */
AL_NO_SAFEPOINT AL_COLD_ void *al_try_alloc_slow(al_mutator *mu, uint64_t header, size_t bytes);
AL_NO_SAFEPOINT AL_COLD_ void *al_try_alloc_raw_slow(al_mutator *mu, uint64_t header, size_t bytes);
AL_NO_SAFEPOINT AL_COLD_ void *al_try_alloc_array_slow(al_mutator *mu, const al_shape *shape,
                                                       size_t length);
AL_NO_SAFEPOINT AL_COLD_ void *al_try_alloc_array_raw_slow(al_mutator *mu, const al_shape *shape,
                                                           size_t length);

/* [N] Why an allocation of this thread returned NULL last. AL_OK: none did since the last call. */
AL_NO_SAFEPOINT al_code al_alloc_error(al_mutator *mu, al_error *error);

/* [S] Makes room for objects of `bytes` together: al_bytes. Until the next [S], al_try_alloc and
 * its like do not return NULL for as many bytes: objects and the references to them stay where they
 * are. */
AL_SAFEPOINT al_code al_room(al_mutator *mu, size_t bytes, al_error *error);

/* Whether `top` is past a limit, which another thread may set to 0 at any time. */
AL_HOT_ bool al_past_(uintptr_t top, const uintptr_t *limit) {
#if defined(__x86_64__)
  bool past;
  __asm__ volatile("cmpq %2, %1" : "=@cca"(past) : "r"(top), "m"(*limit));
  return past;
#else
  return top > __atomic_load_n(limit, __ATOMIC_RELAXED);
#endif
}

#define AL_ALLOC_(limit, slow)                                 \
  uintptr_t at = mu->top, top = at + shape.fixed;              \
  if (AL_UNLIKELY_(al_past_(top, &mu->limit)))                 \
    return slow(mu, shape.header, shape.fixed);                \
  *(uint64_t *)at = shape.header;                              \
  mu->top = top;                                               \
  return (void *)at

#define AL_ALLOC_ARRAY_(limit, slow)                                               \
  if (AL_UNLIKELY_(length > AL_MAX_LENGTH)) return slow(mu, &shape, length);       \
  uintptr_t at = mu->top;                                                          \
  uintptr_t top = at + ((shape.fixed + length * shape.element + 7) & ~(size_t)7);  \
  if (AL_UNLIKELY_(al_past_(top, &mu->limit))) return slow(mu, &shape, length);    \
  ((uint64_t *)at)[0] = shape.header;                                              \
  ((uint64_t *)at)[1] = length;                                                    \
  mu->top = top;                                                                   \
  return (void *)at

/* [S] An object of a shape without a tail. All but the header is zero. NULL: al_alloc_error. */
AL_SAFEPOINT AL_HOT_ void *al_alloc(al_mutator *mu, al_shape shape) {
  AL_ALLOC_(zeroed_limit, al_alloc_slow);
}

/* [S] An object whose words after the header may be anything: write each slot before the next
 * [S]. */
AL_SAFEPOINT AL_HOT_ void *al_alloc_raw(al_mutator *mu, al_shape shape) {
  AL_ALLOC_(limit, al_alloc_raw_slow);
}

/* [S] An object of a shape with a tail, of that length. All else is zero. NULL: al_alloc_error. */
AL_SAFEPOINT AL_HOT_ void *al_alloc_array(al_mutator *mu, al_shape shape, size_t length) {
  AL_ALLOC_ARRAY_(zeroed_limit, al_alloc_array_slow);
}

/* [S] An object whose words after the length may be anything: write each slot before the next
 * [S]. */
AL_SAFEPOINT AL_HOT_ void *al_alloc_array_raw(al_mutator *mu, al_shape shape, size_t length) {
  AL_ALLOC_ARRAY_(limit, al_alloc_array_raw_slow);
}

/* [N] The four allocations without a safepoint. NULL: no room without one; al_room makes some. */
AL_NO_SAFEPOINT AL_HOT_ void *al_try_alloc(al_mutator *mu, al_shape shape) {
  AL_ALLOC_(zeroed_limit, al_try_alloc_slow);
}
AL_NO_SAFEPOINT AL_HOT_ void *al_try_alloc_raw(al_mutator *mu, al_shape shape) {
  AL_ALLOC_(limit, al_try_alloc_raw_slow);
}
AL_NO_SAFEPOINT AL_HOT_ void *al_try_alloc_array(al_mutator *mu, al_shape shape, size_t length) {
  AL_ALLOC_ARRAY_(zeroed_limit, al_try_alloc_array_slow);
}
AL_NO_SAFEPOINT AL_HOT_ void *al_try_alloc_array_raw(al_mutator *mu, al_shape shape,
                                                     size_t length) {
  AL_ALLOC_ARRAY_(limit, al_try_alloc_array_raw_slow);
}

#endif /* ALLOTMENT_ALLOC_H */
