//! The slow paths of barriers, as generated code calls them: their types, and what they promise.
//!
//! A barrier stands wherever generated code accesses a slot. At most of these places a compiler has
//! values in registers, and would have to save them around a C function. So these functions follow
//! the C calling convention for arguments and result, and keep all other registers:
//!
//! ```text
//! x86-64
//!   kept       rax (without a result), rcx rdx rsi rdi rbx rbp r8 to r15, xmm0 to xmm15
//!   not kept   flags, upper halves of ymm and zmm, zmm16 to zmm31, mask registers, x87
//!   stack      aligned by the function, whatever the caller's alignment
//! AArch64
//!   kept       x0 (without a result), x1 to x15, x18 to x29, v0 to v31, z0 to z31 of SVE
//!   not kept   x16, x17, x30, flags, p0 to p15, ffr
//!   stack      a multiple of 16, as everywhere
//! ```
//!
//! None of them waits, reaches a safepoint or leaves a
//! [`GeneratedFrame`](super::super::GeneratedFrame). Objects that were valid before the call are
//! valid after it. Each does the right thing whatever barriers are in force, so code may call too
//! often.
//!
//! Refused:
//! - To keep the upper halves with `xsave`. The frame would be up to 2.7 KiB, and few compilers
//!   hold such a value across a barrier. Loads of whole `ymm` registers would make later code
//!   without AVX slow on some processors.
//! - Addresses as constants of the code alone. Code that takes them from the hot part has no
//!   relocation for them and needs no register.

use super::Hot;

/// The slow path of a load. Its arguments are the mutator's hot part, the slot, and the word that
/// was loaded from it. Returns the word to use. This is not a safepoint, and keeps the
/// registers that this file's head names.
///
/// # Safety
/// - The first argument is [`hot`](crate::mutator::RawMutator::hot) of the calling thread, which is
///   attached and not in [`blocking`](crate::Mutator::blocking).
/// - The slot is a slot of a live object of this heap: a weak one for
///   [`BarrierCalls::load_weak`], another one for [`BarrierCalls::load`].
/// - The word was loaded from the slot since the thread's last safepoint.
pub type LoadSlow = unsafe extern "C" fn(*const Hot, *const u64, u64) -> u64;

/// The slow path of a store, called in front of it. Its arguments are the mutator's hot part and
/// the slot. It hands over what the slot holds, and writes nothing. The caller then stores the word
/// and dirties the card. This is not a safepoint, and keeps all registers.
///
/// # Safety
/// - As for [`LoadSlow`], without the point about the word.
pub type StoreSlow = unsafe extern "C" fn(*const Hot, *const u64);

/// The slow path of a compare-and-exchange. Its arguments are the mutator's hot part, the slot, the
/// expected word and the new one. Returns what the slot held. It holds the new word now if that is
/// the expected one. The caller then dirties the card. This is not a safepoint, and keeps the
/// registers that this file's head names.
///
/// # Safety
/// - As for [`LoadSlow`], without the point about the word.
/// - Both words refer to live objects of this heap, or to none.
pub type CompareExchangeSlow = unsafe extern "C" fn(*const Hot, *mut u64, u64, u64) -> u64;

/// The slow paths of barriers. Their addresses are constants of the process, and in each hot part.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[non_exhaustive]
pub struct BarrierCalls {
    /// A load of a slot. Called with [`Hot::FORWARDING`] in force.
    pub load: LoadSlow,
    /// A load of a weak slot. Called with [`Hot::MARKING`], [`Hot::WEAK`] or [`Hot::FORWARDING`] in
    /// force.
    pub load_weak: LoadSlow,
    /// The call in front of a store, made with [`Hot::MARKING`] in force.
    pub store: StoreSlow,
    /// A compare-and-exchange. Called with [`Hot::MARKING`] or [`Hot::FORWARDING`] in force.
    pub compare_exchange: CompareExchangeSlow,
}
