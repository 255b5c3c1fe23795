//! Calls of slow paths: out of line, with all values that must survive them on the stack.
//!
//! A slow path may be a safepoint, at which objects move. So it preserves numbers only: a reference
//! in a register would be stale. A compiler keeps references in slots of its frame, describes these
//! slots in a stack map, and loads the references again after the call.
//!
//! The slow paths of barriers are not safepoints and keep all registers. So the code saves only the
//! registers that it passes arguments in, and `rax` ([`KeepingCall`]).
//!
//! Arguments are moved through the stack. So no argument register is overwritten before it is read,
//! for any assignment of registers.
//!
//! Refused: a sorter of moves. The code is cold, and the sorter would be longer than this code.

use super::assembly::{Assembly, Mark};
use super::general;
use crate::EmitError;
use crate::register::Register;
use crate::registers::is_caller_saved;
use crate::relocation::{Part, Target};
use crate::site::SlowCall;
use iced_x86::code_asm::qword_ptr;
use iced_x86::code_asm::registers::gpr64::{rax, rdi, rdx, rsi, rsp};

/// A call to emit.
pub(super) struct Call<'a> {
    pub(super) target: Target,
    /// Registers that are passed as arguments, in order: at most 3.
    pub(super) arguments: &'a [Register],
    /// A number that is added to the second argument.
    pub(super) displacement: i32,
    /// Argument registers and the constants passed in them.
    pub(super) constants: &'a [(Register, usize)],
    /// The inputs that the code after the call needs again.
    pub(super) inputs: &'a [Register],
    /// The register that receives the result, if there is one.
    pub(super) result: Option<Register>,
    pub(super) is_safepoint: bool,
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

/// The first argument registers of a C function.
const ARGUMENTS: [Register; 4] = [Register::RDI, Register::RSI, Register::RDX, Register::RCX];

/// Moves registers to argument registers, in order.
fn pass(assembly: &mut Assembly, arguments: &[Register]) -> Result<(), EmitError> {
    let cold = assembly.cold("arguments");
    let moved = arguments.iter().zip(ARGUMENTS).filter(|(from, to)| *from != to);
    let moved: Vec<(Register, Register)> = moved.map(|(from, to)| (*from, to)).collect();
    if let [(from, to)] = moved[..] {
        cold.mov(general(to)?, general(from)?)?;
        return Ok(());
    }
    for (from, _) in &moved {
        cold.push(general(*from)?)?;
    }
    for (_, to) in moved.iter().rev() {
        cold.pop(general(*to)?)?;
    }
    Ok(())
}

impl KeepingCall<'_> {
    /// Emits the call to the cold part. No register changes except the result's.
    pub(super) fn emit(&self, assembly: &mut Assembly) -> Result<(), EmitError> {
        let Slot { mutator, base, displacement } = self.slot;
        let arguments = [&[mutator, base], self.more].concat();
        let mut changed: Vec<Register> =
            arguments.iter().zip(ARGUMENTS).filter(|(from, to)| *from != to).map(|(_, to)| to).collect();
        if displacement != 0 && base == Register::RSI {
            changed.push(Register::RSI);
        }
        changed.extend(self.loads.then_some(Register::RDX));
        changed.extend(self.result.map(|_| Register::RAX));
        changed.retain(|register| Some(*register) != self.result);
        let cold = assembly.cold("kept over the call");
        for register in &changed {
            cold.push(general(*register)?)?;
        }
        pass(assembly, &arguments)?;
        let cold = assembly.cold("arguments");
        if displacement != 0 {
            cold.add(rsi, displacement)?;
        }
        if self.loads {
            cold.mov(rdx, qword_ptr(rsi))?;
        }
        assembly.cold("keeps all but the result").call(qword_ptr(rdi + self.slow_path))?;
        if let Some(result) = self.result
            && result != Register::RAX
        {
            assembly.cold("the result").mov(general(result)?, rax)?;
        }
        let cold = assembly.cold("what was kept");
        for register in changed.iter().rev() {
            cold.pop(general(*register)?)?;
        }
        Ok(())
    }
}

impl Call<'_> {
    /// Emits the call to the cold part, with the obligations of `slow`.
    pub(super) fn emit(&self, assembly: &mut Assembly, slow: &SlowCall<'_>) -> Result<(), EmitError> {
        let mut saved: Vec<Register> = Vec::new();
        for register in self.inputs.iter().chain(slow.preserve) {
            if is_caller_saved(*register) && !saved.contains(register) {
                saved.push(*register);
            }
        }
        let cold = assembly.cold("kept over the call");
        for register in &saved {
            cold.push(general(*register)?)?;
        }
        let padding =
            if (saved.len() * 8 + usize::from(slow.misaligned) * 8).is_multiple_of(16) { 0 } else { 8 };
        if padding > 0 {
            assembly.cold("the stack is a multiple of 16 at a call").sub(rsp, padding as i32)?;
        }
        pass(assembly, self.arguments)?;
        let cold = assembly.cold("arguments");
        if self.displacement != 0 {
            cold.add(rsi, self.displacement)?;
        }
        for (register, value) in self.constants {
            cold.mov(super::lower(*register)?, *value as u32)?;
        }
        assembly.call(self.target, rax, saved.len() * 8 + padding, self.is_safepoint)?;
        if let Some(result) = self.result
            && result != Register::RAX
        {
            assembly.cold("the result").mov(general(result)?, rax)?;
        }
        let cold = assembly.cold("what was kept");
        if padding > 0 {
            cold.add(rsp, padding as i32)?;
        }
        for register in saved.iter().rev() {
            cold.pop(general(*register)?)?;
        }
        Ok(())
    }
}

/// Jumps to `mark` at the end of the cold part.
pub(super) fn back_to(assembly: &mut Assembly, mark: Mark) -> Result<(), EmitError> {
    let to = assembly.refer_to(mark);
    assembly.noted(Part::Cold, "back in line").jmp(to)?;
    Ok(())
}
