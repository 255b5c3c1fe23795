/* allotment/base.h: types, codes and errors. Included by allotment.h. */
#ifndef ALLOTMENT_BASE_H
#define ALLOTMENT_BASE_H

#if defined(__clang__)
#define AL_ANNOTATE_(text) __attribute__((annotate(text)))
#else
#define AL_ANNOTATE_(text)
#endif
/* Marks of declarations, which a checker of your own finds under clang. Put AL_SAFEPOINT before
 * your own [S] functions. */
#define AL_SAFEPOINT AL_ANNOTATE_("allotment: safepoint")
#define AL_NO_SAFEPOINT AL_ANNOTATE_("allotment: no safepoint")
#define AL_ANY_THREAD AL_ANNOTATE_("allotment: any thread")

#define AL_HOT_ __attribute__((always_inline)) static inline
#define AL_COLD_ __attribute__((cold))
#define AL_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

/* The version of this header's structures and inlines, with that of the hot part. */
#define AL_ABI (AL_HOT_VERSION << 16 | 1u)

/* ---- Types ---- */

typedef struct al_heap al_heap;         /* a heap */
typedef struct al_handle al_handle;     /* an owned root, strong or weak */
typedef struct al_pin al_pin;           /* an object that stays in place */
typedef struct al_provider al_provider; /* roots of your own, as they were added */
typedef struct al_visitor al_visitor;   /* receives the roots of a provider */
typedef struct al_tracer al_tracer;     /* receives the slots of a traced object */
typedef struct al_world al_world;       /* a stopped heap */

/* A word as it lies in slots and roots: a reference, null, or an immediate. */
typedef uint64_t al_word;

/* A word in a variable. */
#ifdef AL_CHECK
#include "allotment/value.h"
#else
typedef al_word al_value;
#define AL_NULL ((al_value)0)
#endif

/* A slot of an object. Only al_load and its like touch the member. */
typedef struct al_slot {
  al_word bits_;
} al_slot;

/* A shape, as allocations need it. By value: keep it where the compiler sees its numbers. */
typedef struct al_shape {
  uint64_t header;
  size_t fixed;   /* bytes before the tail; without a tail, of the object */
  size_t element; /* bytes of an element of the tail; 0 without one */
} al_shape;

/* An attached thread. The library owns it; the inlines below are its users. Read no member. */
typedef struct al_mutator {
  uintptr_t top;
  uintptr_t limit;        /* other threads write it */
  uintptr_t zeroed_limit; /* other threads write it */
  uint32_t requested;     /* other threads write it */
  uint32_t pad0_;
  uintptr_t end_;
  uint32_t barriers; /* changes at safepoints only */
  uint32_t pad1_;
  uintptr_t watermark;
  uintptr_t cards; /* never changes */
  uintptr_t private0_[3];
  uintptr_t frame;
  uintptr_t slow[4]; /* slow paths: load, load_weak, store, cas */
  uintptr_t region[8];
  uintptr_t links;
  uintptr_t private1_[7];
} al_mutator;

