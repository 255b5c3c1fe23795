/* Two copies of the library in one process.
 *
 * usage: copies LIBRARY COPY apart|foreign
 *
 * apart: the calling thread is attached to a heap of each. foreign: one gets the mutator of the
 * other. */
#define _GNU_SOURCE
#include <allotment.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  al_code (*heap_new)(const al_options *, al_heap **, al_error *);
  al_code (*heap_free)(al_heap *, al_error *);
  al_code (*shape_register)(al_heap *, const al_shape_desc *, al_shape *, al_error *);
  al_code (*attach)(al_heap *, al_mutator **, al_error *);
  void (*detach)(al_mutator *);
  void *(*alloc)(al_mutator *, al_shape);
  bool (*collect)(al_mutator *);
  al_heap *heap;
  al_mutator *mu;
  al_shape shape;
} copy;

/* A function of a library. A data pointer becomes one of a function as POSIX has it. */
static void find(void *library, void *function, const char *name) {
  void *address = dlsym(library, name);
  if (!address) exit(3);
  memcpy(function, &address, sizeof address);
}

static copy open_copy(const char *path) {
  copy c;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(5);
  }
  find(library, &c.heap_new, "al_heap_new");
  find(library, &c.heap_free, "al_heap_free");
  find(library, &c.shape_register, "al_shape_register");
  find(library, &c.attach, "al_attach");
  find(library, &c.detach, "al_detach");
  find(library, &c.alloc, "al_alloc");
  find(library, &c.collect, "al_collect");
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_shape_desc desc = {.size = sizeof desc, .name = "Plain", .fixed = 16};
  if (c.heap_new(&options, &c.heap, NULL) || c.shape_register(c.heap, &desc, &c.shape, NULL)) exit(4);
  return c;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  copy one = open_copy(arguments[1]), other = open_copy(arguments[2]);
  if (one.collect == other.collect || one.attach(one.heap, &one.mu, NULL)) return 6;
  if (!strcmp(arguments[3], "foreign")) return other.collect(one.mu);
  if (other.attach(other.heap, &other.mu, NULL) || one.mu == other.mu) return 6;
  for (int i = 0; i < 2000000; i++) {
    if (!one.alloc(one.mu, one.shape) || !other.alloc(other.mu, other.shape)) return 7;
  }
  if (!one.collect(one.mu) || !other.collect(other.mu)) return 8;
  one.detach(one.mu);
  other.detach(other.mu);
  if (one.heap_free(one.heap, NULL) || other.heap_free(other.heap, NULL)) return 9;
  puts("well");
  return 0;
}
