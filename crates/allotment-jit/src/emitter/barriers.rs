//! Barriers: the code around each store, load and exchange of a reference.
//!
//! The word at [`Hot::BARRIERS_OFFSET`] says by bits which barriers are in force. In line a barrier
//! is a test of its own bits and a jump that is mostly not taken. Out of line it calls the heap's
//! slow path by its address in the hot part. The slow path keeps all registers, so the code around
//! a barrier saves nothing, and the barrier needs no free register. The test comes first: then
//! the slot's address is still there, even where the loaded reference replaces it.
//!
//! Refused:
//! - One test for all bits. Each load would call while the collector marks, which is most of a
//!   cycle.
//! - Code without barriers for collectors that stop the world. The test costs less than two builds
//!   of each program.

use super::slow::{Call, KeepingCall, Slot, SlowCall, back_to};
use super::{Emitter, general};
use crate::EmitError;
use crate::assembly::{Assembly, Mark};
use crate::registers::check_general;
use crate::sequence::{Part, Sequence, Target};
use allotment::raw::{Hot, LoadSlow};
use iced_x86::Register;
use iced_x86::code_asm::registers::gpr64::rax;
use iced_x86::code_asm::{byte_ptr, qword_ptr};

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
    /// The obligations of the call of [`Target::LoadHook`]. `None` means no hook.
    pub hook: Option<SlowCall<'a>>,
}

/// The function for [`Target::LoadHook`]. It gets the mutator's hot part, the slot's address and
/// the value for the program, and returns the value that the program will see. The call is not a
/// safepoint. It happens while [`World::set_load_hook`](allotment::raw::World::set_load_hook) has
/// the hook on. It follows the C calling convention.
pub type LoadHook = LoadSlow;

/// A compare-and-exchange of a slot, at `base + displacement`. Afterwards `rax` has the word that
/// the slot held, as the instruction demands.
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
    /// A scratch register of the sequence.
    pub scratch: Register,
}

/// The bits that a barrier tests, and the slow path.
struct Barrier {
    bits: u32,
    question: &'static str,
    slow_path: usize,
}

const LOAD: Barrier =
    Barrier { bits: Hot::FORWARDING, question: "are objects on the move?", slow_path: Hot::LOAD_SLOW_OFFSET };
const LOAD_WEAK: Barrier = Barrier {
    bits: Hot::MARKING | Hot::WEAK | Hot::FORWARDING,
    question: "is a cycle under way?",
    slow_path: Hot::LOAD_WEAK_SLOW_OFFSET,
};
const STORE: Barrier =
    Barrier { bits: Hot::MARKING, question: "does the collector mark?", slow_path: Hot::STORE_SLOW_OFFSET };
const COMPARE_EXCHANGE: Barrier = Barrier {
    bits: Hot::MARKING | Hot::FORWARDING,
    question: "does the collector mark or move?",
    slow_path: Hot::COMPARE_EXCHANGE_SLOW_OFFSET,
};

impl Emitter {
    /// Stores a reference and dirties the slot's card, as
    /// [`store`](allotment::raw::RawMutator::store). A new object's slots need no barrier until
    /// the thread's next safepoint: a plain store is enough.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn store(&self, store: &Store) -> Result<Sequence, EmitError> {
        let mut parts =
            vec![("the mutator", store.mutator), ("the base", store.base), ("scratch", store.scratch)];
        if store.value != store.base {
            parts.push(("the value", store.value));
        }
        check_general(&parts)?;
        let (base, value) = (general(store.base)?, general(store.value)?);
        let slot = Slot { mutator: store.mutator, base: store.base, displacement: store.displacement };
        let mut assembly = Assembly::new()?;
        let (set, done) = leave_if_set(&mut assembly, slot, STORE.bits, STORE.question)?;
        assembly.set(Part::Hot, done);
        assembly.hot("the reference").mov(qword_ptr(base + store.displacement), value)?;
        dirty_card(&mut assembly, slot, store.scratch)?;
        assembly.set(Part::Cold, set);
        KeepingCall { slow_path: STORE.slow_path, slot, loads: false, more: &[], result: None }
            .emit(&mut assembly)?;
        back_to(&mut assembly, done)?;
        assembly.finish(None, Vec::new())
    }

    /// Loads a reference, as [`load`](allotment::raw::RawMutator::load), and passes it to the hook
    /// while the hook is on.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn load(&self, load: &Load<'_>) -> Result<Sequence, EmitError> {
        loaded(load, &LOAD)
    }

    /// Loads a reference from a weak slot, as
    /// [`load_weak`](allotment::raw::RawMutator::load_weak): 0 if the referent is dead. Passes it
    /// to the hook while the hook is on.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn load_weak(&self, load: &Load<'_>) -> Result<Sequence, EmitError> {
        loaded(load, &LOAD_WEAK)
    }

    /// Stores a reference to a slot that holds an expected word, as
    /// [`compare_exchange`](allotment::raw::RawMutator::compare_exchange). Afterwards `rax` holds
    /// what the slot held. If that is the expected word, the slot holds the new one. The slot's
    /// card becomes dirty even if the exchange fails: a branch would cost more than an
    /// unnecessarily dirty card.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn compare_exchange(&self, exchange: &CompareExchange) -> Result<Sequence, EmitError> {
        let &CompareExchange { mutator, base, displacement, expected, new, scratch } = exchange;
        let mut parts = vec![
            ("what the slot held", Register::RAX),
            ("the mutator", mutator),
            ("the base", base),
            ("scratch", scratch),
        ];
        for (name, register) in [("the expected word", expected), ("the new word", new)] {
            // An object may refer to itself, and a word may be exchanged for itself.
            if register != base && !parts.contains(&("the expected word", register)) {
                parts.push((name, register));
            }
        }
        check_general(&parts)?;
        let slot = Slot { mutator, base, displacement };
        let mut assembly = Assembly::new()?;
        assembly.hot("the expected word").mov(rax, general(expected)?)?;
        let barrier = COMPARE_EXCHANGE;
        let (set, done) = leave_if_set(&mut assembly, slot, barrier.bits, barrier.question)?;
        let place = qword_ptr(general(base)? + displacement);
        assembly.hot("the exchange").lock().cmpxchg(place, general(new)?)?;
        assembly.set(Part::Hot, done);
        dirty_card(&mut assembly, slot, scratch)?;
        assembly.set(Part::Cold, set);
        let (slow_path, result) = (barrier.slow_path, Some(Register::RAX));
        KeepingCall { slow_path, slot, loads: false, more: &[expected, new], result }.emit(&mut assembly)?;
        back_to(&mut assembly, done)?;
        assembly.finish(Some(Register::RAX), Vec::new())
    }
}

