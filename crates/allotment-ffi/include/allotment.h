/* allotment.h: a garbage-collected heap for programs in C and C++.
 *
 * The heap moves objects, and may do so while threads run. So a program follows nine rules:
 *
 * 1. A call marked [S] may move every object. A function of yours that calls one is [S], too.
 * 2. After such a call no address that you had is good: no object's, no field's, no argument.
 *    Read it again from a frame (AL_LOCALS), a handle or a slot. Only a pin's address lasts.
 * 3. Make one [S] call in a statement, with plain variables as arguments. To build several objects,
 *    call al_room first.
 * 4. In an object from al_alloc_raw you write every slot before the next [S].
 * 5. A slot or root holds null, an immediate (bit 0 set), or a reference: the address of an
 *    object's first byte in this heap, with tags in bits 1, 2 and 48 to 63. Other pointers go into
 *    plain fields. A constant object is one with a pin.
 * 6. Slots are read by al_load and written by al_store. memcpy of slots is al_copy. A bare read
 *    works with one collector and breaks with another, so slots have a type of their own: al_slot.
 * 7. An address is no hash key: al_identity_hash is. Two words that were loaded since the last [S]
 *    are equal if they refer to the same object with the same tag.
 * 8. While a thread is blocked it uses nothing of the heap, and reads nothing, except plain fields
 *    of pinned objects.
 * 9. With setjmp: `m = al_frames(mu)` before it, `al_frames_reset(mu, m)` first when it comes back.
 *    Never jump out of a callback, nor out of a blocked stretch. C code that a C++ exception or
 *    pthread_exit passes through is compiled with -fexceptions, so that its frames end.
 *
 * Marks: [S] may reach a safepoint. [N] never does. [A] any thread may call, attached or not.
 *
 * A wrong input of a call that returns al_code gives a code, and a text in al_error. Other calls
 * end the process with one line on standard error. A structure that you pass begins with its size:
 *     al_error error = { .size = sizeof error };
 *
 * Signal handlers call nothing of this header.
 */
#ifndef ALLOTMENT_H
#define ALLOTMENT_H

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__LP64__)
#error "allotment.h needs Linux on x86-64 or AArch64, with pointers of 64 bits"
#endif
#if !defined(__GNUC__)
#error "allotment.h needs gcc 9 or clang 11, or a later one"
#endif

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#include "allotment/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "allotment/base.h"
#include "allotment/heap.h"
#include "allotment/shape.h"
#include "allotment/slots.h"
#include "allotment/alloc.h"
#include "allotment/roots.h"
#include "allotment/observe.h"

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef AL_CHECK
#include "allotment/check.h"
#endif

#ifdef __cplusplus
#include "allotment/cxx.h"
#endif

#endif /* ALLOTMENT_H */
