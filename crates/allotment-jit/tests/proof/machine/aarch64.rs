//! The frame of AArch64: code of this program, which is right at any address, as bytes.

use super::RegisterFile;
use allotment_jit::{Machine, Sequence};
use std::arch::global_asm;
use std::mem::offset_of;

global_asm!(
    ".pushsection .text",
    "proof_prologue:",
    "sub sp, sp, #160",
    "stp x29, x30, [sp]",
    "stp x19, x20, [sp, #16]",
    "stp x21, x22, [sp, #32]",
    "stp x23, x24, [sp, #48]",
    "stp x25, x26, [sp, #64]",
    "stp x27, x28, [sp, #80]",
    "stp d8, d9, [sp, #96]",
    "stp d10, d11, [sp, #112]",
    "stp d12, d13, [sp, #128]",
    "stp d14, d15, [sp, #144]",
    "mov x9, sp",
    "str x9, [x0, {saved}]",
    "sub sp, sp, #16",
    "str x0, [sp]",
    "mov x9, sp",
    "str x9, [x0, {before}]",
    "add x16, x0, {vectors}",
    ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, \
     27, 28, 29, 30, 31",
    r"ldr q\number, [x16, #(16 * \number)]",
    ".endr",
    ".irp number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, \
     28, 29, 30, 0",
    r"ldr x\number, [x0, #(8 * \number)]",
    ".endr",
    "proof_prologue_end:",
    ".macro proof_epilogue no_room",
    "str x0, [sp, #8]",
    "ldr x0, [sp]",
    ".irp number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, \
     28, 29, 30",
    r"str x\number, [x0, #(8 * \number)]",
    ".endr",
    "ldr x1, [sp, #8]",
    "str x1, [x0]",
    "mov x1, sp",
    "str x1, [x0, {after}]",
    "add x1, x0, {vectors}",
    ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, \
     27, 28, 29, 30, 31",
    r"str q\number, [x1, #(16 * \number)]",
    ".endr",
    r"mov x1, #\no_room",
    "str x1, [x0, {no_room}]",
    "ldr x1, [x0, {saved}]",
    "mov sp, x1",
    "ldp x29, x30, [sp]",
    "ldp x19, x20, [sp, #16]",
    "ldp x21, x22, [sp, #32]",
    "ldp x23, x24, [sp, #48]",
    "ldp x25, x26, [sp, #64]",
    "ldp x27, x28, [sp, #80]",
    "ldp d8, d9, [sp, #96]",
    "ldp d10, d11, [sp, #112]",
    "ldp d12, d13, [sp, #128]",
    "ldp d14, d15, [sp, #144]",
    "add sp, sp, #160",
    "ret",
    ".endm",
    "proof_done:",
    "proof_epilogue 0",
    "proof_done_end:",
    "proof_no_room:",
    "proof_epilogue 1",
    "proof_no_room_end:",
    ".popsection",
    saved = const offset_of!(RegisterFile, saved_stack),
    before = const offset_of!(RegisterFile, stack_before),
    after = const offset_of!(RegisterFile, stack_after),
    vectors = const offset_of!(RegisterFile, vectors),
    no_room = const offset_of!(RegisterFile, no_room),
);

unsafe extern "C" {
    static proof_prologue: u8;
    static proof_prologue_end: u8;
    static proof_done: u8;
    static proof_done_end: u8;
    static proof_no_room: u8;
    static proof_no_room_end: u8;
}

fn between(start: *const u8, end: *const u8) -> Sequence {
    // SAFETY: the code above lies between these labels, and nobody changes it.
    let code = unsafe { std::slice::from_raw_parts(start, end.addr() - start.addr()) };
    Sequence::code(Machine::AArch64, code, &[]).unwrap()
}

/// The stack pointer of AArch64 is always a multiple of 16.
pub(super) fn prologue(misaligned: bool) -> Sequence {
    assert!(!misaligned);
    between(&raw const proof_prologue, &raw const proof_prologue_end)
}

/// With `no_room` it notes that the sequence left for the code of a heap without room.
pub(super) fn epilogue(no_room: bool) -> Sequence {
    match no_room {
        false => between(&raw const proof_done, &raw const proof_done_end),
        true => between(&raw const proof_no_room, &raw const proof_no_room_end),
    }
}
