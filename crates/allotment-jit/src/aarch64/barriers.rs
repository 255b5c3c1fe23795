//! Barriers: the code around each store, load and exchange of a reference.
//!
//! A store may be seen by another thread before an earlier one, unless it has release. So the
//! reference has release, as words of its object were stored before it, and the card has release,
//! as a marker that finds the card dirty must find the reference.

use super::assembler::{Assembler, Condition, General, Label, Width, is_run, offset_fits};
use super::assembly::{Assembly, SCRATCH, SCRATCH_2};
use super::slow::{Call, KeepingCall, Slot, back_to};
use crate::EmitError;
use crate::barrier::{Barrier, COMPARE_EXCHANGE, CompareExchange, Load, STORE, Store};
use crate::register::Register;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use allotment::raw::{AArch64, Hot};

/// Stores a reference and dirties the slot's card.
pub(crate) fn store(store: &Store) -> Result<Sequence, EmitError> {
    let slot = Slot { mutator: store.mutator, base: store.base, displacement: store.displacement };
    let mut assembly = Assembly::default();
    let (set, done) = (assembly.label(), assembly.label());
    let address = address_of(&mut assembly, slot, store.scratch)?;
    leave_if_set(&mut assembly, slot.mutator, &STORE, set)?;
    assembly.set(Part::Hot, done);
    assembly.hot("the reference, after its object").stlr(General::of(store.value)?, address);
    dirty_card(&mut assembly, slot.mutator, address)?;
    assembly.set(Part::Cold, set);
    KeepingCall { slow_path: STORE.slow_path, slot, loads: false, more: &[], result: None }
        .emit(&mut assembly)?;
    back_to(&mut assembly, done);
    assembly.finish(None, Vec::new())
}

/// Loads a reference, with that barrier.
pub(crate) fn load(load: &Load<'_>, barrier: &Barrier) -> Result<Sequence, EmitError> {
    let slot = Slot { mutator: load.mutator, base: load.base, displacement: load.displacement };
    let (base, value) = (General::of(load.base)?, General::of(load.value)?);
    let mut assembly = Assembly::default();
    let (set, done) = (assembly.label(), assembly.label());
    leave_if_set(&mut assembly, slot.mutator, barrier, set)?;
    let hot = assembly.hot("the reference");
    if offset_fits(load.displacement.into()) {
        hot.ldr(value, base, load.displacement.into())?;
    } else {
        hot.add_constant(SCRATCH, base, load.displacement.into())?;
        hot.ldr(value, SCRATCH, 0)?;
    }
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    // The slow path itself checks which barrier is in force; if only the hook is on, none is.
    KeepingCall { slow_path: barrier.slow_path, slot, loads: true, more: &[], result: Some(load.value) }
        .emit(&mut assembly)?;
    if let Some(slow) = load.hook {
        let cold = assembly.cold("is the hook on?");
        cold.ldrb(SCRATCH, General::of(load.mutator)?, Hot::BARRIERS_OFFSET as i64)?;
        cold.tst_immediate(SCRATCH, Hot::HOOK)?;
        cold.b_if(Condition::Equal, done);
        let call = Call {
            target: Target::LoadHook,
            arguments: &[load.mutator, load.base, load.value],
            displacement: load.displacement,
            constants: &[],
            inputs: &[load.mutator, load.base],
            preserve: slow.preserve,
            result: Some(load.value),
            is_safepoint: false,
            is_stub: false,
        };
        call.emit(&mut assembly)?;
    }
    back_to(&mut assembly, done);
    assembly.finish(Some(load.value), Vec::new())
}

/// Stores a reference to a slot that holds an expected word, and dirties the slot's card.
pub(crate) fn compare_exchange(
    processor: &AArch64,
    exchange: &CompareExchange,
) -> Result<Sequence, EmitError> {
    let &CompareExchange { mutator, base, displacement, expected, new, held, scratch } = exchange;
    let slot = Slot { mutator, base, displacement };
    let (expected_in, new_in, held_in) = (General::of(expected)?, General::of(new)?, General::of(held)?);
    let mut assembly = Assembly::default();
    let (set, done) = (assembly.label(), assembly.label());
    let address = address_of(&mut assembly, slot, scratch)?;
    leave_if_set(&mut assembly, mutator, &COMPARE_EXCHANGE, set)?;
    if processor.lse {
        let hot = assembly.hot("the exchange");
        hot.mov(held_in, expected_in);
        hot.casal(held_in, new_in, address);
    } else {
        let again = assembly.label();
        assembly.set(Part::Hot, again);
        let hot = assembly.hot("the exchange, until nobody interferes");
        hot.ldaxr(held_in, address);
        hot.cmp(held_in, expected_in);
        hot.b_if(Condition::NotEqual, done);
        hot.stlxr(SCRATCH, new_in, address)?;
        hot.cbnz(Width::Bits32, SCRATCH, again);
    }
    assembly.set(Part::Hot, done);
    dirty_card(&mut assembly, mutator, address)?;
    assembly.set(Part::Cold, set);
    let (slow_path, result) = (COMPARE_EXCHANGE.slow_path, Some(held));
    KeepingCall { slow_path, slot, loads: false, more: &[expected, new], result }.emit(&mut assembly)?;
    back_to(&mut assembly, done);
    assembly.finish(Some(held), Vec::new())
}

/// The register with the slot's address: the base, or else `scratch`.
fn address_of(assembly: &mut Assembly, slot: Slot, scratch: Register) -> Result<General, EmitError> {
    let (base, scratch) = (General::of(slot.base)?, General::of(scratch)?);
    if slot.displacement == 0 {
        return Ok(base);
    }
    assembly.hot("the slot").add_constant(scratch, base, slot.displacement.into())?;
    Ok(scratch)
}

/// Goes to `set` if one of the barrier's bits is set.
fn leave_if_set(
    assembly: &mut Assembly,
    mutator: Register,
    barrier: &Barrier,
    set: Label,
) -> Result<(), EmitError> {
    let hot = assembly.hot(barrier.question);
    hot.ldrb(SCRATCH, General::of(mutator)?, Hot::BARRIERS_OFFSET as i64)?;
    test(hot, barrier.bits)?;
    hot.b_if(Condition::NotEqual, set);
    Ok(())
}

/// Tests these bits of the scratch register.
fn test(hot: &mut Assembler, bits: u32) -> Result<(), EmitError> {
    if is_run(bits) {
        return hot.tst_immediate(SCRATCH, bits);
    }
    hot.mov_constant(SCRATCH_2, bits.into())?;
    hot.tst(SCRATCH, SCRATCH_2);
    Ok(())
}

fn dirty_card(assembly: &mut Assembly, mutator: Register, address: General) -> Result<(), EmitError> {
    let hot = assembly.hot("the slot's card");
    hot.ldr(SCRATCH, General::of(mutator)?, Hot::CARDS_OFFSET as i64)?;
    hot.add_shifted_right(SCRATCH, SCRATCH, address, Hot::CARD_SHIFT)?;
    let hot = assembly.hot("is dirty, after the reference");
    hot.mov_constant(SCRATCH_2, Hot::DIRTY_CARD.into())?;
    hot.stlrb(SCRATCH_2, SCRATCH);
    Ok(())
}
