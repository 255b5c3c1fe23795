//! The slow paths of barriers, for generated code, and for loads and stores of Rust code.
//!
//! Each entry saves the registers that a C function may change, calls the slow path of Rust code,
//! and restores the registers. [`BarrierCalls`] says which registers an entry keeps. An entry
//! aligns the stack itself. It needs no frame for collectors, as no slow path reaches a safepoint.
//! The machine code is in `platform/`, a file for each machine.
//!
//! Refused: a slow path written in assembly, which would save only what it uses. It would be a
//! second copy of each barrier.

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
/// result is there (`returns`).
macro_rules! entry {
    ($(#[doc = $text:literal])+ $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?,
        $first:ident $target:path) => {
        $(#[doc = $text])+
        ///
        /// # Safety
        /// - As the type of the field says.
        #[cold]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(hot: *const Hot, $($argument: $type),*) $(-> $result)? {
            barrier_entry!($first $target)
        }
    };
}

entry!(
    /// [`BarrierCalls::load`].
    load_entry(slot: *const u64, bits: u64) -> u64, returns load
);
entry!(
    /// [`BarrierCalls::load_weak`].
    load_weak_entry(slot: *const u64, bits: u64) -> u64, returns load_weak
);
entry!(
    /// [`BarrierCalls::store`].
    store_entry(slot: *const u64), keeps store
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
