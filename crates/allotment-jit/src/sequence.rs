//! Code to paste: bytes in two parts, and the relocations of addresses.
//!
//! The hot part is pasted at the allocation in the program, and falls through to the next
//! instruction. The cold part is pasted anywhere that the hot part's jumps reach: within 2 GiB on
//! x86-64, within 1 MiB on AArch64. At the end of the function, for example, the cold part takes no
//! room in the instruction cache. Each reference of a sequence to its other part, or to the
//! outside, is a [`Relocation`]. [`Sequence::link`] fills them in; a compiler with relocations of
//! its own may translate them instead.

use crate::EmitError;
use crate::register::{Machine, Register};
use crate::relocation::{Jump, Part, Relocation, Target};

/// A place at which the thread may be at a safepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safepoint {
    /// Bytes into the cold part up to the call's return address: the key of a stack map.
    pub return_offset: usize,
    /// Bytes that the sequence itself has on the stack at the call, below the program's own.
    pub pushed_bytes: usize,
    /// The distance of the sequence's own return address above the stack pointer at the call, if
    /// the sequence is a stub. A pasted sequence has none.
    pub stub_return: Option<usize>,
}

/// The purpose of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The part that contains it.
    pub part: Part,
    /// Bytes into the part.
    pub offset: usize,
    /// The purpose.
    pub text: &'static str,
}

/// Code to paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub(crate) machine: Machine,
    pub(crate) hot: Vec<u8>,
    pub(crate) cold: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) safepoints: Vec<Safepoint>,
    pub(crate) clobbers: Vec<Register>,
    /// The register with the address of its objects, which is not a clobber.
    pub(crate) result: Option<Register>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) notes: Vec<Note>,
}

impl Sequence {
    /// The hot part, with zeroes for addresses.
    pub fn hot(&self) -> &[u8] {
        &self.hot
    }

    /// The cold part, with zeroes for addresses.
    pub fn cold(&self) -> &[u8] {
        &self.cold
    }

    /// The relocations of addresses.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    /// The calls in the cold part.
    pub fn safepoints(&self) -> &[Safepoint] {
        &self.safepoints
    }

    /// The registers that may have another value afterwards if nothing was called, without the
    /// object's own register; the flags change, too. A call with a [`SlowCall`](crate::SlowCall) in
    /// the cold part also changes all registers that a C function may change, except the inputs and
    /// the registers that the `SlowCall` preserves. The slow paths of barriers change no more than
    /// the flags and what [`BarrierCalls`](allotment::raw::BarrierCalls) names.
    pub fn clobbers(&self) -> &[Register] {
        &self.clobbers
    }

    /// For each allocation in turn, bytes from the address in the object's register to its object.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The purpose of each instruction, in the order of the parts and, within a part, of the
    /// addresses.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// No code yet, for that machine.
    pub fn new(machine: Machine) -> Sequence {
        Sequence {
            machine,
            hot: Vec::new(),
            cold: Vec::new(),
            relocations: Vec::new(),
            safepoints: Vec::new(),
            clobbers: Vec::new(),
            result: None,
            offsets: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A compiler's own code between allocations, which is right at any address: it jumps to places
    /// in itself and through registers only. `clobbers` are registers that it changes, for
    /// [`clobbers`](Self::clobbers).
    ///
    /// # Errors
    /// [`EmitError::Instructions`] if it is no whole number of instructions of AArch64.
    pub fn code(machine: Machine, code: &[u8], clobbers: &[Register]) -> Result<Sequence, EmitError> {
        if machine == Machine::AArch64 && !code.len().is_multiple_of(4) {
            return Err(EmitError::Instructions { bytes: code.len() });
        }
        let (hot, clobbers) = (code.to_vec(), clobbers.to_vec());
        Ok(Sequence { hot, clobbers, ..Sequence::new(machine) })
    }

    /// The machine that runs it.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Appends `other` to this sequence, part by part. The objects of `other` are forgotten: the
    /// register that holds them becomes a clobber, as do all clobbers of `other`.
    ///
    /// # Errors
    /// [`EmitError::Machine`] if `other` is for another machine.
    pub fn append(&mut self, other: &Sequence) -> Result<(), EmitError> {
        if other.machine != self.machine {
            return Err(EmitError::Machine { machine: self.machine, appended: other.machine });
        }
        let (hot, cold) = (self.hot.len(), self.cold.len());
        let start = |part| if part == Part::Hot { hot } else { cold };
        self.relocations.extend(other.relocations.iter().map(|one| Relocation {
            offset: one.offset + start(one.part),
            target: match one.target {
                Target::Inside(part, offset) => Target::Inside(part, offset + start(part)),
                outside => outside,
            },
            ..*one
        }));
        self.safepoints.extend(
            other.safepoints.iter().map(|one| Safepoint { return_offset: one.return_offset + cold, ..*one }),
        );
        self.notes
            .extend(other.notes.iter().map(|one| Note { offset: one.offset + start(one.part), ..*one }));
        for clobber in other.clobbers.iter().chain(&other.result) {
            if !self.clobbers.contains(clobber) {
                self.clobbers.push(*clobber);
            }
        }
        self.hot.extend_from_slice(&other.hot);
        self.cold.extend_from_slice(&other.cold);
        Ok(())
    }

    /// Binds `target` to a place in the hot part, `offset` bytes into it: for example the place
    /// where the program continues without room.
    pub fn bind(&mut self, target: Target, offset: usize) {
        for relocation in self.relocations.iter_mut().filter(|one| one.target == target) {
            relocation.target = Target::Inside(Part::Hot, offset);
        }
    }

    /// Appends a jump or call to the hot part. On AArch64 a call changes x30.
    pub fn jump(&mut self, jump: Jump, target: Target) {
        let (code, address_at, kind) = jump.encoded(self.machine);
        let offset = self.hot.len() + address_at;
        self.hot.extend_from_slice(&code);
        self.relocations.push(Relocation { part: Part::Hot, offset, kind, target });
    }

    /// The bytes of both parts, for these addresses. `resolve` gives the addresses of targets
    /// outside of the sequence.
    ///
    /// # Errors
    /// [`EmitError::TooFar`], [`EmitError::Unaligned`], [`EmitError::Unresolved`].
    pub fn link(
        &self,
        hot_at: u64,
        cold_at: u64,
        resolve: impl Fn(Target) -> Option<u64>,
    ) -> Result<(Vec<u8>, Vec<u8>), EmitError> {
        let (mut hot, mut cold) = (self.hot.clone(), self.cold.clone());
        let address = |part, offset: usize| match part {
            Part::Hot => hot_at.wrapping_add(offset as u64),
            Part::Cold => cold_at.wrapping_add(offset as u64),
        };
        for relocation in &self.relocations {
            let to = match relocation.target {
                Target::Inside(part, offset) => address(part, offset),
                outside => resolve(outside).ok_or(EmitError::Unresolved(outside.name()))?,
            };
            let code = match relocation.part {
                Part::Hot => &mut hot,
                Part::Cold => &mut cold,
            };
            relocation.write(code, address(relocation.part, relocation.offset), to)?;
        }
        Ok((hot, cold))
    }
}
