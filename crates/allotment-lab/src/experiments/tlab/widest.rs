//! The measured loops, compiled twice on x86-64: for any processor, and for AVX2, whose stores are
//! twice as wide. On AArch64 no processor has wider stores than all of them.
//!
//! The function that an allocation is inlined into decides how wide its stores are. So an embedder
//! compiles the functions that allocate for the processor at hand: a JIT does so anyway, others use
//! `#[target_feature]` and `-C target-cpu`. The lab is built for any processor and chooses at run
//! time, as memset does, for all loops alike.
//!
//! Refused: building the lab with `-C target-cpu=native` as the rule. Its figures would be those of
//! a build that is never shipped.

/// A measured loop over the state that it changes, such as a mutator.
///
/// The loop stands in a function of its own, as an embedder's would. `over` is an argument, which
/// the compiler may keep in registers, and not a field, which the sink might have changed.
pub(super) trait Loop<Over> {
    /// Allocates, and returns the number of objects. Must be `inline(always)`; otherwise it is
    /// compiled once, with narrow stores.
    fn run(&self, over: Over) -> u64;
}

/// The loop of a worker that has a single loop.
pub(super) struct Only;

/// Whether the processor has wider stores than every processor of its machine.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn is_wide() -> bool {
    is_x86_feature_detected!("avx2")
}

/// `false`: see the head of the file.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn is_wide() -> bool {
    false
}

/// Runs the loop with the widest stores of this processor.
#[inline]
pub(super) fn widest<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    if is_wide() {
        // SAFETY: the processor has AVX2.
        unsafe { for_avx2(body, over) }
    } else {
        for_any(body, over)
    }
}

/// # Safety
/// - [`is_wide`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
#[inline(never)]
unsafe fn for_avx2<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    body.run(over)
}

#[inline(never)]
fn for_any<Over, L: Loop<Over>>(body: &L, over: Over) -> u64 {
    body.run(over)
}
