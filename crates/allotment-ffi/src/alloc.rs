//! Allocations: the slow halves of the header's inlines, and the inlines out of line.
//!
//! An allocation that may reach a safepoint takes the heap's calls for generated code: they write
//! the header, sample the object as one object, and keep the reason of a failure. One without a
//! safepoint tries the buffer, and then the reservation of `al_room`.

use crate::border::{Thread, Wrong, al_mutator, runs, with};
use crate::error::{Code, Failure, al_error, answer};
use crate::sanitizer::Handover;
use crate::shape::al_shape;
use allotment::Reservation;
use allotment::raw::{
    Ahead, ByCaller, GeneratedCalls, Header, LENGTH_OFFSET, NoPrefetch, RawMutator, Zeroing,
};
use std::ffi::c_void;
use std::ptr::{self, NonNull};

const CALLS: GeneratedCalls = GeneratedCalls::new();

/// The largest length.
pub(crate) const MAX_LENGTH: usize = 1 << 43;

/// `al_alloc_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_alloc_slow(mu: *mut al_mutator, header: u64, bytes: usize) -> *mut c_void {
    runs("al_alloc", mu);
    let _handover = Handover::begin();
    // SAFETY: the calling thread's mutator, which is not blocked, and the header's rules for an [S]
    // call.
    unsafe { (CALLS.allocate_object_zeroed)(mu.cast(), header, bytes) }.cast()
}

/// `al_alloc_raw_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_alloc_raw_slow(mu: *mut al_mutator, header: u64, bytes: usize) -> *mut c_void {
    runs("al_alloc_raw", mu);
    let _handover = Handover::begin();
    // SAFETY: as for `al_alloc_slow`; the caller writes every slot.
    unsafe { (CALLS.allocate_object)(mu.cast(), header, bytes) }.cast()
}

/// The shape of an array's allocation.
///
/// # Safety
/// - `shape` is null or leads to a shape.
unsafe fn with_tail(function: &str, shape: *const al_shape) -> al_shape {
    // SAFETY: the caller's predicate.
    match unsafe { shape.as_ref() } {
        Some(&shape @ al_shape { element: 1 | 2 | 4 | 8, .. }) => shape,
        _ => Wrong(function).end(format_args!("the shape has no tail: allocate its objects with al_alloc")),
    }
}

/// `al_alloc_array_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_alloc_array_slow(
    mu: *mut al_mutator,
    shape: *const al_shape,
    length: usize,
) -> *mut c_void {
    const NAME: &str = "al_alloc_array";
    runs(NAME, mu);
    let _handover = Handover::begin();
    // SAFETY: as for `al_alloc_slow`; the inline passes its argument.
    unsafe {
        let al_shape { header, fixed, element } = with_tail(NAME, shape);
        (CALLS.allocate_array_object_zeroed)(mu.cast(), header, length, element, fixed).cast()
    }
}

/// `al_alloc_array_raw_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_alloc_array_raw_slow(
    mu: *mut al_mutator,
    shape: *const al_shape,
    length: usize,
) -> *mut c_void {
    const NAME: &str = "al_alloc_array_raw";
    runs(NAME, mu);
    let _handover = Handover::begin();
    // SAFETY: as for `al_alloc_array_slow`; the caller writes every slot.
    unsafe {
        let al_shape { header, fixed, element } = with_tail(NAME, shape);
        (CALLS.allocate_array_object)(mu.cast(), header, length, element, fixed).cast()
    }
}

/// An object without a safepoint: from the buffer, or from the reservation of `al_room`.
fn try_alloc<'t, Z: Zeroing>(
    thread: &Thread,
    raw: &RawMutator<'t>,
    header: u64,
    bytes: usize,
) -> Option<NonNull<u8>> {
    let header = Header::from_bits(header);
    // SAFETY: the header's rules: header and size are those of a shape of this heap, and the caller
    // writes what the policy leaves to it.
    if let Some(object) = unsafe { raw.try_alloc_with_header::<Z, NoPrefetch>(header, bytes) } {
        return Some(object);
    }
    let mut place = thread.room.borrow_mut();
    let mut room: Reservation<'t> = place.take()?;
    // SAFETY: as above.
    let object = unsafe { raw.alloc_in_with_header::<Z>(&mut room, header, bytes) };
    // SAFETY: it goes back to the thread whose attachment it belongs to.
    *place = Some(unsafe { room.without_lifetime() });
    object
}

fn or_null(object: Option<NonNull<u8>>) -> *mut c_void {
    object.map_or(ptr::null_mut(), |object| object.as_ptr().cast())
}

