//! What the lab needs of AArch64: the virtual counter, and the context of a signal.

use std::arch::asm;

/// Reads the virtual counter, without waiting for earlier instructions to finish. It ticks at a
/// rate of its own, which is far below that of cycles on many machines.
#[inline(always)]
pub fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets programs read the register, which changes no memory and no flag. Without
    // `pure` each reading stays one.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// Ticks a second, as the firmware has told the processor; `None` if it has not.
pub(super) fn ticks_per_second() -> Option<u64> {
    let hertz: u64;
    // SAFETY: Linux lets programs read the register, whose value never changes.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) hertz, options(nomem, nostack, preserves_flags, pure)) };
    (hertz != 0).then_some(hertz)
}

/// The program counter of the code that a signal interrupted.
pub fn program_counter(context: &libc::ucontext_t) -> usize {
    context.uc_mcontext.pc as usize
}
