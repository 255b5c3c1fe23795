//! Two assemblers, one for each part of a sequence, and the assembly of both into one sequence.
//!
//! A branch within a part is complete at the end. A branch to the other part, or out of the
//! sequence, becomes a relocation. Addresses outside are literals at the end of the cold part, so
//! that calls and the jump out of the sequence reach any address.

use super::assembler::{Assembler, Fixup, General, Label, Place};
use crate::EmitError;
use crate::register::{Machine, Register};
use crate::relocation::{Part, Relocation, RelocationKind, Target};
use crate::sequence::{Note, Safepoint, Sequence};

/// The scratch registers of sequences, which have no role.
pub(super) const SCRATCH: General = General::x(16);
pub(super) const SCRATCH_2: General = General::x(17);
/// The link register.
pub(super) const LINK: General = General::x(30);

/// A sequence during its assembly.
#[derive(Default)]
pub(super) struct Assembly {
    hot: Assembler,
    cold: Assembler,
    /// For each label, its part and bytes into the part.
    labels: Vec<Option<(Part, usize)>>,
    /// Literals of the cold part.
    literals: Vec<(Label, Target)>,
    /// For each note, its part, and the bytes into the part from which it holds.
    notes: Vec<Note>,
    safepoints: Vec<Safepoint>,
}

impl Assembly {
    /// The assembler of a part. The next instructions get the note `text`.
    pub(super) fn noted(&mut self, part: Part, text: &'static str) -> &mut Assembler {
        let assembler = match part {
            Part::Hot => &mut self.hot,
            Part::Cold => &mut self.cold,
        };
        self.notes.push(Note { part, offset: assembler.code.len(), text });
        assembler
    }

    /// The assembler of the hot part. The next instructions get the note `text`.
    pub(super) fn hot(&mut self, text: &'static str) -> &mut Assembler {
        self.noted(Part::Hot, text)
    }

    /// The assembler of the cold part. The next instructions get the note `text`.
    pub(super) fn cold(&mut self, text: &'static str) -> &mut Assembler {
        self.noted(Part::Cold, text)
    }

    /// A label whose place is set later.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Sets the label to the part's next instruction.
    pub(super) fn set(&mut self, part: Part, label: Label) {
        self.labels[label.0] = Some((part, self.part(part).code.len()));
    }

    fn part(&self, part: Part) -> &Assembler {
        match part {
            Part::Hot => &self.hot,
            Part::Cold => &self.cold,
        }
    }

    /// A literal of the cold part: the address of `target`.
    pub(super) fn literal(&mut self, target: Target) -> Label {
        let label = self.label();
        self.literals.push((label, target));
        label
    }

    /// Notes that the last instruction of the cold part is a call that is a safepoint.
    pub(super) fn note_safepoint(&mut self, pushed_bytes: usize, stub_return: Option<usize>) {
        self.safepoints.push(Safepoint { return_offset: self.cold.code.len(), pushed_bytes, stub_return });
    }

    /// Emits code whose written registers are not those of the sequence, since it restores them or
    /// its callee follows a calling convention.
    pub(super) fn as_call(
        &mut self,
        emit: impl FnOnce(&mut Assembly) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let written = self.cold.written.len();
        emit(self)?;
        self.cold.written.truncate(written);
        Ok(())
    }

    /// Notes that the cold part may change these registers.
    pub(super) fn note_written(&mut self, registers: impl IntoIterator<Item = General>) {
        registers.into_iter().for_each(|register| self.cold.writes(register));
    }

