//! Errors: code that cannot be emitted, with the nearest code that can.

use allotment::raw::PrefetchError;
use iced_x86::{IcedError, Register};

/// The reason why there is no code.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Prefetch settings that do not work.
    #[error(transparent)]
    Prefetch(#[from] PrefetchError),
    /// A register has two roles.
    #[error("{} is both {first} and {second}; {} is free", name(.register), name(.free))]
    Clobbered {
        /// The register.
        register: Register,
        /// One role of the register.
        first: &'static str,
        /// Another role of the register.
        second: &'static str,
        /// A register without a role.
        free: Register,
    },
    /// Not a general register of 64 bits, or the stack pointer.
    #[error("{} cannot be {part}: a general register of 64 bits but rsp can, such as {}", name(.register), name(.free))]
    NoGeneral {
        /// The register.
        register: Register,
        /// The role that the register was given.
        part: &'static str,
        /// A register that can have the role.
        free: Register,
    },
    /// Not one of the vector registers that every processor has.
    #[error("{} cannot be a vector of an allocation: xmm0 to xmm15 can", name(.register))]
    NoVector {
        /// The register.
        register: Register,
    },
    /// Objects that no buffer holds.
    #[error(
        "{bytes} bytes are too many for inline allocation: up to {max} work; call the heap for larger objects"
    )]
    TooLarge {
        /// The request, in bytes.
        bytes: usize,
        /// The most that works, in bytes.
        max: usize,
    },
    /// Not the size of an object.
    #[error("no object has {bytes} bytes: multiples of 8 from 16 up work; {nearest} is the nearest")]
    Size {
        /// The request, in bytes.
        bytes: usize,
        /// The nearest size of an object, in bytes.
        nearest: usize,
    },
    /// A header that no new object has.
    #[error("{bits:#x} is not the header of a new object: the upper half of such a header is 0, as in {:#x}", .bits & u64::from(u32::MAX))]
    Header {
        /// The request.
        bits: u64,
    },
    /// Allocations that cannot be folded into one bump.
    #[error(
        "only objects whose size is a constant fold into one bump: {0} of these allocations have such a size"
    )]
    Fold(usize),
    /// No allocation.
    #[error("there is nothing to allocate: one allocation or more works")]
    Nothing,
    /// A size in a register, in a form that has values.
    #[cfg(feature = "cranelift")]
    #[error(
        "a size is in {}: in Cranelift's form it is a constant, or a value given to `allocate_array` or `allocate_sized`",
        name(.0)
    )]
    InRegister(Register),
    /// A shape needs a length, or has none.
    #[error("{0}")]
    Shape(&'static str),
    /// Two parts of a program lie too far apart for a jump.
    #[error("code at {from:#x} cannot jump to {to:#x}: the parts of a sequence must lie within 2 GiB")]
    TooFar {
        /// The address after the jump.
        from: u64,
        /// The target of the jump.
        to: u64,
    },
    /// Code that works at one address only.
    #[error(
        "the code jumps to an address outside of it, which is right at one place only: jumps to its own labels, and \
         through registers, work"
    )]
    Position,
    /// The linking code gave no address for a target.
    #[error("there is no address for {0}")]
    Unresolved(&'static str),
    /// The assembler refused an instruction.
    #[error("the assembler refused an instruction: {0}")]
    Assembler(#[from] IcedError),
}
crate::debug::debug_is_display!(EmitError);

/// A register in assembly notation.
fn name(register: &Register) -> String {
    format!("{register:?}").to_lowercase()
}

impl PartialEq for EmitError {
    /// Errors are equal if their texts are.
    fn eq(&self, other: &EmitError) -> bool {
        self.to_string() == other.to_string()
    }
}
