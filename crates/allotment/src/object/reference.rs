//! The words in slots: the one rule that distinguishes a reference from other words.
//!
//! ```text
//!             63     48 47                        3 2  1  0
//! reference  |   tag   |  address of the header   | tag | 0 |   address part not 0
//! null       |    0    |            0             |  0  | 0 |
//! immediate  |           whatever the runtime likes     | 1 |
//! ```
//!
//! All slots of all shapes have one rule, so a collector needs no code per kind of word. Dynamic
//! languages keep a tag in the 18 bits that an address does not use. The tag stays with the
//! reference when the object moves.
//!
//! Refused:
//! - A decoding function per slot: an indirect call for every traced slot.
//! - NaN boxing: the test for a reference is a compare with a large constant, and a tag has no
//!   room.

/// The bits of a reference that are its address.
pub const ADDRESS_MASK: u64 = 0x0000_FFFF_FFFF_FFF8;

/// The bit that immediates have set, and references clear.
pub const IMMEDIATE_BIT: u64 = 1;

/// The address that a word refers to; `None` for null and immediates.
#[inline(always)]
pub const fn reference(bits: u64) -> Option<usize> {
    let address = (bits & ADDRESS_MASK) as usize;
    if bits & IMMEDIATE_BIT == 0 && address != 0 { Some(address) } else { None }
}

/// This reference, tag included, to an object that moved to `address` (8-aligned, below 2^48).
#[inline(always)]
pub const fn with_reference(bits: u64, address: usize) -> u64 {
    debug_assert!(address as u64 & !ADDRESS_MASK == 0);
    bits & !ADDRESS_MASK | address as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn null_and_immediates_refer_to_nothing() {
        for bits in [0, 1, 0b110, 0xFFFF_0000_0000_0006, u64::MAX, 0x1234_5678_9ABC_DEF1] {
            assert_eq!(reference(bits), None, "{bits:#x}");
        }
    }

    proptest! {
        #[test]
        fn a_tag_travels_with_its_reference(from in 1usize..1 << 45, to in 1usize..1 << 45, low in 0u64..4, high: u16) {
            let bits = (from * 8) as u64 | low << 1 | u64::from(high) << 48;
            prop_assert_eq!(reference(bits), Some(from * 8));
            let moved = with_reference(bits, to * 8);
            prop_assert_eq!(reference(moved), Some(to * 8));
            prop_assert_eq!(moved & !ADDRESS_MASK, bits & !ADDRESS_MASK);
        }
    }
}
