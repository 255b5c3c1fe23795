//! The requests that are refused, and the values that the message suggests.

use super::kit::{ANY, Conventions, cases, heap, settings};
use super::machine::targets;
use allotment::raw::{Element, Header, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Shape, X86_64};
use allotment_jit::{
    Allocation, CodeBuffer, CodeError, CompareExchange, EmitError, Emitter, Initialise, Load,
    MAX_INLINE_BYTES, Machine, Poll, Register, Registers, Sequence, Site, SlowCall, Store,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn emitter() -> Emitter {
    Emitter::new(ANY, PrefetchSettings::OFF).unwrap()
}

fn object(bytes: usize) -> Allocation {
    Allocation::with_header(Header::from_bits(1 << 8), bytes).unwrap()
}

fn site(allocations: &[Allocation]) -> Site<'_> {
    let (initialise, slow) = (Initialise::PerObject, SlowCall::default());
    Site { allocations, initialise, registers: Registers::c(Machine::X86_64), slow }
}

/// Checks that the message has these words.
fn says<T: std::fmt::Debug>(outcome: Result<T, EmitError>, words: &str) {
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains(words), "`{words}` in: {message}");
}

#[test]
fn sizes_and_shapes() {
    let with = |bytes| Allocation::with_header(Header::from_bits(1 << 8), bytes);
    says(with(0), "no object has 0 bytes: multiples of 8 from 16 up work; 16 is the nearest");
    says(with(8), "16 is the nearest");
    says(with(17), "16 is the nearest");
    says(with(23), "24 is the nearest");
    says(with(28), "32 is the nearest");
    says(with(usize::MAX), "1048576 is the nearest");
    says(with(MAX_INLINE_BYTES + 1), "1048576 is the nearest");
    says(with(MAX_INLINE_BYTES + 8), "1048584 bytes are too many for inline allocation: up to 1048576 work");
    assert_eq!(with(MAX_INLINE_BYTES).unwrap().bytes(), Some(MAX_INLINE_BYTES));

    let heap = heap("");
    let pair = heap.register(Shape::fixed("Pair", 24)).unwrap();
    let words = heap.register(Shape::array("Words", 16, Element::Plain { bytes: 8 })).unwrap();
    let wide =
        heap.register(Shape::array("Wide", MAX_INLINE_BYTES + 8, Element::Plain { bytes: 1 })).unwrap();
    says(Allocation::object(words), "have a length: `Allocation::array` takes it");
    says(Allocation::array(pair, 3), "have no length: `Allocation::object` takes it");
    says(Allocation::array_in(pair, Register::RSI), "have no length");
    says(Allocation::array(words, MAX_INLINE_BYTES / 8 - 1), "1048584 bytes are too many");
    says(Allocation::array(words, usize::MAX), "too many for inline allocation");
    says(Allocation::array_in(wide, Register::RSI), "too many for inline allocation");
    assert!(Allocation::array(words, MAX_INLINE_BYTES / 8 - 2).is_ok());
}

#[test]
fn headers_that_no_new_object_has() {
    let hashed = Header::from_bits(1 << 32 | 1 << 8);
    says(
        emitter().allocate(&site(&[Allocation::with_header(hashed, 24).unwrap()])),
        "0x100000100 is not the header of a new object: the upper half of such a header is 0, as in 0x100",
    );
    let sized = Allocation::sized_in(hashed, Register::RSI);
    says(emitter().stub(sized, Initialise::ByCaller), "0x100000100 is not the header of a new object");
    says(
        emitter().allocate(&site(&[object(16), Allocation::with_header(hashed, 24).unwrap()])),
        "0x100000100",
    );
}

#[test]
fn groups() {
    let sized = Allocation::sized_in(Header::from_bits(1 << 8), Register::RSI);
    says(emitter().allocate(&site(&[])), "nothing to allocate: one allocation or more works");
    says(
        emitter().allocate(&site(&[object(16), sized, object(24)])),
        "only objects whose size is a constant fold into one bump: 2 of these allocations have such a size",
    );
    says(emitter().allocate(&site(&[sized, sized])), "0 of these");
    let half = object(MAX_INLINE_BYTES / 2 + 8);
    says(emitter().allocate(&site(&[half, half])), "1048592 bytes are too many");
}

