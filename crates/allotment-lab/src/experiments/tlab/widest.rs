//! The measured loops, compiled twice: for any x86-64, and for AVX2, whose stores are twice as wide.
//!
//! What inlines an allocation decides how wide its stores are, so an embedder compiles the functions that
//! allocate for the processor at hand: a JIT does so anyway, others have `#[target_feature]` and
//! `-C target-cpu`. The lab is built for any processor and chooses at run time, as memset does, for all loops
//! alike. A lab that is built with `-C target-cpu=native` was refused as the rule: its figures would be those
//! of a build that nobody ships.

/// A measured loop over what it changes, such as a mutator.
///
/// A function of its own around it as an embedder's would be: `over` is an argument, which the compiler may keep
/// in registers, and not a field, which the sink might have changed.
pub(super) trait Loop<Over> {
    /// Allocates, and returns the number of objects. To be `inline(always)`, or it is compiled once and narrow.
    fn run(&self, over: Over) -> u64;
}

/// The loop of a worker that has but one.
pub(super) struct Only;

/// Runs the loop with the widest stores of this processor.
#[inline]
pub(super) fn widest<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it.
        unsafe { for_avx2(body, over) }
    } else {
        for_any(body, over)
    }
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn for_avx2<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    body.run(over)
}

#[inline(never)]
fn for_any<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    body.run(over)
}
