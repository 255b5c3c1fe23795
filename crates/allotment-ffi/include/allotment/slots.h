/* allotment/slots.h: words, and slots with their barriers. Included by allotment.h. */
#ifndef ALLOTMENT_SLOTS_H
#define ALLOTMENT_SLOTS_H

/* ---- Words ---- */

/* The address that a word refers to: NULL for null and immediates. */
AL_NO_SAFEPOINT AL_HOT_ void *al_addr(al_word word) {
  return (void *)(uintptr_t)(word & AL_IMMEDIATE_BIT ? 0 : word & AL_ADDRESS_MASK);
}

/* A reference to an object, or null. */
AL_NO_SAFEPOINT AL_HOT_ al_word al_ref(const void *object) { return (al_word)(uintptr_t)object; }

/* Whether a word refers to an object. */
AL_NO_SAFEPOINT AL_HOT_ bool al_is_ref(al_word word) {
  return !(word & AL_IMMEDIATE_BIT) && (word & AL_ADDRESS_MASK);
}

/* Whether a word is null. */
AL_NO_SAFEPOINT AL_HOT_ bool al_is_null(al_word word) { return word == 0; }

/* Whether two words, both loaded since the last [S], are the same. */
AL_NO_SAFEPOINT AL_HOT_ bool al_same(al_word one, al_word other) { return one == other; }

/* The tag of a reference: its bits 1, 2, and 48 to 63, in their places. */
AL_NO_SAFEPOINT AL_HOT_ uint64_t al_tag(al_word word) {
  return word & ~(uint64_t)AL_ADDRESS_MASK & ~(uint64_t)AL_IMMEDIATE_BIT;
}
AL_NO_SAFEPOINT AL_HOT_ al_word al_with_tag(al_word word, uint64_t tag) {
  return (word & AL_ADDRESS_MASK) | al_tag(tag);
}

/* An immediate, and its number: 63 bits. */
AL_NO_SAFEPOINT AL_HOT_ al_word al_immediate(int64_t number) {
  return (al_word)number << 1 | AL_IMMEDIATE_BIT;
}
AL_NO_SAFEPOINT AL_HOT_ int64_t al_number(al_word word) { return (int64_t)word >> 1; }

/* The word of a value, for memory of your own that a provider visits; and the value of such a word.
 * Without AL_CHECK both are the same. */
AL_NO_SAFEPOINT AL_HOT_ al_word al_to_word(al_word value) { return value; }
AL_NO_SAFEPOINT AL_HOT_ al_word al_from_word(al_word word) { return word; }

/* ---- Slow paths of barriers. They move nothing, and keep the general registers. ---- */

/* What else they do not keep. A function may have vector registers that its file has not: `target`,
 * `target_clones`, `#pragma GCC target`. So the list is that of all machines, as far as the
 * compiler takes the names: gcc refuses those that the file's own target lacks. */
#if defined(__x86_64__)
#if defined(__SSE__) || defined(__clang__)
#define AL_XMM_                                                                               \
  , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#else
#define AL_XMM_
#endif
#if defined(__AVX512F__) || defined(__clang__)
#define AL_AVX512_                                                                               \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", \
      "k6", "k7"
#else
#define AL_AVX512_
#endif
#if defined(_SOFT_FLOAT) /* gcc with -mno-80387 */
#define AL_X87_
#else
#define AL_X87_ , "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
#endif
#if defined(__MMX__) || defined(__clang__)
#define AL_MMX_ , "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"
#else
#define AL_MMX_
#endif
#define AL_VECTORS_ AL_XMM_ AL_AVX512_ AL_X87_ AL_MMX_
#define AL_TEXT_2_(number) #number
#define AL_TEXT_(number) AL_TEXT_2_(number)
/* The two `lea` step over the red zone. The entry aligns the stack. */
#define AL_CALL_(offset, hot) \
  "lea -128(%%rsp), %%rsp\n\tcall *" AL_TEXT_(offset) "(" hot ")\n\tlea 128(%%rsp), %%rsp"
#elif defined(__aarch64__)
/* clang and gcc 9 have no name for ffr: there, no slot is used from svsetffr to svrdffr. */
#if defined(__clang__) || __GNUC__ < 10
#define AL_FFR_
#else
#define AL_FFR_ , "ffr"
#endif
#define AL_VECTORS_                                                                            \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", \
      "p14", "p15" AL_FFR_
#endif

/* [N] The slow paths of al_load, al_load_weak, al_store and al_cas. With AL_PLAIN_CALLS they are
 * plain calls: more registers are saved, and debuggers see every frame. gcc needs this for a file
 * with functions that use AVX-512 by an attribute, or the file is compiled with -mavx512f. */
