//! The instructions of x86-64, decoded by iced-x86.

use super::{Event, Interpreter};
use allotment::raw::PrefetchInstruction;
use allotment_jit::{Machine, Register, Target};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register as Iced};

impl Interpreter {
    /// The next instruction's address; `None` after a return.
    pub(super) fn step_x86_64(
        &mut self,
        at: u64,
        call: &mut dyn FnMut(&mut Interpreter, Target),
    ) -> Option<u64> {
        let i = &Decoder::with_ip(64, self.code(at), at, DecoderOptions::NONE).decode();
        let next = i.next_ip();
        let jump = |taken: bool| Some(if taken { i.near_branch_target() } else { next });
        match i.mnemonic() {
            Mnemonic::Mov => self.write(i, self.read(i, 1)),
            Mnemonic::Lea => self.write(i, self.address(i)),
            Mnemonic::Add => self.write(i, self.read(i, 0).wrapping_add(self.read(i, 1))),
            Mnemonic::Sub => self.write(i, self.read(i, 0).wrapping_sub(self.read(i, 1))),
            Mnemonic::And => self.write(i, self.read(i, 0) & self.read(i, 1)),
            Mnemonic::Shr => self.write(i, self.read(i, 0) >> self.read(i, 1)),
            Mnemonic::Cmp => {
                let (left, right) = (self.read(i, 0), self.read(i, 1));
                (self.carry, self.zero) = (left < right, left == right);
            }
            Mnemonic::Test => (self.carry, self.zero) = (false, self.read(i, 0) & self.read(i, 1) == 0),
            Mnemonic::Ja => return jump(!self.carry && !self.zero),
            Mnemonic::Jae => return jump(!self.carry),
            Mnemonic::Jb => return jump(self.carry),
            Mnemonic::Jbe => return jump(self.carry || self.zero),
            Mnemonic::Je => return jump(self.zero),
            Mnemonic::Jne => return jump(!self.zero),
            Mnemonic::Jmp => return jump(true),
            Mnemonic::Push => {
                let (value, to) = (self.read(i, 0), self.get(Register::RSP) - 8);
                self.set(Register::RSP, to);
                self.memory.insert(to, value);
            }
            Mnemonic::Pop => {
                let from = self.get(Register::RSP);
                self.set(Register::RSP, from + 8);
                self.write(i, self.word(from));
            }
            Mnemonic::Cmpxchg => {
                assert!(i.has_lock_prefix());
                self.zero = self.read(i, 0) == self.get(Register::RAX);
                let held = self.read(i, 0);
                self.events.push(Event::Exchange(self.address(i)));
                if self.zero {
                    self.write(i, self.read(i, 1));
                }
                self.set(Register::RAX, held);
                self.written.insert(Register::RAX);
            }
            Mnemonic::Call => self.call(self.read(i, 0), next, call),
            Mnemonic::Ret => return None,
            Mnemonic::Prefetchnta => self.prefetch(PrefetchInstruction::Nta, i),
            Mnemonic::Prefetcht0 => self.prefetch(PrefetchInstruction::T0, i),
            Mnemonic::Prefetcht2 => self.prefetch(PrefetchInstruction::T2, i),
            Mnemonic::Prefetchw => self.prefetch(PrefetchInstruction::Write, i),
            _ => self.vector_step(i),
        }
        Some(next)
    }

    fn prefetch(&mut self, instruction: PrefetchInstruction, i: &Instruction) {
        self.events.push(Event::Prefetch(instruction, self.address(i)));
    }

    fn vector_step(&mut self, i: &Instruction) {
        match i.mnemonic() {
            Mnemonic::Xorps | Mnemonic::Vpxor => {
                let last = i.op_register(i.op_count() - 1);
                assert_eq!(last, i.op_register(i.op_count() - 2), "makes zeroes only");
                self.set_vector(i.op0_register(), &[0; 16], i.mnemonic() == Mnemonic::Vpxor);
            }
            Mnemonic::Movd | Mnemonic::Vmovd => {
                let mut bytes = [0; 16];
                bytes[..4].copy_from_slice(&(self.get(whole(i.op1_register())) as u32).to_le_bytes());
                self.set_vector(i.op0_register(), &bytes, i.mnemonic() == Mnemonic::Vmovd);
            }
            Mnemonic::Movq | Mnemonic::Vmovq | Mnemonic::Movups | Mnemonic::Vmovdqu => {
                assert_eq!(i.op0_kind(), OpKind::Memory, "a store");
                let (address, bytes) = (self.address(i), i.memory_size().size());
                let vector = self.vectors[i.op1_register().number()];
                for (at, word) in vector[..bytes].chunks_exact(8).enumerate() {
                    self.store(address + 8 * at as u64, u64::from_le_bytes(word.try_into().unwrap()));
                }
            }
            other => panic!("{other:?} is not among the instructions of sequences"),
        }
    }

    /// An instruction of AVX clears the bits above its own width.
    fn set_vector(&mut self, register: Iced, bytes: &[u8; 16], avx: bool) {
        let vector = &mut self.vectors[register.number()];
        vector[..16].copy_from_slice(bytes);
        if avx {
            vector[16..].fill(0);
        }
        self.written.insert(Register::vector(Machine::X86_64, register.number()).unwrap());
    }

    fn address(&self, i: &Instruction) -> u64 {
        let value = |register| if register == Iced::None { 0 } else { self.get(whole(register)) };
        let index = value(i.memory_index()).wrapping_mul(i.memory_index_scale().into());
        value(i.memory_base()).wrapping_add(index).wrapping_add(i.memory_displacement64())
    }

    fn read(&self, i: &Instruction, operand: u32) -> u64 {
        match i.op_kind(operand) {
            OpKind::Register => {
                let register = i.op_register(operand);
                let value = self.get(whole(register));
                if register.size() == 4 { value & u64::from(u32::MAX) } else { value }
            }
            OpKind::Memory => match (self.address(i), i.memory_size().size()) {
                (address, 8) => self.word(address),
                (address, 4) if address.is_multiple_of(8) => self.word(address) & u64::from(u32::MAX),
                (address, 1) if address.is_multiple_of(8) => self.word(address) & u64::from(u8::MAX),
                other => panic!("a load of {other:?}"),
            },
            _ => i.immediate(operand),
        }
    }

    /// Writes to the first operand.
    fn write(&mut self, i: &Instruction, value: u64) {
        if i.op0_kind() == OpKind::Memory {
            if i.memory_size().size() == 1 {
                self.events.push(Event::Byte(self.address(i), value as u8));
                return;
            }
            assert_eq!(i.memory_size().size(), 8);
            return self.store(self.address(i), value);
        }
        let register = whole(i.op0_register());
        let value = if i.op0_register().size() == 4 { value & u64::from(u32::MAX) } else { value };
        self.set(register, value);
        self.written.insert(register);
    }
}

/// The general register that the decoder's register is a part of.
fn whole(register: Iced) -> Register {
    let full = register.full_register();
    assert!(full.is_gpr64(), "{register:?}");
    Register::general(Machine::X86_64, full.number()).unwrap()
}