#if defined(__cplusplus)
#define AL_ASSERT_(name, condition) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define AL_ASSERT_(name, condition) _Static_assert(condition, #name)
#else
#define AL_ASSERT_(name, condition) typedef char al_assert_##name##_[(condition) ? 1 : -1]
#endif
AL_ASSERT_(top, offsetof(al_mutator, top) == AL_TOP_OFFSET);
AL_ASSERT_(limit, offsetof(al_mutator, limit) == AL_LIMIT_OFFSET);
AL_ASSERT_(zeroed_limit, offsetof(al_mutator, zeroed_limit) == AL_ZEROED_LIMIT_OFFSET);
AL_ASSERT_(requested, offsetof(al_mutator, requested) == AL_REQUESTED_OFFSET);
AL_ASSERT_(barriers, offsetof(al_mutator, barriers) == AL_BARRIERS_OFFSET);
AL_ASSERT_(watermark, offsetof(al_mutator, watermark) == AL_WATERMARK_OFFSET);
AL_ASSERT_(cards, offsetof(al_mutator, cards) == AL_CARDS_OFFSET);
AL_ASSERT_(frame, offsetof(al_mutator, frame) == AL_FRAME_OFFSET);
AL_ASSERT_(load, offsetof(al_mutator, slow) == AL_LOAD_SLOW_OFFSET);
AL_ASSERT_(load_weak, offsetof(al_mutator, slow) + 8 == AL_LOAD_WEAK_SLOW_OFFSET);
AL_ASSERT_(store, offsetof(al_mutator, slow) + 16 == AL_STORE_SLOW_OFFSET);
AL_ASSERT_(cas, offsetof(al_mutator, slow) + 24 == AL_COMPARE_EXCHANGE_SLOW_OFFSET);
AL_ASSERT_(region, offsetof(al_mutator, region) == AL_REGION_OFFSET);
AL_ASSERT_(links, offsetof(al_mutator, links) == AL_LINKS_OFFSET);
AL_ASSERT_(mutator, sizeof(al_mutator) == 256);

/* ---- Codes and errors ---- */

/* What a call answers: al_code_text has it as a text. */
typedef enum al_code {
  AL_OK = 0,
  AL_E_MEMORY = 1,           /* the heap, or the system, has no room */
  AL_E_LIMIT = 2,            /* collections take nearly all of the time: UseGCOverheadLimit */
  AL_E_OPTION = 3,           /* an option is wrong, or contradicts another */
  AL_E_SHAPE = 4,            /* the description describes no object */
  AL_E_ATTACHED = 5,         /* threads are attached, or this one is */
  AL_E_ATTACHED_ALREADY = 6, /* this thread is attached already */
  AL_E_STOPPING = 7,         /* this thread stops the world, or is in a callback */
  AL_E_ROOTED = 8,           /* handles or pins are left */
  AL_E_FORKED = 9,           /* a child of fork() in which the heap cannot be used */
  AL_E_ABI = 10,             /* header and library do not fit, or a size is wrong */
  AL_E_PLATFORM = 11,        /* the system refused a file, a thread or a socket */
  AL_E_ARGUMENT = 12,        /* an argument is wrong, such as a pointer that is NULL */
  AL_E_ENDING = 13,          /* the thread is ending */
  AL_E_BROKEN = 14           /* the heap is broken: al_verify */
} al_code;

/* The library's enumerations are as wide as an int: a program is compiled without -fshort-enums. */
AL_ASSERT_(code_bytes, sizeof(al_code) == 4);

/* The reason of a failure. The caller's; NULL wherever one is taken: only the code is wanted. */
typedef struct al_error {
  size_t size; /* sizeof(al_error) */
  al_code code;
  size_t bytes;      /* AL_E_MEMORY, AL_E_LIMIT: the bytes that were asked for; else 0 */
  size_t heap_bytes; /* AL_E_MEMORY, AL_E_LIMIT: MaxHeapSize; else 0 */
  char text[232];    /* what was wrong, and what would be right */
} al_error;

/* [A] The meaning of a code, in a few words. */
AL_ANY_THREAD const char *al_code_text(al_code code);

/* [A] The library's version, such as "0.1.0". */
AL_ANY_THREAD const char *al_version(void);

/* [A] The ABI of the library. AL_ABI is that of the header. */
AL_ANY_THREAD uint32_t al_abi(void);

/* A constant of allotment/layout.h. */
typedef struct al_layout_row {
  const char *name; /* without AL_ */
  uint64_t value;
  const char *text;
} al_layout_row;

/* [A] The constants of allotment/layout.h at run time: a compiler written in C needs none of a
 * build. Sets `count` to their number. */
AL_ANY_THREAD const al_layout_row *al_layout(size_t *count);

#endif /* ALLOTMENT_BASE_H */
