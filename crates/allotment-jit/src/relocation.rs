//! The references of a sequence: to its other part, and to code outside of it.
//!
//! A jump of AArch64 has its distance among the bits of an instruction. So a relocation names the
//! form of the address, and the bits around the address stay.

use crate::EmitError;
use crate::register::Machine;

/// A part of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// In line.
    Hot,
    /// Out of line.
    Cold,
}

/// The target of a reference in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// A place in the sequence: a number of bytes into a part.
    Inside(Part, usize),
    /// [`GeneratedCalls::allocate`](allotment::raw::GeneratedCalls).
    Allocate,
    /// `allocate_zeroed`.
    AllocateZeroed,
    /// `allocate_array`.
    AllocateArray,
    /// `allocate_array_zeroed`.
    AllocateArrayZeroed,
    /// `safepoint`.
    Safepoint,
    /// The embedder's own [`LoadHook`](crate::LoadHook).
    LoadHook,
    /// The embedder's own code for a heap without room. The code jumps there with the registers of
    /// the fast path, except that the object's register is 0.
    OutOfMemory,
}

impl Target {
    /// The name in listings.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Target::Inside(..) => "inside",
            Target::Allocate => "allocate",
            Target::AllocateZeroed => "allocate_zeroed",
            Target::AllocateArray => "allocate_array",
            Target::AllocateArrayZeroed => "allocate_array_zeroed",
            Target::Safepoint => "safepoint",
            Target::LoadHook => "load_hook",
            Target::OutOfMemory => "out_of_memory",
        }
    }

    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Target::Inside(..) => "a place in the sequence",
            Target::Allocate => "the slow path `allocate`",
            Target::AllocateZeroed => "the slow path `allocate_zeroed`",
            Target::AllocateArray => "the slow path `allocate_array`",
            Target::AllocateArrayZeroed => "the slow path `allocate_array_zeroed`",
            Target::Safepoint => "the slow path `safepoint`",
            Target::LoadHook => "the hook of loads",
            Target::OutOfMemory => "the code for a heap without room",
        }
    }
}

/// The encoding of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RelocationKind {
    /// 4 bytes of x86-64: the distance from their end to the target.
    Relative32,
    /// 8 bytes: the target.
    Absolute64,
    /// An instruction of AArch64, such as `b` or `bl`: the distance from it to the target in
    /// instructions, in its lowest 26 bits. It reaches 128 MiB.
    Branch26,
    /// An instruction of AArch64, such as `b.hi` or `cbnz`: the distance in 19 bits from bit 5 up.
    /// It reaches 1 MiB.
    Branch19,
    /// An instruction of AArch64, `tbz` or `tbnz`: the distance in 14 bits from bit 5 up. It
    /// reaches 32 KiB.
    Branch14,
}

impl RelocationKind {
    /// Bytes that it reaches in either direction.
    fn within(self) -> u64 {
        match self {
            RelocationKind::Absolute64 => u64::MAX,
            RelocationKind::Relative32 => 1 << 31,
            RelocationKind::Branch26 => 1 << 27,
            RelocationKind::Branch19 => 1 << 20,
            RelocationKind::Branch14 => 1 << 15,
        }
    }
}

/// The place and the target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The part that contains it.
    pub part: Part,
    /// Bytes into the part, up to the address, or to the instruction of AArch64.
    pub offset: usize,
    /// The encoding.
    pub kind: RelocationKind,
    /// The target of the address.
    pub target: Target,
}

impl Relocation {
    /// Writes the address `to` into the code of its part, where its own place has the address `at`.
    pub(crate) fn write(&self, code: &mut [u8], at: u64, to: u64) -> Result<(), EmitError> {
        let place = &mut code[self.offset..];
        let (bits, shift) = match self.kind {
            RelocationKind::Absolute64 => {
                place[..8].copy_from_slice(&to.to_le_bytes());
                return Ok(());
            }
            RelocationKind::Relative32 => {
                let distance = self.distance(at.wrapping_add(4), to)?;
                place[..4].copy_from_slice(&(distance as i32).to_le_bytes());
                return Ok(());
            }
            RelocationKind::Branch26 => (26, 0),
            RelocationKind::Branch19 => (19, 5),
            RelocationKind::Branch14 => (14, 5),
        };
        let distance = self.distance(at, to)?;
        if distance % 4 != 0 {
            return Err(EmitError::Unaligned { from: at, to });
        }
        let mask = (1_u32 << bits) - 1;
        let instruction = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
        let instruction = instruction & !(mask << shift) | ((distance >> 2) as u32 & mask) << shift;
        place[..4].copy_from_slice(&instruction.to_le_bytes());
        Ok(())
    }

    /// The distance of two addresses, if it is within reach.
    fn distance(&self, from: u64, to: u64) -> Result<i64, EmitError> {
        let (distance, within) = (to.wrapping_sub(from) as i64, self.kind.within());
        let most = within as i64;
        if !(-most..most).contains(&distance) {
            return Err(EmitError::TooFar { from, to, within });
        }
        Ok(distance)
    }
}

