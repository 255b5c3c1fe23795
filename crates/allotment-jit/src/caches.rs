//! New code becomes visible to instruction fetch.
//!
//! x86-64 keeps instruction caches coherent with stores. AArch64 takes two steps:
//!
//! 1. The data caches are cleaned and the instruction caches invalidated over the code. The
//!    instructions for that are broadcast, so the caches of all cores take part.
//! 2. A core may have fetched instructions from these addresses before. It drops them at the next
//!    context synchronisation: `isb` on this thread, and a `membarrier` for the threads that run
//!    on other cores.
//!
//! Refused: the crate that `cranelift-jit` uses. It cleans no data cache, assumes the size of a
//! cache line, and says that it is internal.

use std::ptr::NonNull;

/// Makes the code visible to instruction fetch on every core.
///
/// # Safety
/// - The range lies in memory that this thread may read.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn clean(start: NonNull<u8>, bytes: usize) {
    use std::arch::asm;
    let types: usize;
    // SAFETY: reads the sizes of cache lines, which Linux allows.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags, pure)) };
    // The fields are powers of two, in words of 4 bytes.
    let (data_line, instruction_line) = (4 << (types >> 16 & 0xF), 4 << (types & 0xF));
    let lines = |line: usize| (start.addr().get() & !(line - 1)..start.addr().get() + bytes).step_by(line);
    for line in lines(data_line) {
        // SAFETY: an address in a page of the range: pages begin at a multiple of a line.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: waits for the instructions before.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for line in lines(instruction_line) {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: waits for the instructions before, and fetches what follows anew.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// Has all threads of this process fetch instructions anew. Returns whether the kernel did so.
#[cfg(target_arch = "aarch64")]
pub(crate) fn synchronise_threads() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    // Registering again is not an error.
    membarrier(MembarrierCommand::RegisterPrivateExpeditedSyncCore).is_ok()
        && membarrier(MembarrierCommand::PrivateExpeditedSyncCore).is_ok()
}

/// Makes the code visible to instruction fetch on every core: it is.
///
/// # Safety
/// - The range lies in memory that this thread may read.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn clean(_start: NonNull<u8>, _bytes: usize) {}

/// Has all threads of this process fetch instructions anew: pages that become executable are enough.
#[cfg(target_arch = "x86_64")]
pub(crate) fn synchronise_threads() -> bool {
    true
}
