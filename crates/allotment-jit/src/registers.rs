//! The registers of a sequence, as assigned by the compiler that pastes it.
//!
//! A sequence reads its inputs, writes its outputs and scratch registers, and uses no other
//! register. Each register has one role. An assignment that gives a register two roles is refused,
//! and the error names a free register.

use crate::EmitError;
use iced_x86::Register;

/// The general registers a sequence may use, in the order in which free ones are suggested.
const GENERAL: [Register; 15] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::RBP,
];

/// The registers that a call in the System V calling convention preserves.
const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The registers of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The mutator: [`hot`](allotment::raw::RawMutator::hot). The sequence keeps it.
    pub mutator: Register,
    /// Receives the object's address.
    pub object: Register,
    /// The new top, during the sequence.
    pub top: Register,
    /// A scratch register, during the sequence.
    pub scratch: Register,
    /// Two vector registers (`XMM0` to `XMM15`), during the sequence: one for the data stored with
    /// a header, one for zeroes.
    pub vectors: [Register; 2],
}

impl Registers {
    /// The registers of a C function that gets the mutator: the mutator in `rdi`, and the object in
    /// `rax`.
    pub const C: Registers = Registers {
        mutator: Register::RDI,
        object: Register::RAX,
        top: Register::RCX,
        scratch: Register::RDX,
        vectors: [Register::XMM0, Register::XMM1],
    };

    /// Checks that each register, those of `inputs` included, has one role that it can have.
    pub(crate) fn check(&self, inputs: &[(&'static str, Register)]) -> Result<(), EmitError> {
        let parts = [
            ("the mutator", self.mutator),
            ("the object", self.object),
            ("the new top", self.top),
            ("scratch", self.scratch),
        ];
        check_general(&[&parts[..], inputs].concat())?;
        let [first, second] = self.vectors;
        for register in self.vectors {
            if !(register.is_xmm() && register.number() < 16) {
                return Err(EmitError::NoVector { register });
            }
        }
        if first == second {
            let free = (0..16).map(|number| Register::XMM0 + number).find(|free| *free != first);
            return Err(EmitError::Clobbered {
                register: first,
                first: "the first vector",
                second: "the second vector",
                free: free.unwrap_or(Register::XMM1),
            });
        }
        Ok(())
    }
}

/// Checks that each role has a general register of its own that is not the stack pointer.
pub(crate) fn check_general(parts: &[(&'static str, Register)]) -> Result<(), EmitError> {
    let free = |taken: &[(&'static str, Register)]| {
        GENERAL.into_iter().find(|register| taken.iter().all(|(_, other)| other != register))
    };
    for (index, &(part, register)) in parts.iter().enumerate() {
        let free = free(parts).unwrap_or(Register::RAX);
        if !GENERAL.contains(&register) {
            return Err(EmitError::NoGeneral { register, part, free });
        }
        if let Some(&(first, _)) = parts[..index].iter().find(|(_, other)| *other == register) {
            return Err(EmitError::Clobbered { register, first, second: part, free });
        }
    }
    Ok(())
}

/// Whether a call in the System V calling convention may change the general register.
pub(crate) fn is_caller_saved(register: Register) -> bool {
    !CALLEE_SAVED.contains(&register)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_with_two_parts_is_refused_and_a_free_one_named() {
        assert_eq!(Registers::C.check(&[("the length", Register::RSI)]), Ok(()));
        for (registers, expected) in [
            (
                Registers { top: Register::RAX, ..Registers::C },
                "rax is both the object and the new top; rcx is free",
            ),
            (Registers { scratch: Register::RSI, ..Registers::C }, "rsi is both scratch and the length"),
            (Registers { mutator: Register::RSP, ..Registers::C }, "rsp cannot be the mutator"),
            (Registers { object: Register::EAX, ..Registers::C }, "eax cannot be the object"),
            (
                Registers { vectors: [Register::XMM3; 2], ..Registers::C },
                "xmm3 is both the first vector and the second",
            ),
            (Registers { vectors: [Register::XMM0, Register::YMM1], ..Registers::C }, "ymm1"),
            (Registers { vectors: [Register::XMM0, Register::XMM16], ..Registers::C }, "xmm16"),
        ] {
            let error = registers.check(&[("the length", Register::RSI)]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn calls_keep_six_registers() {
        let kept = GENERAL.into_iter().filter(|register| !is_caller_saved(*register));
        assert_eq!(kept.count(), 6);
    }
}