/// A jump or call that [`Sequence::jump`](crate::Sequence::jump) appends. The conditions are those
/// of the flags, of numbers without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Jump {
    /// A call: `call`, `bl`.
    Call,
    /// A jump without a condition: `jmp`, `b`.
    Always,
    /// `je`, `b.eq`.
    IfEqual,
    /// `jne`, `b.ne`.
    IfNotEqual,
    /// `jb`, `b.lo`.
    IfBelow,
    /// `jbe`, `b.ls`.
    IfBelowOrEqual,
    /// `ja`, `b.hi`.
    IfAbove,
    /// `jae`, `b.hs`.
    IfAboveOrEqual,
}

impl Jump {
    /// The code with zeroes for the distance, the place of its relocation, and the encoding.
    pub(crate) fn encoded(self, machine: Machine) -> (Vec<u8>, usize, RelocationKind) {
        match machine {
            Machine::X86_64 => {
                let mut code = match self {
                    Jump::Call => vec![0xE8],
                    Jump::Always => vec![0xE9],
                    Jump::IfBelow => vec![0x0F, 0x82],
                    Jump::IfAboveOrEqual => vec![0x0F, 0x83],
                    Jump::IfEqual => vec![0x0F, 0x84],
                    Jump::IfNotEqual => vec![0x0F, 0x85],
                    Jump::IfBelowOrEqual => vec![0x0F, 0x86],
                    Jump::IfAbove => vec![0x0F, 0x87],
                };
                let address_at = code.len();
                code.extend([0; 4]);
                (code, address_at, RelocationKind::Relative32)
            }
            Machine::AArch64 => {
                const CONDITIONAL: u32 = 0x5400_0000;
                let (code, kind) = match self {
                    Jump::Always => (0x1400_0000, RelocationKind::Branch26),
                    Jump::Call => (0x9400_0000, RelocationKind::Branch26),
                    Jump::IfEqual => (CONDITIONAL, RelocationKind::Branch19),
                    Jump::IfNotEqual => (CONDITIONAL | 1, RelocationKind::Branch19),
                    Jump::IfAboveOrEqual => (CONDITIONAL | 2, RelocationKind::Branch19),
                    Jump::IfBelow => (CONDITIONAL | 3, RelocationKind::Branch19),
                    Jump::IfAbove => (CONDITIONAL | 8, RelocationKind::Branch19),
                    Jump::IfBelowOrEqual => (CONDITIONAL | 9, RelocationKind::Branch19),
                };
                (code.to_le_bytes().to_vec(), 0, kind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word that a relocation of an instruction at `at` makes of `instruction`.
    fn linked(kind: RelocationKind, instruction: u32, at: u64, to: u64) -> Result<u32, EmitError> {
        let relocation = Relocation { part: Part::Hot, offset: 4, kind, target: Target::LoadHook };
        let mut code = [[0xEE; 4], instruction.to_le_bytes(), [0xEE; 4]].concat();
        relocation.write(&mut code, at, to)?;
        assert_eq!((&code[..4], &code[8..]), (&[0xEE; 4][..], &[0xEE; 4][..]));
        Ok(u32::from_le_bytes(code[4..8].try_into().unwrap()))
    }

    #[test]
    fn distances_of_aarch64_lie_among_the_bits_of_instructions() {
        for (kind, instruction, expected) in [
            // b.hi .-4, cbnz x3, tbnz w16, #0, b
            (RelocationKind::Branch19, 0x5400_0008, 0x54FF_FFE8_u32),
            (RelocationKind::Branch19, 0xB500_0003, 0xB5FF_FFE3),
            (RelocationKind::Branch14, 0x3700_0010, 0x3707_FFF0),
            (RelocationKind::Branch26, 0x1400_0000, 0x17FF_FFFF),
        ] {
            assert_eq!(linked(kind, instruction, 0x1000, 0xFFC), Ok(expected));
            // Linked once more, the address is replaced.
            assert_eq!(linked(kind, expected, 0x1000, 0x1000), Ok(instruction));
        }
        assert_eq!(linked(RelocationKind::Branch19, 0x5400_0000, 0x1000, 0x1008), Ok(0x5400_0040));
    }

    #[test]
    fn jumps_reach_what_they_reach() {
        let kinds = [
            (RelocationKind::Branch26, 1 << 27, "128 MiB"),
            (RelocationKind::Branch19, 1 << 20, "1 MiB"),
            (RelocationKind::Branch14, 1 << 15, "32 KiB"),
        ];
        let at = 1 << 40;
        for (kind, within, text) in kinds {
            assert!(linked(kind, 0, at, at + within - 4).is_ok());
            assert!(linked(kind, 0, at, at - within).is_ok());
            for to in [at + within, at - within - 4, 0, u64::MAX - 3] {
                let error = linked(kind, 0, at, to).unwrap_err().to_string();
                assert!(
                    error.ends_with(&format!("the parts of a sequence must lie within {text}")),
                    "{error}"
                );
            }
            let error = linked(kind, 0, at, at + 6).unwrap_err().to_string();
            assert!(error.ends_with("instructions of AArch64 lie at multiples of 4"), "{error}");
        }
    }
}
