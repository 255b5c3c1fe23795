//! The prefetches of an allocation, as HotSpot's styles define them.
//!
//! With `T` the old top, `N` the new one, `D` the distance, `S` the step, `L` the lines, for `i` in
//! `0..L`:
//!
//! | style | when | addresses |
//! |---|---|---|
//! | 1 | always | `N + D + i*S` |
//! | 2 | `N >= W`, then `W = W + D` | `W + i*S`, with the new `W` |
//! | 3 | always | `((T + S + D) & -S) + i*S` |
//!
//! Addresses are not compared with the end, because a prefetch never faults.

use super::assembler::{Assembler, Condition, General, offset_fits};
use super::assembly::{Assembly, SCRATCH};
use super::slow::back_to;
use crate::EmitError;
use crate::relocation::Part;
use crate::site::{Bump, Settings};
use allotment::raw::{Hot, PrefetchInstruction, PrefetchStyle};

/// Emits the prefetches of a site.
pub(super) fn emit(settings: &Settings, assembly: &mut Assembly, bump: &Bump<'_>) -> Result<(), EmitError> {
    let settings = &settings.prefetch;
    let registers = &bump.site.registers;
    let (object, top) = (General::of(registers.object)?, General::of(registers.top)?);
    let (mutator, scratch) = (General::of(registers.mutator)?, General::of(registers.scratch)?);
    let array = bump.site.allocations.iter().any(|allocation| allocation.is_array());
    let lines = settings.lines_for(array, bump.total);
    // At most a megabyte each, and 64 lines: the sum fits.
    let (distance, step) = (settings.distance as i64, settings.step as i64);
    let ahead = |line: usize| line as i64 * step;
    match settings.style {
        PrefetchStyle::None => {}
        PrefetchStyle::Always => {
            let hot = assembly.hot("lines ahead of the new top");
            for line in 0..lines {
                one(hot, settings.instruction, top, distance + ahead(line))?;
            }
        }
        PrefetchStyle::Watermark => {
            let (fetch, resume) = (assembly.label(), assembly.label());
            let hot = assembly.hot("has the top come to the watermark?");
            hot.ldr(scratch, mutator, Hot::WATERMARK_OFFSET as i64)?;
            hot.cmp(top, scratch);
            hot.b_if(Condition::AboveOrEqual, fetch);
            assembly.set(Part::Hot, resume);
            assembly.set(Part::Cold, fetch);
            let cold = assembly.cold("the watermark goes on by the distance");
            cold.add_constant(scratch, scratch, distance)?;
            cold.str(scratch, mutator, Hot::WATERMARK_OFFSET as i64)?;
            let cold = assembly.cold("lines from the watermark on");
            for line in 0..lines {
                one(cold, settings.instruction, scratch, ahead(line))?;
            }
            back_to(assembly, resume);
        }
        PrefetchStyle::Lines => {
            let hot = assembly.hot("whole lines ahead of the object");
            hot.add_constant(scratch, object, step + distance)?;
            // The step is a power of two.
            hot.clear_lowest(scratch, scratch, step.trailing_zeros())?;
            for line in 0..lines {
                one(hot, settings.instruction, scratch, ahead(line))?;
            }
        }
    }
    Ok(())
}

fn one(
    assembler: &mut Assembler,
    instruction: PrefetchInstruction,
    base: General,
    offset: i64,
) -> Result<(), EmitError> {
    if offset_fits(offset) {
        return assembler.prfm(instruction, base, offset);
    }
    assembler.add_constant(SCRATCH, base, offset)?;
    assembler.prfm(instruction, SCRATCH, 0)
}
