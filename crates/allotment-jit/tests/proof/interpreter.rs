//! An interpreter for the few instructions of sequences. It records events that a real processor
//! does not show: prefetches, the stack pointer at calls, and written registers.
//!
//! The interpreter gets the bytes of a linked sequence and does not know their origin. An
//! unknown instruction is a failure. Memory is words of 8 bytes; an unwritten word is
//! [`Interpreter::GARBAGE`]. The slow paths of barriers are part of the interpreter: they keep all
//! registers, and answer with [`Interpreter::answer`].

use allotment::raw::Hot;
use allotment_jit::{Machine, Register, Sequence, Target};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register as Iced};
use std::collections::{BTreeSet, HashMap};

/// The events, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Prefetch(Mnemonic, u64),
    /// A store to a word in memory, not by a push.
    Store(u64),
    Call(Target),
    /// A call of the slow path of a barrier that has its address at that offset of the hot part,
    /// and the four argument registers.
    Barrier(usize, [u64; 4]),
    /// A store of that byte.
    Byte(u64, u8),
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    FellThrough,
    OutOfMemory,
    Returned,
}

#[derive(Clone)]
pub(crate) struct Interpreter {
    general: [u64; 16],
    vectors: [[u8; 32]; 16],
    carry: bool,
    zero: bool,
    pub(crate) memory: HashMap<u64, u64>,
    pub(crate) events: Vec<Event>,
    pub(crate) written: BTreeSet<Register>,
    /// The return address of a call, in the cold part.
    pub(crate) return_offset: usize,
    /// The answer of a barrier's slow path that has one.
    pub(crate) answer: u64,
    /// The number of executed instructions.
    pub(crate) steps: usize,
    hot: Vec<u8>,
    cold: Vec<u8>,
}

const HOT_AT: u64 = 0x10_0000;
const COLD_AT: u64 = 0x20_0000;
/// Targets outside, by their places here, 16 bytes apart.
const OUTSIDE_AT: u64 = 0x30_0000;
/// Slow paths of barriers, by the offset of their address in the hot part.
const BARRIERS_AT: u64 = 0x40_0000;
const OUTSIDE: [Target; 7] = [
    Target::Allocate,
    Target::AllocateZeroed,
    Target::AllocateArray,
    Target::AllocateArrayZeroed,
    Target::Safepoint,
    Target::LoadHook,
    Target::OutOfMemory,
];

const BARRIERS: [usize; 4] = [
    Hot::LOAD_SLOW_OFFSET,
    Hot::LOAD_WEAK_SLOW_OFFSET,
    Hot::STORE_SLOW_OFFSET,
    Hot::COMPARE_EXCHANGE_SLOW_OFFSET,
];

impl Interpreter {
    /// The content of memory that was never written.
    pub(crate) const GARBAGE: u64 = 0xBAD0_BAD0_BAD0_BAD0;
    /// The stack pointer at first, a multiple of 16.
    pub(crate) const STACK_AT: u64 = 0x7FFF_0000;

    pub(crate) fn new(sequence: &Sequence) -> Interpreter {
        let resolve = |target| {
            let place = OUTSIDE.iter().position(|one| *one == target)?;
            Some(OUTSIDE_AT + 16 * place as u64)
        };
        let (hot, cold) = sequence.link(HOT_AT, COLD_AT, resolve).unwrap();
        let mut general = std::array::from_fn(|number| 0x0111_0000_0000_0000 * (number as u64 + 1) + 0xF00);
        general[Register::RSP.number()] = Interpreter::STACK_AT;
        Interpreter {
            general,
            vectors: [[0xA5; 32]; 16],
            carry: false,
            zero: false,
            memory: HashMap::new(),
            events: Vec::new(),
            written: BTreeSet::new(),
            return_offset: 0,
            answer: 0,
            steps: 0,
            hot,
            cold,
        }
    }

    /// A hot part at that address, in which these barriers are in force.
    pub(crate) fn set_barriers(&mut self, hot: u64, bits: u32) {
        self.memory.insert(hot + Hot::BARRIERS_OFFSET as u64, bits.into());
        for offset in BARRIERS {
            self.memory.insert(hot + offset as u64, BARRIERS_AT + offset as u64);
        }
    }

    pub(crate) fn get(&self, register: Register) -> u64 {
        self.general[register.number()]
    }

