//! Header, length and body of a new object.
//!
//! Header and length are one store of a pair, and so are the header and the first zero of an object
//! without a length. Up to 64 bytes are zeroed from the zero register. Larger bodies take a vector,
//! with 32 bytes for each store, and from 512 bytes up a loop of four stores.
//!
//! Refused: `dc zva`. It zeroes whole blocks of a size that the processor chooses, and an object
//! rarely has one.

use super::assembler::{Assembler, Condition, General, Source, Vector, ZERO, pair_offset_fits};
use super::assembly::{Assembly, SCRATCH, SCRATCH_2};
use crate::EmitError;
use crate::allocation::{Allocation, Initialise, Size};
use crate::relocation::Part;
use crate::site::{Bump, Site};

/// Bodies of at most this size are zeroed from the zero register.
const SMALL_BYTES: usize = 64;

/// Bodies of at most this size are zeroed by stores in a row.
const STRAIGHT_BYTES: usize = 512;

/// Bytes that one store of a pair of vectors zeroes.
const STORE_BYTES: usize = 32;

/// Bytes that one iteration of a loop zeroes.
const TURN_BYTES: usize = 128;

/// Makes an object at the address in the object's register plus `offset`: all of it, or, if its
/// size is not known, the words that describe it.
pub(super) fn object(
    assembly: &mut Assembly,
    site: &Site<'_>,
    allocation: &Allocation,
    offset: usize,
) -> Result<(), EmitError> {
    let zeroed = match site.initialise {
        Initialise::PerObject => allocation.bytes(),
        _ => None,
    };
    let (object, scratch) = (General::of(site.registers.object)?, General::of(site.registers.scratch)?);
    let (base, at) = if pair_offset_fits(offset as i64) {
        (object, offset as i64)
    } else {
        assembly.hot("the object").add_constant(SCRATCH_2, object, offset as i64)?;
        (SCRATCH_2, 0)
    };
    let second: Option<Source> = match allocation.size {
        Size::Constant { length: Some(0), .. } => Some(ZERO),
        Size::Constant { length: Some(length), .. } => {
            assembly.hot("length").mov_constant(SCRATCH, length as u64)?;
            Some(SCRATCH.into())
        }
        Size::Length { place, .. } => Some(General::of(place)?.into()),
        Size::Constant { length: None, .. } => zeroed.map(|_| ZERO),
        Size::Bytes { .. } => None,
    };
    let hot = assembly.hot(match (second, allocation.is_array()) {
        (None, _) => "header",
        (Some(_), true) => "header and length in one store",
        (Some(_), false) => "header and zeroes in one store",
    });
    hot.mov_constant(scratch, allocation.header)?;
    match second {
        Some(second) => hot.stp(scratch, second, base, at)?,
        None => hot.str(scratch, base, at)?,
    }
    match zeroed {
        Some(bytes) if bytes > 16 => body(assembly, site, offset + 16, offset + bytes),
        _ => Ok(()),
    }
}

/// Zeroes `[object + from, object + to)`.
fn body(assembly: &mut Assembly, site: &Site<'_>, from: usize, to: usize) -> Result<(), EmitError> {
    let registers = &site.registers;
    let (object, at, end) =
        (General::of(registers.object)?, General::of(registers.scratch)?, General::of(registers.top)?);
    let bytes = to - from;
    if bytes <= SMALL_BYTES {
        let hot = assembly.hot("zeroes");
        if pair_offset_fits(to as i64) {
            return words(hot, object, from, to);
        }
        hot.add_constant(at, object, from as i64)?;
        return words(hot, at, 0, bytes);
    }
    let zero = Vector::of(registers.vectors[1])?;
    let hot = assembly.hot("zeroes");
    hot.clear(zero);
    if bytes <= STRAIGHT_BYTES {
        // The offset of a store is a multiple of 16, below 1 KiB.
        if from.is_multiple_of(16) && to <= 1024 {
            return vectors(hot, zero, object, from, to);
        }
        hot.add_constant(at, object, from as i64)?;
        return vectors(hot, zero, at, 0, bytes);
    }
    let turned = bytes / TURN_BYTES * TURN_BYTES;
    hot.add_constant(at, object, from as i64)?;
    hot.add_constant(end, at, turned as i64)?;
    let turn = assembly.label();
    assembly.set(Part::Hot, turn);
    let hot = assembly.hot("zeroes, four stores at a time");
    for offset in (0..TURN_BYTES).step_by(STORE_BYTES) {
        hot.stp_vector_twice(zero, at, offset as i64)?;
    }
    hot.add_immediate(at, at, TURN_BYTES as u64)?;
    hot.cmp(at, end);
    hot.b_if(Condition::Below, turn);
    vectors(assembly.hot("zeroes"), zero, at, 0, bytes - turned)
}

