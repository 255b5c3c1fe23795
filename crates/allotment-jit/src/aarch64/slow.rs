//! Calls of slow paths: out of line, with all values that must survive them on the stack.
//!
//! A slow path may be a safepoint, at which objects move. So it preserves numbers only: a reference
//! in a register would be stale. A compiler keeps references in slots of its frame, describes these
//! slots in a stack map, and loads the references again after the call.
//!
//! The slow paths of barriers are not safepoints and keep all registers but x16, x17 and x30. So the
//! code saves only the registers that it passes arguments in, and x0 ([`KeepingCall`]).
//!
//! All arguments are stored before the first argument register is loaded. So none is overwritten
//! before it is read, for any assignment of registers. The link register is stored, too: the
//! sequence may be a function, and a pasted sequence then needs no frame for the sake of a barrier.
//!
//! Refused: a sorter of moves. The code is cold, and the sorter would be longer than this code.

use super::assembler::{Assembler, General, Label, SP};
use super::assembly::{Assembly, LINK, SCRATCH, SCRATCH_2};
use crate::EmitError;
use crate::register::Register;
use crate::registers::is_caller_saved;
use crate::relocation::{Part, Target};

/// A call to emit, of a function in the C calling convention.
pub(super) struct Call<'a> {
    pub(super) target: Target,
    /// Registers that are passed as arguments, in order: at most 3.
    pub(super) arguments: &'a [Register],
    /// A number that is added to the second argument.
    pub(super) displacement: i32,
    /// Numbers of argument registers and the constants passed in them.
    pub(super) constants: &'a [(u8, usize)],
    /// The inputs that the code after the call needs again.
    pub(super) inputs: &'a [Register],
    /// What else the program needs again.
    pub(super) preserve: &'a [Register],
    /// The register that receives the result, if there is one.
    pub(super) result: Option<Register>,
    pub(super) is_safepoint: bool,
    /// Whether the sequence is a function, whose return address is in the link register.
    pub(super) is_stub: bool,
}

/// A slot, at `base + displacement`, and the mutator that accesses it.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) mutator: Register,
    pub(super) base: Register,
    pub(super) displacement: i32,
}

/// A call to emit of the slow path of a barrier, by its address in the hot part. Its arguments are
/// the mutator and the slot's address, and what follows.
pub(super) struct KeepingCall<'a> {
    /// The offset of the slow path's address in the hot part.
    pub(super) slow_path: usize,
    pub(super) slot: Slot,
    /// Whether the word in the slot is the next argument.
    pub(super) loads: bool,
    /// Registers that are passed as arguments, in order: at most 2, and none if the word is one.
    pub(super) more: &'a [Register],
    /// The register that receives the result, if there is one.
    pub(super) result: Option<Register>,
}

/// The register of an argument, and x0 of the result.
const fn argument(number: u8) -> General {
    General::x(number)
}

/// Registers on the stack, each one once.
struct Frame(Vec<General>);

impl Frame {
    /// A frame for the link register and these.
    fn new(registers: impl IntoIterator<Item = General>) -> Frame {
        let mut frame = Frame(vec![LINK]);
        for register in registers {
            if !frame.0.contains(&register) {
                frame.0.push(register);
            }
        }
        frame
    }

    fn bytes(&self) -> usize {
        (self.0.len() * 8).next_multiple_of(16)
    }

    /// Bytes from the stack pointer to the register's value.
    fn offset(&self, register: General) -> Result<i64, EmitError> {
        let place = self.0.iter().position(|one| *one == register);
        let refused = || EmitError::Assembler("a register has no place on the stack".into());
        Ok(place.ok_or_else(refused)? as i64 * 8)
    }

