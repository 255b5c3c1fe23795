//! The allocation sequence.
//!
//! ```text
//! mov  object, [mutator]             the old top
//! lea  top, [object + BYTES]
//! cmp  top, [mutator + LIMIT]        ja slow
//! prefetches
//! mov  [mutator], top
//! header, length, zeroes
//! ```
//!
//! The compare is the library's own, `top > limit`. HotSpot's compiled code takes the slow path
//! even at equality. Here a buffer is filled to its last byte, and the emitted code leaves the same
//! heap as the library would.
//!
//! The slow path returns memory, not an object. The cold part then jumps back in line to the store
//! of the header, so the initialisation of an object is emitted once. An array whose length is in a
//! register is first checked against a limit, so that no sum wraps. Above the limit the heap does
//! the arithmetic.

use super::assembly::{Assembly, Mark};
use super::initialise::{self, BodyPlan};
use super::slow::{Call, back_to};
use super::top::new_top;
use super::{general, past_buffers, prefetch};
use crate::EmitError;
use crate::allocation::{Initialise, MAX_INLINE_BYTES, Size, longest_inline};
use crate::register::Register;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use crate::site::{Bump, Settings};
use allotment::raw::{Hot, PrefetchStyle, X86_64};
use iced_x86::code_asm::qword_ptr;

/// The sequence of a bump.
pub(crate) fn allocate(
    processor: &X86_64,
    settings: &Settings,
    bump: &Bump<'_>,
) -> Result<Sequence, EmitError> {
    let site = bump.site;
    let registers = &site.registers;
    let mut assembly = Assembly::new()?;
    let (slow, made) = (assembly.mark(), assembly.mark());
    // `past`: the code for an allocation without a buffer. `taken`: where it continues with its
    // memory.
    let (past, taken) = (assembly.mark(), assembly.mark());
    take(&mut assembly, bump, slow, past)?;
    prefetch::emit(&settings.prefetch, &mut assembly, bump)?;
    let (object, top, mutator) =
        (general(registers.object)?, general(registers.top)?, general(registers.mutator)?);
    assembly.hot("the new top").mov(qword_ptr(mutator + Hot::TOP_OFFSET), top)?;
    let plan = BodyPlan { site, avx2: processor.avx2 };
    assembly.set(Part::Hot, taken);
    // If the size is not known here, memory from a slow path is already zero: it is not zeroed
    // again.
    initialise::run_time_body(&mut assembly, &plan, &bump.first)?;
    assembly.set(Part::Hot, made);
    for (allocation, offset) in site.allocations.iter().zip(&bump.offsets) {
        initialise::object(&mut assembly, &plan, allocation, *offset)?;
    }
    let done = assembly.mark();
    assembly.set(Part::Hot, done);
    if bump.is_stub {
        assembly.hot("the object is the result").ret()?;
    }

    assembly.set(Part::Cold, past);
    let bumps_past = settings.past_buffers && past_buffers::emit(&mut assembly, bump, taken)?;
    assembly.set(Part::Cold, slow);
    call(&mut assembly, bump)?;
    let no_room = if bump.is_stub { assembly.refer_to(done) } else { assembly.outside(Target::OutOfMemory) };
    let cold = assembly.cold("no room in the heap?");
    cold.test(object, object)?;
    cold.je(no_room)?;
    back_to(&mut assembly, made)?;
    let mut sequence = assembly.finish(Some(registers.object), bump.offsets.clone())?;
    if bump.is_stub {
        // A call pushes the return address.
        sequence.safepoints.iter_mut().for_each(|one| one.stub_return = Some(one.pushed_bytes));
    }
    // Code that moves the watermark, or allocates without a buffer, writes the object's register
    // out of line, too, although it is not a slow path.
    let out_of_line = settings.prefetch.style == PrefetchStyle::Watermark || bumps_past;
    if out_of_line && !sequence.clobbers.contains(&registers.scratch) {
        sequence.clobbers.push(registers.scratch);
    }
    Ok(sequence)
}

/// Loads the top, adds, compares. Jumps to `slow` if the object is too large, and to `past` if the
/// limit forbids it.
fn take(assembly: &mut Assembly, bump: &Bump<'_>, slow: Mark, past: Mark) -> Result<(), EmitError> {
    let site = bump.site;
    let registers = &site.registers;
    let (object, top, mutator) =
        (general(registers.object)?, general(registers.top)?, general(registers.mutator)?);
    let to_slow = assembly.refer_to(slow);
    match bump.first.size {
        Size::Constant { .. } => {}
        Size::Bytes { place: register } => {
            let hot = assembly.hot("too large to be in line?");
            hot.cmp(general(register)?, MAX_INLINE_BYTES as i32)?;
            hot.ja(to_slow)?;
        }
        Size::Length { place: register, fixed_bytes, element_bytes } => {
            let most = longest_inline(fixed_bytes, element_bytes);
            let hot = assembly.hot("too long to be in line?");
            hot.cmp(general(register)?, most as i32)?;
            hot.ja(to_slow)?;
        }
    }
    assembly.hot("the old top: the object's address").mov(object, qword_ptr(mutator + Hot::TOP_OFFSET))?;
    new_top(assembly.hot("the new top"), top, object, bump)?;
    let limit =
        if site.initialise == Initialise::Ahead { Hot::ZEROED_LIMIT_OFFSET } else { Hot::LIMIT_OFFSET };
    let to_past = assembly.refer_to(past);
    let hot = assembly.hot("beyond the limit?");
    hot.cmp(top, qword_ptr(mutator + limit))?;
    hot.ja(to_past)?;
    Ok(())
}

/// The call of the slow path.
fn call(assembly: &mut Assembly, bump: &Bump<'_>) -> Result<(), EmitError> {
    let site = bump.site;
    let mutator = site.registers.mutator;
    let (target, array) = match site.initialise.slow_path_zeroes(bump.total.is_some()) {
        false => (Target::Allocate, Target::AllocateArray),
        true => (Target::AllocateZeroed, Target::AllocateArrayZeroed),
    };
    let mut slow = Call {
        target,
        arguments: &[mutator],
        displacement: 0,
        constants: &[],
        inputs: &[mutator],
        result: Some(site.registers.object),
        is_safepoint: true,
    };
    match bump.first.size {
        Size::Constant { bytes, .. } => {
            let constants = [(Register::RSI, bump.total.unwrap_or(bytes))];
            slow.constants = &constants;
            slow.emit(assembly, &site.slow)
        }
        Size::Bytes { place: register } => {
            let inputs = [mutator, register];
            (slow.arguments, slow.inputs) = (&inputs, &inputs);
            slow.emit(assembly, &site.slow)
        }
        Size::Length { place: register, fixed_bytes, element_bytes } => {
            let inputs = [mutator, register];
            let constants = [(Register::RDX, element_bytes), (Register::RCX, fixed_bytes)];
            (slow.arguments, slow.inputs, slow.constants) = (&inputs, &inputs, &constants);
            slow.target = array;
            slow.emit(assembly, &site.slow)
        }
    }
}
