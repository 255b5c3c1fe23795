/* A program that loads the library, and unloads it before and after its thread ends.
 *
 * usage: unloads LIBRARY detached|attached
 */
#define _GNU_SOURCE
#include <allotment.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
static const char *how;

/* A function of the library. A data pointer becomes one of a function as POSIX has it. */
static void find(void *function, const char *name) {
  void *address = dlsym(library, name);
  if (!address) exit(3);
  memcpy(function, &address, sizeof address);
}

static void *works(void *unused) {
  al_code (*heap_new)(const al_options *, al_heap **, al_error *);
  al_code (*attach)(al_heap *, al_mutator **, al_error *);
  void (*detach)(al_mutator *);
  find(&heap_new, "al_heap_new");
  find(&attach, "al_attach");
  find(&detach, "al_detach");
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  al_heap *heap;
  al_mutator *mu;
  if (heap_new(&options, &heap, NULL) || attach(heap, &mu, NULL)) exit(4);
  if (!strcmp(how, "detached")) detach(mu);
  dlclose(library);
  return unused;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  how = arguments[2];
  library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 5;
  pthread_t thread;
  pthread_create(&thread, NULL, works, NULL);
  pthread_join(thread, NULL);
  puts("well");
  return 0;
}
