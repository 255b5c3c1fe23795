//! What `#[derive(Word)]` puts into one word: immediates and pointers.
//!
//! ```text
//!              63       32 31     8 7        1  0
//! immediate  |   payload |    0    | variant | 1 |   payloads of up to 32 bits
//! immediate  |       payload       | variant | 1 |   Fixnum, 56 bits
//! pointer    | variant / 4 |    address  | variant % 4 | 0 |   bits 48-63, 3-47, 1-2
//! ```

use super::gc::{Gc, Object};
use crate::object::ADDRESS_MASK;
use std::fmt;

/// Plain data that a variant of a `#[derive(Word)]` enum may hold.
///
/// # Safety
/// - `payload` leaves bits 0-7 clear, and `from_payload` inverts it whatever they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit in a word beside its variant's number",
    note = "integers up to 32 bits, `f32`, `char`, `bool` and `Fixnum` (56 bits) do; larger data goes into an object"
)]
pub unsafe trait Immediate: Copy + 'static {
    /// Its bits, in place.
    fn payload(self) -> u64;

    /// The value of these bits.
    ///
    /// # Safety
    /// - `bits` are what `payload` gave, but for bits 0-7.
    unsafe fn from_payload(bits: u64) -> Self;
}

macro_rules! integers {
    ($($type:ty, $unsigned:ty;)*) => {$(
        // SAFETY: at most 32 bits, all above bit 31.
        unsafe impl Immediate for $type {
            #[inline(always)]
            fn payload(self) -> u64 {
                u64::from(self as $unsigned) << 32
            }

            #[inline(always)]
            unsafe fn from_payload(bits: u64) -> Self {
                (bits >> 32) as $type
            }
        }
    )*};
}
integers! { u8, u8; u16, u16; u32, u32; i8, u8; i16, u16; i32, u32; }

// SAFETY: 32 bits, all above bit 31.
unsafe impl Immediate for f32 {
    #[inline(always)]
    fn payload(self) -> u64 {
        u64::from(self.to_bits()) << 32
    }

    #[inline(always)]
    unsafe fn from_payload(bits: u64) -> Self {
        f32::from_bits((bits >> 32) as u32)
    }
}

// SAFETY: 32 bits, all above bit 31.
unsafe impl Immediate for char {
    #[inline(always)]
    fn payload(self) -> u64 {
        u64::from(u32::from(self)) << 32
    }

    #[inline(always)]
    unsafe fn from_payload(bits: u64) -> Self {
        // SAFETY: the bits of a character.
        unsafe { char::from_u32_unchecked((bits >> 32) as u32) }
    }
}

// SAFETY: one bit, above bit 31.
unsafe impl Immediate for bool {
    #[inline(always)]
    fn payload(self) -> u64 {
        u64::from(self) << 32
    }

    #[inline(always)]
    unsafe fn from_payload(bits: u64) -> Self {
        bits >> 32 != 0
    }
}

/// A signed integer of 56 bits, the largest that fits in a word beside its variant's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fixnum(i64);

impl Fixnum {
    /// The least.
    pub const MIN: Fixnum = Fixnum(-(1 << 55));
    /// The greatest.
    pub const MAX: Fixnum = Fixnum((1 << 55) - 1);

    /// The integer, if it has at most 56 bits.
    #[inline]
    pub const fn new(value: i64) -> Option<Fixnum> {
        if value >= Self::MIN.0 && value <= Self::MAX.0 { Some(Fixnum(value)) } else { None }
    }

    /// Its value.
    #[inline]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl From<i32> for Fixnum {
    fn from(value: i32) -> Self {
        Fixnum(value.into())
    }
}

impl From<Fixnum> for i64 {
    fn from(value: Fixnum) -> Self {
        value.0
    }
}

impl fmt::Display for Fixnum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: 56 bits, all above bit 7.
unsafe impl Immediate for Fixnum {
    #[inline(always)]
    fn payload(self) -> u64 {
        (self.0 as u64) << 8
    }

    #[inline(always)]
    unsafe fn from_payload(bits: u64) -> Self {
        Fixnum(bits as i64 >> 8)
    }
}

/// A pointer that a variant of a `#[derive(Word)]` enum may hold: `Gc<'g, T>` or an `Option` of it.
///
/// # Safety
/// - `address` is that of a header, or 0, and `from_address` inverts it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pointer that a word can hold",
    note = "`derive(Word)` takes a variant that holds something called `Gc` or `Option` for a pointer of `allotment`"
)]
pub unsafe trait Pointer<'g>: Copy {
    /// The header's address.
    fn address(self) -> u64;

    /// The pointer with that address.
    ///
    /// # Safety
    /// - `address` is what [`address`](Self::address) gave, and its referent lives for all of `'g`.
    unsafe fn from_address(address: u64) -> Self;
}

// SAFETY: the address of a header.
unsafe impl<'g, T: Object> Pointer<'g> for Gc<'g, T> {
    #[inline(always)]
    fn address(self) -> u64 {
        self.bits()
    }

    #[inline(always)]
    unsafe fn from_address(address: u64) -> Self {
        // SAFETY: the caller's predicates.
        unsafe { Gc::from_bits(address) }
    }
}

// SAFETY: the address of a header, or 0.
unsafe impl<'g, T: Object> Pointer<'g> for Option<Gc<'g, T>> {
    #[inline(always)]
    fn address(self) -> u64 {
        self.map_or(0, Gc::bits)
    }

    #[inline(always)]
    unsafe fn from_address(address: u64) -> Self {
        // SAFETY: the caller's predicates.
        (address != 0).then(|| unsafe { Gc::from_bits(address) })
    }
}

/// The immediate whose number no variant has: the word of `None`, where null may be a value.
pub const NO_VARIANT: u64 = 0x7F << 1 | 1;

/// The word of a pointer variant.
#[inline(always)]
pub fn encode_pointer<'g, P: Pointer<'g>>(variant: u64, pointer: P) -> u64 {
    pointer.address() | (variant & 3) << 1 | (variant >> 2) << 48
}

/// The word of an immediate variant.
#[inline(always)]
pub fn encode_immediate<I: Immediate>(variant: u64, value: I) -> u64 {
    value.payload() | variant << 1 | 1
}

/// The number of the pointer variant, of as many as `variants`.
#[inline(always)]
pub const fn pointer_variant(bits: u64, variants: u64) -> u64 {
    let low = bits >> 1 & 3;
    if variants <= 4 { low } else { low | bits >> 48 << 2 }
}

/// The pointer of a word, for the span `'g`.
///
/// # Safety
/// - `bits` encode a `P`, whose referent lives for all of `'g`.
#[inline(always)]
pub unsafe fn decode_pointer<'g, P: Pointer<'g>>(bits: u64) -> P {
    // SAFETY: the caller's predicates.
    unsafe { P::from_address(bits & ADDRESS_MASK) }
}

/// The immediate of a word.
///
/// # Safety
/// - `bits` encode an `I`.
#[inline(always)]
pub unsafe fn decode_immediate<I: Immediate>(bits: u64) -> I {
    // SAFETY: the caller's predicates.
    unsafe { I::from_payload(bits) }
}

/// No variant has such a word.
///
/// # Safety
/// - Never called.
#[inline(always)]
pub unsafe fn no_variant(bits: u64) -> ! {
    debug_assert!(false, "no variant has the word {bits:#x}");
    // SAFETY: the caller's predicate.
    unsafe { std::hint::unreachable_unchecked() }
}
