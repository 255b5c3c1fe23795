/* Vector registers across the slow path of a barrier, in functions whose target the file has not.
 * The slow path here is a stub that ends with `vzeroupper`, as the memcpy of a C library does. */
#include <allotment.h>
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

void clears_uppers(void);
__asm__(
    ".text\n"
    ".globl clears_uppers\n"
    "clears_uppers:\n"
    "  vzeroupper\n"
    "  mov %rdx, %rax\n"
    "  ret\n");

static al_mutator fake;
static al_slot slot = {8};

__attribute__((target("avx2"), noinline)) static int by_attribute(const int *from, int *to) {
  __m256i kept = _mm256_loadu_si256((const __m256i *)(const void *)from);
  __asm__ volatile("" : "+x"(kept)); /* in a register from here on */
  al_word word = al_load(&fake, &slot);
  _mm256_storeu_si256((__m256i *)(void *)to, kept);
  return word == 8;
}

#if !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
__attribute__((target("avx2"), noinline)) static int by_pragma(const int *from, int *to) {
  __m256i kept = _mm256_loadu_si256((const __m256i *)(const void *)from);
  __asm__ volatile("" : "+x"(kept));
  al_word expected = 8;
  al_store(&fake, &slot, al_load_weak(&fake, &slot));
  bool done = al_cas(&fake, &slot, &expected, 8);
  _mm256_storeu_si256((__m256i *)(void *)to, kept);
  return done;
}
#if !defined(__clang__)
#pragma GCC pop_options
#endif

static int keeps(int (*function)(const int *, int *)) {
  const int from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int to[8] = {0};
  return function(from, to) && !memcmp(from, to, sizeof to);
}

int main(void) {
  static unsigned char card[2];
  if (!__builtin_cpu_supports("avx2")) {
    puts("no AVX2");
    return 0;
  }
  fake.barriers = AL_LOAD_BITS | AL_LOAD_WEAK_BITS | AL_STORE_BITS | AL_COMPARE_EXCHANGE_BITS;
  fake.cards = (uintptr_t)card - ((uintptr_t)&slot >> AL_CARD_SHIFT);
  for (int i = 0; i < 4; i++) fake.slow[i] = (uintptr_t)clears_uppers;
  if (!keeps(by_attribute)) {
    puts("lost after al_load");
    return 1;
  }
  if (!keeps(by_pragma)) {
    puts("lost after al_store and al_cas");
    return 1;
  }
  puts("kept");
  return 0;
}
