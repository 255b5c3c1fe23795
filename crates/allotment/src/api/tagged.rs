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
///
/// Arithmetic says where a result has more, which is where a language goes on with a larger kind of number, in an object.
/// Refused: `Add` and its kin, which would have to panic or wrap there.
///
/// ```
/// use allotment::Fixnum;
///
/// let seven = Fixnum::from(7);
/// assert_eq!(seven.checked_mul(Fixnum::from(-6)), Some(Fixnum::from(-42)));
/// assert_eq!(Fixnum::MAX.checked_add(seven), None);
/// assert_eq!(Fixnum::MIN.checked_neg(), None);
/// ```
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

    /// The sum; `None` where it has more than 56 bits.
    #[inline]
    pub const fn checked_add(self, other: Fixnum) -> Option<Fixnum> {
        // Two numbers of 56 bits: the sum has 57, as the difference.
        Fixnum::new(self.0 + other.0)
    }

    /// The difference; `None` where it has more than 56 bits.
    #[inline]
    pub const fn checked_sub(self, other: Fixnum) -> Option<Fixnum> {
        Fixnum::new(self.0 - other.0)
    }

    /// The product; `None` where it has more than 56 bits.
    #[inline]
    pub const fn checked_mul(self, other: Fixnum) -> Option<Fixnum> {
        match self.0.checked_mul(other.0) {
            Some(product) => Fixnum::new(product),
            None => None,
        }
    }

    /// The negative; `None` of [`MIN`](Self::MIN), which has none of 56 bits.
    #[inline]
    pub const fn checked_neg(self) -> Option<Fixnum> {
        Fixnum::new(-self.0)
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Fixnum;
    use proptest::prelude::*;

    /// Near the ends, near 0, near where a product begins to have more than 56 bits, and anywhere.
    fn fixnums() -> impl Strategy<Value = Fixnum> {
        let (min, max) = (Fixnum::MIN.get(), Fixnum::MAX.get());
        let root = 1_i64 << 27;
        let near = prop_oneof![
            min..min + 3,
            max - 2..=max,
            -3_i64..=3,
            root - 2..root * 2,
            -root * 2..2 - root,
            min..=max,
        ];
        near.prop_map(|value| Fixnum::new(value).expect("56 bits"))
    }

    /// The number, if it has at most 56 bits; told by shifting, not by comparing.
    fn of_56_bits(value: i128) -> Option<i64> {
        (value << 72 >> 72 == value).then_some(value as i64)
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_the_integers_or_says_that_it_does_not_fit(one in fixnums(), other in fixnums()) {
            let (a, b) = (i128::from(one.get()), i128::from(other.get()));
            prop_assert_eq!(one.checked_add(other).map(Fixnum::get), of_56_bits(a + b));
            prop_assert_eq!(one.checked_sub(other).map(Fixnum::get), of_56_bits(a - b));
            prop_assert_eq!(one.checked_mul(other).map(Fixnum::get), of_56_bits(a * b));
            prop_assert_eq!(one.checked_neg().map(Fixnum::get), of_56_bits(-a));
        }
    }

    #[test]
    fn results_fit_up_to_the_very_ends() {
        let (min, max, one) = (Fixnum::MIN, Fixnum::MAX, Fixnum::from(1));
        assert_eq!(max.checked_sub(one).and_then(|less| less.checked_add(one)), Some(max));
        assert_eq!(min.checked_add(one).and_then(|more| more.checked_sub(one)), Some(min));
        assert_eq!((max.checked_add(one), min.checked_sub(one)), (None, None));
        assert_eq!((max.checked_neg(), min.checked_neg()), (min.checked_add(one), None));
        // 2^27 * 2^28 = 2^55: the least number's negative, and one too many.
        let (small, large) = (Fixnum::from(1 << 27), Fixnum::from(1 << 28));
        assert_eq!(small.checked_mul(large), None);
        assert_eq!(small.checked_mul(large.checked_neg().expect("56 bits")), Some(min));
        // More than 64 bits.
        assert_eq!((max.checked_mul(max), min.checked_mul(min)), (None, None));
    }
}
