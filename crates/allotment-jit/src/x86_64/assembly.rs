//! Two assemblers, one for each part of a sequence, and the assembly of both into one sequence.
//!
//! iced-x86 needs the target of each jump. The target of a jump between parts, or out of the
//! sequence, is not known yet. Neither is an address that the code loads. Such a jump or load gets
//! a placeholder number that stands for its target, and becomes a relocation at the end. The
//! placeholders are far from both parts, so that no jump to one is encoded as a short jump.

use super::whole;
use crate::EmitError;
use crate::register::{Machine, Register};
use crate::relocation::{Part, Relocation, RelocationKind, Target};
use crate::sequence::{Note, Safepoint, Sequence};
use iced_x86::code_asm::{AsmRegister64, CodeAssembler};
use iced_x86::{
    BlockEncoderOptions, Code, FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind,
};

/// The assumed address of the hot part. The placeholders for targets are far above it.
const HOT_AT: u64 = 0x1_0000_0000;
const COLD_AT: u64 = 0x1_2000_0000;
const TARGETS_AT: u64 = 0x1_4000_0000;
/// The distance from one placeholder to the next.
const TARGET_STEP: u64 = 16;

/// A place in one part that the other part refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(usize);

#[derive(Clone, Copy)]
enum Referred {
    Mark(Mark),
    Outside(Target),
}

struct Half {
    assembler: CodeAssembler,
    /// The index of an instruction, and the note for it and the instructions that follow.
    notes: Vec<(usize, &'static str)>,
    /// The index of a call that is a safepoint, and the bytes on the stack there.
    safepoints: Vec<(usize, usize)>,
}

/// A sequence during its assembly.
pub(crate) struct Assembly {
    hot: Half,
    cold: Half,
    referred: Vec<Referred>,
    /// For each mark, its part and the index of its instruction.
    marks: Vec<Option<(Part, usize)>>,
}

/// An assembled part.
struct Encoded {
    bytes: Vec<u8>,
    instructions: Vec<Instruction>,
    /// The offset of each instruction, and of the end.
    offsets: Vec<usize>,
}

impl Assembly {
    pub(crate) fn new() -> Result<Assembly, EmitError> {
        let half = || -> Result<Half, EmitError> {
            Ok(Half { assembler: CodeAssembler::new(64)?, notes: Vec::new(), safepoints: Vec::new() })
        };
        Ok(Assembly { hot: half()?, cold: half()?, referred: Vec::new(), marks: Vec::new() })
    }

    fn half(&mut self, part: Part) -> &mut Half {
        match part {
            Part::Hot => &mut self.hot,
            Part::Cold => &mut self.cold,
        }
    }

    /// The assembler of a part. The next instructions get the note `note`.
    pub(crate) fn noted(&mut self, part: Part, note: &'static str) -> &mut CodeAssembler {
        let half = self.half(part);
        let at = half.assembler.instructions().len();
        half.notes.push((at, note));
        &mut half.assembler
    }

    /// The assembler of the hot part. The next instructions get the note `note`.
    pub(crate) fn hot(&mut self, note: &'static str) -> &mut CodeAssembler {
        self.noted(Part::Hot, note)
    }

    /// The assembler of the cold part. The next instructions get the note `note`.
    pub(crate) fn cold(&mut self, note: &'static str) -> &mut CodeAssembler {
        self.noted(Part::Cold, note)
    }

    /// A place whose position is set later.
    pub(crate) fn mark(&mut self) -> Mark {
        self.marks.push(None);
        Mark(self.marks.len() - 1)
    }

    /// Sets the place to the position of the part's next instruction.
    pub(crate) fn set(&mut self, part: Part, mark: Mark) {
        let at = self.half(part).assembler.instructions().len();
        self.marks[mark.0] = Some((part, at));
    }

    /// The placeholder for the place, in a jump.
    pub(crate) fn refer_to(&mut self, mark: Mark) -> u64 {
        self.refer(Referred::Mark(mark))
    }

    /// The placeholder for a target outside, in a jump.
    pub(crate) fn outside(&mut self, target: Target) -> u64 {
        self.refer(Referred::Outside(target))
    }

    fn refer(&mut self, referred: Referred) -> u64 {
        self.referred.push(referred);
        TARGETS_AT + (self.referred.len() - 1) as u64 * TARGET_STEP
    }

