//! A sequence for human readers: address, instruction, purpose.

use crate::disassembled::Disassembled;
use crate::register::Machine;
use crate::relocation::{Part, RelocationKind, Target};
use crate::sequence::Sequence;
use crate::{aarch64, x86_64};

/// An instruction of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The part that contains it.
    pub part: Part,
    /// Bytes into the part.
    pub offset: usize,
    /// Its bytes, with zeroes for addresses.
    pub bytes: Vec<u8>,
    /// The text in the notation of [`Disassembled`], with names for places and slow paths.
    pub assembly: String,
    /// The purpose.
    pub note: &'static str,
}

impl Sequence {
    /// The instructions, the hot part's first.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self.part_lines(Part::Hot);
        lines.extend(self.part_lines(Part::Cold));
        lines
    }

    fn part_lines(&self, part: Part) -> Vec<Line> {
        let code = if part == Part::Hot { self.hot() } else { self.cold() };
        let line = |one: Disassembled| {
            let offset = one.address as usize;
            let name = self.target_name(part, &one);
            let mut assembly = one.assembly;
            if let Some(name) = name
                && let Some(space) = assembly.rfind(' ')
            {
                assembly.truncate(space + 1);
                assembly.push_str(&name);
            }
            let note = self.notes().iter().find(|note| (note.part, note.offset) == (part, offset));
            Line {
                part,
                offset,
                bytes: code[offset..offset + one.bytes].to_vec(),
                assembly,
                note: note.map_or("", |note| note.text),
            }
        };
        self.instructions(part, code).into_iter().map(line).collect()
    }

    /// The instructions of a part. A literal of AArch64 is one line.
    fn instructions(&self, part: Part, code: &[u8]) -> Vec<Disassembled> {
        let mut instructions = disassemble(self.machine(), code, 0);
        if self.machine() == Machine::AArch64 {
            let literals = self.relocations().iter();
            let literals = literals.filter(|one| one.part == part && one.kind == RelocationKind::Absolute64);
            for literal in literals.map(|one| one.offset as u64) {
                instructions.retain(|one| one.address != literal + 4);
                if let Some(one) = instructions.iter_mut().find(|one| one.address == literal) {
                    (one.bytes, one.assembly, one.target) = (8, ".quad 0".into(), None);
                }
            }
        }
        instructions
    }

    /// The target of the jump, or of the load of an address.
    fn target_name(&self, part: Part, instruction: &Disassembled) -> Option<String> {
        let at = instruction.address as usize;
        let within = at..at + instruction.bytes;
        let relocation =
            self.relocations().iter().find(|one| one.part == part && within.contains(&one.offset));
        let Some(relocation) = relocation else {
            // A jump within its part.
            return instruction.target.map(|target| place(part, target as usize));
        };
        Some(match relocation.target {
            Target::Inside(part, offset) => place(part, offset),
            outside => {
                let name = outside.label();
                if relocation.kind == RelocationKind::Absolute64 && self.machine() == Machine::X86_64 {
                    format!("offset {name}")
                } else {
                    name.into()
                }
            }
        })
    }
}

/// The instructions of code that begins at `address`, in the notation of [`Sequence::lines`].
///
/// ```
/// use allotment_jit::{Machine, disassemble};
/// let code = [0x48, 0x01, 0xF8, 0xEB, 0xFB];
/// let [add, jump] = &disassemble(Machine::X86_64, &code, 0x1000)[..] else { panic!() };
/// assert_eq!((add.assembly.as_str(), add.address), ("add rax, rdi", 0x1000));
/// assert_eq!((jump.address, jump.target), (0x1003, Some(0x1000)));
/// ```
pub fn disassemble(machine: Machine, code: &[u8], address: u64) -> Vec<Disassembled> {
    match machine {
        Machine::X86_64 => x86_64::decoded(code, address),
        Machine::AArch64 => aarch64::decoded(code, address),
    }
}

fn place(part: Part, offset: usize) -> String {
    match part {
        Part::Hot => format!("hot+{offset}"),
        Part::Cold => format!("cold+{offset}"),
    }
}
