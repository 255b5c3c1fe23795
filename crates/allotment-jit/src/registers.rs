//! The registers of a sequence, as assigned by the compiler that pastes it.
//!
//! A sequence reads its inputs, writes its outputs and scratch registers, and uses no other
//! register that the compiler assigns. Each register has one role. An assignment that gives a
//! register two roles is refused, and the error names a free register.
//!
//! On AArch64 x16, x17 and x30 have no role: calls and slow paths change them. A sequence uses x16
//! and x17 as scratch registers of its own.

use crate::EmitError;
use crate::register::{Machine, Register};

/// The general registers a sequence may use, in the order in which free ones are suggested.
const X86_64_GENERAL: [Register; 15] = [
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
const X86_64_CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// The general registers a sequence may use, in the order in which free ones are suggested: x18,
/// which a platform may reserve, and the frame pointer come last.
const AARCH64_GENERAL: [Register; 28] = [
    Register::X0,
    Register::X1,
    Register::X2,
    Register::X3,
    Register::X4,
    Register::X5,
    Register::X6,
    Register::X7,
    Register::X8,
    Register::X9,
    Register::X10,
    Register::X11,
    Register::X12,
    Register::X13,
    Register::X14,
    Register::X15,
    Register::X19,
    Register::X20,
    Register::X21,
    Register::X22,
    Register::X23,
    Register::X24,
    Register::X25,
    Register::X26,
    Register::X27,
    Register::X28,
    Register::X18,
    Register::X29,
];

/// The general registers that may have a role.
pub(crate) fn general(machine: Machine) -> &'static [Register] {
    match machine {
        Machine::X86_64 => &X86_64_GENERAL,
        Machine::AArch64 => &AARCH64_GENERAL,
    }
}

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
    /// Two vector registers, during the sequence: one for the data stored with a header, one for
    /// zeroes.
    pub vectors: [Register; 2],
}

impl Registers {
    /// Registers that a C function which gets the mutator may use. The mutator is in the first
    /// argument's register: `rdi` or `x0`. The object is in `rax`, where a C function returns it,
    /// or in `x2`: on AArch64 the result's register is the mutator's.
    pub const fn c(machine: Machine) -> Registers {
        match machine {
            Machine::X86_64 => Registers {
                mutator: Register::RDI,
                object: Register::RAX,
                top: Register::RCX,
                scratch: Register::RDX,
                vectors: [Register::XMM0, Register::XMM1],
            },
            Machine::AArch64 => Registers {
                mutator: Register::X0,
                object: Register::X2,
                top: Register::X3,
                scratch: Register::X4,
                vectors: [Register::V0, Register::V1],
            },
        }
    }

    /// Checks that each register, those of `inputs` included, has one role that it can have.
    pub(crate) fn check(
        &self,
        machine: Machine,
        inputs: &[(&'static str, Register)],
    ) -> Result<(), EmitError> {
        let parts = [
            ("the mutator", self.mutator),
            ("the object", self.object),
            ("the new top", self.top),
            ("scratch", self.scratch),
        ];
        check_general(machine, &[&parts[..], inputs].concat())?;
        let [first, second] = self.vectors;
        for register in self.vectors {
            if !register.is_vector() || register.machine() != machine {
                return Err(EmitError::NoVector { register, machine });
            }
        }
        if first == second {
            let mut vectors = machine.registers().filter(|one| one.is_vector());
            return Err(EmitError::Clobbered {
                register: first,
                first: "the first vector",
                second: "the second vector",
                free: vectors.find(|free| *free != first).unwrap_or(second),
            });
        }
        Ok(())
    }
}

/// Checks that each role has a general register of its own that the machine leaves to programs.
pub(crate) fn check_general(machine: Machine, parts: &[(&'static str, Register)]) -> Result<(), EmitError> {
    let general = general(machine);
    let free = |taken: &[(&'static str, Register)]| {
        general.iter().copied().find(|register| taken.iter().all(|(_, other)| other != register))
    };
    for (index, &(part, register)) in parts.iter().enumerate() {
        let free = free(parts).unwrap_or(general[0]);
        if !general.contains(&register) {
            return Err(EmitError::NoGeneral { register, part, machine, free });
        }
        if let Some(&(first, _)) = parts[..index].iter().find(|(_, other)| *other == register) {
            return Err(EmitError::Clobbered { register, first, second: part, free });
        }
    }
    Ok(())
}

/// Whether a call in the C calling convention may change the general register.
pub(crate) fn is_caller_saved(register: Register) -> bool {
    match register.machine() {
        Machine::X86_64 => !X86_64_CALLEE_SAVED.contains(&register),
        Machine::AArch64 => !(19..=29).contains(&register.number()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(machine: Machine, registers: Registers, input: Register) -> String {
        registers.check(machine, &[("the length", input)]).unwrap_err().to_string()
    }

    #[test]
    fn a_register_with_two_parts_is_refused_and_a_free_one_named() {
        let c = Registers::c(Machine::X86_64);
        assert_eq!(c.check(Machine::X86_64, &[("the length", Register::RSI)]), Ok(()));
        for (registers, expected) in [
            (Registers { top: Register::RAX, ..c }, "rax is both the object and the new top; rcx is free"),
            (Registers { scratch: Register::RSI, ..c }, "rsi is both scratch and the length"),
            (Registers { mutator: Register::RSP, ..c }, "rsp cannot be the mutator"),
            (Registers { object: Register::XMM4, ..c }, "xmm4 cannot be the object"),
            (
                Registers { object: Register::X4, ..c },
                "x4 cannot be the object: on x86-64 a general register such as rax can, but not rsp",
            ),
            (Registers { vectors: [Register::XMM3; 2], ..c }, "xmm3 is both the first vector and the second"),
            (Registers { vectors: [Register::XMM0, Register::V1], ..c }, "v1 cannot be a vector"),
            (Registers { vectors: [Register::XMM0, Register::RAX], ..c }, "rax cannot be a vector"),
        ] {
            let error = message(Machine::X86_64, registers, Register::RSI);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn registers_that_calls_of_aarch64_change_have_no_role() {
        let c = Registers::c(Machine::AArch64);
        assert_eq!(c.check(Machine::AArch64, &[("the length", Register::X1)]), Ok(()));
        for register in [Register::X16, Register::X17, Register::X30, Register::SP, Register::RAX] {
            let error = message(Machine::AArch64, Registers { top: register, ..c }, Register::X1);
            assert_eq!(
                error,
                format!(
                    "{register} cannot be the new top: on AArch64 a general register such as x3 can, but not sp, x16, \
                     x17 or x30"
                )
            );
        }
    }

    #[test]
    fn calls_keep_callee_saved_registers() {
        let kept = |machine| general(machine).iter().filter(|register| !is_caller_saved(**register)).count();
        assert_eq!([Machine::X86_64, Machine::AArch64].map(kept), [6, 11]);
    }
}
