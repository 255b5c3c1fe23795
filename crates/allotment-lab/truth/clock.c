/* Reads a clock. Numbers: which: 0 the processor's counter, 1 the clock of the last tick, 2 the monotonic clock. */
#include "truth.h"

static inline uint64_t counter(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

static void *prepare(long thread) {
    (void)thread;
    return 0;
}

static long work(void *state) {
    (void)state;
    clockid_t id = number[0] == 1 ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC;
    for (int i = 0; i < 1000; i++) {
        struct timespec t;
        uint64_t ticks = 0;
        if (number[0] == 0) ticks = counter();
        else clock_gettime(id, &t), ticks = t.tv_nsec;
        __asm__ volatile("" : : "r"(ticks));
    }
    return 1000;
}
