//! An interpreter for the few instructions of sequences, of both machines. It records events that a
//! real processor does not show: prefetches, the stack pointer at calls, written registers, and
//! which stores have release.
//!
//! The interpreter gets the bytes of a linked sequence and does not know their origin. The decoders
//! are not the emitter's: iced-x86 for x86-64, and masks of its own for AArch64. An unknown
//! instruction is a failure, so a weaker instruction than the known ones is one, too. Memory is words of 8 bytes; an unwritten word is
//! [`Interpreter::GARBAGE`]. The slow paths of barriers are part of the interpreter: they keep all
//! registers, and answer with [`Interpreter::answer`].

mod aarch64;
mod x86_64;

use super::kit::Conventions;
use allotment::raw::{Hot, PrefetchInstruction};
use allotment_jit::{Machine, Register, Sequence, Target};
use std::collections::{BTreeSet, HashMap};

/// The events, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Prefetch(PrefetchInstruction, u64),
    /// A store to a word in memory, not to the stack.
    Store(u64),
    /// A store with release, on AArch64: no earlier access comes after it.
    Release(u64),
    /// An exchange with acquire and release, whether it stores or not.
    Exchange(u64),
    Call(Target),
    /// A call of the slow path of a barrier that has its address at that offset of the hot part,
    /// and the four argument registers.
    Barrier(usize, [u64; 4]),
    /// A store of that byte: on AArch64 with release.
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
    machine: Machine,
    /// On AArch64 the last one is the stack pointer.
    general: [u64; 32],
    vectors: [[u8; 32]; 32],
    carry: bool,
    zero: bool,
    /// The address of an exclusive load, until a store to it.
    exclusive: Option<u64>,
    /// Exclusive stores that fail because of another thread.
    pub(crate) interferences: usize,
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
const COLD_AT: u64 = 0x18_0000;
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
        let machine = sequence.machine();
        let mut general = std::array::from_fn(|number| 0x0071_0000_0000_0000 * (number as u64 + 1) + 0xF00);
        general[machine.stack_pointer().number()] = Interpreter::STACK_AT;
        Interpreter {
            machine,
            general,
            vectors: [[0xA5; 32]; 32],
            carry: false,
            zero: false,
            exclusive: None,
            interferences: 0,
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
        for register in self.machine.registers().filter(|register| register.is_general()) {
            if register != self.machine.stack_pointer() && !self.machine.callee_saved().contains(&register) {
                self.set(register, 0xDEAD_0000 + register.number() as u64);
            }
        }
        self.vectors = [[0x5A; 32]; 32];
    }

    pub(crate) fn word(&self, address: u64) -> u64 {
        assert!(address.is_multiple_of(8), "{address:#x}");
        self.memory.get(&address).copied().unwrap_or(Interpreter::GARBAGE)
    }

    /// The prefetches so far.
    pub(crate) fn prefetches(&self) -> Vec<(PrefetchInstruction, u64)> {
        let prefetch = |event: &Event| match *event {
            Event::Prefetch(instruction, address) => Some((instruction, address)),
            _ => None,
        };
        self.events.iter().filter_map(prefetch).collect()
    }

    /// Runs from the beginning; `call` stands in for functions, and sets the result.
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
            self.steps += 1;
            let next = match self.machine {
                Machine::X86_64 => self.step_x86_64(at, call),
                _ => self.step_aarch64(at, call),
            };
            match next {
                Some(next) => at = next,
                None => return Exit::Returned,
            }
        }
        panic!("it does not end");
    }

    /// The code from an address on.
    fn code(&self, at: u64) -> &[u8] {
        let (code, start) = if at >= COLD_AT { (&self.cold, COLD_AT) } else { (&self.hot, HOT_AT) };
        &code[(at - start) as usize..]
    }

    /// Calls the function at `to`, and would return to `next`.
    fn call(&mut self, to: u64, next: u64, call: &mut dyn FnMut(&mut Interpreter, Target)) {
        if to >= BARRIERS_AT {
            let offset = (to - BARRIERS_AT) as usize;
            assert!(BARRIERS.contains(&offset), "{offset}");
            let arguments = self.machine.arguments().map(|one| self.get(one));
            self.events.push(Event::Barrier(offset, arguments));
            if offset != Hot::STORE_SLOW_OFFSET {
                self.set(self.machine.result(), self.answer);
            }
            return;
        }
        assert_eq!(self.get(self.machine.stack_pointer()) % 16, 0, "the stack at a call");
        let target = outside(to);
        self.events.push(Event::Call(target));
        self.return_offset = (next - COLD_AT) as usize;
        call(self, target);
    }

    fn store(&mut self, address: u64, value: u64) {
        assert!(address.is_multiple_of(8), "{address:#x}");
        self.events.push(Event::Store(address));
        self.memory.insert(address, value);
    }
}

fn outside(address: u64) -> Target {
    OUTSIDE[((address - OUTSIDE_AT) / 16) as usize]
}
