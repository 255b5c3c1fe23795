//! A sequence for human readers: address, instruction, purpose.

use crate::sequence::{Part, RelocationKind, Sequence, Target};
use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind};

/// An instruction of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The part that contains it.
    pub part: Part,
    /// Bytes into the part.
    pub offset: usize,
    /// Its bytes, with zeroes for addresses.
    pub bytes: Vec<u8>,
    /// The text in Intel's syntax, with names for places and slow paths.
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
        let line = |(instruction, mut assembly): (Instruction, String)| {
            let offset = instruction.ip() as usize;
            if let Some(name) = self.target_name(part, &instruction)
                && let Some(space) = assembly.rfind(' ')
            {
                assembly.truncate(space + 1);
                assembly.push_str(&name);
            }
            let note = self.notes().iter().find(|note| (note.part, note.offset) == (part, offset));
            Line {
                part,
                offset,
                bytes: code[offset..offset + instruction.len()].to_vec(),
                assembly,
                note: note.map_or("", |note| note.text),
            }
        };
        decoded(code, 0).map(line).collect()
    }

    /// The target of the jump, or of the load of an address.
    fn target_name(&self, part: Part, instruction: &Instruction) -> Option<String> {
        let within = instruction.ip() as usize..instruction.next_ip() as usize;
        let relocation =
            self.relocations().iter().find(|one| one.part == part && within.contains(&one.offset));
        let Some(relocation) = relocation else {
            // A jump within its part.
            return is_near_branch(instruction)
                .then(|| place(part, instruction.near_branch_target() as usize));
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

/// An instruction of code that is not a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// The address.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: usize,
    /// The text in Intel's syntax.
    pub assembly: String,
    /// The target of the jump or call, if the instruction itself contains it.
    pub target: Option<u64>,
}

/// The instructions of code that begins at `address`, in the notation of [`Sequence::lines`].
///
/// ```
/// let code = [0x48, 0x01, 0xF8, 0xEB, 0xFB];
/// let [add, jump] = &allotment_jit::disassemble(&code, 0x1000)[..] else { panic!() };
/// assert_eq!((add.assembly.as_str(), add.address), ("add rax, rdi", 0x1000));
/// assert_eq!((jump.address, jump.target), (0x1003, Some(0x1000)));
/// ```
pub fn disassemble(code: &[u8], address: u64) -> Vec<Disassembled> {
    let line = |(instruction, assembly): (Instruction, String)| Disassembled {
        address: instruction.ip(),
        bytes: instruction.len(),
        assembly,
        target: is_near_branch(&instruction).then(|| instruction.near_branch_target()),
    };
    decoded(code, address).map(line).collect()
}

/// Instructions with their text.
fn decoded(code: &[u8], address: u64) -> impl Iterator<Item = (Instruction, String)> {
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
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    std::iter::from_fn(move || {
        decoder.can_decode().then(|| {
            let instruction = decoder.decode();
            let mut assembly = String::new();
            formatter.format(&instruction, &mut assembly);
            (instruction, assembly)
        })
    })
}

fn is_near_branch(instruction: &Instruction) -> bool {
    instruction.op_count() == 1 && instruction.op0_kind() == OpKind::NearBranch64
}

fn place(part: Part, offset: usize) -> String {
    match part {
        Part::Hot => format!("hot+{offset}"),
        Part::Cold => format!("cold+{offset}"),
    }
}