    pub(crate) fn set(&mut self, register: Register, value: u64) {
        self.general[register.number()] = value;
    }

    /// Changes all registers that a C function may change.
    pub(crate) fn trash(&mut self) {
        for register in super::kit::GENERAL {
            if !super::kit::CALLEE_SAVED.contains(&register) {
                self.set(register, 0xDEAD_0000 + register.number() as u64);
            }
        }
        self.vectors = [[0x5A; 32]; 16];
    }

    pub(crate) fn word(&self, address: u64) -> u64 {
        assert!(address.is_multiple_of(8), "{address:#x}");
        self.memory.get(&address).copied().unwrap_or(Interpreter::GARBAGE)
    }

    /// The prefetches so far.
    pub(crate) fn prefetches(&self) -> Vec<(Mnemonic, u64)> {
        let prefetch = |event: &Event| match *event {
            Event::Prefetch(mnemonic, address) => Some((mnemonic, address)),
            _ => None,
        };
        self.events.iter().filter_map(prefetch).collect()
    }

    /// Runs from the beginning; `call` stands in for functions, and sets `rax`.
    pub(crate) fn run(&mut self, call: &mut dyn FnMut(&mut Interpreter, Target)) -> Exit {
        let mut at = HOT_AT;
        for _ in 0..1_000_000 {
            if at == HOT_AT + self.hot.len() as u64 {
                return Exit::FellThrough;
            }
            if at >= OUTSIDE_AT {
                assert_eq!(outside(at), Target::OutOfMemory, "nothing else is jumped to");
                return Exit::OutOfMemory;
            }
            let (code, start) = if at >= COLD_AT { (&self.cold, COLD_AT) } else { (&self.hot, HOT_AT) };
            let code = &code[(at - start) as usize..];
            let instruction = Decoder::with_ip(64, code, at, DecoderOptions::NONE).decode();
            self.steps += 1;
            match self.step(&instruction, call) {
                Some(next) => at = next,
                None => return Exit::Returned,
            }
        }
        panic!("it does not end");
    }

    /// The next instruction's address; `None` after a return.
    fn step(
        &mut self,
        instruction: &Instruction,
        call: &mut dyn FnMut(&mut Interpreter, Target),
    ) -> Option<u64> {
        let (next, i) = (instruction.next_ip(), instruction);
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
            Mnemonic::Call if self.read(i, 0) >= BARRIERS_AT => {
                let offset = (self.read(i, 0) - BARRIERS_AT) as usize;
                assert!(BARRIERS.contains(&offset), "{offset}");
                let arguments = [Register::RDI, Register::RSI, Register::RDX, Register::RCX];
                self.events.push(Event::Barrier(offset, arguments.map(|one| self.get(one))));
                if offset != Hot::STORE_SLOW_OFFSET {
                    self.set(Register::RAX, self.answer);
                }
            }
            Mnemonic::Cmpxchg => {
                assert!(i.has_lock_prefix());
                self.zero = self.read(i, 0) == self.get(Register::RAX);
                let held = self.read(i, 0);
                if self.zero {
                    self.write(i, self.read(i, 1));
                }
                self.set(Register::RAX, held);
                self.written.insert(Register::RAX);
            }
            Mnemonic::Call => {
                assert_eq!(self.get(Register::RSP) % 16, 0, "the stack at a call");
                let target = outside(self.read(i, 0));
                self.events.push(Event::Call(target));
                self.return_offset = (next - COLD_AT) as usize;
                call(self, target);
            }
            Mnemonic::Ret => return None,
            Mnemonic::Prefetchnta | Mnemonic::Prefetcht0 | Mnemonic::Prefetcht2 | Mnemonic::Prefetchw => {
                self.events.push(Event::Prefetch(i.mnemonic(), self.address(i)));
            }
            _ => self.vector_step(i),
        }
        Some(next)
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

    fn store(&mut self, address: u64, value: u64) {
        assert!(address.is_multiple_of(8), "{address:#x}");
        self.events.push(Event::Store(address));
        self.memory.insert(address, value);
    }
}

/// The general register that the decoder's register is a part of.
fn whole(register: Iced) -> Register {
    let full = register.full_register();
    assert!(full.is_gpr64(), "{register:?}");
    Register::general(Machine::X86_64, full.number()).unwrap()
}

fn outside(address: u64) -> Target {
    OUTSIDE[((address - OUTSIDE_AT) / 16) as usize]
}