#[test]
fn registers_with_two_parts() {
    let allocate = |registers, preserve: &[Register]| {
        let slow = SlowCall { preserve, misaligned: false };
        let sized = Allocation::sized_in(Header::from_bits(1 << 8), Register::RSI);
        emitter().allocate(&Site { registers, slow, ..site(&[sized]) })
    };
    let c = Registers::c(Machine::X86_64);
    says(
        allocate(Registers { top: Register::RAX, ..c }, &[]),
        "rax is both the object and the new top; rcx is free",
    );
    says(allocate(Registers { scratch: Register::RSI, ..c }, &[]), "rsi is both scratch and the size");
    says(allocate(c, &[Register::RAX]), "rax is both the object and preserved; rsi is free");
    says(allocate(c, &[Register::RBX, Register::RDX]), "rdx is both scratch and preserved");
    says(allocate(c, &[Register::RBX, Register::RBX]), "rbx is both preserved and preserved");
    says(allocate(c, &[Register::RSP]), "rsp cannot be preserved");
    says(allocate(c, &[Register::XMM3]), "xmm3 cannot be preserved");
    says(allocate(Registers { mutator: Register::RSP, ..c }, &[]), "rsp cannot be the mutator");
    says(allocate(Registers { vectors: [Register::XMM2; 2], ..c }, &[]), "xmm2 is both the first vector");
    says(
        allocate(Registers { vectors: [Register::XMM2, Register::V1], ..c }, &[]),
        "v1 cannot be a vector of an allocation: xmm0 to xmm15 can",
    );
    assert!(allocate(c, &[Register::RSI, Register::RDI, Register::RBX]).is_ok(), "inputs may be preserved");

    let sized = Allocation::sized_in(Header::from_bits(1 << 8), Register::RDX);
    says(
        emitter().stub(sized, Initialise::ByCaller),
        "rdx cannot be the size here: on x86-64 it has to be rsi",
    );

    let (mutator, base) = (Register::RDI, Register::RSI);
    let slow = SlowCall { preserve: &[Register::RCX], misaligned: false };
    let load = |value, hook| emitter().load(&Load { mutator, base, displacement: 0, value, hook });
    assert!(load(base, None).is_ok());
    says(load(base, Some(slow)), "rsi is both the value and the base");
    says(load(mutator, None), "rdi is both the mutator and the value");
    says(load(Register::RCX, Some(slow)), "rcx is both the value and preserved");
    let store = |value, scratch| emitter().store(&Store { mutator, base, displacement: 8, value, scratch });
    assert!(store(base, Register::RAX).is_ok(), "an object may refer to itself");
    says(store(Register::RAX, Register::RAX), "rax is both scratch and the value");
    says(store(Register::RAX, base), "rsi is both the base and scratch");
    says(
        store(Register::X1, Register::RCX),
        "x1 cannot be the value: on x86-64 a general register such as rax can",
    );
    let exchange = |expected, new, scratch| {
        emitter().compare_exchange(&CompareExchange {
            mutator,
            base,
            displacement: 8,
            expected,
            new,
            held: Register::RAX,
            scratch,
        })
    };
    assert!(exchange(base, base, Register::RCX).is_ok(), "an object may refer to itself");
    assert!(exchange(Register::RCX, Register::RCX, Register::RDX).is_ok(), "and a word become itself");
    says(
        exchange(Register::RAX, base, Register::RCX),
        "rax is both what the slot held and the expected word",
    );
    says(exchange(base, Register::RAX, Register::RCX), "rax is both what the slot held and the new word");
    says(exchange(Register::RCX, Register::RDX, Register::RDX), "rdx is both scratch and the new word");
    says(exchange(mutator, base, Register::RCX), "rdi is both the mutator and the expected word");
    let held = Register::RBX;
    let exchange =
        CompareExchange { mutator, base, displacement: 8, expected: base, new: base, held, scratch: held };
    says(
        emitter().compare_exchange(&exchange),
        "rbx cannot be what the slot held here: on x86-64 it has to be rax",
    );
    says(emitter().poll(&Poll { mutator: Register::XMM0, slow }), "xmm0 cannot be the mutator");
}

