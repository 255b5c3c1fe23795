/* allotment/observe.h: stops, and what a program sees of a heap. Included by allotment.h. */
#ifndef ALLOTMENT_OBSERVE_H
#define ALLOTMENT_OBSERVE_H

/* ---- Stops ---- */

/* Runs while all threads of the heap stand still. It waits for none of them, and calls al_walk,
 * al_roots and al_threads. */
typedef void al_stop_function(al_world *world, void *data);

/* [S] Stops all threads of the heap and calls `stopped`. The calling thread may be attached to the
 * heap, blocked, or not attached at all. */
AL_SAFEPOINT al_code al_stop(al_heap *heap, al_stop_function *stopped, void *data, al_error *error);

/* An object of a stopped heap. */
typedef struct al_object {
  void *address;
  size_t bytes;
  uint32_t shape; /* the number of its shape */
  const char *name; /* the name of its shape; valid during the call */
} al_object;

/* A root of a stopped heap. */
typedef struct al_root {
  const char *kind; /* "frames", "handles", "weak handles", "providers" or "pins" */
  bool weak;
  void *object;
} al_root;

/* In a stop: calls `each` with every object, garbage included; with every root that refers to an
 * object; the number of attached threads. `each` calls nothing of this header. AL_E_BROKEN: memory that is no object was found. */
al_code al_walk(al_world *world, void (*each)(void *data, const al_object *object), void *data,
                al_error *error);
void al_roots(al_world *world, void (*each)(void *data, const al_root *root), void *data);
size_t al_threads(al_world *world);

/* ---- Looking. Callbacks here use no mutator. ---- */

/* [A] Checks the heap while no thread is attached. AL_E_BROKEN: the text has the first fault. */
AL_ANY_THREAD al_code al_verify(al_heap *heap, al_error *error);

/* The form of a snapshot. */
typedef enum al_snapshot_format {
  AL_HEAPSNAPSHOT = 0, /* for Chrome, VS Code, memlab */
  AL_HPROF = 1         /* for Eclipse MAT, VisualVM */
} al_snapshot_format;

/* [S] Writes a snapshot of all live objects to a file descriptor, which stays open. */
AL_SAFEPOINT al_code al_snapshot(al_heap *heap, int fd, al_snapshot_format format, al_error *error);

/* The live objects of a shape. */
typedef struct al_census_row {
  const char *name; /* valid during the call */
  uint32_t shape;
  uint64_t objects, bytes;
  uint64_t retained; /* bytes that would be free without them, if that was asked; else 0 */
} al_census_row;

/* [S] Counts live objects by shape, and calls `each` with every shape, largest first. */
AL_SAFEPOINT al_code al_census(al_heap *heap, bool retained,
                               void (*each)(void *data, const al_census_row *row), void *data,
                               al_error *error);

/* What the value of a metric is. */
typedef enum al_metric_kind {
  AL_COUNTER = 0,      /* only grows */
  AL_TIME_COUNTER = 1, /* nanoseconds, only grows */
  AL_LEVEL = 2,        /* rises and falls */
  AL_HISTOGRAM = 3     /* of times: their number in `value`, their sum in `sum_ns` */
} al_metric_kind;

/* A number for monitoring. */
typedef struct al_metric {
  const char *name; /* "allotment.memory.used"; valid during the call, as are all texts here */
  const char *description;
  const char *unit; /* "By", "s", "{region}": UCUM */
  const char *attribute, *attribute_value; /* NULL: none */
  al_metric_kind kind;
  uint64_t value;
  uint64_t sum_ns;
} al_metric;

/* [A] Calls `each` with all numbers for monitoring. Stops nothing. */
AL_ANY_THREAD void al_metrics(al_heap *heap, void (*each)(void *data, const al_metric *metric),
                              void *data);

/* [A] Calls `each` with the latest collections whose number is `since` or more, oldest first. */
AL_ANY_THREAD void al_records(al_heap *heap, uint64_t since,
                              void (*each)(void *data, const al_record *record), void *data);

/* [A] Writes an allocation profile to a file descriptor, in pprof's form. */
AL_ANY_THREAD al_code al_profile(al_heap *heap, int fd, al_error *error);

/* [A] Samples an allocation every `bytes` on average; 0: none. */
AL_ANY_THREAD void al_sample_interval(al_heap *heap, size_t bytes);

/* An option in force. */
typedef struct al_option {
  const char *name, *value, *text, *type, *range;
  const char *origin; /* "default", "builder", "environment", "command line" or "ergonomic" */
} al_option;

/* [A] Calls `each` with every option of the heap. The texts are valid during the call. */
AL_ANY_THREAD void al_option_rows(al_heap *heap, void (*each)(void *data, const al_option *option),
                                  void *data);

/* [A] The manual of all options. */
AL_ANY_THREAD const char *al_manual(void);

#endif /* ALLOTMENT_OBSERVE_H */
