//! The frame of x86-64, assembled by iced-x86.

use super::super::kit::Conventions;
use super::RegisterFile;
use allotment_jit::{Machine, Register, Sequence};
use iced_x86::code_asm::registers::gpr64::*;
use iced_x86::code_asm::{
    AsmRegister64, AsmRegisterXmm, CodeAssembler, get_gpr64, get_xmm, qword_ptr, xmmword_ptr,
};
use iced_x86::{IcedError, Register as Iced};
use std::mem::offset_of;

fn assembled(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Sequence {
    let mut assembler = CodeAssembler::new(64).unwrap();
    write(&mut assembler).unwrap();
    Sequence::code(Machine::X86_64, &assembler.assemble(0).unwrap(), &[]).unwrap()
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
pub(super) fn prologue(misaligned: bool) -> Sequence {
    assembled(|a| prologue_of(a, misaligned))
}

fn prologue_of(a: &mut CodeAssembler, misaligned: bool) -> Result<(), IcedError> {
    // After a call the stack is 8 bytes off a multiple of 16, and after six more words it still is.
    CALLEE_SAVED.into_iter().try_for_each(|register| a.push(register))?;
    a.mov(qword_ptr(rdi + offset_of!(RegisterFile, saved_stack)), rsp)?;
    for _ in 0..1 + u32::from(misaligned) {
        a.push(rdi)?;
    }
    a.mov(qword_ptr(rdi + offset_of!(RegisterFile, stack_before)), rsp)?;
    for register in Machine::X86_64.vectors() {
        a.movups(vector(register), xmmword_ptr(rdi + place(register)))?;
    }
    for register in Machine::X86_64.general().into_iter().filter(|register| *register != Register::RDI) {
        a.mov(general(register), qword_ptr(rdi + place(register)))?;
    }
    a.mov(rdi, qword_ptr(rdi + place(Register::RDI)))
}

/// With `no_room` it notes that the sequence left for the code of a heap without room.
pub(super) fn epilogue(no_room: bool) -> Sequence {
    assembled(|a| epilogue_of(a, no_room))
}

fn epilogue_of(a: &mut CodeAssembler, no_room: bool) -> Result<(), IcedError> {
    a.push(rax)?;
    a.mov(rax, qword_ptr(rsp + 8))?;
    for register in Machine::X86_64.general().into_iter().filter(|register| *register != Register::RAX) {
        a.mov(qword_ptr(rax + place(register)), general(register))?;
    }
    a.pop(rcx)?;
    a.mov(qword_ptr(rax + place(Register::RAX)), rcx)?;
    a.mov(qword_ptr(rax + offset_of!(RegisterFile, stack_after)), rsp)?;
    for register in Machine::X86_64.vectors() {
        a.movups(xmmword_ptr(rax + place(register)), vector(register))?;
    }
    a.mov(qword_ptr(rax + offset_of!(RegisterFile, no_room)), i32::from(no_room))?;
    a.mov(rsp, qword_ptr(rax + offset_of!(RegisterFile, saved_stack)))?;
    CALLEE_SAVED.into_iter().rev().try_for_each(|register| a.pop(register))?;
    a.ret()
}