#if defined(AL_PLAIN_CALLS)
AL_COLD_ al_word al_load_slow(al_mutator *mu, const al_slot *slot, al_word word);
AL_COLD_ al_word al_load_weak_slow(al_mutator *mu, const al_slot *slot, al_word word);
AL_COLD_ void al_store_slow(al_mutator *mu, const al_slot *slot);
AL_COLD_ al_word al_cas_slow(al_mutator *mu, al_slot *slot, al_word expected, al_word word);
#elif defined(__x86_64__)
AL_HOT_ al_word al_load_slow(al_mutator *mu, const al_slot *slot, al_word word) {
  al_word result;
  __asm__ volatile(AL_CALL_(AL_LOAD_SLOW_OFFSET, "%1")
                   : "=a"(result)
                   : "D"(mu), "S"(slot), "d"(word)
                   : "cc", "memory" AL_VECTORS_);
  return result;
}
AL_HOT_ al_word al_load_weak_slow(al_mutator *mu, const al_slot *slot, al_word word) {
  al_word result;
  __asm__ volatile(AL_CALL_(AL_LOAD_WEAK_SLOW_OFFSET, "%1")
                   : "=a"(result)
                   : "D"(mu), "S"(slot), "d"(word)
                   : "cc", "memory" AL_VECTORS_);
  return result;
}
AL_HOT_ void al_store_slow(al_mutator *mu, const al_slot *slot) {
  __asm__ volatile(AL_CALL_(AL_STORE_SLOW_OFFSET, "%0")
                   :
                   : "D"(mu), "S"(slot)
                   : "cc", "memory" AL_VECTORS_);
}
AL_HOT_ al_word al_cas_slow(al_mutator *mu, al_slot *slot, al_word expected, al_word word) {
  al_word result;
  __asm__ volatile(AL_CALL_(AL_COMPARE_EXCHANGE_SLOW_OFFSET, "%1")
                   : "=a"(result)
                   : "D"(mu), "S"(slot), "d"(expected), "c"(word)
                   : "cc", "memory" AL_VECTORS_);
  return result;
}
#else /* The arguments are in x0 to x3, the result is in x0. There is no red zone. */
#define AL_CALL_(entry) \
  register uintptr_t to_ __asm__("x16") = (entry); \
  register uintptr_t a0_ __asm__("x0") = (uintptr_t)mu; \
  register uintptr_t a1_ __asm__("x1") = (uintptr_t)slot
AL_HOT_ al_word al_load_slow(al_mutator *mu, const al_slot *slot, al_word word) {
  AL_CALL_(mu->slow[0]);
  register uintptr_t a2_ __asm__("x2") = word;
  __asm__ volatile("blr %0"
                   : "+r"(to_), "+r"(a0_)
                   : "r"(a1_), "r"(a2_)
                   : "x17", "x30", "cc", "memory" AL_VECTORS_);
  return a0_;
}
AL_HOT_ al_word al_load_weak_slow(al_mutator *mu, const al_slot *slot, al_word word) {
  AL_CALL_(mu->slow[1]);
  register uintptr_t a2_ __asm__("x2") = word;
  __asm__ volatile("blr %0"
                   : "+r"(to_), "+r"(a0_)
                   : "r"(a1_), "r"(a2_)
                   : "x17", "x30", "cc", "memory" AL_VECTORS_);
  return a0_;
}
AL_HOT_ void al_store_slow(al_mutator *mu, const al_slot *slot) {
  AL_CALL_(mu->slow[2]);
  __asm__ volatile("blr %0"
                   : "+r"(to_)
                   : "r"(a0_), "r"(a1_)
                   : "x17", "x30", "cc", "memory" AL_VECTORS_);
}
AL_HOT_ al_word al_cas_slow(al_mutator *mu, al_slot *slot, al_word expected, al_word word) {
  AL_CALL_(mu->slow[3]);
  register uintptr_t a2_ __asm__("x2") = expected;
  register uintptr_t a3_ __asm__("x3") = word;
  __asm__ volatile("blr %0"
                   : "+r"(to_), "+r"(a0_)
                   : "r"(a1_), "r"(a2_), "r"(a3_)
                   : "x17", "x30", "cc", "memory" AL_VECTORS_);
  return a0_;
}
#endif

/* [N] The whole of an access to several slots, or to a weak one, where a barrier is in force. */
AL_COLD_ bool al_weak_live_slow(al_mutator *mu, const al_slot *slot);
AL_COLD_ void al_copy_slow(al_mutator *mu, al_slot *to, const al_slot *from, size_t count);
AL_COLD_ void al_fill_slow(al_mutator *mu, al_slot *to, size_t count, al_word word);

/* ---- Slots ---- */

/* [N] The word of a strong slot. */
AL_NO_SAFEPOINT AL_HOT_ al_word al_load(al_mutator *mu, const al_slot *slot) {
  al_word word = __atomic_load_n(&slot->bits_, __ATOMIC_ACQUIRE);
  if (AL_UNLIKELY_(mu->barriers & AL_LOAD_BITS)) word = al_load_slow(mu, slot, word);
  return word;
}

