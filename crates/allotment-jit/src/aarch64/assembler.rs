//! An encoder of the instructions that sequences of AArch64 consist of.
//!
//! Each form is a method, which appends one instruction. A number that an instruction has no room
//! for is an error, never another instruction. A branch names its target by a label, or by a target
//! outside of the sequence.
//!
//! Refused: `dynasmrt`, whose licence is MPL-2.0; Cranelift's assembler, which is not public.

use crate::EmitError;
use crate::register::{Machine, Register};
use crate::relocation::{RelocationKind, Target};
use allotment::raw::PrefetchInstruction;

/// A general register: x0 to x30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct General(u8);

/// A general register or the stack pointer, where number 31 is the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Base(u8);

/// A general register or zero, where number 31 is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source(u8);

/// A vector register: v0 to v31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vector(u8);

/// The stack pointer.
pub(super) const SP: Base = Base(31);
/// Zero.
pub(super) const ZERO: Source = Source(31);

impl General {
    /// The register of that number, below 31.
    pub(super) const fn x(number: u8) -> General {
        assert!(number < 31);
        General(number)
    }

    pub(super) fn of(register: Register) -> Result<General, EmitError> {
        let is_one = register.machine() == Machine::AArch64 && register.is_general();
        match register.number() {
            number @ 0..31 if is_one => Ok(General(number as u8)),
            _ => Err(EmitError::Assembler(format!("{register} is not one of x0 to x30"))),
        }
    }
}

impl Vector {
    pub(super) fn of(register: Register) -> Result<Vector, EmitError> {
        if register.machine() == Machine::AArch64 && register.is_vector() {
            return Ok(Vector(register.number() as u8));
        }
        Err(EmitError::Assembler(format!("{register} is not one of v0 to v31")))
    }
}

impl From<General> for Base {
    fn from(register: General) -> Base {
        Base(register.0)
    }
}

impl From<General> for Source {
    fn from(register: General) -> Source {
        Source(register.0)
    }
}

/// Conditions of a branch, on numbers without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Equal = 0,
    NotEqual = 1,
    AboveOrEqual = 2,
    Below = 3,
    Above = 8,
    BelowOrEqual = 9,
}

/// The width of a compare with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

/// A place in a sequence that branches name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(pub(super) usize);

/// The target of a branch or of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Label(Label),
    Outside(Target),
}

impl From<Label> for Place {
    fn from(label: Label) -> Place {
        Place::Label(label)
    }
}

impl From<Target> for Place {
    fn from(target: Target) -> Place {
        Place::Outside(target)
    }
}

/// An instruction, or a literal, that lacks its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fixup {
    /// Bytes into the part.
    pub(super) offset: usize,
    pub(super) kind: RelocationKind,
    pub(super) to: Place,
}

/// The instructions of one part of a sequence.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
    pub(super) fixups: Vec<Fixup>,
    /// The registers that the instructions write, each one once.
    pub(super) written: Vec<Register>,
}

fn refused<T>(instruction: &str, number: i64, works: &str) -> Result<T, EmitError> {
    Err(EmitError::Assembler(format!("{instruction} cannot have the number {number}: {works}")))
}

/// The bits of the offset of a load or store of `1 << shift` bytes. Bit 24 chooses the form whose
/// offset is a number of such units.
fn offset_bits(shift: u32, offset: i64) -> Option<u32> {
    let units = offset >> shift;
    if units << shift == offset && (0..1 << 12).contains(&units) {
        return Some(1 << 24 | (units as u32) << 10);
    }
    (-256..256).contains(&offset).then_some((offset as u32 & 0x1FF) << 12)
}

/// Whether a load or store of 8 bytes, or a prefetch, has room for the offset.
pub(super) fn offset_fits(offset: i64) -> bool {
    offset_bits(3, offset).is_some()
}

/// Whether a pair of 8 bytes each has room for the offset.
pub(super) fn pair_offset_fits(offset: i64) -> bool {
    offset % 8 == 0 && (-512..512).contains(&offset)
}

/// Whether an addition or a compare has room for the number.
pub(super) fn immediate_fits(number: u64) -> bool {
    number < 1 << 12 || number < 1 << 24 && number.is_multiple_of(1 << 12)
}

fn immediate_bits(instruction: &str, number: u64) -> Result<u32, EmitError> {
    if !immediate_fits(number) {
        return refused(instruction, number as i64, "0 to 4095, and multiples of 4096 up to 16773120, work");
    }
    Ok(if number < 1 << 12 { (number as u32) << 10 } else { 1 << 22 | (number >> 12 << 10) as u32 })
}

