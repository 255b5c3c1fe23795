/* callbacks.c: the functions that the heap calls. They run on any thread, or within an allocation,
 * and use no mutator. */
#include "stack.h"
#include <stdlib.h>
#include <time.h>

/* The heap is full: frees the handles of soft references. */
AL_ANY_THREAD static bool give_up(void *data, const al_error *error) {
  machine *m = data;
  (void)error;
  al_handle *given[SOFT];
  pthread_mutex_lock(&m->lock);
  for (size_t i = 0; i < SOFT; i++) {
    given[i] = m->soft[i];
    m->soft[i] = NULL;
  }
  pthread_mutex_unlock(&m->lock);
  bool any = false;
  for (size_t i = 0; i < SOFT; i++) {
    any |= given[i] != NULL;
    al_handle_free(given[i]);
  }
  return any;
}

AL_ANY_THREAD static void count_collection(void *data, const al_record *record) {
  machine *m = data;
  (void)record;
  __atomic_add_fetch(&m->collections, 1, __ATOMIC_RELAXED);
}

AL_ANY_THREAD static void name_late_thread(void *data, const char *text_) {
  (void)data;
  fprintf(stderr, "stack: %s\n", text_);
}

/* The words that run on this thread, for profiles. A frame is the number of a word. */
AL_ANY_THREAD static size_t walk_words(void *data, uintptr_t *frames, size_t most) {
  (void)data;
  size_t count = 0;
  const activation *at = running ? running->calls : NULL;
  for (; at && count < most; at = at->outer) frames[count++] = at->word;
  return count;
}

AL_ANY_THREAD static bool name_word(void *data, uintptr_t frame, char *name, size_t bytes) {
  machine *m = data;
  pthread_mutex_lock(&m->lock);
  bool known = frame < m->word_count;
  if (known) snprintf(name, bytes, "%s", m->words[frame]);
  pthread_mutex_unlock(&m->lock);
  return known;
}

AL_ANY_THREAD static uint64_t now_ns(void *data) {
  (void)data;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void choose_callbacks(al_options *options) {
  options->on_heap_limit = give_up;
  options->on_collection = count_collection;
  options->on_late_thread = name_late_thread;
  options->walk_stack = walk_words;
  options->name_frame = name_word;
  options->clock_ns = now_ns;
  options->data = &the_machine;
}