/// Zeroes `[base + from, base + to)` by vectors, and the rest by words. `from` is a multiple of 16.
fn vectors(
    hot: &mut Assembler,
    zero: Vector,
    base: General,
    from: usize,
    to: usize,
) -> Result<(), EmitError> {
    let mut at = from;
    while to - at >= STORE_BYTES {
        hot.stp_vector_twice(zero, base, at as i64)?;
        at += STORE_BYTES;
    }
    words(hot, base, at, to)
}

/// Zeroes `[base + from, base + to)` from the zero register.
fn words(hot: &mut Assembler, base: General, from: usize, to: usize) -> Result<(), EmitError> {
    let mut at = from;
    while at < to {
        if to - at >= 16 && pair_offset_fits(at as i64) {
            hot.stp(ZERO, ZERO, base, at as i64)?;
            at += 16;
        } else {
            hot.str(ZERO, base, at as i64)?;
            at += 8;
        }
    }
    Ok(())
}

/// Zeroes the body of an object whose size is in a register, up to the new top.
pub(super) fn run_time_body(assembly: &mut Assembly, bump: &Bump<'_>) -> Result<(), EmitError> {
    if bump.site.initialise != Initialise::PerObject || bump.first.bytes().is_some() {
        return Ok(());
    }
    let registers = &bump.site.registers;
    let (object, at, top) =
        (General::of(registers.object)?, General::of(registers.scratch)?, General::of(registers.top)?);
    let zero = Vector::of(registers.vectors[1])?;
    let (vectors, more_vectors) = (assembly.label(), assembly.label());
    let (words, more_words) = (assembly.label(), assembly.label());
    let hot = assembly.hot("zeroes, a pair of vectors at a time");
    hot.clear(zero);
    // The length, if there is one, is written over its zero.
    hot.add_immediate(at, object, 8)?;
    hot.sub_immediate(top, top, STORE_BYTES as u64)?;
    hot.b(more_vectors);
    assembly.set(Part::Hot, vectors);
    let hot = assembly.hot("zeroes, a pair of vectors at a time");
    hot.stp_vector_twice(zero, at, 0)?;
    hot.add_immediate(at, at, STORE_BYTES as u64)?;
    assembly.set(Part::Hot, more_vectors);
    let hot = assembly.hot("zeroes, a pair of vectors at a time");
    hot.cmp(at, top);
    hot.b_if(Condition::BelowOrEqual, vectors);
    hot.add_immediate(top, top, STORE_BYTES as u64)?;
    let hot = assembly.hot("zeroes, a word at a time");
    hot.b(more_words);
    assembly.set(Part::Hot, words);
    let hot = assembly.hot("zeroes, a word at a time");
    hot.str(ZERO, at, 0)?;
    hot.add_immediate(at, at, 8)?;
    assembly.set(Part::Hot, more_words);
    let hot = assembly.hot("zeroes, a word at a time");
    hot.cmp(at, top);
    hot.b_if(Condition::Below, words);
    Ok(())
}
