//! The new top: the end of the objects of one bump.

use super::general;
use crate::EmitError;
use crate::allocation::{Size, always_whole};
use crate::site::Bump;
use iced_x86::code_asm::{AsmRegister64, CodeAssembler, qword_ptr};

/// Makes `top` the end of an object at `object`.
pub(super) fn new_top(
    assembler: &mut CodeAssembler,
    top: AsmRegister64,
    object: AsmRegister64,
    bump: &Bump<'_>,
) -> Result<(), EmitError> {
    match bump.first.size {
        Size::Constant { bytes, .. } => {
            assembler.lea(top, qword_ptr(object + bump.total.unwrap_or(bytes)))?
        }
        Size::Bytes { place: register } => assembler.lea(top, qword_ptr(object + general(register)?))?,
        Size::Length { place: register, fixed_bytes, element_bytes } => {
            let length = general(register)?;
            let whole = always_whole(fixed_bytes, element_bytes);
            let fixed = fixed_bytes + if whole { 0 } else { 7 };
            assembler.lea(top, qword_ptr(object + length * element_bytes as u32 + fixed))?;
            if !whole {
                assembler.and(top, -8)?;
            }
        }
    }
    Ok(())
}