/// The slow half of an allocation of one object without a safepoint.
fn try_object<Z: Zeroing>(function: &str, mu: *mut al_mutator, header: u64, bytes: usize) -> *mut c_void {
    let thread = runs(function, mu);
    let _handover = Handover::begin();
    with(function, mu, |raw| or_null(try_alloc::<Z>(thread, raw, header, bytes)))
}

/// The slow half of an allocation of one array without a safepoint.
///
/// # Safety
/// - As for [`with_tail`].
unsafe fn try_array<Z: Zeroing>(
    function: &str,
    mu: *mut al_mutator,
    shape: *const al_shape,
    length: usize,
) -> *mut c_void {
    let thread = runs(function, mu);
    let _handover = Handover::begin();
    // SAFETY: the caller's predicate.
    let al_shape { header, fixed, element } = unsafe { with_tail(function, shape) };
    if length > MAX_LENGTH {
        return ptr::null_mut();
    }
    let bytes = (fixed + length * element).next_multiple_of(size_of::<u64>());
    with(function, mu, |raw| {
        let object = try_alloc::<Z>(thread, raw, header, bytes);
        if let Some(object) = object {
            // SAFETY: an object with a tail has its length after the header.
            unsafe { object.byte_add(LENGTH_OFFSET).cast::<usize>().write(length) };
        }
        or_null(object)
    })
}

/// `al_try_alloc_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_try_alloc_slow(mu: *mut al_mutator, header: u64, bytes: usize) -> *mut c_void {
    try_object::<Ahead>("al_try_alloc", mu, header, bytes)
}

/// `al_try_alloc_raw_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_try_alloc_raw_slow(mu: *mut al_mutator, header: u64, bytes: usize) -> *mut c_void {
    try_object::<ByCaller>("al_try_alloc_raw", mu, header, bytes)
}

/// `al_try_alloc_array_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_try_alloc_array_slow(
    mu: *mut al_mutator,
    shape: *const al_shape,
    length: usize,
) -> *mut c_void {
    // SAFETY: the inline passes its argument.
    unsafe { try_array::<Ahead>("al_try_alloc_array", mu, shape, length) }
}

/// `al_try_alloc_array_raw_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_try_alloc_array_raw_slow(
    mu: *mut al_mutator,
    shape: *const al_shape,
    length: usize,
) -> *mut c_void {
    // SAFETY: as above.
    unsafe { try_array::<ByCaller>("al_try_alloc_array_raw", mu, shape, length) }
}

/// `al_alloc_error`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_alloc_error(mu: *mut al_mutator, error: *mut al_error) -> Code {
    let take = || {
        let kept = with("al_alloc_error", mu, |raw| raw.take_out_of_memory());
        kept.map_or(Ok(()), |error| Err(Failure::from(error)))
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, take) }
}

/// `al_room`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_room(mu: *mut al_mutator, bytes: usize, error: *mut al_error) -> Code {
    const NAME: &str = "al_room";
    let thread = runs(NAME, mu);
    let _handover = Handover::begin();
    let make = || {
        let made = with(NAME, mu, |raw| {
            // SAFETY: the thread keeps it, and drops it before the attachment ends.
            raw.make_room(bytes).map(|room| unsafe { room.without_lifetime() })
        });
        *thread.room.borrow_mut() = Some(made?);
        Ok(())
    };
    // SAFETY: the header's rules: null, or an error with its size.
    unsafe { answer(error, make) }
}

/// The inlines out of line.
macro_rules! inlines {
    ($($name:ident, $slow:ident;)+) => {$(
        #[doc = concat!("`", stringify!($name), "` out of line.")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(mu: *mut al_mutator, shape: al_shape) -> *mut c_void {
            // SAFETY: the caller's obligations are the same.
            unsafe { $slow(mu, shape.header, shape.fixed) }
        }
    )+};
}
inlines! {
    al_alloc, al_alloc_slow;
    al_alloc_raw, al_alloc_raw_slow;
    al_try_alloc, al_try_alloc_slow;
    al_try_alloc_raw, al_try_alloc_raw_slow;
}

/// The inlines of arrays out of line.
macro_rules! array_inlines {
    ($($name:ident, $slow:ident;)+) => {$(
        #[doc = concat!("`", stringify!($name), "` out of line.")]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(mu: *mut al_mutator, shape: al_shape, length: usize) -> *mut c_void {
            // SAFETY: the caller's obligations are the same.
            unsafe { $slow(mu, &raw const shape, length) }
        }
    )+};
}
array_inlines! {
    al_alloc_array, al_alloc_array_slow;
    al_alloc_array_raw, al_alloc_array_raw_slow;
    al_try_alloc_array, al_try_alloc_array_slow;
    al_try_alloc_array_raw, al_try_alloc_array_raw_slow;
}
