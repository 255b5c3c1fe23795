//! The canonical sequences as text, in `snapshots/`. A change of the emitted code shows as a change
//! of these files in the same commit.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p allotment-jit listings` writes the files again.
//!
//! Refused: a crate for snapshots, since a comparison of two texts is enough.

use super::kit::{ANY, ANY_AARCH64, Conventions};
use allotment::raw::{
    AArch64, Element, Header, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, Shape, X86_64,
};
use allotment_jit::{
    Allocation, CompareExchange, Emitter, Initialise, Load, Machine, Part, Poll, Register, Registers,
    Sequence, Site, SlowCall, Store,
};
use std::fmt::Write;
use std::path::Path;

/// Compares the listing with the file of that name.
fn check(name: &str, sequence: &Sequence) {
    let mut text = String::new();
    let mut part = None;
    for line in sequence.lines() {
        if part.replace(line.part) != Some(line.part) {
            writeln!(text, "{}:", if line.part == Part::Hot { "hot" } else { "cold" }).unwrap();
        }
        writeln!(text, "{:>5}  {:<44}  {}", line.offset, line.assembly, line.note).unwrap();
    }
    writeln!(text, "clobbers: {:?}", sequence.clobbers()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/proof/snapshots/{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{name}: if that is right, UPDATE_SNAPSHOTS=1 writes it");
}

/// HotSpot's settings for a current Intel, in that style.
fn settings(style: usize) -> PrefetchSettings {
    PrefetchSettings {
        style: PrefetchStyle::from_number(style).unwrap(),
        distance: 192,
        lines: 4,
        instance_lines: 1,
        step: 64,
        instruction: PrefetchInstruction::Write,
    }
}

/// The processors, each with the ending of its files' names.
const PROCESSORS: [(&str, Processor); 3] = [
    ("avx2", Processor::X86_64(ANY)),
    ("sse", Processor::X86_64(X86_64 { avx2: false, ..ANY })),
    ("aarch64", Processor::AArch64(ANY_AARCH64)),
];

fn emitter(style: usize, processor: Processor) -> Emitter {
    Emitter::new(processor, settings(style)).unwrap()
}

/// The headers of objects are those of a first shape.
fn object(bytes: usize) -> Allocation {
    Allocation::with_header(Header::from_bits(1 << 8), bytes).unwrap()
}

/// The registers that a compiler of each machine assigns, and what its files' names begin with.
struct Assigned {
    machine: Machine,
    prefix: &'static str,
    registers: Registers,
    /// A number that the slow path preserves, and another register.
    number: Register,
    other: Register,
}

static ASSIGNED: [Assigned; 2] = [
    Assigned {
        machine: Machine::X86_64,
        prefix: "",
        registers: Registers {
            mutator: Register::R15,
            object: Register::RAX,
            top: Register::RCX,
            scratch: Register::RDX,
            vectors: [Register::XMM0, Register::XMM1],
        },
        number: Register::RSI,
        other: Register::RBX,
    },
    Assigned {
        machine: Machine::AArch64,
        prefix: "aarch64_",
        registers: Registers {
            mutator: Register::X28,
            object: Register::X0,
            top: Register::X1,
            scratch: Register::X2,
            vectors: [Register::V0, Register::V1],
        },
        number: Register::X3,
        other: Register::X19,
    },
];

impl Assigned {
    /// A processor with every feature.
    fn emitter(&self, style: usize) -> Emitter {
        emitter(style, self.machine.processor())
    }

    fn pasted(&self, emitter: &Emitter, allocations: &[Allocation], initialise: Initialise) -> Sequence {
        let slow = SlowCall { preserve: &[self.number], misaligned: false };
        emitter.allocate(&Site { allocations, initialise, registers: self.registers, slow }).unwrap()
    }

    fn check(&self, name: &str, sequence: &Sequence) {
        check(&format!("{}{name}", self.prefix), sequence);
    }
}

const POLICIES: [(&str, Initialise); 3] = [
    ("by_caller", Initialise::ByCaller),
    ("per_object", Initialise::PerObject),
    ("ahead", Initialise::Ahead),
];

/// The assignment of a processor's machine.
fn assigned(processor: Processor) -> &'static Assigned {
    let is_aarch64 = matches!(processor, Processor::AArch64(_));
    &ASSIGNED[usize::from(is_aarch64)]
}

#[test]
fn past_buffers_the_cold_part_bumps_a_region_of_all_threads() {
    for one in &ASSIGNED {
        let emitter = one.emitter(0).past_buffers(true);
        one.check("past_buffers_stub_16", &emitter.stub(object(16), Initialise::PerObject).unwrap());
        let registers = Registers { object: one.other, ..one.registers };
        let slow = SlowCall { preserve: &[one.number], misaligned: false };
        let site = Site { allocations: &[object(64)], initialise: Initialise::ByCaller, registers, slow };
        one.check("past_buffers_pasted_64", &emitter.allocate(&site).unwrap());
    }
    let exclusive = AArch64 { lse: false, ..ANY_AARCH64 };
    let emitter = emitter(0, exclusive.into()).past_buffers(true);
    check("aarch64_past_buffers_exclusive", &emitter.stub(object(16), Initialise::PerObject).unwrap());
}

#[test]
fn objects() {
    for (ending, processor) in PROCESSORS {
        for bytes in [16, 48, 64, 144, 1000] {
            let sequence = emitter(1, processor).stub(object(bytes), Initialise::PerObject).unwrap();
            check(&format!("object_{bytes}_{ending}"), &sequence);
        }
    }
}

#[test]
fn policies_and_styles() {
    for one in &ASSIGNED {
        for (name, initialise) in POLICIES {
            one.check(&format!("pasted_{name}"), &one.pasted(&one.emitter(0), &[object(64)], initialise));
        }
        for style in 0..4 {
            let sequence = one.pasted(&one.emitter(style), &[object(16)], Initialise::ByCaller);
            one.check(&format!("style_{style}"), &sequence);
        }
    }
}

#[test]
fn arrays() {
    let heap = super::kit::heap("");
    for (elements, bytes) in [("words", 8), ("bytes", 1)] {
        let shape = heap.register(Shape::array(elements, 16, Element::Plain { bytes })).unwrap();
        for (ending, processor) in PROCESSORS {
            let length_in = assigned(processor).machine.second_argument();
            let allocation = Allocation::array_in(shape, length_in).unwrap();
            let sequence = emitter(1, processor).stub(allocation, Initialise::PerObject).unwrap();
            check(&format!("array_of_{elements}_{ending}"), &sequence);
        }
    }
}

#[test]
fn folded() {
    let group = [object(24), object(40), object(16)];
    for (ending, processor) in PROCESSORS {
        let one = assigned(processor);
        let sequence = one.pasted(&emitter(1, processor), &group, Initialise::PerObject);
        assert_eq!(sequence.offsets(), [0, 24, 64]);
        check(&format!("folded_{ending}"), &sequence);
    }
}

#[test]
fn barriers() {
    for one in &ASSIGNED {
        let Registers { mutator, object: value, top: scratch, scratch: expected, .. } = one.registers;
        let (base, new, held) = (one.other, one.number, value);
        let slow = SlowCall { preserve: &[one.number], misaligned: false };
        let emitter = one.emitter(0);
        let load = |hook| emitter.load(&Load { mutator, base, displacement: 8, value, hook }).unwrap();
        one.check(
            "store",
            &emitter.store(&Store { mutator, base, displacement: 8, value, scratch }).unwrap(),
        );
        one.check("load", &load(None));
        let weak = Load { mutator, base, displacement: 8, value, hook: None };
        one.check("load_weak", &emitter.load_weak(&weak).unwrap());
        let exchange = CompareExchange { mutator, base, displacement: 8, expected, new, held, scratch };
        one.check("compare_exchange", &emitter.compare_exchange(&exchange).unwrap());
        one.check("load_with_hook", &load(Some(slow)));
        one.check("poll", &emitter.poll(&Poll { mutator, slow }).unwrap());
    }
}

/// The instructions in line where nothing is in the way.
#[test]
fn sequences_are_as_short_as_their_documentation_says() {
    for (one, [allocation, ahead, load, store, poll]) in
        ASSIGNED.iter().zip([[6, 6, 3, 7, 2], [7, 8, 4, 9, 2]])
    {
        let count =
            |sequence: Sequence| sequence.lines().iter().filter(|line| line.part == Part::Hot).count();
        let emitter = one.emitter(0);
        // On AArch64 a seventh instruction makes the header.
        assert_eq!(count(one.pasted(&emitter, &[object(64)], Initialise::ByCaller)), allocation);
        assert_eq!(count(one.pasted(&emitter, &[object(64)], Initialise::Ahead)), ahead);
        let Registers { mutator, object: value, top: scratch, .. } = one.registers;
        let (base, slow) = (one.other, SlowCall::default());
        let of_slot = Load { mutator, base, displacement: 8, value, hook: None };
        assert_eq!(count(emitter.load(&of_slot).unwrap()), load);
        let to_slot = Store { mutator, base, displacement: 8, value, scratch };
        assert_eq!(count(emitter.store(&to_slot).unwrap()), store);
        assert_eq!(count(emitter.poll(&Poll { mutator, slow }).unwrap()), poll);
    }
}
