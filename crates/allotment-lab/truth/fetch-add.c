/* One pointer for all threads, moved by fetch-and-add. Numbers: bytes of an eden for each thread. */
#include "truth.h"

static struct {
    _Atomic uintptr_t top __attribute__((aligned(128)));
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
        uintptr_t p = atomic_fetch_add_explicit(&shared.top, SIZE, memory_order_relaxed);
        if (SELDOM(p >= *(volatile uintptr_t *)&shared.limit)) {
            p = shared.base;
            shared.top = p + SIZE;
        }
        object((char *)p, SIZE);
    }
    return 2000;
}
