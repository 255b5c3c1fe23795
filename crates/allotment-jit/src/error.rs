//! Errors: code that cannot be emitted, with the nearest code that can.

use crate::register::{Machine, Register};
use allotment::raw::PrefetchError;

/// The reason why there is no code.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// Prefetch settings that do not work.
    #[error(transparent)]
    Prefetch(#[from] PrefetchError),
    /// A register has two roles.
    #[error("{register} is both {first} and {second}; {free} is free")]
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
    /// Not a general register of the machine that programs may use.
    #[error(
        "{register} cannot be {part}: on {machine} a general register such as {free} can, but not {}",
        reserved(*.machine)
    )]
    NoGeneral {
        /// The register.
        register: Register,
        /// The role that the register was given.
        part: &'static str,
        /// The machine of the code.
        machine: Machine,
        /// A register that can have the role.
        free: Register,
    },
    /// A register other than the one that the machine demands.
    #[error("{register} cannot be {part} here: on {} it has to be {demanded}", .demanded.machine())]
    Fixed {
        /// The register.
        register: Register,
        /// The role that the register was given.
        part: &'static str,
        /// The only register for the role.
        demanded: Register,
    },
    /// Not one of the vector registers that every processor has.
    #[error("{register} cannot be a vector of an allocation: {} can", vectors(*.machine))]
    NoVector {
        /// The register.
        register: Register,
        /// The machine of the code.
        machine: Machine,
    },
    /// A stack pointer that the machine does not allow.
    #[error(
        "the stack cannot be `misaligned`: on {0} the stack pointer is a multiple of 16 at every access of the stack"
    )]
    Misaligned(Machine),
    /// A processor that the emitter does not know.
    #[error("there is no emitter for this processor: the emitter knows x86-64 and AArch64")]
    Processor,
    /// Code of two machines.
    #[error("code for {appended} cannot follow code for {machine}: a sequence is for one machine")]
    Machine {
        /// The machine of the sequence.
        machine: Machine,
        /// The machine of what was to be appended.
        appended: Machine,
    },
    /// Code that is no whole number of instructions.
    #[error("{bytes} bytes are no code for AArch64: each instruction has 4 bytes")]
    Instructions {
        /// The length of the code.
        bytes: usize,
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
        "a size is in {0}: in Cranelift's form it is a constant, or a value given to `allocate_array` or \
         `allocate_sized`"
    )]
    InRegister(Register),
    /// A shape needs a length, or has none.
    #[error("{0}")]
    Shape(&'static str),
    /// Two parts of a program lie too far apart for a jump.
    #[error("code at {from:#x} cannot jump to {to:#x}: the parts of a sequence must lie within {}", distance(*.within))]
    TooFar {
        /// The address from which the jump counts: that after it on x86-64, its own on AArch64.
        from: u64,
        /// The target of the jump.
        to: u64,
        /// Bytes that the jump reaches in either direction.
        within: u64,
    },
    /// The target of a jump is no instruction.
    #[error("code at {from:#x} cannot jump to {to:#x}: instructions of AArch64 lie at multiples of 4")]
    Unaligned {
        /// The address of the jump.
        from: u64,
        /// The target of the jump.
        to: u64,
    },
    /// The linking code gave no address for a target.
    #[error("there is no address for {0}")]
    Unresolved(&'static str),
    /// The assembler refused an instruction.
    #[error("the assembler refused an instruction: {0}")]
    Assembler(String),
}
crate::debug::debug_is_display!(EmitError);

/// The registers that have no role.
fn reserved(machine: Machine) -> &'static str {
    match machine {
        Machine::X86_64 => "rsp",
        Machine::AArch64 => "sp, x16, x17 or x30",
    }
}

/// The vector registers that may have a role.
fn vectors(machine: Machine) -> &'static str {
    match machine {
        Machine::X86_64 => "xmm0 to xmm15",
        Machine::AArch64 => "v0 to v31",
    }
}

/// A power of two in the largest unit of which it is a multiple.
fn distance(bytes: u64) -> String {
    let (shift, unit) = match bytes.trailing_zeros() {
        30.. => (30, "GiB"),
        20.. => (20, "MiB"),
        _ => (10, "KiB"),
    };
    format!("{} {unit}", bytes >> shift)
}

impl PartialEq for EmitError {
    /// Errors are equal if their texts are.
    fn eq(&self, other: &EmitError) -> bool {
        self.to_string() == other.to_string()
    }
}
