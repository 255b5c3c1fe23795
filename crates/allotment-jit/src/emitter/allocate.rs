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

use super::initialise::BodyPlan;
use super::slow::{Call, back_to};
use super::{Emitter, Site, general, initialise, past_buffers, prefetch};
use crate::EmitError;
use crate::allocation::{Allocation, Initialise, MAX_INLINE_BYTES, Size, always_whole, fold, longest_inline};
use crate::assembly::Assembly;
use crate::sequence::{Part, Sequence, Target};
use allotment::raw::{Hot, PrefetchStyle};
use iced_x86::Register;
use iced_x86::code_asm::{AsmRegister64, CodeAssembler, qword_ptr};

/// The sequence of a site. With `stub` it is a function that returns at its end, even if there is
/// no room.
pub(super) fn sequence(emitter: &Emitter, site: &Site<'_>, stub: bool) -> Result<Sequence, EmitError> {
    // The emitted code stores 32 bits of the header.
    if let Some(wide) = site.allocations.iter().find(|one| one.header > u32::MAX.into()) {
        return Err(EmitError::Header { bits: wide.header });
    }
    let (first, total, offsets) = fold(site.allocations)?;
    let registers = &site.registers;
    let input = first.input();
    registers.check(input.as_slice())?;
    let parts =
        [("the object", registers.object), ("the new top", registers.top), ("scratch", registers.scratch)];
    site.slow.check(&parts)?;
    let mut assembly = Assembly::new()?;
    let (slow, made) = (assembly.mark(), assembly.mark());
    // `past`: the code for an allocation without a buffer. `taken`: where it continues with its
    // memory.
    let (past, taken) = (assembly.mark(), assembly.mark());
    bump(&mut assembly, site, &first, total, slow, past)?;
    prefetch::emit(emitter, &mut assembly, site, total)?;
    let (object, top, mutator) =
        (general(registers.object)?, general(registers.top)?, general(registers.mutator)?);
    assembly.hot("the new top").mov(qword_ptr(mutator + Hot::TOP_OFFSET), top)?;
    let plan = BodyPlan { site, avx2: emitter.processor.avx2 };
    assembly.set(Part::Hot, taken);
    // If the size is not known here, memory from a slow path is already zero: it is not zeroed
    // again.
    initialise::run_time_body(&mut assembly, &plan, &first)?;
    assembly.set(Part::Hot, made);
    for (allocation, offset) in site.allocations.iter().zip(&offsets) {
        initialise::object(&mut assembly, &plan, allocation, *offset)?;
    }
    let done = assembly.mark();
    assembly.set(Part::Hot, done);
    if stub {
        assembly.hot("the object is the result").ret()?;
    }

    assembly.set(Part::Cold, past);
    let bumps_past = emitter.past_buffers && past_buffers::emit(&mut assembly, site, &first, total, taken)?;
    assembly.set(Part::Cold, slow);
    call(&mut assembly, site, &first, total)?;
    let no_room = if stub { assembly.refer_to(done) } else { assembly.outside(Target::OutOfMemory) };
    let cold = assembly.cold("no room in the heap?");
    cold.test(object, object)?;
    cold.je(no_room)?;
    back_to(&mut assembly, made)?;
    let mut sequence = assembly.finish(Some(registers.object), offsets)?;
    // Code that moves the watermark, or allocates without a buffer, writes the object's register
    // out of line, too, although it is not a slow path.
    let out_of_line = emitter.prefetch.style == PrefetchStyle::Watermark || bumps_past;
    if out_of_line && !sequence.clobbers.contains(&registers.scratch) {
        sequence.clobbers.push(registers.scratch);
    }
    Ok(sequence)
}

/// Loads the top, adds, compares. Jumps to `slow` if the object is too large, and to `past` if the
/// limit forbids it.
fn bump(
    assembly: &mut Assembly,
    site: &Site<'_>,
    first: &Allocation,
    total: Option<usize>,
    slow: crate::assembly::Mark,
    past: crate::assembly::Mark,
) -> Result<(), EmitError> {
    let registers = &site.registers;
    let (object, top, mutator) =
        (general(registers.object)?, general(registers.top)?, general(registers.mutator)?);
    let to_slow = assembly.refer_to(slow);
    match first.size {
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
    new_top(assembly.hot("the new top"), top, object, first, total)?;
    let limit =
        if site.initialise == Initialise::Ahead { Hot::ZEROED_LIMIT_OFFSET } else { Hot::LIMIT_OFFSET };
    let to_past = assembly.refer_to(past);
    let hot = assembly.hot("beyond the limit?");
    hot.cmp(top, qword_ptr(mutator + limit))?;
    hot.ja(to_past)?;
    Ok(())
}

/// Makes `top` the end of an object at `object`.
pub(super) fn new_top(
    assembler: &mut CodeAssembler,
    top: AsmRegister64,
    object: AsmRegister64,
    first: &Allocation,
    total: Option<usize>,
) -> Result<(), EmitError> {
    match first.size {
        Size::Constant { bytes, .. } => assembler.lea(top, qword_ptr(object + total.unwrap_or(bytes)))?,
        Size::Bytes { place: register } => assembler.lea(top, qword_ptr(object + general(register)?))?,
        Size::Length { place: register, fixed_bytes, element_bytes } => {
            let length = general(register)?;
            let whole = always_whole(fixed_bytes, element_bytes);
            let fixed = fixed_bytes + if whole { 0 } else { 7 };
            assembler.lea(top, qword_ptr(object + length * element_bytes as u32 + fixed))?;
            if !whole {
                assembler.and(top, -8)?;
            }
        }
    }
    Ok(())
}

/// The call of the slow path.
fn call(
    assembly: &mut Assembly,
    site: &Site<'_>,
    first: &Allocation,
    total: Option<usize>,
) -> Result<(), EmitError> {
    let mutator = site.registers.mutator;
    let (target, array) = match site.initialise.slow_path_zeroes(total.is_some()) {
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
    match first.size {
        Size::Constant { bytes, .. } => {
            let constants = [(Register::RSI, total.unwrap_or(bytes))];
            slow.constants = &constants;
            site.slow.emit(assembly, &slow)
        }
        Size::Bytes { place: register } => {
            let inputs = [mutator, register];
            (slow.arguments, slow.inputs) = (&inputs, &inputs);
            site.slow.emit(assembly, &slow)
        }
        Size::Length { place: register, fixed_bytes, element_bytes } => {
            let inputs = [mutator, register];
            let constants = [(Register::RDX, element_bytes), (Register::RCX, fixed_bytes)];
            (slow.arguments, slow.inputs, slow.constants) = (&inputs, &inputs, &constants);
            slow.target = array;
            site.slow.emit(assembly, &slow)
        }
    }
}
