/* The common part of the programs: threads that work side by side, and a line with their speed.
 *
 * A program defines `prepare`, called on each thread once, and `work`, which does some thousand operations and returns
 * how many. Usage: PROGRAM THREADS MICROSECONDS WINDOWS NUMBER.. ; measures WINDOWS windows of MICROSECONDS microseconds
 * each, and prints operations per microsecond, summed over the threads, and nanoseconds per operation, the mean over the
 * threads. With one thread the best window counts, since every disturbance makes it slower. With several the middle one
 * counts, since a thread is faster while another is absent. Nothing here is taken from the lab, so that both answers are
 * independent. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static void *prepare(long thread);
static long work(void *state);

/* What seldom happens, for the compiler to put aside. */
#define SELDOM(condition) __builtin_expect(!!(condition), 0)

static long threads, microseconds, windows, number[8];
static atomic_long warm, finished;
static double rates[64];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Memory that is aligned to 2 MiB and touched; huge: in huge pages if there are any. */
__attribute__((unused)) static void *memory(size_t bytes, int huge) {
    size_t unit = 2 << 20, whole = (bytes + 2 * unit - 1) & ~(unit - 1);
    char *p = mmap(0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) { perror("mmap"); exit(1); }
    p = (char *)(((uintptr_t)p + unit - 1) & ~(unit - 1));
    madvise(p, whole - unit, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

/* An object's first word and zeroes for the rest, in as few stores as there may be; the compiler believes that somebody
 * reads it. */
__attribute__((unused)) static inline void object(char *p, size_t bytes) {
#ifndef __x86_64__
    uint64_t first = 256;
    memcpy(p, &first, sizeof first);
    memset(p + sizeof first, 0, bytes - sizeof first);
#else
#ifdef __AVX__
    if (bytes >= 32) {
        _mm256_storeu_si256((__m256i *)p, _mm256_set_epi64x(0, 0, 0, 256));
        memset(p + 32, 0, bytes - 32);
    } else
#endif
    {
        _mm_storeu_si128((__m128i *)p, _mm_set_epi64x(0, 256));
        memset(p + 16, 0, bytes - 16);
    }
#endif
    __asm__ volatile("" : : "r"(p) : "memory");
}

/* What a thread does between two looks at a word that another one is to change. */
__attribute__((unused)) static inline void relax(void) {
#ifdef __x86_64__
    __builtin_ia32_pause();
#else
    __asm__ volatile("isb sy");
#endif
}

static void pin(long thread) {
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) || threads > CPU_COUNT(&all)) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || thread-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Warms up, waits for the others at work, measures, and works on until all have measured. */
static void *run(void *argument) {
    long thread = (long)argument, done = 0;
    pin(thread);
    void *state = prepare(thread);
    double *found = calloc(windows, sizeof *found);
    for (double end = now() + microseconds * windows / 3e6; now() < end;) work(state);
    for (warm++; warm < threads;) work(state);
    for (long window = 0; window < windows; window++, done = 0) {
        double start = now(), time;
        do done += work(state); while ((time = now() - start) < microseconds * 1e-6);
        found[window] = done / time * 1e-6;
    }
    qsort(found, windows, sizeof *found, by_size);
    rates[thread] = found[threads == 1 ? windows - 1 : windows / 2];
    for (finished++; finished < threads;) work(state);
    return 0;
}

int main(int count, char **values) {
    pthread_t ids[64];
    threads = count > 1 ? atol(values[1]) : 1;
    microseconds = count > 2 ? atol(values[2]) : 5000;
    windows = count > 3 ? atol(values[3]) : 60;
    for (int i = 4; i < count && i < 12; i++) number[i - 4] = atol(values[i]);
    if (threads < 1 || threads > 64 || microseconds < 1 || windows < 1) {
        fputs("THREADS MICROSECONDS WINDOWS NUMBER..\n", stderr);
        return 2;
    }
    for (long i = 0; i < threads; i++) if (pthread_create(&ids[i], 0, run, (void *)i)) { perror("pthread_create"); return 1; }
    double sum = 0, mean = 0;
    for (long i = 0; i < threads; i++) {
        pthread_join(ids[i], 0);
        sum += rates[i];
        mean += 1e3 / rates[i] / threads;
    }
    printf("%.6f %.6f\n", sum, mean);
    return 0;
}
