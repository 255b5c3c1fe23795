/* allotment/shape.h: shapes: descriptions of objects. Included by allotment.h. */
#ifndef ALLOTMENT_SHAPE_H
#define ALLOTMENT_SHAPE_H

/* ---- Shapes ---- */

/* Whether a slot keeps its referent alive. */
typedef enum al_slot_kind {
  AL_STRONG = 0, /* keeps its referent */
  AL_WEAK = 1    /* becomes null when its referent dies: al_load_weak */
} al_slot_kind;

/* The elements after the fixed part. Their number is the word at offset 8. */
typedef enum al_tail {
  AL_TAIL_NONE = 0,
  AL_TAIL_1 = 1, /* plain elements of 1, 2, 4 or 8 bytes */
  AL_TAIL_2 = 2,
  AL_TAIL_4 = 4,
  AL_TAIL_8 = 8,
  AL_TAIL_SLOTS = 16,
  AL_TAIL_WEAK_SLOTS = 17
} al_tail;

/* A slot of a shape: AL_SLOT. */
typedef struct al_slot_desc {
  const char *name; /* for messages and snapshots */
  size_t offset;    /* from the object's first byte */
  al_slot_kind kind;
} al_slot_desc;

/* Describes the slot `field` of the structure `type`. Its type must be al_slot. */
#ifdef __cplusplus
#define AL_SLOT(type, field, kind) \
  { #field, offsetof(type, field), (kind) }
#else
#define AL_SLOT(type, field, kind) \
  { #field, offsetof(type, field) + 0 * sizeof(((type *)0)->field.bits_), (kind) }
#endif

/* Shows the slots of an object that no list can describe: al_trace, al_trace_weak. Called on any
 * thread, on several at once, and with Collector=shenandoah beside running threads. So it shows the
 * same slots for all of an object's life, and reads what it needs with __atomic_load_n. It shows
 * each slot once. Every slot lies inside the object, after its header. It calls nothing else of
 * this header. */
typedef void al_trace_function(void *object, al_tracer *tracer, void *data);

/* What an object is. Its first word is the header, which the library writes. With a tail the second
 * word is the length. */
typedef struct al_shape_desc {
  size_t size; /* sizeof(al_shape_desc) */
  const char *name;
  size_t fixed; /* bytes of the object, or before its tail; at least 16 */
  const al_slot_desc *slots;
  size_t slot_count;
  al_tail tail;
  al_trace_function *trace; /* instead of `slots` and slots of the tail; NULL: none */
  void *trace_data;
  bool trace_lasts; /* `trace` shows the same slots for all of an object's life */
} al_shape_desc;

/* [A] Makes a shape known to a heap, for as long as the heap lives. */
AL_ANY_THREAD al_code al_shape_register(al_heap *heap, const al_shape_desc *desc, al_shape *shape,
                                        al_error *error);

/* In a trace function: a slot of the object, strong or weak. */
AL_NO_SAFEPOINT void al_trace(al_tracer *tracer, al_slot *slot);
AL_NO_SAFEPOINT void al_trace_weak(al_tracer *tracer, al_slot *slot);

/* [A] The bytes of an object of a shape, whose tail has that length; 0 without a tail. Sums of them
 * are for al_room. For a length that no object has: more than any heap. */
AL_ANY_THREAD AL_HOT_ size_t al_bytes(al_shape shape, size_t length) {
  if (length > AL_MAX_LENGTH) return SIZE_MAX / 4;
  return (shape.fixed + length * shape.element + 7) & ~(size_t)7;
}

/* [N] An object's shape, its size in bytes, and a number that it keeps wherever it moves. */
AL_NO_SAFEPOINT al_shape al_shape_of(al_mutator *mu, const void *object);
AL_NO_SAFEPOINT size_t al_size(al_mutator *mu, const void *object);
AL_NO_SAFEPOINT uint32_t al_identity_hash(al_mutator *mu, void *object);

/* [N] The length of an object with a tail. */
AL_NO_SAFEPOINT AL_HOT_ size_t al_length(const void *object) {
  return ((const size_t *)object)[AL_LENGTH_OFFSET / sizeof(size_t)];
}

#endif /* ALLOTMENT_SHAPE_H */
