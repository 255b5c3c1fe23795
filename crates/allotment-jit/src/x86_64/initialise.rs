//! Header, length and body of a new object.
//!
//! The header of a zeroed object is part of its first vector store, as in the library's own path: a
//! core commits one vector store a cycle, and small objects are bound by that. The rest takes as
//! few stores as the processor's vectors allow. If the rest is not a multiple of a vector, the last
//! store overlaps the one before. From 512 bytes up there is a loop of four stores.
//!
//! Refused: `rep stosb`, which takes 30 cycles to begin.

use super::assembly::Assembly;
use super::{general, lower, vector};
use crate::EmitError;
use crate::allocation::{Allocation, Initialise, Size};
use crate::register::{Machine, Register};
use crate::site::Site;
use iced_x86::code_asm::{
    AsmMemoryOperand, AsmRegister64, CodeAssembler, get_ymm, ptr, qword_ptr, xmmword_ptr, ymmword_ptr,
};

/// Bodies of at most this size are zeroed by stores in a row.
const STRAIGHT_BYTES: usize = 512;

/// Bytes that one iteration of a loop zeroes, with four stores of 32 bytes or eight of 16.
const TURN_BYTES: usize = 128;

/// The choices by which objects of a site are initialised.
pub(super) struct BodyPlan<'a, 's> {
    pub(super) site: &'a Site<'s>,
    pub(super) avx2: bool,
}

impl BodyPlan<'_, '_> {
    fn width(&self) -> usize {
        if self.avx2 { 32 } else { 16 }
    }

    /// Makes the second vector zero.
    fn clear(&self, hot: &mut CodeAssembler) -> Result<(), EmitError> {
        let zero = vector(self.site.registers.vectors[1])?;
        // The wide register, too: an instruction of AVX clears the bits above its own width.
        if self.avx2 {
            hot.vpxor(zero, zero, zero)?
        } else {
            hot.xorps(zero, zero)?
        }
        Ok(())
    }

    /// Stores `bytes` (8, 16 or 32) of a vector register.
    fn store(
        &self,
        hot: &mut CodeAssembler,
        from: Register,
        bytes: usize,
        base: AsmRegister64,
        offset: usize,
    ) -> Result<(), EmitError> {
        let (xmm, at) = (vector(from)?, base + offset);
        match (bytes, self.avx2) {
            (32, _) => {
                let ymm = get_ymm(iced_x86::Register::YMM0 + from.number() as u32);
                let no_vector = EmitError::NoVector { register: from, machine: Machine::X86_64 };
                hot.vmovdqu(ymmword_ptr(at), ymm.ok_or(no_vector)?)?;
            }
            (16, true) => hot.vmovdqu(xmmword_ptr(at), xmm)?,
            (16, false) => hot.movups(xmmword_ptr(at), xmm)?,
            (_, true) => hot.vmovq(qword_ptr(at), xmm)?,
            (_, false) => hot.movq(qword_ptr(at), xmm)?,
        }
        Ok(())
    }

    /// Zeroes `[base + from, base + to)`. If `overlaps`, the 8 bytes before are zero, too.
    fn zeroes(
        &self,
        hot: &mut CodeAssembler,
        base: AsmRegister64,
        from: usize,
        to: usize,
        overlaps: bool,
    ) -> Result<(), EmitError> {
        let zero = self.site.registers.vectors[1];
        let (mut at, mut overlaps) = (from, overlaps);
        while at < to {
            let left = to - at;
            let bytes = [self.width(), 16, 8].into_iter().find(|bytes| *bytes <= left).unwrap_or(8);
            // One store that begins in zeroed bytes saves the two stores that a rest would take.
            let over = [self.width(), 16].into_iter().filter(|over| *over > left && overlaps).min();
            match over {
                Some(over) if bytes < left && over - left <= at - from + 8 => {
                    self.store(hot, zero, over, base, to - over)?;
                    at = to;
                }
                _ => {
                    self.store(hot, zero, bytes, base, at)?;
                    at += bytes;
                }
            }
            overlaps = true;
        }
        Ok(())
    }
}

/// Makes an object at the address in the object's register plus `offset`: all of it, or, if its
/// size is not known, the words that describe it.
pub(super) fn object(
    assembly: &mut Assembly,
    plan: &BodyPlan<'_, '_>,
    allocation: &Allocation,
    offset: usize,
) -> Result<(), EmitError> {
    match (allocation.size, plan.site.initialise) {
        (Size::Constant { bytes, length: None }, Initialise::PerObject) => {
            return zeroed(assembly, plan, allocation.header, bytes, offset);
        }
        (Size::Constant { bytes, length: Some(_) }, Initialise::PerObject) if bytes > 16 => {
            body(assembly, plan, offset + 16, offset + bytes, false)?;
        }
        _ => {}
    }
    words(assembly, plan, allocation, offset)
}

