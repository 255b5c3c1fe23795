//! Keeps results alive at no cost.
//!
//! The compiler may delete a loop whose results are unused. An empty assembly statement that takes
//! the value in a register uses it without an instruction, as JMH's compiler black holes do (JDK 17
//! and later). Refused: `std::hint::black_box`. It may pass the value through memory, and the store
//! and the load are not free beside an allocation of some nanoseconds.

/// Makes the compiler assume that `pointer` and all memory reachable from it are read and written
/// here.
///
/// Emits no instruction. The statement is not declared `nomem`, so stores to a fresh object before
/// it must have happened, and loads after it may not be moved up.
#[inline(always)]
pub fn keep<T: ?Sized>(pointer: *const T) {
    let address = pointer.cast::<u8>();
    // SAFETY: the assembly is only a comment: it touches no register, flag, stack or memory.
    unsafe { core::arch::asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) }
}

/// Makes the compiler assume that `value` is used here. Emits no instruction, and does not order
/// accesses to memory.
#[inline(always)]
pub fn keep_value(value: u64) {
    // SAFETY: the assembly is only a comment: it touches no register, flag, stack or memory.
    unsafe { core::arch::asm!("/* {0} */", in(reg) value, options(nomem, nostack, preserves_flags)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_unchanged() {
        let cell = [1_u8, 2, 3];
        keep(&raw const cell);
        keep(&raw const cell[..]);
        keep_value(7);
        assert_eq!(cell, [1, 2, 3]);
    }
}