    /// Calls `target` from the cold part through `register`, with `pushed_bytes` of the sequence on
    /// the stack. The call is a safepoint if `is_safepoint`.
    pub(crate) fn call(
        &mut self,
        target: Target,
        register: AsmRegister64,
        pushed_bytes: usize,
        is_safepoint: bool,
    ) -> Result<(), EmitError> {
        let stands_for = self.outside(target);
        let assembler = self.cold("the slow path's address: anywhere");
        assembler.add_instruction(Instruction::with2(Code::Mov_r64_imm64, register.into(), stands_for)?)?;
        assembler.call(register)?;
        let at = assembler.instructions().len() - 1;
        if is_safepoint {
            self.cold.safepoints.push((at, pushed_bytes));
        }
        Ok(())
    }

    /// The sequence. `result` is the output register, which is not a clobber.
    pub(crate) fn finish(self, result: Option<Register>, offsets: Vec<usize>) -> Result<Sequence, EmitError> {
        let Assembly { hot, cold, referred, marks } = self;
        let (hot_notes, cold_notes) = (hot.notes, cold.notes);
        let hot = encode(hot.assembler, HOT_AT)?;
        let safepoints = cold.safepoints;
        let cold = encode(cold.assembler, COLD_AT)?;
        let resolve = |number: u64| -> Option<Target> {
            let index = usize::try_from(number.checked_sub(TARGETS_AT)? / TARGET_STEP).ok()?;
            Some(match *referred.get(index)? {
                Referred::Outside(target) => target,
                Referred::Mark(mark) => {
                    let (part, at) = marks[mark.0]?;
                    let half = if part == Part::Hot { &hot } else { &cold };
                    Target::Inside(part, half.offsets[at])
                }
            })
        };
        let mut sequence = Sequence {
            clobbers: clobbers(&hot.instructions, result),
            result,
            offsets,
            ..Sequence::new(Machine::X86_64)
        };
        for (part, half) in [(Part::Hot, &hot), (Part::Cold, &cold)] {
            for (instruction, end) in half.instructions.iter().zip(&half.offsets[1..]) {
                let jumps = instruction.op_count() == 1 && instruction.op0_kind() == OpKind::NearBranch64;
                let loads = instruction.code() == Code::Mov_r64_imm64;
                let (number, bytes, kind) = match (jumps, loads) {
                    (true, _) => (instruction.near_branch_target(), 4, RelocationKind::Relative32),
                    (_, true) => (instruction.immediate64(), 8, RelocationKind::Absolute64),
                    _ => continue,
                };
                if let Some(target) = resolve(number) {
                    sequence.relocations.push(Relocation { part, offset: end - bytes, kind, target });
                }
            }
        }
        for (part, half, notes) in [(Part::Hot, &hot, &hot_notes), (Part::Cold, &cold, &cold_notes)] {
            for (index, (from, text)) in notes.iter().enumerate() {
                let to = notes.get(index + 1).map_or(half.instructions.len(), |next| next.0);
                sequence.notes.extend((*from..to).map(|at| Note { part, offset: half.offsets[at], text }));
            }
        }
        sequence.safepoints = safepoints
            .into_iter()
            .map(|(at, pushed_bytes)| Safepoint {
                return_offset: cold.offsets[at + 1],
                pushed_bytes,
                stub_return: None,
            })
            .collect();
        (sequence.hot, sequence.cold) = (hot.bytes, cold.bytes);
        for relocation in &sequence.relocations {
            let code = if relocation.part == Part::Hot { &mut sequence.hot } else { &mut sequence.cold };
            let bytes = if relocation.kind == RelocationKind::Relative32 { 4 } else { 8 };
            code[relocation.offset..relocation.offset + bytes].fill(0);
        }
        Ok(sequence)
    }
}

fn encode(mut assembler: CodeAssembler, at: u64) -> Result<Encoded, EmitError> {
    let result = assembler.assemble_options(at, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?.inner;
    let mut offsets: Vec<usize> = result.new_instruction_offsets.iter().map(|at| *at as usize).collect();
    offsets.push(result.code_buffer.len());
    Ok(Encoded { bytes: result.code_buffer, instructions: assembler.take_instructions(), offsets })
}

/// The registers that these instructions write to, as whole registers, without the result and the
/// stack pointer. Jumps and calls are skipped: a callee follows a calling convention.
fn clobbers(instructions: &[Instruction], result: Option<Register>) -> Vec<Register> {
    let mut info = InstructionInfoFactory::new();
    let mut clobbers = Vec::new();
    for instruction in instructions.iter().filter(|one| one.flow_control() == FlowControl::Next) {
        for used in info.info(instruction).used_registers() {
            let writes =
                !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
            let Some(whole) = whole(used.register()) else { continue };
            if writes && Some(whole) != result && whole != Register::RSP && !clobbers.contains(&whole) {
                clobbers.push(whole);
            }
        }
    }
    clobbers
}
