//! A sequence as people read it: address, instruction, what it is for.

use crate::sequence::{Part, RelocationKind, Sequence, Target};
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind};

/// An instruction of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// In which part it is.
    pub part: Part,
    /// Bytes into the part.
    pub offset: usize,
    /// Its bytes, with zeroes for addresses.
    pub bytes: Vec<u8>,
    /// In Intel's syntax, with names for places and slow paths.
    pub assembly: String,
    /// What it is for.
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
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_uppercase_hex(false);
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_space_after_operand_separator(true);
        options.set_space_between_memory_add_operators(true);
        options.set_small_hex_numbers_in_decimal(true);
        options.set_branch_leading_zeros(false);
        options.set_displacement_leading_zeros(false);
        let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
        let mut lines = Vec::new();
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let offset = instruction.ip() as usize;
            let mut assembly = String::new();
            formatter.format(&instruction, &mut assembly);
            if let Some(name) = self.target_name(part, &instruction)
                && let Some(space) = assembly.rfind(' ')
            {
                assembly.truncate(space + 1);
                assembly.push_str(&name);
            }
            let note = self.notes().iter().find(|note| (note.part, note.offset) == (part, offset));
            lines.push(Line {
                part,
                offset,
                bytes: code[offset..offset + instruction.len()].to_vec(),
                assembly,
                note: note.map_or("", |note| note.text),
            });
        }
        lines
    }

    /// What the instruction jumps to or loads the address of.
    fn target_name(&self, part: Part, instruction: &Instruction) -> Option<String> {
        let within = instruction.ip() as usize..instruction.next_ip() as usize;
        let relocation =
            self.relocations().iter().find(|one| one.part == part && within.contains(&one.offset));
        let Some(relocation) = relocation else {
            // A jump within its part.
            let near = instruction.op_count() == 1 && instruction.op0_kind() == OpKind::NearBranch64;
            return near.then(|| place(part, instruction.near_branch_target() as usize));
        };
        Some(match relocation.target {
            Target::Inside(part, offset) => place(part, offset),
            outside => {
                let name = outside.label();
                if relocation.kind == RelocationKind::Absolute64 {
                    format!("offset {name}")
                } else {
                    name.into()
                }
            }
        })
    }
}

fn place(part: Part, offset: usize) -> String {
    match part {
        Part::Hot => format!("hot+{offset}"),
        Part::Cold => format!("cold+{offset}"),
    }
}
