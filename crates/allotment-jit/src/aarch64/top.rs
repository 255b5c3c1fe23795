//! The end of an object whose start is in a register.

use super::assembler::{Assembler, General};
use crate::EmitError;
use crate::allocation::{Size, always_whole};
use crate::site::Bump;

/// Makes `top` the end of an object at `object`.
pub(super) fn new_top(
    assembler: &mut Assembler,
    top: General,
    object: General,
    bump: &Bump<'_>,
) -> Result<(), EmitError> {
    match bump.first.size {
        Size::Constant { bytes, .. } => {
            assembler.add_constant(top, object, bump.total.unwrap_or(bytes) as i64)
        }
        Size::Bytes { place } => assembler.add_shifted_left(top, object, General::of(place)?, 0),
        Size::Length { place, fixed_bytes, element_bytes } => {
            let whole = always_whole(fixed_bytes, element_bytes);
            let fixed = fixed_bytes + if whole { 0 } else { 7 };
            // Elements have 1, 2, 4 or 8 bytes.
            assembler.add_shifted_left(top, object, General::of(place)?, element_bytes.trailing_zeros())?;
            assembler.add_constant(top, top, fixed as i64)?;
            if whole { Ok(()) } else { assembler.clear_lowest(top, top, 3) }
        }
    }
}