/* [N] The word of a weak slot: null if its referent is dead. */
AL_NO_SAFEPOINT AL_HOT_ al_word al_load_weak(al_mutator *mu, const al_slot *slot) {
  al_word word = __atomic_load_n(&slot->bits_, __ATOMIC_ACQUIRE);
  if (AL_UNLIKELY_(mu->barriers & AL_LOAD_WEAK_BITS)) word = al_load_weak_slow(mu, slot, word);
  return word;
}

/* [N] Whether the referent of a weak slot lives, as far as the collector knows. Keeps nothing
 * alive: for the look-up of an interner. */
AL_NO_SAFEPOINT AL_HOT_ bool al_weak_live(al_mutator *mu, const al_slot *slot) {
  if (AL_UNLIKELY_(mu->barriers & AL_WEAK_BIT)) return al_weak_live_slow(mu, slot);
  return __atomic_load_n(&slot->bits_, __ATOMIC_ACQUIRE) != 0;
}

/* [N] Dirties the card of a slot. al_store does it. */
AL_NO_SAFEPOINT AL_HOT_ void al_card_(al_mutator *mu, const al_slot *slot) {
  uintptr_t card = mu->cards + ((uintptr_t)slot >> AL_CARD_SHIFT);
  __atomic_store_n((unsigned char *)card, (unsigned char)AL_DIRTY_CARD, __ATOMIC_RELEASE);
}

/* [N] Writes a slot. */
AL_NO_SAFEPOINT AL_HOT_ void al_store(al_mutator *mu, al_slot *slot, al_word word) {
  if (AL_UNLIKELY_(mu->barriers & AL_STORE_BITS)) al_store_slow(mu, slot);
  __atomic_store_n(&slot->bits_, word, __ATOMIC_RELEASE);
  al_card_(mu, slot);
}

/* [N] Writes a slot of an object that was made since the last [S], and that no other thread has. */
AL_NO_SAFEPOINT AL_HOT_ void al_init(al_slot *slot, al_word word) {
  __atomic_store_n(&slot->bits_, word, __ATOMIC_RELAXED);
}

/* [N] Writes a strong slot if it holds `*expected`. Otherwise sets `*expected` to what it holds. */
AL_NO_SAFEPOINT AL_HOT_ bool al_cas(al_mutator *mu, al_slot *slot, al_word *expected,
                                    al_word word) {
  al_word held = *expected;
  bool done;
  if (AL_UNLIKELY_(mu->barriers & AL_COMPARE_EXCHANGE_BITS)) {
    held = al_cas_slow(mu, slot, *expected, word);
    done = held == *expected;
  } else {
    done = __atomic_compare_exchange_n(&slot->bits_, &held, word, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
  }
  if (done) {
    al_card_(mu, slot);
  } else {
    *expected = held;
  }
  return done;
}

/* Dirties the cards of `count` slots, at least one. */
AL_HOT_ void al_cards_(al_mutator *mu, const al_slot *first, size_t count) {
  uintptr_t card = (uintptr_t)first >> AL_CARD_SHIFT;
  uintptr_t last = (uintptr_t)(first + count - 1) >> AL_CARD_SHIFT;
  for (; card <= last; card++) {
    __atomic_store_n((unsigned char *)(mu->cards + card), (unsigned char)AL_DIRTY_CARD,
                     __ATOMIC_RELEASE);
  }
}

/* [N] Copies strong slots of one object to those of one object. The two ranges may overlap. */
AL_NO_SAFEPOINT AL_HOT_ void al_copy(al_mutator *mu, al_slot *to, const al_slot *from,
                                     size_t count) {
  if (count == 0) return;
  if (AL_UNLIKELY_(mu->barriers & AL_COPY_BITS)) {
    al_copy_slow(mu, to, from, count);
    return;
  }
  if ((uintptr_t)to <= (uintptr_t)from) {
    for (size_t i = 0; i < count; i++) {
      al_word word = __atomic_load_n(&from[i].bits_, __ATOMIC_RELAXED);
      __atomic_store_n(&to[i].bits_, word, __ATOMIC_RELEASE);
    }
  } else {
    for (size_t i = count; i-- > 0;) {
      al_word word = __atomic_load_n(&from[i].bits_, __ATOMIC_RELAXED);
      __atomic_store_n(&to[i].bits_, word, __ATOMIC_RELEASE);
    }
  }
  al_cards_(mu, to, count);
}

/* [N] Writes one word to slots of one object. */
AL_NO_SAFEPOINT AL_HOT_ void al_fill(al_mutator *mu, al_slot *to, size_t count, al_word word) {
  if (count == 0) return;
  if (AL_UNLIKELY_(mu->barriers & AL_STORE_BITS)) {
    al_fill_slow(mu, to, count, word);
    return;
  }
  for (size_t i = 0; i < count; i++) __atomic_store_n(&to[i].bits_, word, __ATOMIC_RELEASE);
  al_cards_(mu, to, count);
}

#endif /* ALLOTMENT_SLOTS_H */