#[test]
fn prefetch_settings() {
    let good = PrefetchSettings { style: PrefetchStyle::Lines, ..PrefetchSettings::OFF };
    let new = |settings| Emitter::new(ANY, settings);
    says(new(PrefetchSettings { distance: 513, ..good }), "AllocatePrefetchDistance=513: 0 to 512 work; 512");
    says(new(PrefetchSettings { lines: 65, ..good }), "AllocatePrefetchLines=65: 0 to 64 work; 64");
    says(new(PrefetchSettings { instance_lines: 65, ..good }), "AllocateInstancePrefetchLines=65");
    says(
        new(PrefetchSettings { step: 0, ..good }),
        "AllocatePrefetchStepSize=0: 1 to 512 work; 1 is the nearest",
    );
    says(new(PrefetchSettings { step: 96, ..good }), "must be a power of two of at least 8");
    let write = PrefetchSettings { instruction: PrefetchInstruction::Write, ..good };
    let old = X86_64 { prefetchw: false, ..ANY };
    says(Emitter::new(old, write), "this processor has no PREFETCHW; 1 (PREFETCHT0) is the nearest");
    assert!(Emitter::new(old, write.off()).is_ok());

    // Even beyond HotSpot's ranges a mask rounds to powers of two only.
    let beyond = |settings| Emitter::beyond_hotspot(ANY, settings);
    assert_eq!(beyond(PrefetchSettings { step: 4096, ..good }).unwrap().prefetch().step, 4096);
    says(
        beyond(PrefetchSettings { step: 1000, ..good }),
        "must be a power of two of at least 8; 1024 is the nearest",
    );
    says(beyond(PrefetchSettings { distance: (1 << 20) + 1, ..good }), "0 to 1048576 work");
    says(beyond(PrefetchSettings { step: (1 << 20) + 1, ..good }), "1 to 1048576 work");
    says(beyond(PrefetchSettings { step: 0, ..good }), "AllocatePrefetchStepSize=0");
    says(beyond(PrefetchSettings { lines: 65, ..good }), "AllocatePrefetchLines=65");
    says(Emitter::beyond_hotspot(old, write), "no PREFETCHW");
    assert_eq!(
        beyond(PrefetchSettings { distance: 0, ..good }).unwrap().prefetch().style,
        PrefetchStyle::None
    );
}

#[test]
fn linking() {
    let sequence = emitter().allocate(&site(&[object(16)])).unwrap();
    let somewhere = |_| Some(0x1000);
    says(
        sequence.link(0, 0x8000_1000, somewhere),
        "code at 0x11 cannot jump to 0x80001000: the parts of a sequence must",
    );
    says(sequence.link(0, 0x1000, |_| None), "there is no address for the slow path `allocate`");
    assert!(sequence.link(0x8000_0000, 0x1000, somewhere).is_ok(), "2 GiB backwards");

    let registers = Registers::c(Machine::HOST);
    let here = Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap();
    let here = here.allocate(&Site { registers, ..site(&[object(16)]) }).unwrap();
    let mut buffer = CodeBuffer::default();
    buffer.add("pasted", here);
    let error = buffer.finish(|_| None).unwrap_err();
    assert_eq!(error.to_string(), "`pasted`: there is no address for the code for a heap without room");
    let error = CodeError::System { bytes: 4096, error: rustix::io::Errno::NOMEM };
    assert!(error.to_string().starts_with("the system refused 4096 bytes of memory for code: "), "{error}");

    let foreign = Sequence::code(Machine::AArch64, &[0; 8], &[Register::X3]).unwrap();
    assert_eq!((foreign.machine(), foreign.clobbers()), (Machine::AArch64, &[Register::X3][..]));
    says(
        Sequence::code(Machine::AArch64, &[0; 6], &[]),
        "6 bytes are no code for AArch64: each instruction has 4",
    );
    says(
        Sequence::new(Machine::X86_64).append(&foreign),
        "code for AArch64 cannot follow code for x86-64: a sequence is for one machine",
    );
    let other = if Machine::HOST == Machine::X86_64 { Machine::AArch64 } else { Machine::X86_64 };
    let mut buffer = CodeBuffer::default();
    buffer.add("elsewhere", Sequence::new(other));
    let error = buffer.finish(|_| None).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!(
            "`elsewhere` is code for {other}, and this process runs on {}",
            Machine::HOST
        )),
        "{error}"
    );
}

