/* The bytes of objects zeroed, 16 KiB at a time. Numbers: bytes of the eden. */
#include "truth.h"

enum { PIECE = 16 << 10 };
struct eden { char *base; long at, pieces; };

static void *prepare(long thread) {
    (void)thread;
    struct eden *e = malloc(sizeof *e);
    e->base = memory(number[0], 1);
    e->at = 0;
    e->pieces = number[0] / PIECE > 0 ? number[0] / PIECE : 1;
    return e;
}

static long work(void *state) {
    struct eden *e = state;
    for (int i = 0; i < 8; i++) {
        char *p = e->base + e->at * PIECE;
        memset(p, 0, PIECE);
        __asm__ volatile("" : : "r"(p) : "memory");
        if (++e->at == e->pieces) e->at = 0;
    }
    return 8 * (PIECE / SIZE);
}
