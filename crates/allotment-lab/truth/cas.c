/* One pointer for all threads, moved by compare-and-swap, as HotSpot's compiled code did without TLABs before JDK 20.
 * The exchange orders nothing, as in the lab. Numbers: bytes of an eden for each thread. */
#include "truth.h"

static struct {
    uintptr_t top __attribute__((aligned(128)));
    uintptr_t base __attribute__((aligned(128))), limit;
} shared;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) {
    size_t bytes = number[0] * threads;
    shared.base = (uintptr_t)memory(bytes, 1);
    shared.limit = shared.base + bytes / SIZE * SIZE;
    shared.top = shared.base;
}

static void *prepare(long thread) {
    (void)thread;
    pthread_once(&once, make);
    return 0;
}

static long work(void *state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        uintptr_t limit = *(volatile uintptr_t *)&shared.limit, p, top;
    again:
        p = *(volatile uintptr_t *)&shared.top;
        top = p + SIZE;
        if (SELDOM(top > limit)) {
            __sync_bool_compare_and_swap(&shared.top, p, shared.base);
            goto again;
        }
        if (SELDOM(!__atomic_compare_exchange_n(&shared.top, &p, top, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))) goto again;
        object((char *)p, SIZE);
    }
    return 2000;
}
