//! The write barrier, loads of references, and safepoint polls.

use super::slow::{Call, SlowCall, back_to};
use super::{Emitter, general};
use crate::EmitError;
use crate::assembly::Assembly;
use crate::registers::check_general;
use crate::sequence::{Part, Sequence, Target};
use allotment::raw::Hot;
use iced_x86::Register;
use iced_x86::code_asm::{AsmRegister64, byte_ptr, dword_ptr, qword_ptr};

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
    /// The obligations of the call of [`Target::LoadHook`]. `None` means no hook and a plain load.
    pub hook: Option<SlowCall<'a>>,
}

/// The function behind [`Target::LoadHook`]. It gets the mutator's hot part, the slot's address and
/// the loaded value, and returns the value for the program. The call is no safepoint. It is made
/// while [`World::set_load_hook`](allotment::raw::World::set_load_hook) has the hook on.
pub type LoadHook = unsafe extern "C" fn(*const Hot, *const u64, u64) -> u64;

/// A check whether the thread should come to a safepoint, for example in a loop that allocates
/// nothing.
#[derive(Clone, Copy, Debug)]
pub struct Poll<'a> {
    /// The mutator. The sequence keeps it.
    pub mutator: Register,
    /// The obligations of the slow path.
    pub slow: SlowCall<'a>,
}

impl Emitter {
    /// Stores a reference and dirties the slot's card, as
    /// [`Mutator::store`](allotment::Mutator::store). A new object's slots need no barrier until
    /// the thread's next safepoint: a plain store is enough.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two parts to play.
    pub fn store(&self, store: &Store) -> Result<Sequence, EmitError> {
        let mut parts =
            vec![("the mutator", store.mutator), ("the base", store.base), ("scratch", store.scratch)];
        if store.value != store.base {
            parts.push(("the value", store.value));
        }
        check_general(&parts)?;
        let (base, value) = (general(store.base)?, general(store.value)?);
        let (scratch, mutator) = (general(store.scratch)?, general(store.mutator)?);
        let mut assembly = Assembly::new()?;
        assembly.hot("the reference").mov(qword_ptr(base + store.displacement), value)?;
        let hot = assembly.hot("the slot's card");
        if store.displacement == 0 {
            hot.mov(scratch, base)?;
        } else {
            hot.lea(scratch, qword_ptr(base + store.displacement))?;
        }
        hot.shr(scratch, Hot::CARD_SHIFT)?;
        hot.add(scratch, qword_ptr(mutator + Hot::CARDS_OFFSET))?;
        assembly.hot("is dirty").mov(byte_ptr(scratch), i32::from(Hot::DIRTY_CARD))?;
        assembly.finish(None, Vec::new())
    }

    /// Loads a reference, and passes it to the hook while the hook is on.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two parts to play.
    pub fn load(&self, load: &Load<'_>) -> Result<Sequence, EmitError> {
        let mut parts = vec![("the mutator", load.mutator), ("the value", load.value)];
        if load.hook.is_some() || load.base != load.value {
            parts.push(("the base", load.base));
        }
        check_general(&parts)?;
        let (base, value, mutator) = (general(load.base)?, general(load.value)?, general(load.mutator)?);
        let mut assembly = Assembly::new()?;
        assembly.hot("the reference").mov(value, qword_ptr(base + load.displacement))?;
        if let Some(slow) = load.hook {
            slow.check(&[("the value", load.value)])?;
            let call = Call {
                target: Target::LoadHook,
                arguments: &[load.mutator, load.base, load.value],
                displacement: load.displacement,
                constants: &[],
                inputs: &[load.mutator, load.base],
                result: Some(load.value),
                is_safepoint: false,
            };
            call_if_set(&mut assembly, mutator, Hot::LOAD_HOOK_OFFSET, "is the hook on?", &slow, &call)?;
        }
        assembly.finish(Some(load.value), Vec::new())
    }

    /// Checks whether a stop is requested, and then comes to a safepoint.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two parts to play.
    pub fn poll(&self, poll: &Poll<'_>) -> Result<Sequence, EmitError> {
        check_general(&[("the mutator", poll.mutator)])?;
        poll.slow.check(&[])?;
        let mutator = general(poll.mutator)?;
        let mut assembly = Assembly::new()?;
        let call = Call {
            target: Target::Safepoint,
            arguments: &[poll.mutator],
            displacement: 0,
            constants: &[],
            inputs: &[poll.mutator],
            result: None,
            is_safepoint: true,
        };
        let question = "is a stop requested?";
        call_if_set(&mut assembly, mutator, Hot::REQUESTED_OFFSET, question, &poll.slow, &call)?;
        assembly.finish(None, Vec::new())
    }
}

/// Checks whether the 4 bytes at `offset` of the hot part are not 0, and then calls out of line.
fn call_if_set(
    assembly: &mut Assembly,
    mutator: AsmRegister64,
    offset: usize,
    question: &'static str,
    slow: &SlowCall<'_>,
    call: &Call<'_>,
) -> Result<(), EmitError> {
    let (set, done) = (assembly.mark(), assembly.mark());
    let to = assembly.refer_to(set);
    let hot = assembly.hot(question);
    hot.cmp(dword_ptr(mutator + offset), 0_i32)?;
    hot.jne(to)?;
    assembly.set(Part::Hot, done);
    assembly.set(Part::Cold, set);
    slow.emit(assembly, call)?;
    back_to(assembly, done)
}
