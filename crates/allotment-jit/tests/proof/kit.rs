//! Random settings and registers, and access to heaps and hot parts.

use allotment::Heap;
use allotment::raw::{
    AArch64, Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, Vendor, X86_64,
};
use allotment_jit::{Initialise, Machine, Register, Registers, Sequence};
use proptest::prelude::*;

/// A processor of x86-64 with every feature, independent of the machine that runs the tests.
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

/// A processor of AArch64 with every feature, independent of the machine that runs the tests.
pub(crate) const ANY_AARCH64: AArch64 =
    AArch64 { identity: None, lse: true, line_bytes: 64, zva_bytes: Some(64) };

/// The first number of one of several sequences of random numbers: another one where
/// `ALLOTMENT_STRESS_SEED` is set, as in the library's tests. The harness shows it if the test
/// fails.
pub(crate) fn seed(part: u64) -> u64 {
    let text = std::env::var("ALLOTMENT_STRESS_SEED").unwrap_or_else(|_| "0".into());
    println!("ALLOTMENT_STRESS_SEED={text}, part {part}");
    part ^ text.parse::<u64>().expect("ALLOTMENT_STRESS_SEED is a number") << 8
}

/// Code of the machine that runs the tests: bytes of x86-64, or instructions of AArch64.
pub(crate) fn own(x86_64: &[u8], aarch64: &[u32]) -> Sequence {
    let aarch64: Vec<u8> = aarch64.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = if Machine::HOST == Machine::X86_64 { x86_64 } else { &aarch64 };
    Sequence::code(Machine::HOST, code, &[]).unwrap()
}

/// Both machines.
pub(crate) const MACHINES: [Machine; 2] = [Machine::X86_64, Machine::AArch64];

/// What each machine's C functions, and its sequences, do with registers.
pub(crate) trait Conventions {
    /// Every general register that may have a role.
    fn general(self) -> Vec<Register>;
    /// The registers that a C function preserves, and that may have a role.
    fn callee_saved(self) -> Vec<Register>;
    fn vectors(self) -> Vec<Register>;
    fn arguments(self) -> [Register; 4];
    fn result(self) -> Register;
    fn stack_pointer(self) -> Register;
    /// The registers that each sequence may change.
    fn own(self) -> &'static [Register];
    /// A processor with every feature, independent of the machine that runs the tests.
    fn processor(self) -> Processor;
}

impl Conventions for Machine {
    fn general(self) -> Vec<Register> {
        let reserved = match self {
            Machine::X86_64 => &[Register::RSP][..],
            _ => &[Register::X16, Register::X17, Register::X30, Register::SP],
        };
        self.registers().filter(|one| one.is_general() && !reserved.contains(one)).collect()
    }

    fn callee_saved(self) -> Vec<Register> {
        let numbers = match self {
            Machine::X86_64 => &[3, 5, 12, 13, 14, 15][..],
            _ => &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29],
        };
        numbers.iter().map(|number| Register::general(self, *number).unwrap()).collect()
    }

    fn vectors(self) -> Vec<Register> {
        self.registers().filter(|register| register.is_vector()).collect()
    }

    fn arguments(self) -> [Register; 4] {
        match self {
            Machine::X86_64 => [Register::RDI, Register::RSI, Register::RDX, Register::RCX],
            _ => [Register::X0, Register::X1, Register::X2, Register::X3],
        }
    }

    fn result(self) -> Register {
        match self {
            Machine::X86_64 => Register::RAX,
            _ => Register::X0,
        }
    }

    fn stack_pointer(self) -> Register {
        match self {
            Machine::X86_64 => Register::RSP,
            _ => Register::SP,
        }
    }

    fn own(self) -> &'static [Register] {
        match self {
            Machine::X86_64 => &[],
            _ => &[Register::X16, Register::X17],
        }
    }

    fn processor(self) -> Processor {
        match self {
            Machine::X86_64 => ANY.into(),
            _ => ANY_AARCH64.into(),
        }
    }
}

/// A number of random cases, or as many as `PROPTEST_CASES` says: an emulator is slow.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let set = std::env::var_os("PROPTEST_CASES").is_some();
    if set { ProptestConfig::default() } else { ProptestConfig { cases, ..ProptestConfig::default() } }
}

/// An assignment of roles to registers: a permutation whose first registers have the roles.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) machine: Machine,
    general: Vec<Register>,
    vectors: Vec<Register>,
    preserved: usize,
    keeps_inputs: bool,
    pub(crate) misaligned: bool,
}

impl Assignment {
    /// Registers in the order of their numbers, and nothing to preserve.
    pub(crate) fn plain(machine: Machine) -> Assignment {
        Assignment {
            machine,
            general: machine.general(),
            vectors: machine.vectors(),
            preserved: 0,
            keeps_inputs: false,
            misaligned: false,
        }
    }

    pub(crate) fn registers(&self) -> Registers {
        let [mutator, object, top, scratch, ..] = self.general[..] else { panic!("too few registers") };
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

/// An assignment for either machine.
pub(crate) fn any_assignment() -> impl Strategy<Value = Assignment> {
    prop::sample::select(MACHINES.to_vec()).prop_flat_map(assignment)
}

/// An assignment for code that runs here.
pub(crate) fn host_assignment() -> impl Strategy<Value = Assignment> {
    assignment(Machine::HOST)
}

fn assignment(machine: Machine) -> impl Strategy<Value = Assignment> {
    let general = Just(machine.general()).prop_shuffle();
    let vectors = Just(machine.vectors()).prop_shuffle();
    (general, vectors, 0..=10_usize, any::<bool>(), any::<bool>()).prop_map(
        move |(general, vectors, preserved, keeps_inputs, misaligned)| Assignment {
            machine,
            general,
            vectors,
            preserved,
            keeps_inputs,
            misaligned: misaligned && machine == Machine::X86_64,
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
