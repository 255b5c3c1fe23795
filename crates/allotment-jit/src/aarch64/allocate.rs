//! The allocation sequence.
//!
//! ```text
//! ldp  object, scratch, [mutator]    the old top and the limit; with zeroes ahead two loads
//! add  top, object, #BYTES
//! cmp  top, scratch                  b.hi slow
//! prefetches
//! str  top, [mutator]
//! header, length, zeroes
//! ```
//!
//! The compare is the library's own, `top > limit`. The slow path returns memory, not an object. The
//! cold part then jumps back in line to the store of the header, so the initialisation of an object
//! is emitted once. An array whose length is in a register is first checked against a limit, so that
//! no sum wraps. Above the limit the heap does the arithmetic.

use super::assembler::{Condition, General, Label, Width};
use super::assembly::{Assembly, SCRATCH};
use super::slow::Call;
use super::top::new_top;
use super::{initialise, past_buffers, prefetch};
use crate::EmitError;
use crate::allocation::{Initialise, MAX_INLINE_BYTES, Size, longest_inline};
use crate::register::Register;
use crate::relocation::{Part, Target};
use crate::sequence::Sequence;
use crate::site::{Bump, Settings};
use allotment::raw::{AArch64, Hot};

/// The sequence of a site.
pub(crate) fn allocate(
    processor: &AArch64,
    settings: &Settings,
    bump: &Bump<'_>,
) -> Result<Sequence, EmitError> {
    let registers = &bump.site.registers;
    let (object, top, mutator) =
        (General::of(registers.object)?, General::of(registers.top)?, General::of(registers.mutator)?);
    let mut assembly = Assembly::default();
    let (slow, made) = (assembly.label(), assembly.label());
    // `past`: the code for an allocation without a buffer. `taken`: where it continues with its
    // memory.
    let (past, taken) = (assembly.label(), assembly.label());
    bump_top(&mut assembly, bump, slow, past)?;
    prefetch::emit(settings, &mut assembly, bump)?;
    assembly.hot("the new top").str(top, mutator, Hot::TOP_OFFSET as i64)?;
    assembly.set(Part::Hot, taken);
    // If the size is not known here, memory from a slow path is already zero: it is not zeroed
    // again.
    initialise::run_time_body(&mut assembly, bump)?;
    assembly.set(Part::Hot, made);
    for (allocation, offset) in bump.site.allocations.iter().zip(&bump.offsets) {
        initialise::object(&mut assembly, bump.site, allocation, *offset)?;
    }
    let done = assembly.label();
    assembly.set(Part::Hot, done);
    if bump.is_stub {
        let hot = assembly.hot("the object is the result");
        hot.mov(General::x(0), object);
        hot.ret();
    }

    assembly.set(Part::Cold, past);
    if settings.past_buffers {
        past_buffers::emit(processor, &mut assembly, bump, taken)?;
    }
    assembly.set(Part::Cold, slow);
    call(&mut assembly, bump)?;
    assembly.cold("back in line, if there is room in the heap").cbnz(Width::Bits64, object, made);
    if bump.is_stub {
        assembly.cold("no room in the heap").b(done);
    } else {
        leave_without_room(&mut assembly)?;
    }
    assembly.finish(Some(registers.object), bump.offsets.clone())
}

/// Jumps to the program's code for a heap without room, which may be anywhere.
fn leave_without_room(assembly: &mut Assembly) -> Result<(), EmitError> {
    assembly.as_call(|assembly| {
        let literal = assembly.literal(Target::OutOfMemory);
        let cold = assembly.cold("no room in the heap");
        cold.ldr_literal(SCRATCH, literal);
        cold.br(SCRATCH);
        Ok(())
    })
}

/// Loads the top, adds, compares. Jumps to `slow` if the object is too large, and to `past` if the
/// limit forbids it.
fn bump_top(assembly: &mut Assembly, bump: &Bump<'_>, slow: Label, past: Label) -> Result<(), EmitError> {
    let registers = &bump.site.registers;
    let (object, top, mutator) =
        (General::of(registers.object)?, General::of(registers.top)?, General::of(registers.mutator)?);
    let limit = General::of(registers.scratch)?;
    let (question, most, place) = match bump.first.size {
        Size::Constant { .. } => ("", 0, None),
        Size::Bytes { place } => ("too large to be in line?", MAX_INLINE_BYTES, Some(place)),
        Size::Length { place, fixed_bytes, element_bytes } => {
            ("too long to be in line?", longest_inline(fixed_bytes, element_bytes), Some(place))
        }
    };
    if let Some(place) = place {
        let hot = assembly.hot(question);
        hot.cmp_constant(General::of(place)?, most as u64, limit)?;
        hot.b_if(Condition::Above, slow);
    }
    let hot = assembly.hot("the old top, the object's address, and the limit");
    if bump.site.initialise == Initialise::Ahead {
        hot.ldr(object, mutator, Hot::TOP_OFFSET as i64)?;
        hot.ldr(limit, mutator, Hot::ZEROED_LIMIT_OFFSET as i64)?;
    } else {
        const { assert!(Hot::LIMIT_OFFSET == Hot::TOP_OFFSET + 8) };
        hot.ldp(object, limit, mutator, Hot::TOP_OFFSET as i64)?;
    }
    new_top(assembly.hot("the new top"), top, object, bump)?;
    let hot = assembly.hot("beyond the limit?");
    hot.cmp(top, limit);
    hot.b_if(Condition::Above, past);
    Ok(())
}

/// The call of the slow path.
fn call(assembly: &mut Assembly, bump: &Bump<'_>) -> Result<(), EmitError> {
    let site = bump.site;
    let mutator = site.registers.mutator;
    let (plain, array) = match site.initialise.slow_path_zeroes(bump.total.is_some()) {
        false => (Target::Allocate, Target::AllocateArray),
        true => (Target::AllocateZeroed, Target::AllocateArrayZeroed),
    };
    let emit = |assembly: &mut Assembly, target, arguments: &[Register], constants: &[(u8, usize)]| {
        let call = Call {
            target,
            arguments,
            displacement: 0,
            constants,
            inputs: arguments,
            preserve: site.slow.preserve,
            result: Some(site.registers.object),
            is_safepoint: true,
            is_stub: bump.is_stub,
        };
        call.emit(assembly)
    };
    match bump.first.size {
        Size::Constant { bytes, .. } => {
            emit(assembly, plain, &[mutator], &[(1, bump.total.unwrap_or(bytes))])
        }
        Size::Bytes { place } => emit(assembly, plain, &[mutator, place], &[]),
        Size::Length { place, fixed_bytes, element_bytes } => {
            emit(assembly, array, &[mutator, place], &[(2, element_bytes), (3, fixed_bytes)])
        }
    }
}
