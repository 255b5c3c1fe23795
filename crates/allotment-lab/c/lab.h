/* What the lab's C code shares: allotment.h, and the sink of the lab's loops. */
#ifndef LAB_H
#define LAB_H

#include <allotment.h>

/* A function that the lab calls. */
#define LAB_EXPORT __attribute__((visibility("default")))

/* Makes the compiler assume that all memory reachable from `object` is read and written here, as
 * `keep` of the lab's harness does. Emits no instruction. */
static inline void keep(const void *object) { __asm__ volatile("" : : "r"(object) : "memory"); }

#endif
