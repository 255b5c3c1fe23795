//! The largest integer that fits in a word beside the number of its variant.

use super::immediate::Immediate;
use std::fmt;

/// A signed integer of 56 bits, the largest that fits in a word beside its variant's number.
///
/// Arithmetic reports a result of more bits. A language can then go on with a larger kind of
/// number, in an object.
///
/// Refused: `Add` and the other operator traits, which would have to panic or wrap there.
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
    /// The smallest value.
    pub const MIN: Fixnum = Fixnum(-(1 << 55));
    /// The largest value.
    pub const MAX: Fixnum = Fixnum((1 << 55) - 1);

    /// The integer, if it has at most 56 bits.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::new(7), Some(Fixnum::from(7)));
    /// assert_eq!(Fixnum::new(i64::MAX), None);
    /// ```
    #[inline]
    pub const fn new(value: i64) -> Option<Fixnum> {
        if value >= Self::MIN.0 && value <= Self::MAX.0 { Some(Fixnum(value)) } else { None }
    }

    /// The value as an `i64`.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::from(7).get(), 7);
    /// ```
    #[inline]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The sum; `None` if it has more than 56 bits.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::from(7).checked_add(Fixnum::from(1)), Fixnum::new(8));
    /// assert_eq!(Fixnum::MAX.checked_add(Fixnum::from(1)), None);
    /// ```
    #[inline]
    pub const fn checked_add(self, other: Fixnum) -> Option<Fixnum> {
        // Both numbers have 56 bits, so the sum and the difference have 57.
        Fixnum::new(self.0 + other.0)
    }

    /// The difference; `None` if it has more than 56 bits.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::from(7).checked_sub(Fixnum::from(1)), Fixnum::new(6));
    /// assert_eq!(Fixnum::MIN.checked_sub(Fixnum::from(1)), None);
    /// ```
    #[inline]
    pub const fn checked_sub(self, other: Fixnum) -> Option<Fixnum> {
        Fixnum::new(self.0 - other.0)
    }

    /// The product; `None` if it has more than 56 bits.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::from(7).checked_mul(Fixnum::from(2)), Fixnum::new(14));
    /// assert_eq!(Fixnum::MAX.checked_mul(Fixnum::from(2)), None);
    /// ```
    #[inline]
    pub const fn checked_mul(self, other: Fixnum) -> Option<Fixnum> {
        match self.0.checked_mul(other.0) {
            Some(product) => Fixnum::new(product),
            None => None,
        }
    }

    /// The negative; `None` for [`MIN`](Self::MIN), whose negative has more than 56 bits.
    ///
    /// ```
    /// # use allotment::Fixnum;
    /// assert_eq!(Fixnum::from(7).checked_neg(), Fixnum::new(-7));
    /// assert_eq!(Fixnum::MIN.checked_neg(), None);
    /// ```
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