impl Assembler {
    fn push(&mut self, instruction: u32) {
        self.code.extend(instruction.to_le_bytes());
    }

    /// Notes that the register changes.
    pub(super) fn writes(&mut self, general: General) {
        self.notes_written(Register::general(Machine::AArch64, general.0.into()));
    }

    fn notes_written(&mut self, register: Option<Register>) {
        self.written.extend(register.filter(|one| !self.written.contains(one)));
    }

    /// Appends an instruction with the destination in its lowest bits and the first operand above.
    fn three(&mut self, bits: u32, to: General, first: impl Into<Base>, second: u32) {
        self.push(bits | second << 16 | u32::from(first.into().0) << 5 | u32::from(to.0));
        self.writes(to);
    }

    /// `add to, base, #number`.
    pub(super) fn add_immediate(
        &mut self,
        to: impl Into<Base>,
        base: impl Into<Base>,
        number: u64,
    ) -> Result<(), EmitError> {
        self.immediate("add", 0x9100_0000, to.into(), base.into(), number)
    }

    /// `sub to, base, #number`.
    pub(super) fn sub_immediate(
        &mut self,
        to: impl Into<Base>,
        base: impl Into<Base>,
        number: u64,
    ) -> Result<(), EmitError> {
        self.immediate("sub", 0xD100_0000, to.into(), base.into(), number)
    }

    fn immediate(
        &mut self,
        instruction: &str,
        bits: u32,
        to: Base,
        base: Base,
        number: u64,
    ) -> Result<(), EmitError> {
        self.push(bits | immediate_bits(instruction, number)? | u32::from(base.0) << 5 | u32::from(to.0));
        if to != SP {
            self.writes(General(to.0));
        }
        Ok(())
    }

    /// `cmp left, #number`.
    pub(super) fn cmp_immediate(&mut self, left: General, number: u64) -> Result<(), EmitError> {
        self.push(0xF100_001F | immediate_bits("cmp", number)? | u32::from(left.0) << 5);
        Ok(())
    }

    /// `cmp left, right`.
    pub(super) fn cmp(&mut self, left: General, right: General) {
        self.push(0xEB00_001F | u32::from(right.0) << 16 | u32::from(left.0) << 5);
    }

    /// `add to, first, second, lsl #shift`.
    pub(super) fn add_shifted_left(
        &mut self,
        to: General,
        first: General,
        second: General,
        shift: u32,
    ) -> Result<(), EmitError> {
        if shift > 63 {
            return refused("add with lsl", shift.into(), "0 to 63 work");
        }
        self.three(0x8B00_0000 | shift << 10, to, first, second.0.into());
        Ok(())
    }

    /// `add to, first, second, lsr #shift`.
    pub(super) fn add_shifted_right(
        &mut self,
        to: General,
        first: General,
        second: General,
        shift: u32,
    ) -> Result<(), EmitError> {
        if shift > 63 {
            return refused("add with lsr", shift.into(), "0 to 63 work");
        }
        self.three(0x8B40_0000 | shift << 10, to, first, second.0.into());
        Ok(())
    }

    /// `sub to, first, second`.
    pub(super) fn sub(&mut self, to: General, first: General, second: General) {
        self.three(0xCB00_0000, to, first, second.0.into());
    }

    /// `mov to, from`.
    pub(super) fn mov(&mut self, to: General, from: General) {
        self.three(0xAA00_0000, to, General(31), from.0.into());
    }

    /// `and to, from, #-(1 << zeroes)`: clears that many of the lowest bits.
    pub(super) fn clear_lowest(&mut self, to: General, from: General, zeroes: u32) -> Result<(), EmitError> {
        if !(1..64).contains(&zeroes) {
            return refused("and", zeroes.into(), "1 to 63 cleared bits work");
        }
        // Of 64 bits: as many ones as `imms` plus one, rotated to the right by `immr`.
        let (immr, imms) = (64 - zeroes, 63 - zeroes);
        self.three(0x9240_0000 | immr << 16 | imms << 10, to, from, 0);
        Ok(())
    }

    /// `tst left, #mask` of 32 bits. The ones of the mask are neighbours.
    pub(super) fn tst_immediate(&mut self, left: General, mask: u32) -> Result<(), EmitError> {
        if !is_run(mask) {
            return refused("tst", mask.into(), "one run of ones that leaves a zero works");
        }
        // Of 32 bits: as many ones as `imms` plus one, rotated to the right by `immr`.
        let (immr, imms) = ((32 - mask.trailing_zeros()) % 32, mask.count_ones() - 1);
        self.push(0x7200_001F | immr << 16 | imms << 10 | u32::from(left.0) << 5);
        Ok(())
    }

