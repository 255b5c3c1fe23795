//! Accesses to a slot that holds a reference, with their barriers: what the compiler says about
//! each, and the barriers that every machine's code tests.
//!
//! The word at [`Hot::BARRIERS_OFFSET`] says by bits which barriers are in force. In line a barrier
//! is a test of its own bits and a jump that is mostly not taken. Out of line it calls the heap's
//! slow path by its address in the hot part. The slow path keeps all registers that a compiler
//! assigns, so the code around a barrier saves nothing, and the barrier needs no free register. The
//! test comes first: then the slot's address is still there, even where the loaded reference
//! replaces it.
//!
//! Refused:
//! - One test for all bits. Each load would call while the collector marks, which is most of a
//!   cycle.
//! - Code without barriers for collectors that stop the world. The test costs less than two builds
//!   of each program.

use crate::EmitError;
use crate::register::{Machine, Register};
use crate::registers::check_general;
use crate::site::SlowCall;
use allotment::raw::{BarrierKind, Hot, LoadSlow};

/// A store of a reference to a slot, at `base + displacement`.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The object's address, for example. The sequence keeps it.
    pub base: Register,
    /// Bytes from `base` to the slot.
    pub displacement: i32,
    /// The reference. The sequence keeps it.
    pub value: Register,
    /// A scratch register of the sequence.
    pub scratch: Register,
}

/// A load of a reference from a slot, at `base + displacement`.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The object's address, for example. The sequence keeps it, but without a hook it may be the
    /// value's register.
    pub base: Register,
    /// Bytes from `base` to the slot.
    pub displacement: i32,
    /// The register that receives the reference.
    pub value: Register,
    /// The obligations of the call of [`Target::LoadHook`](crate::Target::LoadHook). `None` means no hook.
    pub hook: Option<SlowCall<'a>>,
}

/// The function for [`Target::LoadHook`](crate::Target::LoadHook). It gets the mutator's hot part, the slot's address and
/// the value for the program, and returns the value that the program will see. The call is not a
/// safepoint. It happens while [`World::set_load_hook`](allotment::raw::World::set_load_hook) has
/// the hook on. It follows the C calling convention.
pub type LoadHook = LoadSlow;

/// A compare-and-exchange of a slot, at `base + displacement`.
#[derive(Clone, Copy, Debug)]
pub struct CompareExchange {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The object's address, for example. The sequence keeps it.
    pub base: Register,
    /// Bytes from `base` to the slot.
    pub displacement: i32,
    /// The word that the slot has to hold. The sequence keeps it.
    pub expected: Register,
    /// The word to store. The sequence keeps it.
    pub new: Register,
    /// Receives the word that the slot held. On x86-64 the instruction demands `rax`.
    pub held: Register,
    /// A scratch register of the sequence.
    pub scratch: Register,
}

/// The bits that a barrier tests, and the slow path. All bits are in the first byte of the word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) bits: u32,
    /// The purpose of the test.
    pub(crate) question: &'static str,
    /// The offset of the slow path's address in the hot part.
    pub(crate) slow_path: usize,
}

impl Barrier {
    /// That of an access, from the library's table.
    const fn of(kind: BarrierKind, question: &'static str) -> Barrier {
        Barrier { bits: kind.bits(), question, slow_path: kind.slow_offset() }
    }
}

pub(crate) const LOAD: Barrier = Barrier::of(BarrierKind::Load, "are objects on the move?");
pub(crate) const LOAD_WEAK: Barrier = Barrier::of(BarrierKind::LoadWeak, "is a cycle under way?");
pub(crate) const STORE: Barrier = Barrier::of(BarrierKind::Store, "does the collector mark?");
pub(crate) const COMPARE_EXCHANGE: Barrier =
    Barrier::of(BarrierKind::CompareExchange, "does the collector mark or move?");

impl Store {
    /// Checks the roles of its registers.
    pub(crate) fn check(&self, machine: Machine) -> Result<(), EmitError> {
        let mut parts =
            vec![("the mutator", self.mutator), ("the base", self.base), ("scratch", self.scratch)];
        // An object may refer to itself.
        if self.value != self.base {
            parts.push(("the value", self.value));
        }
        check_general(machine, &parts)
    }
}

impl Load<'_> {
    /// Checks the roles of its registers.
    pub(crate) fn check(&self, machine: Machine) -> Result<(), EmitError> {
        let mut parts = vec![("the mutator", self.mutator), ("the value", self.value)];
        if self.hook.is_some() || self.base != self.value {
            parts.push(("the base", self.base));
        }
        check_general(machine, &parts)?;
        self.hook.map_or(Ok(()), |hook| hook.check(machine, &[("the value", self.value)]))
    }

    /// The barrier that its code tests: that of the load, with the hook if it has one.
    pub(crate) fn barrier(&self, barrier: Barrier) -> Barrier {
        match self.hook {
            None => barrier,
            Some(_) => Barrier {
                bits: barrier.bits | Hot::HOOK,
                question: "is a barrier or the hook on?",
                ..barrier
            },
        }
    }
}

impl CompareExchange {
    /// Checks the roles of its registers.
    pub(crate) fn check(&self, machine: Machine) -> Result<(), EmitError> {
        let &CompareExchange { mutator, base, expected, new, held, scratch, .. } = self;
        let part = "what the slot held";
        if machine == Machine::X86_64 && held != Register::RAX {
            return Err(EmitError::Fixed { register: held, part, demanded: Register::RAX });
        }
        let mut parts =
            vec![(part, held), ("the mutator", mutator), ("the base", base), ("scratch", scratch)];
        for (name, register) in [("the expected word", expected), ("the new word", new)] {
            // An object may refer to itself, and a word may be exchanged for itself.
            if register != base && !parts.contains(&("the expected word", register)) {
                parts.push((name, register));
            }
        }
        check_general(machine, &parts)
    }
}
