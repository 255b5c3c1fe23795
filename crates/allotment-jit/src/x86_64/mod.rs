//! The machine code of x86-64.
//!
//! The sites were checked: each register has one role that it can have. The conversions between
//! this crate's registers and the assembler's are here, so no type of the assembler leaves this
//! folder.
//!
//! Lowest first:
//!
//! ```text
//! assembly, top, listing           the two parts of a sequence, the new top, code as text
//! slow, initialise                 calls out of line; headers and bodies
//! prefetch, past_buffers           prefetches; the allocation without a buffer
//! allocate, barriers, polls        the sequences
//! ```

mod allocate;
mod assembly;
mod barriers;
mod initialise;
mod listing;
mod past_buffers;
mod polls;
mod prefetch;
mod slow;
mod top;

pub(crate) use allocate::allocate;
pub(crate) use barriers::{compare_exchange, load, store};
pub(crate) use listing::decoded;
pub(crate) use polls::poll;

use crate::EmitError;
use crate::register::{Machine, Register};
use iced_x86::IcedError;
use iced_x86::code_asm::{AsmRegister32, AsmRegister64, AsmRegisterXmm, get_gpr32, get_gpr64, get_xmm};

#[doc(hidden)]
impl From<IcedError> for EmitError {
    fn from(error: IcedError) -> EmitError {
        EmitError::Assembler(error.to_string())
    }
}

/// An operand that has to be a general register.
fn no_general(register: Register) -> EmitError {
    let (machine, free) = (Machine::X86_64, Register::RAX);
    EmitError::NoGeneral { register, part: "an operand", machine, free }
}

/// A general register in the assembler's type.
fn general(register: Register) -> Result<AsmRegister64, EmitError> {
    let number = register.is_general().then_some(iced_x86::Register::RAX + register.number() as u32);
    number.and_then(get_gpr64).ok_or_else(|| no_general(register))
}

/// The lower half of a general register.
fn lower(register: Register) -> Result<AsmRegister32, EmitError> {
    let number = register.is_general().then_some(iced_x86::Register::EAX + register.number() as u32);
    number.and_then(get_gpr32).ok_or_else(|| no_general(register))
}

fn vector(register: Register) -> Result<AsmRegisterXmm, EmitError> {
    let number = register.is_vector().then_some(iced_x86::Register::XMM0 + register.number() as u32);
    number.and_then(get_xmm).ok_or(EmitError::NoVector { register, machine: Machine::X86_64 })
}

/// The whole register that one of the assembler's is a part of; `None` if no site names such a
/// register.
fn whole(register: iced_x86::Register) -> Option<Register> {
    let full = register.full_register();
    if full.is_gpr64() {
        return Register::general(Machine::X86_64, full.number());
    }
    full.is_vector_register().then(|| Register::vector(Machine::X86_64, full.number())).flatten()
}
