//! A frame around a pasted sequence: it loads every register from memory before the sequence and
//! stores every register after it.
//!
//! Its only own word on the stack is the address of that memory. So the frame notices if a sequence
//! does not pop all that it pushed. A sequence that jumps to the code for a heap without room also
//! ends in this epilogue, which finds the frame at the stack pointer.

use super::kit::{assembled, vectors};
use allotment_jit::{Code, CodeBuffer, FunctionId, Register, Sequence, Target};
use iced_x86::code_asm::registers::gpr64::*;
use iced_x86::code_asm::{
    AsmRegister64, AsmRegisterXmm, CodeAssembler, get_gpr64, get_xmm, qword_ptr, xmmword_ptr,
};
use iced_x86::{IcedError, Register as Iced};
use std::mem::{offset_of, transmute};
use std::sync::LazyLock;

/// The contents of the registers.
#[derive(Clone, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct RegisterFile {
    general: [u64; 16],
    vectors: [u128; 16],
    saved_rsp: u64,
    rsp_before: u64,
    rsp_after: u64,
    /// Whether the sequence left for the code of a heap without room.
    no_room: u64,
}

impl RegisterFile {
    /// A pattern in every register, another one for each `seed`.
    pub(crate) fn patterned(seed: u64) -> RegisterFile {
        let word = |number: u64| (seed << 8 | number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let vector = |number: u64| u128::from(word(number)) << 64 | u128::from(word(number + 16));
        RegisterFile {
            general: std::array::from_fn(|number| word(number as u64)),
            vectors: std::array::from_fn(|number| vector(number as u64 + 16)),
            ..RegisterFile::default()
        }
    }

    /// The register's value: of a vector its lower half mixed with its upper.
    pub(crate) fn get(&self, register: Register) -> u64 {
        if register.is_vector() {
            let vector = self.vectors[register.number()];
            return (vector ^ vector >> 64) as u64;
        }
        self.general[register.number()]
    }

    pub(crate) fn set(&mut self, register: Register, value: u64) {
        self.general[register.number()] = value;
    }

    pub(crate) fn no_room(&self) -> bool {
        self.no_room != 0
    }

    /// The stack pointer that the sequence found.
    pub(crate) fn stack(&self) -> u64 {
        self.rsp_before
    }

    /// Runs the function.
    ///
    /// # Safety
    /// - The function is one of [`framed`], and the registers have the values that it needs.
    pub(crate) unsafe fn run(&mut self, code: &Code, function: FunctionId) {
        // SAFETY: `framed` made a function of that signature.
        let run: unsafe extern "C" fn(*mut RegisterFile) = unsafe { transmute(code.entry(function)) };
        // SAFETY: the caller's predicate.
        unsafe { run(self) };
        assert_eq!(self.rsp_before, self.rsp_after, "what is pushed is popped");
    }
}

/// The place of a register.
fn place(register: Register) -> usize {
    if register.is_vector() {
        offset_of!(RegisterFile, vectors) + 16 * register.number()
    } else {
        offset_of!(RegisterFile, general) + 8 * register.number()
    }
}

fn general(register: Register) -> AsmRegister64 {
    get_gpr64(Iced::RAX + register.number() as u32).unwrap()
}

fn vector(register: Register) -> AsmRegisterXmm {
    get_xmm(Iced::XMM0 + register.number() as u32).unwrap()
}

const CALLEE_SAVED: [AsmRegister64; 6] = [rbx, rbp, r12, r13, r14, r15];

/// With `misaligned` the sequence runs with the stack 8 bytes off a multiple of 16.
fn prologue(a: &mut CodeAssembler, misaligned: bool) -> Result<(), IcedError> {
    // After a call the stack is 8 bytes off a multiple of 16, and after six more words it still is.
    CALLEE_SAVED.into_iter().try_for_each(|register| a.push(register))?;
    a.mov(qword_ptr(rdi + offset_of!(RegisterFile, saved_rsp)), rsp)?;
    for _ in 0..1 + u32::from(misaligned) {
        a.push(rdi)?;
    }
    a.mov(qword_ptr(rdi + offset_of!(RegisterFile, rsp_before)), rsp)?;
    for register in vectors() {
        a.movups(vector(register), xmmword_ptr(rdi + place(register)))?;
    }
    for register in super::kit::GENERAL.into_iter().filter(|register| *register != Register::RDI) {
        a.mov(general(register), qword_ptr(rdi + place(register)))?;
    }
    a.mov(rdi, qword_ptr(rdi + place(Register::RDI)))
}

fn epilogue(a: &mut CodeAssembler, no_room: bool) -> Result<(), IcedError> {
    a.push(rax)?;
    a.mov(rax, qword_ptr(rsp + 8))?;
    for register in super::kit::GENERAL.into_iter().filter(|register| *register != Register::RAX) {
        a.mov(qword_ptr(rax + place(register)), general(register))?;
    }
    a.pop(rcx)?;
    a.mov(qword_ptr(rax + place(Register::RAX)), rcx)?;
    a.mov(qword_ptr(rax + offset_of!(RegisterFile, rsp_after)), rsp)?;
    for register in vectors() {
        a.movups(xmmword_ptr(rax + place(register)), vector(register))?;
    }
    a.mov(qword_ptr(rax + offset_of!(RegisterFile, no_room)), i32::from(no_room))?;
    a.mov(rsp, qword_ptr(rax + offset_of!(RegisterFile, saved_rsp)))?;
    CALLEE_SAVED.into_iter().rev().try_for_each(|register| a.pop(register))?;
    a.ret()
}

/// The function that [`RegisterFile::run`] runs, with these sequences one after the other.
pub(crate) fn framed(sequences: &[&Sequence], misaligned: bool) -> Sequence {
    let mut function = assembled(|a| prologue(a, misaligned));
    sequences.iter().for_each(|sequence| function.append(sequence).unwrap());
    function.append(&assembled(|a| epilogue(a, false))).unwrap();
    function
}

static NO_ROOM: LazyLock<(Code, FunctionId)> = LazyLock::new(|| {
    let mut buffer = CodeBuffer::default();
    let leave = buffer.add("no_room", assembled(|a| epilogue(a, true)));
    (buffer.finish(|_| None).unwrap(), leave)
});

/// The targets of pasted sequences; `load_hook` is the address of a hook.
pub(crate) fn targets(load_hook: u64) -> impl Fn(Target) -> Option<u64> {
    move |target| match target {
        Target::OutOfMemory => Some(NO_ROOM.0.entry(NO_ROOM.1).addr() as u64),
        Target::LoadHook => Some(load_hook),
        _ => None,
    }
}
