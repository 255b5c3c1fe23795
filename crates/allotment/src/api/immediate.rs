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

macro_rules! immediates {
    ($($type:ty: $value:ident => $to:expr, $bits:ident => $from:expr;)*) => {$(
        // SAFETY: at most 32 bits, all above bit 31.
        unsafe impl Immediate for $type {
            #[inline(always)]
            fn payload(self) -> u64 {
                let $value = self;
                u64::from($to) << 32
            }

            #[inline(always)]
            unsafe fn from_payload(bits: u64) -> Self {
                let $bits = (bits >> 32) as u32;
                $from
            }
        }
    )*};
}
immediates! {
    u8: value => value, bits => bits as u8;
    u16: value => value, bits => bits as u16;
    u32: value => value, bits => bits;
    i8: value => value as u8, bits => bits as i8;
    i16: value => value as u16, bits => bits as i16;
    i32: value => value as u32, bits => bits as i32;
    f32: value => value.to_bits(), bits => f32::from_bits(bits);
    bool: value => value, bits => bits != 0;
    // SAFETY: the bits of a character.
    char: value => u32::from(value), bits => unsafe { char::from_u32_unchecked(bits) };
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
