//! Barriers: the code around each store, load and exchange of a reference.

use super::assembly::{Assembly, Mark};
use super::general;
use super::slow::{Call, KeepingCall, Slot, back_to};
use crate::EmitError;
use crate::barrier::{self, Barrier, CompareExchange, Load, Store};
use crate::register::Register;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use allotment::raw::Hot;
use iced_x86::code_asm::registers::gpr64::rax;
use iced_x86::code_asm::{byte_ptr, qword_ptr};

/// A store of a reference.
pub(crate) fn store(store: &Store) -> Result<Sequence, EmitError> {
    let (base, value) = (general(store.base)?, general(store.value)?);
    let slot = Slot { mutator: store.mutator, base: store.base, displacement: store.displacement };
    let mut assembly = Assembly::new()?;
    let (set, done) = leave_if_set(&mut assembly, slot, &barrier::STORE)?;
    assembly.set(Part::Hot, done);
    assembly.hot("the reference").mov(qword_ptr(base + store.displacement), value)?;
    dirty_card(&mut assembly, slot, store.scratch)?;
    assembly.set(Part::Cold, set);
    let slow_path = barrier::STORE.slow_path;
    KeepingCall { slow_path, slot, loads: false, more: &[], result: None }.emit(&mut assembly)?;
    back_to(&mut assembly, done)?;
    assembly.finish(None, Vec::new())
}

/// A load of a reference.
pub(crate) fn load(load: &Load<'_>, barrier: &Barrier) -> Result<Sequence, EmitError> {
    let (base, value) = (general(load.base)?, general(load.value)?);
    let slot = Slot { mutator: load.mutator, base: load.base, displacement: load.displacement };
    let mut assembly = Assembly::new()?;
    let (set, done) = leave_if_set(&mut assembly, slot, barrier)?;
    assembly.hot("the reference").mov(value, qword_ptr(base + load.displacement))?;
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    // The slow path itself checks which barrier is in force; if only the hook is on, none is.
    KeepingCall { slow_path: barrier.slow_path, slot, loads: true, more: &[], result: Some(load.value) }
        .emit(&mut assembly)?;
    if let Some(slow) = load.hook {
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
        call.emit(&mut assembly, &slow)?;
    }
    back_to(&mut assembly, done)?;
    assembly.finish(Some(load.value), Vec::new())
}

/// A compare-and-exchange of a reference.
pub(crate) fn compare_exchange(exchange: &CompareExchange) -> Result<Sequence, EmitError> {
    let &CompareExchange { mutator, base, displacement, expected, new, scratch, .. } = exchange;
    let slot = Slot { mutator, base, displacement };
    let mut assembly = Assembly::new()?;
    assembly.hot("the expected word").mov(rax, general(expected)?)?;
    let (set, done) = leave_if_set(&mut assembly, slot, &barrier::COMPARE_EXCHANGE)?;
    let place = qword_ptr(general(base)? + displacement);
    assembly.hot("the exchange").lock().cmpxchg(place, general(new)?)?;
    assembly.set(Part::Hot, done);
    dirty_card(&mut assembly, slot, scratch)?;
    assembly.set(Part::Cold, set);
    let (slow_path, result) = (barrier::COMPARE_EXCHANGE.slow_path, Some(Register::RAX));
    KeepingCall { slow_path, slot, loads: false, more: &[expected, new], result }.emit(&mut assembly)?;
    back_to(&mut assembly, done)?;
    assembly.finish(Some(Register::RAX), Vec::new())
}

/// Goes out of line if one of these barriers is in force. Returns the place out of line, and the
/// place to come back to; neither is set.
fn leave_if_set(assembly: &mut Assembly, slot: Slot, barrier: &Barrier) -> Result<(Mark, Mark), EmitError> {
    let (set, done) = (assembly.mark(), assembly.mark());
    let to = assembly.refer_to(set);
    let hot = assembly.hot(barrier.question);
    hot.test(byte_ptr(general(slot.mutator)? + Hot::BARRIERS_OFFSET), barrier.bits as i32)?;
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
