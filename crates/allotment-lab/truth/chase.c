/* Hops around one cycle of all slots; each load waits for the one before. Numbers: bytes, bytes from slot to slot, and
 * bytes of a window that slides over the memory, within which the order is random; 0: anywhere. */
#include "truth.h"

static void *prepare(long thread) {
    long step = number[1], slots = number[0] / step, window = number[2] / step;
    long *order = malloc(slots * sizeof *order);
    char *base = memory(number[0], 0);
    uint64_t random = 88172645463325252ull + thread;
    for (long i = 0; i < slots; i++) order[i] = i;
    for (long i = 0; i < slots - 1; i++) {
        long choice = slots - i;
        if (window && window < choice) choice = window;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        long j = i + random % choice, kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (long i = 0; i < slots; i++) *(void **)(base + order[i] * step) = base + order[(i + 1) % slots] * step;
    free(order);
    void **state = malloc(sizeof *state);
    *state = base;
    return state;
}

static long work(void *state) {
    void **at = *(void ***)state;
    for (int i = 0; i < 4096 / 8; i++) {
        at = *at, at = *at, at = *at, at = *at;
        at = *at, at = *at, at = *at, at = *at;
    }
    *(void ***)state = at;
    return 4096;
}
