//! Random settings and registers, and access to heaps and hot parts.

use allotment::Heap;
use allotment::raw::{Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Vendor, X86_64};
use allotment_jit::{Initialise, Machine, Register, Registers, Sequence};
use iced_x86::IcedError;
use iced_x86::code_asm::CodeAssembler;
use proptest::prelude::*;

/// A processor with every feature, independent of the machine that runs the tests.
pub(crate) const ANY: X86_64 = X86_64 {
    vendor: Vendor::Intel,
    family: 6,
    sse3: true,
    sse4_2: true,
    hyper_threading: true,
    avx2: true,
    prefetchw: true,
    line_bytes: 64,
};

/// The first number of one of several sequences of random numbers: another one where
/// `ALLOTMENT_STRESS_SEED` is set, as in the library's tests. The harness shows it if the test
/// fails.
pub(crate) fn seed(part: u64) -> u64 {
    let text = std::env::var("ALLOTMENT_STRESS_SEED").unwrap_or_else(|_| "0".into());
    println!("ALLOTMENT_STRESS_SEED={text}, part {part}");
    part ^ text.parse::<u64>().expect("ALLOTMENT_STRESS_SEED is a number") << 8
}

/// The code that `write` assembles, which changes registers that no test asks for.
pub(crate) fn assembled(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Sequence {
    let mut assembler = CodeAssembler::new(64).unwrap();
    write(&mut assembler).unwrap();
    Sequence::code(Machine::X86_64, &assembler.assemble(0).unwrap(), &[]).unwrap()
}

/// All vector registers.
pub(crate) fn vectors() -> impl Iterator<Item = Register> {
    Machine::X86_64.registers().filter(|register| register.is_vector())
}

/// Every general register except the stack pointer.
pub(crate) const GENERAL: [Register; 15] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RBX,
    Register::RBP,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// The registers that a C function preserves, by the System V ABI.
pub(crate) const CALLEE_SAVED: [Register; 6] =
    [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];

/// An assignment of roles to registers: a permutation whose first registers have the roles.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    general: Vec<Register>,
    vectors: Vec<Register>,
    preserved: usize,
    keeps_inputs: bool,
    pub(crate) misaligned: bool,
}

impl Assignment {
    /// Registers in the order of their numbers, and nothing to preserve.
    pub(crate) fn plain() -> Assignment {
        Assignment {
            general: GENERAL.to_vec(),
            vectors: vectors().collect(),
            preserved: 0,
            keeps_inputs: false,
            misaligned: false,
        }
    }

    pub(crate) fn registers(&self) -> Registers {
        let [mutator, object, top, scratch, ..] = self.general[..] else { panic!("15 registers") };
        Registers { mutator, object, top, scratch, vectors: [self.vectors[0], self.vectors[1]] }
    }

    /// The register of a size or a length.
    pub(crate) fn input(&self) -> Register {
        self.general[4]
    }

    /// All registers, in this order.
    pub(crate) fn all(&self) -> Vec<Register> {
        self.general.clone()
    }

    /// The registers that the slow path must preserve: any of the other registers, or of the
    /// inputs.
    pub(crate) fn preserve(&self) -> Vec<Register> {
        let mut preserve = self.general[5..5 + self.preserved].to_vec();
        if self.keeps_inputs {
            preserve.extend([self.general[0], self.general[4]]);
        }
        preserve
    }
}

pub(crate) fn assignment() -> impl Strategy<Value = Assignment> {
    let vectors: Vec<Register> = vectors().collect();
    let general = Just(GENERAL.to_vec()).prop_shuffle();
    (general, Just(vectors).prop_shuffle(), 0..=10_usize, any::<bool>(), any::<bool>()).prop_map(
        |(general, vectors, preserved, keeps_inputs, misaligned)| Assignment {
            general,
            vectors,
            preserved,
            keeps_inputs,
            misaligned,
        },
    )
}

pub(crate) fn initialise() -> impl Strategy<Value = Initialise> {
    prop_oneof![Just(Initialise::ByCaller), Just(Initialise::PerObject), Just(Initialise::Ahead)]
}

/// Settings within HotSpot's ranges.
pub(crate) fn settings() -> impl Strategy<Value = PrefetchSettings> {
    let lines = || prop_oneof![4 => 0..5_usize, 1 => 0..=64_usize];
    let step = prop_oneof![2 => Just(64), 1 => 1..=512_usize];
    let distance = prop_oneof![1 => Just(0), 8 => 0..=512_usize];
    (0..4_usize, distance, lines(), lines(), step, 0..4_usize).prop_map(
        |(style, distance, lines, instance_lines, step, instruction)| {
            let style = PrefetchStyle::from_number(style).unwrap();
            let step =
                if style == PrefetchStyle::Lines { step.next_power_of_two().clamp(8, 512) } else { step };
            let instruction = PrefetchInstruction::from_number(instruction).unwrap();
            PrefetchSettings { style, distance, lines, instance_lines, step, instruction }
        },
    )
}

/// A heap of regions of 256 KiB without huge pages, with these options.
pub(crate) fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(10 << 18).use_transparent_huge_pages(false);
    builder.options(options).expect(options).build().expect(options)
}

/// A word of the calling thread's hot part.
pub(crate) fn word(hot: *const Hot, offset: usize) -> usize {
    // SAFETY: the offset of a word of the hot part.
    unsafe { hot.byte_add(offset).cast::<usize>().read_volatile() }
}
