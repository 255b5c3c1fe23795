//! Bodies that the allocation zeroes: stores of 16 bytes, the widest that every processor has, and
//! a loop for large bodies.

use super::lowering::{enter, offset_by, trusted};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;

/// Bodies of at most this size are zeroed by stores in a row, as in the emitted code.
const STRAIGHT_BYTES: i32 = 512;

/// Bytes that one iteration of a loop zeroes.
const TURN_BYTES: i32 = 128;

const VECTOR_BYTES: i32 = 16;

/// Zeroes `[base + from, base + to)`, a multiple of 8 bytes.
pub(super) fn constant(builder: &mut FunctionBuilder<'_>, base: Value, from: i32, to: i32) {
    let mut at = from;
    if to - from > STRAIGHT_BYTES {
        at = from + (to - from) / TURN_BYTES * TURN_BYTES;
        let end = offset_by(builder, base, at.into());
        turns(builder, base, from, end, TURN_BYTES);
    }
    straight(builder, base, at, to);
}

/// Zeroes `[base + from, end)`, a multiple of `turn` bytes, or nothing if it is empty.
pub(super) fn turns(builder: &mut FunctionBuilder<'_>, base: Value, from: i32, end: Value, turn: i32) {
    let (head, body, done) = (builder.create_block(), builder.create_block(), builder.create_block());
    let at = builder.append_block_param(head, I64);
    let start = offset_by(builder, base, from.into());
    builder.ins().jump(head, &[start.into()]);
    builder.switch_to_block(head);
    let more = builder.ins().icmp(IntCC::UnsignedLessThan, at, end);
    builder.ins().brif(more, body, &[], done, &[]);
    enter(builder, body);
    straight(builder, at, 0, turn);
    let next = offset_by(builder, at, turn.into());
    builder.ins().jump(head, &[next.into()]);
    builder.seal_block(head);
    enter(builder, done);
}

/// Zeroes `[base + from, base + to)` with stores in a row.
fn straight(builder: &mut FunctionBuilder<'_>, base: Value, from: i32, to: i32) {
    let mut at = from;
    if to - at >= VECTOR_BYTES {
        let zeroes = builder.func.dfg.constants.insert([0; VECTOR_BYTES as usize].as_slice().into());
        let zeroes = builder.ins().vconst(I8X16, zeroes);
        // The address has the alignment of a word, which is less than that of a vector.
        let unaligned = MemFlagsData::new().with_notrap();
        while to - at >= VECTOR_BYTES {
            builder.ins().store(unaligned, zeroes, base, at);
            at += VECTOR_BYTES;
        }
    }
    if at < to {
        let zero = builder.ins().iconst(I64, 0);
        builder.ins().store(trusted(), zero, base, at);
    }
}
