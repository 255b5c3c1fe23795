//! Loads and stores of slots: whole accesses, and the slow paths of the header's inlines.
//!
//! The inlines call most slow paths by their address in the hot part. The functions here serve
//! `AL_PLAIN_CALLS`, ranges, and languages without the inlines.

use crate::border::{al_mutator, runs, with};
use allotment::raw::{ADDRESS_MASK, GeneratedCalls, IMMEDIATE_BIT, RawMutator, reference};
use std::ffi::c_void;
use std::ptr;

/// Runs an access to slots with the calling thread's mutator.
///
/// # Safety
/// - The header's rules: the slots are those of live objects of the thread's heap, or of its
///   handles, and the words refer to live objects of the heap or to none.
unsafe fn access<R>(
    function: &str,
    mu: *mut al_mutator,
    access: impl for<'t> FnOnce(&mut RawMutator<'t>) -> R,
) -> R {
    with(function, mu, access)
}

/// `al_load` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_load(mu: *mut al_mutator, slot: *const u64) -> u64 {
    // SAFETY: the header's rules.
    unsafe { access("al_load", mu, |raw| raw.load(slot)) }
}

/// `al_load_weak` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_load_weak(mu: *mut al_mutator, slot: *const u64) -> u64 {
    // SAFETY: the header's rules.
    unsafe { access("al_load_weak", mu, |raw| raw.load_weak(slot)) }
}

/// `al_weak_live` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_weak_live(mu: *mut al_mutator, slot: *const u64) -> bool {
    // SAFETY: the header's rules.
    unsafe { access("al_weak_live", mu, |raw| raw.is_weak_live(slot)) }
}

/// `al_weak_live_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_weak_live_slow(mu: *mut al_mutator, slot: *const u64) -> bool {
    // SAFETY: the header's rules.
    unsafe { al_weak_live(mu, slot) }
}

/// `al_store` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_store(mu: *mut al_mutator, slot: *mut u64, word: u64) {
    // SAFETY: the header's rules.
    unsafe { access("al_store", mu, |raw| raw.store(slot, word)) }
}

/// `al_init` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_init(slot: *mut u64, word: u64) {
    // SAFETY: the header's rules: a slot of a new object, which no other thread has.
    unsafe { slot.write(word) };
}

/// `al_cas` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_cas(mu: *mut al_mutator, slot: *mut u64, expected: *mut u64, word: u64) -> bool {
    // SAFETY: the header's rules, and `expected` is a variable of the caller's.
    unsafe {
        let outcome = access("al_cas", mu, |raw| raw.compare_exchange(slot, *expected, word));
        outcome.map_err(|held| *expected = held).is_ok()
    }
}

/// `al_copy_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_copy_slow(mu: *mut al_mutator, to: *mut u64, from: *const u64, count: usize) {
    // SAFETY: the header's rules.
    unsafe { access("al_copy", mu, |raw| raw.copy_slots(to, from, count)) }
}

/// `al_copy` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_copy(mu: *mut al_mutator, to: *mut u64, from: *const u64, count: usize) {
    if count > 0 {
        // SAFETY: the header's rules.
        unsafe { al_copy_slow(mu, to, from, count) }
    }
}

/// `al_fill_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_fill_slow(mu: *mut al_mutator, to: *mut u64, count: usize, word: u64) {
    // SAFETY: the header's rules.
    unsafe { access("al_fill", mu, |raw| raw.store_slots(to, count, word)) }
}

/// `al_fill` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_fill(mu: *mut al_mutator, to: *mut u64, count: usize, word: u64) {
    if count > 0 {
        // SAFETY: the header's rules.
        unsafe { al_fill_slow(mu, to, count, word) }
    }
}

/// `al_load_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_load_slow(mu: *mut al_mutator, slot: *const u64, word: u64) -> u64 {
    runs("al_load", mu);
    // SAFETY: the header's rules, and the calling thread's mutator.
    unsafe { (GeneratedCalls::new().barriers.load)(mu.cast(), slot, word) }
}

/// `al_load_weak_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_load_weak_slow(mu: *mut al_mutator, slot: *const u64, word: u64) -> u64 {
    runs("al_load_weak", mu);
    // SAFETY: as above.
    unsafe { (GeneratedCalls::new().barriers.load_weak)(mu.cast(), slot, word) }
}

/// `al_store_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_store_slow(mu: *mut al_mutator, slot: *const u64) {
    runs("al_store", mu);
    // SAFETY: as above.
    unsafe { (GeneratedCalls::new().barriers.store)(mu.cast(), slot) }
}

/// `al_cas_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_cas_slow(mu: *mut al_mutator, slot: *mut u64, expected: u64, word: u64) -> u64 {
    runs("al_cas", mu);
    // SAFETY: as above.
    unsafe { (GeneratedCalls::new().barriers.compare_exchange)(mu.cast(), slot, expected, word) }
}

/// The bits of a reference that are its tag.
const TAG: u64 = !ADDRESS_MASK & !IMMEDIATE_BIT;

/// `al_addr` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_addr(word: u64) -> *mut c_void {
    reference(word).map_or(ptr::null_mut(), |address| address as *mut c_void)
}

/// `al_ref` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_ref(object: *const c_void) -> u64 {
    object.expose_provenance() as u64
}

/// `al_is_ref` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_is_ref(word: u64) -> bool {
    reference(word).is_some()
}

/// `al_is_null` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_is_null(word: u64) -> bool {
    word == 0
}

/// `al_same` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_same(one: u64, other: u64) -> bool {
    one == other
}

/// `al_tag` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_tag(word: u64) -> u64 {
    word & TAG
}

/// `al_with_tag` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_with_tag(word: u64, tag: u64) -> u64 {
    word & ADDRESS_MASK | tag & TAG
}

/// `al_immediate` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_immediate(number: i64) -> u64 {
    (number as u64) << 1 | IMMEDIATE_BIT
}

/// `al_number` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_number(word: u64) -> i64 {
    word as i64 >> 1
}

/// `al_to_word` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_to_word(value: u64) -> u64 {
    value
}

/// `al_from_word` out of line.
#[unsafe(no_mangle)]
extern "C" fn al_from_word(word: u64) -> u64 {
    word
}
