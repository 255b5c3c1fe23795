/* A bump loop: top and limit in memory, loaded and top stored for each object. Numbers: bytes of the eden. */
#include "truth.h"

struct buffer { uintptr_t top, limit, base, end; char other_line[32]; };

static void *prepare(long thread) {
    (void)thread;
    struct buffer *b = aligned_alloc(64, sizeof *b);
    b->base = b->top = (uintptr_t)memory(number[0], 1);
    b->end = b->limit = b->base + number[0] / SIZE * SIZE;
    return b;
}

static long work(void *state) {
    struct buffer *b = state;
    long made = 0;
    for (; made < 4000; made += 2)
        for (int twice = 0; twice < 2; twice++) {
            uintptr_t p = *(volatile uintptr_t *)&b->top, top = p + SIZE;
            if (SELDOM(top > *(volatile uintptr_t *)&b->limit)) { p = b->base; top = p + SIZE; }
            *(volatile uintptr_t *)&b->top = top;
            object((char *)p, SIZE);
        }
    return made;
}
