/* What the wrong programs have in common: a heap, an attached thread, and shapes. */
#ifndef WRONG_H
#define WRONG_H
#include <allotment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint64_t header;
  al_slot car, cdr;
  uint64_t id;
} pair;
typedef struct {
  uint64_t header;
  size_t length;
  al_slot at[];
} array;
typedef struct {
  uint64_t header;
  size_t length;
  char text[];
} bytes;

static al_heap *heap;
static al_mutator *mu;
static al_shape PAIR, ARRAY, BYTES;

static inline void begin(void) {
  al_error error = {.size = sizeof error};
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_slot_desc slots[] = {AL_SLOT(pair, car, AL_STRONG), AL_SLOT(pair, cdr, AL_STRONG)};
  al_shape_desc pairs = {.size = sizeof pairs, .name = "Pair", .fixed = sizeof(pair)};
  pairs.slots = slots;
  pairs.slot_count = 2;
  al_shape_desc arrays = {.size = sizeof arrays, .name = "Array", .fixed = 16, .tail = AL_TAIL_SLOTS};
  al_shape_desc texts = {.size = sizeof texts, .name = "Bytes", .fixed = 16, .tail = AL_TAIL_1};
  if (al_heap_new(&options, &heap, &error) || al_shape_register(heap, &pairs, &PAIR, &error) ||
      al_shape_register(heap, &arrays, &ARRAY, &error) ||
      al_shape_register(heap, &texts, &BYTES, &error) || al_attach(heap, &mu, &error)) {
    fprintf(stderr, "%s\n", error.text);
    exit(3);
  }
}

static inline pair *new_pair(void) { return (pair *)al_alloc(mu, PAIR); }

static inline void end(void) {
  al_detach(mu);
  al_error error = {.size = sizeof error};
  if (al_heap_free(heap, &error)) {
    fprintf(stderr, "%s\n", error.text);
    exit(4);
  }
}
#endif