/// Checks that a suggestion removes the collision.
fn follow(mut registers: Registers) {
    // Six roles, each of which may be wrong.
    for _ in 0..=6 {
        let Err(error) = emitter().allocate(&Site { registers, ..site(&[object(24)]) }) else { return };
        let Registers { mutator, object, top, scratch, .. } = &mut registers;
        let mut parts = [mutator, object, top, scratch];
        match error {
            EmitError::Clobbered { register, free, .. } if register.is_vector() => {
                registers.vectors[1] = free
            }
            EmitError::Clobbered { register, free, .. } => {
                **parts.iter_mut().rev().find(|part| ***part == register).unwrap() = free;
            }
            EmitError::NoGeneral { register, free, .. } => {
                **parts.iter_mut().find(|part| ***part == register).unwrap() = free;
            }
            EmitError::NoVector { register, .. } => {
                let place = registers.vectors.iter().position(|vector| *vector == register).unwrap();
                registers.vectors[place] = [Register::XMM4, Register::XMM5][place];
            }
            other => panic!("{other}"),
        }
    }
    panic!("each suggestion removes a collision: {registers:?}");
}

fn register() -> impl Strategy<Value = Register> {
    let all: Vec<Register> =
        [Machine::X86_64, Machine::AArch64].into_iter().flat_map(Machine::registers).collect();
    prop_oneof![6 => prop::sample::select(Machine::X86_64.general()), 1 => prop::sample::select(all)]
}

fn vector() -> impl Strategy<Value = Register> {
    prop_oneof![6 => prop::sample::select(Machine::X86_64.vectors()), 1 => register()]
}

fn registers() -> impl Strategy<Value = Registers> {
    let general = (register(), register(), register(), register());
    (general, [vector(), vector()]).prop_map(|((mutator, object, top, scratch), vectors)| Registers {
        mutator,
        object,
        top,
        scratch,
        vectors,
    })
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn suggestions_lead_to_what_works(registers in registers()) {
        follow(registers);
    }

    #[test]
    fn whatever_is_asked_for_is_answered(
        registers in registers(), other in register(), bits in any::<u64>(), bytes in any::<usize>(),
        preserve in vec(register(), 0..4), style in 0..4_usize, lines in 0..70_usize,
        numbers in prop_oneof![Just((64, 256)), (any::<usize>(), any::<usize>()), (0..2_usize << 20, 0..2_usize << 20)],
        good in settings(),
    ) {
        let style = PrefetchStyle::from_number(style).unwrap();
        let bad = PrefetchSettings { style, step: numbers.0, distance: numbers.1, lines, ..good };
        for emitter in [Emitter::new(ANY, bad), Emitter::beyond_hotspot(ANY, bad), Emitter::new(ANY, good)] {
            let Ok(emitter) = emitter else { continue };
            let header = Header::from_bits(bits);
            let small = Allocation::with_header(header, bytes % 4096).ok();
            let large = Allocation::with_header(header, bytes).ok();
            let sized = Some(Allocation::sized_in(header, other));
            let slow = SlowCall { preserve: &preserve, misaligned: false };
            for allocations in [vec![small], vec![large], vec![sized], vec![small, small], vec![small, sized]] {
                let allocations: Vec<Allocation> = allocations.into_iter().flatten().collect();
                let site = Site { allocations: &allocations, initialise: Initialise::PerObject, registers, slow };
                if let Ok(sequence) = emitter.allocate(&site) {
                    prop_assert!(sequence.link(0x1000, 0x9000, targets(0)).is_err(), "slow paths are whoever links'");
                }
            }
            let (mutator, base, value) = (registers.mutator, registers.object, registers.top);
            let displacement = bytes as i32;
            let _ = emitter.load(&Load { mutator, base, displacement, value, hook: Some(slow) });
            let _ = emitter.load(&Load { mutator, base, displacement, value, hook: None });
            let _ = emitter.store(&Store { mutator, base, displacement, value, scratch: other });
            let _ = emitter.poll(&Poll { mutator, slow });
        }
    }
}