    /// `tst left, right` of 32 bits.
    pub(super) fn tst(&mut self, left: General, right: General) {
        self.push(0x6A00_001F | u32::from(right.0) << 16 | u32::from(left.0) << 5);
    }

    /// `movz to, #piece, lsl #(16 * place)`.
    pub(super) fn movz(&mut self, to: General, piece: u16, place: u32) -> Result<(), EmitError> {
        self.wide(0xD280_0000, to, piece, place)
    }

    /// `movk to, #piece, lsl #(16 * place)`.
    pub(super) fn movk(&mut self, to: General, piece: u16, place: u32) -> Result<(), EmitError> {
        self.wide(0xF280_0000, to, piece, place)
    }

    fn wide(&mut self, bits: u32, to: General, piece: u16, place: u32) -> Result<(), EmitError> {
        if place > 3 {
            return refused("movz or movk", place.into(), "places 0 to 3 work");
        }
        self.push(bits | place << 21 | u32::from(piece) << 5 | u32::from(to.0));
        self.writes(to);
        Ok(())
    }

    /// `ldr to, [base, #offset]`.
    pub(super) fn ldr(&mut self, to: General, base: impl Into<Base>, offset: i64) -> Result<(), EmitError> {
        self.writes(to);
        self.memory("ldr", 0xF840_0000, to.0, base.into(), (3, offset))
    }

    /// `ldr to, [base, #offset]` of 32 bits. The upper half becomes 0.
    pub(super) fn ldr_32(
        &mut self,
        to: General,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        self.writes(to);
        self.memory("ldr of 32 bits", 0xB840_0000, to.0, base.into(), (2, offset))
    }

    /// `ldrb to, [base, #offset]`. The other bytes become 0.
    pub(super) fn ldrb(&mut self, to: General, base: impl Into<Base>, offset: i64) -> Result<(), EmitError> {
        self.writes(to);
        self.memory("ldrb", 0x3840_0000, to.0, base.into(), (0, offset))
    }

    /// `str from, [base, #offset]`.
    pub(super) fn str(
        &mut self,
        from: impl Into<Source>,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        self.memory("str", 0xF800_0000, from.into().0, base.into(), (3, offset))
    }

    /// `prfm operation, [base, #offset]`.
    pub(super) fn prfm(
        &mut self,
        instruction: PrefetchInstruction,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        let operation = match instruction {
            PrefetchInstruction::Nta => 0b00001,
            PrefetchInstruction::T0 => 0b00000,
            PrefetchInstruction::T2 => 0b00100,
            PrefetchInstruction::Write => 0b10000,
        };
        self.memory("prfm", 0xF880_0000, operation, base.into(), (3, offset))
    }

    fn memory(
        &mut self,
        instruction: &str,
        bits: u32,
        register: u8,
        base: Base,
        (shift, offset): (u32, i64),
    ) -> Result<(), EmitError> {
        let Some(of_offset) = offset_bits(shift, offset) else {
            return refused(
                instruction,
                offset,
                "offsets of -256 to 255 bytes, and of 0 to 4095 times the size of the access, work",
            );
        };
        self.push(bits | of_offset | u32::from(base.0) << 5 | u32::from(register));
        Ok(())
    }

    /// `ldp first, second, [base, #offset]`.
    pub(super) fn ldp(
        &mut self,
        first: General,
        second: General,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        if first == second {
            return refused("ldp", first.0.into(), "two registers work");
        }
        self.writes(first);
        self.writes(second);
        self.pair("ldp", 0xA940_0000, (first.0, second.0), base.into(), (3, offset))
    }

    /// `stp first, second, [base, #offset]`.
    pub(super) fn stp(
        &mut self,
        first: impl Into<Source>,
        second: impl Into<Source>,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        self.pair("stp", 0xA900_0000, (first.into().0, second.into().0), base.into(), (3, offset))
    }

    /// `stp vector, vector, [base, #offset]` of 16 bytes each.
    pub(super) fn stp_vector_twice(
        &mut self,
        vector: Vector,
        base: impl Into<Base>,
        offset: i64,
    ) -> Result<(), EmitError> {
        self.pair("stp of vectors", 0xAD00_0000, (vector.0, vector.0), base.into(), (4, offset))
    }

    fn pair(
        &mut self,
        instruction: &str,
        bits: u32,
        (first, second): (u8, u8),
        base: Base,
        (shift, offset): (u32, i64),
    ) -> Result<(), EmitError> {
        let units = offset >> shift;
        if units << shift != offset || !(-64..64).contains(&units) {
            return refused(instruction, offset, "offsets of -64 to 63 times the size of one register work");
        }
        let (units, second) = (units as u32 & 0x7F, u32::from(second));
        self.push(bits | units << 15 | second << 10 | u32::from(base.0) << 5 | u32::from(first));
        Ok(())
    }