fn loaded(load: &Load<'_>, barrier: &Barrier) -> Result<Sequence, EmitError> {
    let mut parts = vec![("the mutator", load.mutator), ("the value", load.value)];
    if load.hook.is_some() || load.base != load.value {
        parts.push(("the base", load.base));
    }
    check_general(&parts)?;
    let hook = if load.hook.is_some() { Hot::HOOK } else { 0 };
    let (base, value) = (general(load.base)?, general(load.value)?);
    let slot = Slot { mutator: load.mutator, base: load.base, displacement: load.displacement };
    let mut assembly = Assembly::new()?;
    let question = if hook != 0 { "is a barrier or the hook on?" } else { barrier.question };
    let (set, done) = leave_if_set(&mut assembly, slot, barrier.bits | hook, question)?;
    assembly.hot("the reference").mov(value, qword_ptr(base + load.displacement))?;
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    // The slow path itself checks which barrier is in force; if only the hook is on, none is.
    KeepingCall { slow_path: barrier.slow_path, slot, loads: true, more: &[], result: Some(load.value) }
        .emit(&mut assembly)?;
    if let Some(slow) = load.hook {
        slow.check(&[("the value", load.value)])?;
        let to = assembly.refer_to(done);
        let cold = assembly.cold("is the hook on?");
        cold.test(byte_ptr(general(load.mutator)? + Hot::BARRIERS_OFFSET), Hot::HOOK as i32)?;
        cold.je(to)?;
        let call = Call {
            target: Target::LoadHook,
            arguments: &[load.mutator, load.base, load.value],
            displacement: load.displacement,
            constants: &[],
            inputs: &[load.mutator, load.base],
            result: Some(load.value),
            is_safepoint: false,
        };
        slow.emit(&mut assembly, &call)?;
    }
    back_to(&mut assembly, done)?;
    assembly.finish(Some(load.value), Vec::new())
}

/// Goes out of line if one of these barriers is in force. Returns the place out of line, and the
/// place to come back to; neither is set.
fn leave_if_set(
    assembly: &mut Assembly,
    slot: Slot,
    bits: u32,
    question: &'static str,
) -> Result<(Mark, Mark), EmitError> {
    let (set, done) = (assembly.mark(), assembly.mark());
    let to = assembly.refer_to(set);
    let hot = assembly.hot(question);
    // All bits are in the first byte of the word.
    hot.test(byte_ptr(general(slot.mutator)? + Hot::BARRIERS_OFFSET), bits as i32)?;
    hot.jne(to)?;
    Ok((set, done))
}

fn dirty_card(assembly: &mut Assembly, slot: Slot, scratch: Register) -> Result<(), EmitError> {
    let (base, mutator, scratch) = (general(slot.base)?, general(slot.mutator)?, general(scratch)?);
    let hot = assembly.hot("the slot's card");
    if slot.displacement == 0 {
        hot.mov(scratch, base)?;
    } else {
        hot.lea(scratch, qword_ptr(base + slot.displacement))?;
    }
    hot.shr(scratch, Hot::CARD_SHIFT)?;
    hot.add(scratch, qword_ptr(mutator + Hot::CARDS_OFFSET))?;
    assembly.hot("is dirty").mov(byte_ptr(scratch), i32::from(Hot::DIRTY_CARD))?;
    Ok(())
}
