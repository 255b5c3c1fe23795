//! Immediates: plain data in a word, beside the number of its variant.
//!
//! ```text
//!   63      32 31     8 7       1  0
//! |   payload |    0    | variant | 1 |   payloads of up to 32 bits
//! |       payload       | variant | 1 |   Fixnum, 56 bits
//! ```
//!
//! Bit 0 tells every collector that such a word refers to nothing (`object/reference.rs`).

/// Plain data that a variant of a `#[derive(Word)]` enum may hold.
///
/// # Safety
/// - `payload` leaves bits 0-7 clear, and `from_payload` inverts it whatever these bits are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit in a word beside its variant's number",
    note = "integers up to 32 bits, `f32`, `char`, `bool` and `Fixnum` (56 bits) do; larger data goes into an object"
)]
pub unsafe trait Immediate: Copy + 'static {
    /// The value's bits, in place.
    fn payload(self) -> u64;

    /// The value of these bits.
    ///
    /// # Safety
    /// - `bits` are a result of `payload`, except for bits 0-7.
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

/// The immediate with a number that no variant has. It is the word of `None` where null may be a
/// value.
pub const NO_VARIANT: u64 = 0x7F << 1 | 1;

/// The word of an immediate variant.
#[inline(always)]
pub fn encode_immediate<I: Immediate>(variant: u64, value: I) -> u64 {
    value.payload() | variant << 1 | 1
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
