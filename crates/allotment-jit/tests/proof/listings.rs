//! The canonical sequences as text, in `snapshots/`. A change of the emitted code shows as a change
//! of these files in the same commit.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test -p allotment-jit listings` writes the files again.
//!
//! Refused: a crate for snapshots, since a comparison of two texts is enough.

use super::kit::ANY;
use allotment::raw::{Element, Header, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Shape, X86_64};
use allotment_jit::{
    Allocation, CompareExchange, Emitter, Initialise, Load, Part, Poll, Register, Registers, Sequence, Site,
    SlowCall, Store,
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

fn emitter(style: usize, avx2: bool) -> Emitter {
    Emitter::new(X86_64 { avx2, ..ANY }, settings(style)).unwrap()
}

/// The headers of objects are those of a first shape.
fn object(bytes: usize) -> Allocation {
    Allocation::with_header(Header::from_bits(1 << 8), bytes).unwrap()
}

const PASTED: Registers = Registers {
    mutator: Register::R15,
    object: Register::RAX,
    top: Register::RCX,
    scratch: Register::RDX,
    vectors: [Register::XMM0, Register::XMM1],
};

const POLICIES: [(&str, Initialise); 3] = [
    ("by_caller", Initialise::ByCaller),
    ("per_object", Initialise::PerObject),
    ("ahead", Initialise::Ahead),
];

fn pasted(emitter: &Emitter, allocations: &[Allocation], initialise: Initialise) -> Sequence {
    let slow = SlowCall { preserve: &[Register::RSI], misaligned: false };
    emitter.allocate(&Site { allocations, initialise, registers: PASTED, slow }).unwrap()
}

#[test]
fn past_buffers_the_cold_part_bumps_a_region_of_all_threads() {
    let emitter = emitter(0, true).past_buffers(true);
    check("past_buffers_stub_16", &emitter.stub(object(16), Initialise::PerObject).unwrap());
    let registers = Registers { object: Register::RBX, ..PASTED };
    let slow = SlowCall { preserve: &[Register::RSI], misaligned: false };
    let site = Site { allocations: &[object(64)], initialise: Initialise::ByCaller, registers, slow };
    check("past_buffers_pasted_64", &emitter.allocate(&site).unwrap());
}

#[test]
fn objects() {
    for (vectors, avx2) in [("avx2", true), ("sse", false)] {
        for bytes in [16, 48, 64, 144, 1000] {
            let sequence = emitter(1, avx2).stub(object(bytes), Initialise::PerObject).unwrap();
            check(&format!("object_{bytes}_{vectors}"), &sequence);
        }
    }
}

#[test]
fn policies_and_styles() {
    for (name, initialise) in POLICIES {
        check(&format!("pasted_{name}"), &pasted(&emitter(0, true), &[object(64)], initialise));
    }
    for style in 0..4 {
        let sequence = pasted(&emitter(style, true), &[object(16)], Initialise::ByCaller);
        check(&format!("style_{style}"), &sequence);
    }
}

#[test]
fn arrays() {
    let heap = super::kit::heap("");
    for (elements, bytes) in [("words", 8), ("bytes", 1)] {
        let shape = heap.register(Shape::array(elements, 16, Element::Plain { bytes })).unwrap();
        for (vectors, avx2) in [("avx2", true), ("sse", false)] {
            let allocation = Allocation::array_in(shape, Register::RSI).unwrap();
            let sequence = emitter(1, avx2).stub(allocation, Initialise::PerObject).unwrap();
            check(&format!("array_of_{elements}_{vectors}"), &sequence);
        }
    }
}

#[test]
fn folded() {
    let group = [object(24), object(40), object(16)];
    for (vectors, avx2) in [("avx2", true), ("sse", false)] {
        let sequence = pasted(&emitter(1, avx2), &group, Initialise::PerObject);
        assert_eq!(sequence.offsets(), [0, 24, 64]);
        check(&format!("folded_{vectors}"), &sequence);
    }
}

#[test]
fn barriers() {
    let (mutator, base, value, scratch) = (Register::R15, Register::RBX, Register::RAX, Register::RCX);
    let slow = SlowCall { preserve: &[Register::RSI], misaligned: false };
    let emitter = emitter(0, true);
    let load = |hook| emitter.load(&Load { mutator, base, displacement: 8, value, hook }).unwrap();
    check("store", &emitter.store(&Store { mutator, base, displacement: 8, value, scratch }).unwrap());
    check("load", &load(None));
    check(
        "load_weak",
        &emitter.load_weak(&Load { mutator, base, displacement: 8, value, hook: None }).unwrap(),
    );
    let (expected, new, held) = (Register::RDX, Register::RSI, Register::RAX);
    let exchange = CompareExchange { mutator, base, displacement: 8, expected, new, held, scratch };
    check("compare_exchange", &emitter.compare_exchange(&exchange).unwrap());
    check("load_with_hook", &load(Some(slow)));
    check("poll", &emitter.poll(&Poll { mutator, slow }).unwrap());
}
