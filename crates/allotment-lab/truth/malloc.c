/* malloc, and free of the oldest of 1,024 live objects. */
#include "truth.h"

enum { LIVE = 1024 };
struct ring { char *objects[LIVE]; unsigned oldest; };

static void *prepare(long thread) {
    (void)thread;
    return calloc(1, sizeof(struct ring));
}

static long work(void *state) {
    struct ring *r = state;
    for (int i = 0; i < 2000; i++) {
        char *p = malloc(SIZE);
        if (!p) exit(1);
        object(p, SIZE);
        char *dead = r->objects[r->oldest];
        r->objects[r->oldest] = p;
        if (dead) free(dead);
        r->oldest = (r->oldest + 1) % LIVE;
    }
    return 2000;
}
