//! Code to paste: bytes in two parts, and the relocations of addresses.
//!
//! The hot part is pasted at the allocation in the program, and falls through to the next
//! instruction. The cold part is pasted anywhere within 2 GiB, for example at the end of the
//! function, where it takes no room in the instruction cache. Each reference of a sequence to its
//! other part, or to the outside, is a [`Relocation`]. [`Sequence::link`] fills them in; a compiler
//! with relocations of its own may translate them instead.

use crate::EmitError;
use iced_x86::code_asm::CodeAssembler;
use iced_x86::{
    Code, Encoder, FlowControl, IcedError, Instruction, InstructionInfoFactory, OpAccess, Register,
};

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

    fn name(self) -> &'static str {
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
pub enum RelocationKind {
    /// 4 bytes: the distance from their end to the target.
    Relative32,
    /// 8 bytes: the target.
    Absolute64,
}

/// The place and the target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The part that contains it.
    pub part: Part,
    /// Bytes into the part.
    pub offset: usize,
    /// The encoding.
    pub kind: RelocationKind,
    /// The target of the address.
    pub target: Target,
}

/// A place at which the thread may be at a safepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Safepoint {
    /// Bytes into the cold part up to the call's return address: the key of a stack map.
    pub return_offset: usize,
    /// Bytes that the sequence itself has on the stack at the call, below the program's own.
    pub pushed_bytes: usize,
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
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

    /// Code without relocations, written with the assembler: code between allocations.
    ///
    /// # Errors
    /// [`EmitError::Assembler`]; [`EmitError::Position`] if it jumps to an address or reads from
    /// one beside it.
    pub fn assembled(
        write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
    ) -> Result<Sequence, EmitError> {
        let mut assembler = CodeAssembler::new(64)?;
        write(&mut assembler)?;
        let hot = assembler.assemble(0)?;
        // The distance to a target outside the code depends on the code's address.
        if assembler.assemble(1 << 20)? != hot {
            return Err(EmitError::Position);
        }
        Ok(Sequence { hot, clobbers: clobbers(assembler.instructions(), None), ..Sequence::default() })
    }

    /// Appends `other` to this sequence, part by part. The objects of `other` are forgotten: the
    /// register that holds them becomes a clobber, as do all clobbers of `other`.
    pub fn append(&mut self, other: &Sequence) {
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
    }

    /// Binds `target` to a place in the hot part, `offset` bytes into it: for example the place
    /// where the program continues without room.
    pub fn bind(&mut self, target: Target, offset: usize) {
        for relocation in self.relocations.iter_mut().filter(|one| one.target == target) {
            relocation.target = Target::Inside(Part::Hot, offset);
        }
    }

    /// Appends a jump or call to the hot part. `jump` is its code with a displacement of 4 bytes,
    /// such as [`Code::Jne_rel32_64`](iced_x86::Code::Jne_rel32_64).
    ///
    /// # Errors
    /// [`EmitError::Assembler`] if it is not such a code.
    pub fn jump(&mut self, jump: Code, target: Target) -> Result<(), EmitError> {
        // So far that a displacement of one byte is refused.
        const FAR: u64 = 1 << 28;
        let mut encoder = Encoder::new(64);
        let bytes = encoder.encode(&Instruction::with_branch(jump, FAR)?, 0)?;
        self.hot.extend_from_slice(&encoder.take_buffer());
        let offset = self.hot.len() - bytes.min(4);
        self.hot[offset..].fill(0);
        self.relocations.push(Relocation {
            part: Part::Hot,
            offset,
            kind: RelocationKind::Relative32,
            target,
        });
        Ok(())
    }

    /// The bytes of both parts, for these addresses. `resolve` gives the addresses of targets
    /// outside of the sequence.
    ///
    /// # Errors
    /// [`EmitError::TooFar`], [`EmitError::Unresolved`].
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
            write(code, relocation, address(relocation.part, relocation.offset), to)?;
        }
        Ok((hot, cold))
    }
}

/// Writes the address `to` at `relocation`, which lies at `at`.
pub(crate) fn write(code: &mut [u8], relocation: &Relocation, at: u64, to: u64) -> Result<(), EmitError> {
    let place = &mut code[relocation.offset..];
    match relocation.kind {
        RelocationKind::Relative32 => {
            let from = at.wrapping_add(4);
            let distance = i32::try_from(to.wrapping_sub(from) as i64);
            let distance = distance.map_err(|_| EmitError::TooFar { from, to })?;
            place[..4].copy_from_slice(&distance.to_le_bytes());
        }
        RelocationKind::Absolute64 => place[..8].copy_from_slice(&to.to_le_bytes()),
    }
    Ok(())
}

/// The registers that these instructions write to, as whole registers, without the result and the
/// stack pointer. Jumps and calls are skipped: a callee follows a calling convention.
pub(crate) fn clobbers(instructions: &[Instruction], result: Option<Register>) -> Vec<Register> {
    let mut info = InstructionInfoFactory::new();
    let mut clobbers = Vec::new();
    for instruction in instructions.iter().filter(|one| one.flow_control() == FlowControl::Next) {
        for used in info.info(instruction).used_registers() {
            let writes =
                !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
            let whole = match used.register() {
                vector if vector.is_vector_register() => Register::XMM0 + vector.number() as u32,
                other => other.full_register(),
            };
            if writes && Some(whole) != result && whole != Register::RSP && !clobbers.contains(&whole) {
                clobbers.push(whole);
            }
        }
    }
    clobbers
}