    fn push(&self, cold: &mut Assembler) -> Result<(), EmitError> {
        cold.sub_immediate(SP, SP, self.bytes() as u64)?;
        for (pair, registers) in self.0.chunks(2).enumerate() {
            let offset = pair as i64 * 16;
            match *registers {
                [first, second] => cold.stp(first, second, SP, offset)?,
                [last] => cold.str(last, SP, offset)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Loads these arguments to their registers.
    fn pass(&self, cold: &mut Assembler, arguments: &[General]) -> Result<(), EmitError> {
        for (number, from) in (0_u8..).zip(arguments) {
            if *from != argument(number) {
                cold.ldr(argument(number), SP, self.offset(*from)?)?;
            }
        }
        Ok(())
    }

    /// Loads these registers again.
    fn pop(&self, cold: &mut Assembler, restored: &[General]) -> Result<(), EmitError> {
        for register in restored {
            cold.ldr(*register, SP, self.offset(*register)?)?;
        }
        cold.add_immediate(SP, SP, self.bytes() as u64)
    }
}

fn generals(registers: &[Register]) -> Result<Vec<General>, EmitError> {
    registers.iter().map(|register| General::of(*register)).collect()
}

/// The result in its register. It comes before the registers that are loaded again.
fn take_result(assembly: &mut Assembly, result: Option<General>) {
    if let Some(result) = result
        && result != argument(0)
    {
        assembly.cold("the result").mov(result, argument(0));
    }
}

impl KeepingCall<'_> {
    /// Emits the call to the cold part. No register changes except the result's, x16 and x17.
    pub(super) fn emit(&self, assembly: &mut Assembly) -> Result<(), EmitError> {
        assembly.as_call(|assembly| self.call(assembly))?;
        assembly.note_written([SCRATCH, SCRATCH_2]);
        Ok(())
    }

    fn call(&self, assembly: &mut Assembly) -> Result<(), EmitError> {
        let Slot { mutator, base, displacement } = self.slot;
        let arguments = generals(&[&[mutator, base], self.more].concat())?;
        let result = self.result.map(General::of).transpose()?;
        let passed = arguments.len() as u8 + u8::from(self.loads);
        // Argument registers that keep their own value are loaded again, too: it is the same.
        let mut restored: Vec<General> = (0..passed).map(argument).collect();
        restored.push(LINK);
        restored.retain(|register| Some(*register) != result);
        let frame = Frame::new([&restored[..], &arguments].concat());
        frame.push(assembly.cold("kept over the call"))?;
        let cold = assembly.cold("arguments");
        frame.pass(cold, &arguments)?;
        if displacement != 0 {
            cold.add_constant(argument(1), argument(1), displacement.into())?;
        }
        if self.loads {
            cold.ldr(argument(2), argument(1), 0)?;
        }
        let cold = assembly.cold("keeps all but the result, x16, x17 and x30");
        cold.ldr(SCRATCH, argument(0), self.slow_path as i64)?;
        cold.blr(SCRATCH);
        take_result(assembly, result);
        frame.pop(assembly.cold("what was kept"), &restored)
    }
}

impl Call<'_> {
    /// Emits the call to the cold part.
    pub(super) fn emit(&self, assembly: &mut Assembly) -> Result<(), EmitError> {
        assembly.as_call(|assembly| self.call(assembly))
    }

    fn call(&self, assembly: &mut Assembly) -> Result<(), EmitError> {
        let kept = self.inputs.iter().chain(self.preserve).copied();
        let kept: Vec<Register> = kept.filter(|register| is_caller_saved(*register)).collect();
        let (mut restored, arguments) = (generals(&kept)?, generals(self.arguments)?);
        let result = self.result.map(General::of).transpose()?;
        restored.push(LINK);
        let frame = Frame::new([&restored[..], &arguments].concat());
        frame.push(assembly.cold("kept over the call"))?;
        let cold = assembly.cold("arguments");
        frame.pass(cold, &arguments)?;
        if self.displacement != 0 {
            cold.add_constant(argument(1), argument(1), self.displacement.into())?;
        }
        for (number, constant) in self.constants {
            cold.mov_constant(argument(*number), *constant as u64)?;
        }
        let literal = assembly.literal(self.target);
        let cold = assembly.cold("the slow path");
        cold.ldr_literal(SCRATCH, literal);
        cold.blr(SCRATCH);
        if self.is_safepoint {
            let stub_return = if self.is_stub { Some(frame.offset(LINK)? as usize) } else { None };
            assembly.note_safepoint(frame.bytes(), stub_return);
        }
        take_result(assembly, result);
        frame.pop(assembly.cold("what was kept"), &restored)
    }
}

/// Jumps to `label` at the end of the cold part.
pub(super) fn back_to(assembly: &mut Assembly, label: Label) {
    assembly.noted(Part::Cold, "back in line").b(label);
}