    /// The sequence. `result` is the output register, which is not a clobber.
    pub(super) fn finish(
        mut self,
        result: Option<Register>,
        offsets: Vec<usize>,
    ) -> Result<Sequence, EmitError> {
        for (label, target) in std::mem::take(&mut self.literals) {
            self.set(Part::Cold, label);
            self.cold("an address: anywhere").address(target);
        }
        let Assembly { hot, cold, labels, notes, safepoints, .. } = self;
        let mut sequence = Sequence::new(Machine::AArch64);
        for register in hot.written.iter().chain(&cold.written) {
            if Some(*register) != result && !sequence.clobbers.contains(register) {
                sequence.clobbers.push(*register);
            }
        }
        for (part, assembler) in [(Part::Hot, hot), (Part::Cold, cold)] {
            let Assembler { mut code, fixups, .. } = assembler;
            for Fixup { offset, kind, to } in fixups {
                let target = match to {
                    Place::Outside(target) => target,
                    Place::Label(label) => match labels[label.0] {
                        Some((part, offset)) => Target::Inside(part, offset),
                        None => return Err(EmitError::Assembler("a label has no place".into())),
                    },
                };
                let relocation = Relocation { part, offset, kind, target };
                match target {
                    Target::Inside(within, to) if within == part => {
                        relocation.write(&mut code, offset as u64, to as u64)?;
                    }
                    _ => sequence.relocations.push(relocation),
                }
            }
            let notes: Vec<&Note> = notes.iter().filter(|note| note.part == part).collect();
            for (index, note) in notes.iter().enumerate() {
                let end = notes.get(index + 1).map_or(code.len(), |next| next.offset);
                // A literal has 8 bytes, and each of its notes has one.
                let is_literal = |at| {
                    let literal = |one: &Relocation| one.kind == RelocationKind::Absolute64;
                    sequence
                        .relocations
                        .iter()
                        .any(|one| (one.part, one.offset + 4) == (part, at) && literal(one))
                };
                let places = (note.offset..end).step_by(4).filter(|at| !is_literal(*at));
                let noted: Vec<Note> = places.map(|offset| Note { offset, ..**note }).collect();
                sequence.notes.extend(noted);
            }
            match part {
                Part::Hot => sequence.hot = code,
                Part::Cold => sequence.cold = code,
            }
        }
        (sequence.result, sequence.offsets, sequence.safepoints) = (result, offsets, safepoints);
        Ok(sequence)
    }
}

impl Assembler {
    /// Makes `to` the number.
    pub(super) fn mov_constant(&mut self, to: General, number: u64) -> Result<(), EmitError> {
        let piece = |place: u32| (number >> (16 * place)) as u16;
        let mut pieces = (0..4).filter(|place| piece(*place) != 0);
        let first = pieces.next().unwrap_or(0);
        self.movz(to, piece(first), first)?;
        for place in pieces {
            self.movk(to, piece(place), place)?;
        }
        Ok(())
    }

    /// Makes `to` the sum. A number of 24 bits or more needs [`SCRATCH`], so that `base` must be
    /// another register.
    pub(super) fn add_constant(&mut self, to: General, base: General, number: i64) -> Result<(), EmitError> {
        let magnitude = number.unsigned_abs();
        if magnitude >= 1 << 24 {
            if base == SCRATCH {
                return Err(EmitError::Assembler("no scratch register is left for a sum".into()));
            }
            self.mov_constant(SCRATCH, magnitude)?;
            if number < 0 {
                self.sub(to, base, SCRATCH);
            } else {
                self.add_shifted_left(to, base, SCRATCH, 0)?;
            }
            return Ok(());
        }
        let lower = magnitude % (1 << 12);
        let parts = match (magnitude - lower, lower) {
            (0, lower) => &[lower][..],
            (upper, 0) => &[upper],
            (upper, lower) => &[upper, lower],
        };
        let mut base = base;
        for part in parts {
            if number < 0 {
                self.sub_immediate(to, base, *part)?;
            } else {
                self.add_immediate(to, base, *part)?;
            }
            base = to;
        }
        Ok(())
    }

    /// Compares with a number, which is made in `scratch` if the instruction has no room for it.
    pub(super) fn cmp_constant(
        &mut self,
        left: General,
        number: u64,
        scratch: General,
    ) -> Result<(), EmitError> {
        if super::assembler::immediate_fits(number) {
            return self.cmp_immediate(left, number);
        }
        self.mov_constant(scratch, number)?;
        self.cmp(left, scratch);
        Ok(())
    }
}
