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

use super::assembly::Assembly;
use super::general;
use super::slow::back_to;
use crate::EmitError;
use crate::relocation::Part;
use crate::site::Bump;
use allotment::raw::{Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle};
use iced_x86::code_asm::{AsmMemoryOperand, CodeAssembler, byte_ptr, qword_ptr};

/// Emits the prefetches of a bump.
pub(super) fn emit(
    settings: &PrefetchSettings,
    assembly: &mut Assembly,
    bump: &Bump<'_>,
) -> Result<(), EmitError> {
    let site = bump.site;
    let registers = &site.registers;
    let (object, top) = (general(registers.object)?, general(registers.top)?);
    let (mutator, scratch) = (general(registers.mutator)?, general(registers.scratch)?);
    let array = site.allocations.iter().any(|allocation| allocation.is_array());
    let lines = settings.lines_for(array, bump.total);
    // At most a megabyte each, and 64 lines: the sum fits.
    let (distance, step) = (settings.distance as i32, settings.step as i32);
    let ahead = |line: usize| line as i32 * step;
    match settings.style {
        PrefetchStyle::None => {}
        PrefetchStyle::Always => {
            let hot = assembly.hot("lines ahead of the new top");
            for line in 0..lines {
                one(hot, settings.instruction, byte_ptr(top + (distance + ahead(line))))?;
            }
        }
        PrefetchStyle::Watermark => {
            let (fetch, resume) = (assembly.mark(), assembly.mark());
            let to = assembly.refer_to(fetch);
            let hot = assembly.hot("has the top come to the watermark?");
            hot.cmp(top, qword_ptr(mutator + Hot::WATERMARK_OFFSET))?;
            hot.jae(to)?;
            assembly.set(Part::Hot, resume);
            assembly.set(Part::Cold, fetch);
            let cold = assembly.cold("the watermark goes on by the distance");
            cold.mov(scratch, qword_ptr(mutator + Hot::WATERMARK_OFFSET))?;
            cold.add(scratch, distance)?;
            cold.mov(qword_ptr(mutator + Hot::WATERMARK_OFFSET), scratch)?;
            let cold = assembly.cold("lines from the watermark on");
            for line in 0..lines {
                one(cold, settings.instruction, byte_ptr(scratch + ahead(line)))?;
            }
            back_to(assembly, resume)?;
        }
        PrefetchStyle::Lines => {
            let hot = assembly.hot("whole lines ahead of the object");
            hot.lea(scratch, qword_ptr(object + (step + distance)))?;
            hot.and(scratch, -step)?;
            for line in 0..lines {
                one(hot, settings.instruction, byte_ptr(scratch + ahead(line)))?;
            }
        }
    }
    Ok(())
}

fn one(
    assembler: &mut CodeAssembler,
    instruction: PrefetchInstruction,
    address: AsmMemoryOperand,
) -> Result<(), EmitError> {
    match instruction {
        PrefetchInstruction::Nta => assembler.prefetchnta(address)?,
        PrefetchInstruction::T0 => assembler.prefetcht0(address)?,
        PrefetchInstruction::T2 => assembler.prefetcht2(address)?,
        PrefetchInstruction::Write => assembler.prefetchw(address)?,
    }
    Ok(())
}