    /// `movi to.2d, #0`.
    pub(super) fn clear(&mut self, to: Vector) {
        self.push(0x6F00_E400 | u32::from(to.0));
        self.notes_written(Register::vector(Machine::AArch64, to.0.into()));
    }

    /// `stlr from, [base]`: a store with release.
    pub(super) fn stlr(&mut self, from: General, base: General) {
        self.push(0xC89F_FC00 | u32::from(base.0) << 5 | u32::from(from.0));
    }

    /// `stlrb from, [base]`: a store of a byte with release.
    pub(super) fn stlrb(&mut self, from: General, base: General) {
        self.push(0x089F_FC00 | u32::from(base.0) << 5 | u32::from(from.0));
    }

    /// `ldaxr to, [base]`: an exclusive load with acquire.
    pub(super) fn ldaxr(&mut self, to: General, base: General) {
        self.push(0xC85F_FC00 | u32::from(base.0) << 5 | u32::from(to.0));
        self.writes(to);
    }

    /// `stlxr status, from, [base]`: an exclusive store with release. The status is 0 if it stored.
    pub(super) fn stlxr(&mut self, status: General, from: General, base: General) -> Result<(), EmitError> {
        if status == from || status == base {
            return refused("stlxr", status.0.into(), "a status register of its own works");
        }
        self.push(0xC800_FC00 | u32::from(status.0) << 16 | u32::from(base.0) << 5 | u32::from(from.0));
        self.writes(status);
        Ok(())
    }

    /// `casal held, new, [base]`: an exchange with acquire and release. It stores `new` if the word
    /// is `held`, and loads the word to `held`.
    pub(super) fn casal(&mut self, held: General, new: General, base: General) {
        self.push(0xC8E0_FC00 | u32::from(held.0) << 16 | u32::from(base.0) << 5 | u32::from(new.0));
        self.writes(held);
    }

    /// `b place`.
    pub(super) fn b(&mut self, to: impl Into<Place>) {
        self.branch(0x1400_0000, RelocationKind::Branch26, to.into());
    }

    /// `b.condition place`.
    pub(super) fn b_if(&mut self, condition: Condition, to: impl Into<Place>) {
        self.branch(0x5400_0000 | condition as u32, RelocationKind::Branch19, to.into());
    }

    /// `cbz register, place`.
    pub(super) fn cbz(&mut self, width: Width, register: General, to: impl Into<Place>) {
        self.branch(wide(width) | 0x3400_0000 | u32::from(register.0), RelocationKind::Branch19, to.into());
    }

    /// `cbnz register, place`.
    pub(super) fn cbnz(&mut self, width: Width, register: General, to: impl Into<Place>) {
        self.branch(wide(width) | 0x3500_0000 | u32::from(register.0), RelocationKind::Branch19, to.into());
    }

    /// `ldr to, literal`.
    pub(super) fn ldr_literal(&mut self, to: General, literal: Label) {
        self.branch(0x5800_0000 | u32::from(to.0), RelocationKind::Branch19, literal.into());
        self.writes(to);
    }

    fn branch(&mut self, bits: u32, kind: RelocationKind, to: Place) {
        self.fixups.push(Fixup { offset: self.code.len(), kind, to });
        self.push(bits);
    }

    /// 8 bytes: the address of a target outside.
    pub(super) fn address(&mut self, target: Target) {
        let kind = RelocationKind::Absolute64;
        self.fixups.push(Fixup { offset: self.code.len(), kind, to: target.into() });
        self.code.extend([0; 8]);
    }

    /// `blr register`.
    pub(super) fn blr(&mut self, register: General) {
        self.push(0xD63F_0000 | u32::from(register.0) << 5);
        self.writes(General(30));
    }

    /// `br register`.
    pub(super) fn br(&mut self, register: General) {
        self.push(0xD61F_0000 | u32::from(register.0) << 5);
    }

    /// `ret`.
    pub(super) fn ret(&mut self) {
        self.push(0xD65F_03C0);
    }
}

/// Whether the ones of the mask are neighbours, and there is a zero.
pub(super) fn is_run(mask: u32) -> bool {
    mask != 0 && mask != u32::MAX && (mask >> mask.trailing_zeros()).wrapping_add(1).is_power_of_two()
}

fn wide(width: Width) -> u32 {
    match width {
        Width::Bits32 => 0,
        Width::Bits64 => 1 << 31,
    }
}

#[cfg(test)]
#[path = "assembler_tests.rs"]
mod tests;
