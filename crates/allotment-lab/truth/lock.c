/* One pointer for all threads, moved under a mutex of one word: 0 free, 1 taken, 2 taken and waited for (Drepper,
 * "Futexes Are Tricky"). Numbers: bytes of an eden for each thread. */
#include "truth.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    atomic_int word __attribute__((aligned(128)));
    uintptr_t top;
    uintptr_t base __attribute__((aligned(128))), limit;
} shared;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) {
    size_t bytes = number[0] * threads;
    shared.top = shared.base = (uintptr_t)memory(bytes, 1);
    shared.limit = shared.base + bytes / SIZE * SIZE;
}

static void *prepare(long thread) {
    (void)thread;
    pthread_once(&once, make);
    return 0;
}

static inline int take(int *is) {
    return atomic_compare_exchange_strong_explicit(&shared.word, is, 1, memory_order_acquire, memory_order_relaxed);
}

__attribute__((noinline)) static void wait_for_it(void) {
    for (int i = 0; i < 100 && atomic_load_explicit(&shared.word, memory_order_relaxed) == 1; i++) relax();
    int is = 0;
    if (take(&is)) return;
    while (atomic_exchange_explicit(&shared.word, 2, memory_order_acquire)) {
        syscall(SYS_futex, &shared.word, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
        for (int i = 0; i < 100 && atomic_load_explicit(&shared.word, memory_order_relaxed) == 1; i++) relax();
    }
}

static long work(void *state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        int is = 0;
        if (SELDOM(!take(&is))) wait_for_it();
        uintptr_t p = shared.top;
        if (SELDOM(p + SIZE > shared.limit)) p = shared.base;
        shared.top = p + SIZE;
        if (SELDOM(atomic_exchange_explicit(&shared.word, 0, memory_order_release) == 2)) syscall(SYS_futex, &shared.word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
        object((char *)p, SIZE);
    }
    return 2000;
}
