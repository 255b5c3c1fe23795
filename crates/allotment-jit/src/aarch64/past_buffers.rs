//! The allocation past buffers: a compare-and-swap on the top of a region that all threads share.
//!
//! ```text
//!        ldr   region, [mutator, REGION]        none: call the heap
//!        ldr   w16, [mutator, REQUESTED]        a stop: call the heap
//!        ldr   x16, [region, END]
//!        add   x17, region, TOP
//! again: ldaxr object, [x17]
//!        add   top, object, BYTES
//!        cmp   top, x16                         full: call the heap
//!        stlxr status, top, [x17]               failed: counts, and goes on with `again`
//!        BYTES_TAKEN += BYTES, OBJECTS_TAKEN += 1
//!        b     back in line
//! ```
//!
//! With the Large System Extensions the exchange is `casal`. It is out of line, after the compare,
//! which fails if there is no buffer, and before the call. So all heaps have the same sequence in
//! line. The threads of a heap with buffers have no such region and go on to the call. Another
//! thread may have replaced the region meanwhile. Then the region is still shared until this thread
//! comes to a safepoint, and nothing here is kept over a call. A region's end never changes.
//!
//! There is no such code if the memory has to be zeroed ahead, since the call does that.

use super::assembler::{Assembler, Condition, General, Label, Width};
use super::assembly::{Assembly, SCRATCH, SCRATCH_2};
use super::slow::back_to;
use super::top::new_top;
use crate::EmitError;
use crate::allocation::Initialise;
use crate::relocation::Part;
use crate::site::Bump;
use allotment::raw::{AArch64, Hot};

/// Emits the code to the cold part, before the call. `made` is the place in line where the sequence
/// continues.
pub(super) fn emit(
    processor: &AArch64,
    assembly: &mut Assembly,
    bump: &Bump<'_>,
    made: Label,
) -> Result<(), EmitError> {
    let registers = &bump.site.registers;
    if bump.site.initialise == Initialise::Ahead {
        return Ok(());
    }
    let (mutator, object) = (General::of(registers.mutator)?, General::of(registers.object)?);
    let (new, region) = (General::of(registers.top)?, General::of(registers.scratch)?);
    let (call, again, failed) = (assembly.label(), assembly.label(), assembly.label());
    let (end, top_at) = (SCRATCH, SCRATCH_2);
    let cold = assembly.cold("a region of all threads, without buffers?");
    cold.ldr(region, mutator, Hot::REGION_OFFSET as i64)?;
    cold.cbz(Width::Bits64, region, call);
    let cold = assembly.cold("a stop is requested?");
    cold.ldr_32(SCRATCH, mutator, Hot::REQUESTED_OFFSET as i64)?;
    cold.cbnz(Width::Bits32, SCRATCH, call);
    let cold = assembly.cold("the region's end and top");
    cold.ldr(end, region, Hot::REGION_END_OFFSET as i64)?;
    cold.add_immediate(top_at, region, Hot::REGION_TOP_OFFSET as u64)?;
    if processor.lse {
        cold.ldr(object, top_at, 0)?;
    }
    assembly.set(Part::Cold, again);
    if !processor.lse {
        assembly.cold("the region's top").ldaxr(object, top_at);
    }
    let cold = assembly.cold("the region's new top, beyond its end?");
    new_top(cold, new, object, bump)?;
    cold.cmp(new, end);
    cold.b_if(Condition::Above, call);
    let (status, cold) = (region, assembly.cold("if nobody moved it"));
    if processor.lse {
        cold.mov(status, object);
        cold.casal(status, new, top_at);
        cold.cmp(status, object);
        cold.b_if(Condition::NotEqual, failed);
    } else {
        cold.stlxr(status, new, top_at)?;
        cold.cbnz(Width::Bits32, status, failed);
    }
    let cold = assembly.cold("counted");
    match bump.total {
        Some(bytes) => count(cold, SCRATCH, mutator, Hot::REGION_BYTES_OFFSET, |cold| {
            cold.add_constant(SCRATCH, SCRATCH, bytes as i64)
        })?,
        None => {
            cold.sub(status, new, object);
            count(cold, SCRATCH, mutator, Hot::REGION_BYTES_OFFSET, |cold| {
                cold.add_shifted_left(SCRATCH, SCRATCH, status, 0)
            })?;
        }
    }
    count(cold, SCRATCH, mutator, Hot::REGION_OBJECTS_OFFSET, |cold| {
        cold.add_immediate(SCRATCH, SCRATCH, 1)
    })?;
    back_to(assembly, made);
    assembly.set(Part::Cold, failed);
    let cold = assembly.cold("another thread was quicker");
    if processor.lse {
        cold.mov(object, status);
    }
    // In `new`, which is made anew: `end` stays in its register.
    count(cold, new, mutator, Hot::REGION_FAILURES_OFFSET, |cold| cold.add_immediate(new, new, 1))?;
    cold.b(again);
    assembly.set(Part::Cold, call);
    Ok(())
}

/// Changes a count of the hot part, in the register `count`.
fn count(
    cold: &mut Assembler,
    count: General,
    mutator: General,
    offset: usize,
    change: impl FnOnce(&mut Assembler) -> Result<(), EmitError>,
) -> Result<(), EmitError> {
    cold.ldr(count, mutator, offset as i64)?;
    change(cold)?;
    cold.str(count, mutator, offset as i64)
}
