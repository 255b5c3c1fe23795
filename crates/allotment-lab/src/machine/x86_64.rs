//! What the lab needs of x86-64: the time stamp counter, and the context of a signal.

/// Reads the time stamp counter, without waiting for earlier instructions to finish.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Ticks a second, where the processor tells programs: here it does not, and the experiment `clock`
/// measures them.
pub(super) fn ticks_per_second() -> Option<u64> {
    None
}

/// The program counter of the code that a signal interrupted.
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize
}
