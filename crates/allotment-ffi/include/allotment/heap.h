/* allotment/heap.h: heaps and threads. Included by allotment.h. */
#ifndef ALLOTMENT_HEAP_H
#define ALLOTMENT_HEAP_H

/* ---- Heaps ---- */

/* A collection that ended. */
typedef struct al_record {
  uint64_t number;
  const char *kind;  /* "Pause Young", "Pause Full", "Concurrent", "Pause Degenerated" */
  const char *cause; /* "Allocation Failure", ... */
  const char *text;  /* the line that PrintGC prints */
  uint64_t start_ns; /* since the heap was made */
  uint64_t pause_ns; /* all threads stood still for so long, time to the safepoint included */
  uint64_t time_to_safepoint_ns;
  size_t used_before, used_after, committed;
  size_t live_objects, live_bytes, moved_bytes, weak_cleared;
} al_record;

/* What a program chooses about a heap. Members that are 0 or NULL choose nothing.
 *
 * Each callback gets `data`. It neither throws nor jumps, and calls nothing of this header that
 * takes a mutator. Attaching, stopping a world and ending a heap give AL_E_STOPPING there.
 * `on_heap_limit` may free handles and pins. `walk_stack`, `name_frame` and `clock_ns` call nothing
 * of this header. */
typedef struct al_options {
  size_t size;          /* sizeof(al_options) */
  const char *name;     /* of the heap's memory in /proc/self/maps; "heap" if NULL */
  const char *defaults; /* "Collector=shenandoah,MaxHeapSize=1g": ALLOTMENT_OPTIONS is stronger */
  const char *options;  /* stronger than ALLOTMENT_OPTIONS; al_manual has all */
  /* No room is left: free handles, and return whether it did. Then another collection follows. */
  bool (*on_heap_limit)(void *data, const al_error *error);
  /* A collection ended. Called on any thread, also on threads of the heap's. */
  void (*on_collection)(void *data, const al_record *record);
  /* A thread keeps a stop waiting. Instead of a line on standard error. */
  void (*on_late_thread)(void *data, const char *text);
  /* The calling thread's frames for allocation profiles, innermost first: writes at most `most`
   * numbers of your choice to `frames`, and returns how many. Called within allocations. */
  size_t (*walk_stack)(void *data, uintptr_t *frames, size_t most);
  /* The name of such a number as a text with a NUL, at most `bytes` with it. false: none. */
  bool (*name_frame)(void *data, uintptr_t frame, char *name, size_t bytes);
  /* A clock of the program's for the heap's decisions; it never runs backwards. */
  uint64_t (*clock_ns)(void *data);
  void *data;
} al_options;

/* [A] Makes a heap for a program whose header has that AL_ABI: al_heap_new passes its own. */
AL_ANY_THREAD al_code al_heap_new_abi(uint32_t abi, const al_options *options, al_heap **heap,
                                      al_error *error);

/* [A] Makes a heap. `options` may be NULL. */
AL_ANY_THREAD AL_HOT_ al_code al_heap_new(const al_options *options, al_heap **heap, al_error *error) {
  return al_heap_new_abi(AL_ABI, options, heap, error);
}

/* [A] Ends a heap. AL_E_ATTACHED while a thread is attached, AL_E_STOPPING in a callback, AL_E_ROOTED
 * while a handle or a pin is left: nothing is done then. NULL does nothing. Waits until the heap's own
 * threads, and threads within al_detach, are through: hold no lock that a callback takes. After
 * AL_OK no callback and no trace function runs. In a child of fork() this does not wait for a heap
 * of the parent. No other thread uses `heap` meanwhile. */
AL_ANY_THREAD al_code al_heap_free(al_heap *heap, al_error *error);

/* [A] Kills every object at once. AL_E_ATTACHED, AL_E_ROOTED and AL_E_FORKED as al_heap_free: a
 * handle that holds null does not count. Weak handles are cleared. Providers show no word from
 * before. */
AL_ANY_THREAD al_code al_heap_reset(al_heap *heap, al_error *error);

/* [A] Gives the memory of empty regions back to the system. Returns the bytes. */
AL_ANY_THREAD size_t al_heap_uncommit(al_heap *heap);

/* [A] The collector's name: "parallel", "mark-compact", "shenandoah" or "epsilon". */
AL_ANY_THREAD const char *al_collector(al_heap *heap);

/* ---- Threads ---- */

/* [A] Attaches the calling thread to a heap. A thread is attached to one heap at a time. It
 * detaches before it ends: a thread that ends attached is detached and named on standard error. */
AL_ANY_THREAD al_code al_attach(al_heap *heap, al_mutator **mutator, al_error *error);

/* [A] The calling thread's mutator, NULL if it is not attached. */
AL_ANY_THREAD al_mutator *al_current(void);

/* [S] Detaches the calling thread. Its frames are unlinked before; it may be blocked. */
AL_SAFEPOINT void al_detach(al_mutator *mu);

/* [S] The slow half of al_poll. */
AL_SAFEPOINT AL_COLD_ void al_poll_slow(al_mutator *mu);

/* [S] Collects all garbage. false: the collector does not collect (Collector=epsilon). */
AL_SAFEPOINT bool al_collect(al_mutator *mu);

/* [A] Asks each thread to give up its buffer at its next safepoint. Does not wait. */
AL_ANY_THREAD void al_request_safepoint(al_heap *heap);

/* [S] From here to al_block_leave no stop waits for this thread, and it uses nothing of the heap.
 * Around anything that waits: locks, files, other threads. */
AL_SAFEPOINT void al_block_enter(al_mutator *mu);
AL_SAFEPOINT void al_block_leave(al_mutator *mu);

/* [S] Waits here if a stop is requested: for loops that do not allocate. Otherwise a load and a
 * branch. */
AL_SAFEPOINT AL_HOT_ void al_poll(al_mutator *mu) {
  if (AL_UNLIKELY_(__atomic_load_n(&mu->requested, __ATOMIC_RELAXED))) al_poll_slow(mu);
}

#endif /* ALLOTMENT_HEAP_H */
