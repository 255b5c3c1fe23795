//! Keeping results alive at no cost.
//!
//! A loop whose results nobody uses is a loop the compiler may delete. An empty assembly statement
//! that takes the value in a register uses it without an instruction, which is what JMH's compiler
//! black holes (JDK 17 and later) amount to. `std::hint::black_box` was refused: it may pass the
//! value through memory, a store and a load that are not free next to an allocation of some
//! nanoseconds.

/// Makes the compiler believe that `pointer` and all memory reachable from it are read and written
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

/// Makes the compiler believe that `value` is used here. Emits no instruction; memory is not
/// concerned.
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
