/* Sums numbers of 32 bits in the order of another array of them, a random permutation. Numbers: bytes of both arrays. */
#include "truth.h"

struct arrays { uint32_t *values, *indexes; long count, at; };

static void *prepare(long thread) {
    struct arrays *a = malloc(sizeof *a);
    uint64_t random = 88172645463325252ull + thread;
    a->count = number[0] / 8;
    a->values = memory(number[0], 0);
    a->indexes = a->values + a->count;
    a->at = 0;
    for (long i = 0; i < a->count; i++) a->values[i] = a->indexes[i] = i;
    for (long i = a->count - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        long j = random % (i + 1);
        uint32_t kept = a->indexes[i];
        a->indexes[i] = a->indexes[j];
        a->indexes[j] = kept;
    }
    return a;
}

static long work(void *state) {
    struct arrays *a = state;
    uint32_t sum = 0;
    for (long left = 32768; left > 0;) {
        long part = left < a->count - a->at ? left : a->count - a->at;
        const uint32_t *index = a->indexes + a->at, *end = index + part, *values = a->values;
        /* As compilers do that unroll by themselves. */
#pragma GCC unroll 8
        while (index < end) sum += values[*index++];
        left -= part;
        a->at = (a->at + part) % a->count;
    }
    __asm__ volatile("" : : "r"(sum));
    return 32768;
}