/// The words that describe an object: header and length.
fn words(
    assembly: &mut Assembly,
    plan: &BodyPlan<'_, '_>,
    allocation: &Allocation,
    offset: usize,
) -> Result<(), EmitError> {
    let registers = &plan.site.registers;
    let object = general(registers.object)?;
    let hot = assembly.hot("header");
    match i32::try_from(allocation.header) {
        Ok(header) => hot.mov(qword_ptr(object + offset), header)?,
        Err(_) => {
            let scratch = general(registers.scratch)?;
            hot.mov(lower(registers.scratch)?, allocation.header as u32)?;
            hot.mov(qword_ptr(object + offset), scratch)?;
        }
    }
    let second = qword_ptr(object + (offset + 8));
    match allocation.size {
        // No inline array is as long as 2^31.
        Size::Constant { length: Some(length), .. } => assembly.hot("length").mov(second, length as i32)?,
        Size::Length { place: register, .. } => assembly.hot("length").mov(second, general(register)?)?,
        Size::Constant { length: None, .. } | Size::Bytes { .. } => {}
    }
    Ok(())
}

/// An object without a length, with its header in the first vector.
fn zeroed(
    assembly: &mut Assembly,
    plan: &BodyPlan<'_, '_>,
    header: u64,
    bytes: usize,
    offset: usize,
) -> Result<(), EmitError> {
    let registers = &plan.site.registers;
    let (object, scratch) = (general(registers.object)?, lower(registers.scratch)?);
    let first = vector(registers.vectors[0])?;
    let width = if bytes >= plan.width() { plan.width() } else { 16 };
    let hot = assembly.hot("header and zeroes in one store");
    hot.mov(scratch, header as u32)?;
    if plan.avx2 {
        hot.vmovd(first, scratch)?
    } else {
        hot.movd(first, scratch)?
    }
    plan.store(hot, registers.vectors[0], width, object, offset)?;
    if bytes > width {
        body(assembly, plan, offset + width, offset + bytes, true)?;
    }
    Ok(())
}

/// Zeroes `[object + from, object + to)`. If `overlaps`, the 8 bytes before are zero, too.
fn body(
    assembly: &mut Assembly,
    plan: &BodyPlan<'_, '_>,
    from: usize,
    to: usize,
    overlaps: bool,
) -> Result<(), EmitError> {
    let registers = &plan.site.registers;
    let object = general(registers.object)?;
    let hot = assembly.hot("zeroes");
    plan.clear(hot)?;
    if to - from <= STRAIGHT_BYTES {
        return plan.zeroes(hot, object, from, to, overlaps);
    }
    let (at, end) = (general(registers.scratch)?, general(registers.top)?);
    let turned = from + (to - from) / TURN_BYTES * TURN_BYTES;
    hot.lea(at, qword_ptr(object + from))?;
    hot.lea(end, qword_ptr(object + turned))?;
    let mut turn = hot.create_label();
    hot.set_label(&mut turn)?;
    for store in (0..TURN_BYTES).step_by(plan.width()) {
        plan.store(hot, registers.vectors[1], plan.width(), at, store)?;
    }
    hot.add(at, TURN_BYTES as i32)?;
    hot.cmp(at, end)?;
    hot.jb(turn)?;
    plan.zeroes(hot, object, turned, to, true)
}

/// Zeroes the body of an object whose size is in a register, up to the new top.
pub(super) fn run_time_body(
    assembly: &mut Assembly,
    plan: &BodyPlan<'_, '_>,
    allocation: &Allocation,
) -> Result<(), EmitError> {
    if plan.site.initialise != Initialise::PerObject || allocation.bytes().is_some() {
        return Ok(());
    }
    let registers = &plan.site.registers;
    let (object, at, top) =
        (general(registers.object)?, general(registers.scratch)?, general(registers.top)?);
    let width = plan.width();
    let hot = assembly.hot("zeroes, a vector at a time");
    plan.clear(hot)?;
    // The length, if there is one, is written over its zero.
    hot.lea(at, qword_ptr(object + 8))?;
    let (mut vectors, mut more) = (hot.create_label(), hot.create_label());
    hot.sub(top, width as i32)?;
    hot.jmp(more)?;
    hot.set_label(&mut vectors)?;
    plan.store(hot, registers.vectors[1], width, at, 0)?;
    hot.add(at, width as i32)?;
    hot.set_label(&mut more)?;
    hot.cmp(at, top)?;
    hot.jbe(vectors)?;
    hot.add(top, width as i32)?;
    let hot = assembly.hot("zeroes, a word at a time");
    let (mut words, mut more) = (hot.create_label(), hot.create_label());
    hot.jmp(more)?;
    hot.set_label(&mut words)?;
    let word: AsmMemoryOperand = qword_ptr(ptr(at));
    hot.mov(word, 0_i32)?;
    hot.add(at, 8_i32)?;
    hot.set_label(&mut more)?;
    hot.cmp(at, top)?;
    hot.jb(words)?;
    Ok(())
}
