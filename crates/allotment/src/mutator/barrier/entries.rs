//! The slow paths of barriers, for generated code, and for loads and stores of Rust code.
//!
//! Each entry saves the registers that a C function may change, calls the slow path of Rust code,
//! and restores the registers. [`BarrierCalls`] says which registers an entry keeps. An entry
//! aligns the stack itself. It needs no frame for collectors, as no slow path reaches a safepoint.
//! The machine code is in `platform/`, a file for each machine.
//!
//! The entries of loads and stores first look whether there is anything to do. While a collector
//! works, mostly there is not. The look is a leaf: it saves at most three registers and calls
//! nothing. It reads the tables of [`BarrierTables`](crate::mutator::BarrierTables).
//!
//! ```text
//! load   FORWARDING is not in force                   \
//!        the word is null or an immediate              > the word itself
//!        the referent's region does not move          /
//! store  MARKING is not in force                      \
//!        the slot's word is null or an immediate       > nothing to hand over
//!        the referent is at or above the border        |
//!        the referent is marked                       /
//! all else                                               the slow path decides
//! ```
//!
//! Each answer is one that the slow path would give at that moment. This rests on:
//!
//! 1. A look reaches no safepoint. So barriers, members of the set and borders of regions that hold
//!    a sought object are the same from its first instruction to its last. They change in stops.
//!    The one exception, from `InSet` to `Kept`, leaves a byte that is not 0.
//! 2. `is_sought` is false for a marked object, and for one at or above the border, whatever is
//!    being marked. The look reads the words that `is_sought` reads. So where the borders and marks
//!    of a generation are stale, or marks are being cleared, that generation is not sought, and
//!    "nothing" is the answer anyway. A mark that is set is not cleared while it counts.
//! 3. `forward` gives the address itself for an object of a region that does not move.
//! 4. The slot of a new object may hold anything, and the slow path does not read it. The look
//!    reads the word, and looks up what lies in the heap only. Such a slot hides nothing, so the
//!    answer "nothing" is right for any word.
//! 5. On AArch64 a look loads the slot and the tables without an Acquire. The regions' tables are
//!    read at addresses that depend on the word of the slot, so they are at least as new as the
//!    reference. What does not depend on the word changes in stops only.
//! 6. The tables stay where they are as long as a thread is attached. The heap keeps its collector.
//!
//! A look has no answer for some loads and stores that need nothing: of a referent that has moved
//! already or was kept, and of a slot of a new object whose word refers to a sought object.
//!
//! Refused: the slow paths in assembly. They would be a second copy of each barrier.

use crate::mutator::thread::state::State;
use crate::mutator::{BarrierCalls, Hot, Mutator};
use crate::platform::{barrier_entry, call_load_entry, call_store_entry};
use std::sync::atomic::AtomicU64;

impl BarrierCalls {
    /// The functions of this library.
    pub(in crate::mutator) const fn new() -> BarrierCalls {
        BarrierCalls {
            load: load_entry,
            load_weak: load_weak_entry,
            store: store_entry,
            compare_exchange: compare_exchange_entry,
        }
    }
}

/// An entry of generated code. It keeps all registers: the first argument's too (`keeps`), or its
/// result is there (`returns`). An entry that `loads` or `stores` looks first.
macro_rules! entry {
    ($(#[doc = $text:literal])+ $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?,
        $first:ident $target:path $(, $hot:ty)?) => {
        $(#[doc = $text])+
        ///
        /// # Safety
        /// - As the type of the field says.
        #[cold]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(hot: *const Hot, $($argument: $type),*) $(-> $result)? {
            barrier_entry!($first $target $(, $hot)?)
        }
    };
}

entry!(
    /// [`BarrierCalls::load`].
    load_entry(slot: *const u64, bits: u64) -> u64, loads load, Hot
);
entry!(
    /// [`BarrierCalls::load_weak`].
    load_weak_entry(slot: *const u64, bits: u64) -> u64, returns load_weak
);
entry!(
    /// [`BarrierCalls::store`].
    store_entry(slot: *const u64), stores store, Hot
);
entry!(
    /// [`BarrierCalls::compare_exchange`].
    compare_exchange_entry(slot: *mut u64, expected: u64, new: u64) -> u64, returns compare_exchange
);

/// The slow path of a load.
///
/// # Safety
/// - As for [`LoadSlow`](crate::mutator::LoadSlow).
#[inline(always)]
pub(super) unsafe fn call_load(hot: *const Hot, slot: *mut u64, bits: u64) -> u64 {
    // SAFETY: the caller's predicate.
    unsafe { call_load_entry!(load_entry, hot, slot, bits) }
}

/// The slow path in front of a store.
///
/// # Safety
/// - As for [`StoreSlow`](crate::mutator::StoreSlow).
#[inline(always)]
pub(super) unsafe fn call_store(hot: *const Hot, slot: *mut u64) {
    // SAFETY: the caller's predicate.
    unsafe { call_store_entry!(store_entry, hot, slot) }
}

// `extern "C"`: a panic ends the process instead of unwinding into frames without unwind tables.
// Each asks for its barrier again, so that generated code may test more bits than it has to.

extern "C" fn load(state: &State, slot: &AtomicU64, bits: u64) -> u64 {
    let mutator = Mutator::new(state);
    if mutator.raw().has_barrier(Hot::FORWARDING) { mutator.raw().load_forwarded(slot, bits) } else { bits }
}

extern "C" fn load_weak(state: &State, slot: &AtomicU64, bits: u64) -> u64 {
    Mutator::new(state).raw().load_weak_slow(slot, bits)
}

extern "C" fn store(state: &State, slot: &AtomicU64) {
    let mutator = Mutator::new(state);
    if mutator.raw().has_barrier(Hot::MARKING) {
        mutator.raw().record_old(slot);
    }
}

extern "C" fn compare_exchange(state: &State, slot: &AtomicU64, expected: u64, new: u64) -> u64 {
    Mutator::new(state).raw().compare_exchange_slow(slot, expected, new).unwrap_or_else(|held| held)
}
