//! Places in a program that allocate or poll: what the compiler says about each, and the checks
//! that hold for every machine.

use crate::EmitError;
use crate::allocation::{Allocation, Initialise, fold};
use crate::register::{Machine, Register};
use crate::registers::{Registers, check_general};
use allotment::raw::PrefetchSettings;

/// The obligations of the call of a slow path. The sequence pushes and calls below the stack
/// pointer, as each sequence with a cold part does. So a function that contains it is not a leaf
/// function, and keeps nothing in the red zone of x86-64. On AArch64 the sequence keeps x30.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowCall<'a> {
    /// General registers whose values the program needs afterwards, and that hold no references.
    /// The inputs of a sequence are preserved anyway.
    pub preserve: &'a [Register],
    /// Whether the stack pointer is 8 bytes off a multiple of 16 at the place of the sequence, on
    /// x86-64.
    pub misaligned: bool,
}

impl SlowCall<'_> {
    /// Checks that the sequence writes no register that it preserves.
    pub(crate) fn check(
        &self,
        machine: Machine,
        written: &[(&'static str, Register)],
    ) -> Result<(), EmitError> {
        if self.misaligned && machine != Machine::X86_64 {
            return Err(EmitError::Misaligned(machine));
        }
        let preserved = self.preserve.iter().map(|register| ("preserved", *register));
        check_general(machine, &written.iter().copied().chain(preserved).collect::<Vec<_>>())
    }
}

/// A place that allocates: the objects, their initialisation, and the compiler's registers.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The objects to allocate. Several objects of constant sizes are one bump, one compare and one
    /// prefetch.
    pub allocations: &'a [Allocation],
    /// The writer of the memory after the headers.
    pub initialise: Initialise,
    /// The compiler's assignment of registers.
    pub registers: Registers,
    /// The obligations of the slow path.
    pub slow: SlowCall<'a>,
}

/// A check whether the thread should come to a safepoint, for example in a loop that allocates
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct Poll<'a> {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The obligations of the slow path.
    pub slow: SlowCall<'a>,
}

impl Poll<'_> {
    /// Checks the roles of its registers.
    pub(crate) fn check(&self, machine: Machine) -> Result<(), EmitError> {
        check_general(machine, &[("the mutator", self.mutator)])?;
        self.slow.check(machine, &[])
    }
}

/// The settings of an emitter that every machine has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) prefetch: PrefetchSettings,
    /// Whether code that has no buffer takes memory from a region of all threads.
    pub(crate) past_buffers: bool,
}

/// A site that was checked: what its one bump of the top allocates.
#[derive(Clone, Debug)]
pub(crate) struct Bump<'a> {
    pub(crate) site: &'a Site<'a>,
    /// The first object.
    pub(crate) first: Allocation,
    /// The bytes of all objects, if known when the code is made.
    pub(crate) total: Option<usize>,
    /// The offset of each object.
    pub(crate) offsets: Vec<usize>,
    /// Whether the code is a function, which returns at its end even if there is no room.
    pub(crate) is_stub: bool,
}

impl<'a> Bump<'a> {
    /// Checks the site.
    pub(crate) fn new(machine: Machine, site: &'a Site<'a>, is_stub: bool) -> Result<Bump<'a>, EmitError> {
        // The emitted code stores 32 bits of the header.
        if let Some(wide) = site.allocations.iter().find(|one| one.header > u32::MAX.into()) {
            return Err(EmitError::Header { bits: wide.header });
        }
        let (first, total, offsets) = fold(site.allocations)?;
        let registers = &site.registers;
        registers.check(machine, first.input().as_slice())?;
        let parts = [
            ("the object", registers.object),
            ("the new top", registers.top),
            ("scratch", registers.scratch),
        ];
        site.slow.check(machine, &parts)?;
        Ok(Bump { site, first, total, offsets, is_stub })
    }
}
