//! The data for a compiler's stack maps. For sequences one after the other, the test compares the
//! calls' return addresses and stack use with the frame that a collection sees. It also covers
//! sequences in a loop.

use super::kit::{Assignment, Conventions, cases, heap, host_assignment, initialise, own, settings};
use super::machine::{RegisterFile, framed, targets};
use allotment::raw::{
    GeneratedFrame, PrefetchSettings, Processor, RootProvider, RootVisitor, Shape, ShapeRef, X86_64,
};
use allotment_jit::{
    Allocation, CodeBuffer, Emitter, Initialise, Jump, Machine, Part, Poll, Register, Sequence, Site,
    SlowCall, Target,
};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Return addresses and stack pointers of the frames that it was told of.
struct Told(Arc<Mutex<Vec<(usize, usize)>>>);

// SAFETY: visits nothing.
unsafe impl RootProvider for Told {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        let frame = |frame: &GeneratedFrame| (frame.return_address(), frame.stack_pointer());
        self.0.lock().unwrap().extend(roots.generated_frames().map(frame));
    }
}

/// This processor, in code that only has to run: where there is no `PREFETCHW`, it does nothing.
fn with_write_prefetch() -> Processor {
    match Processor::detect() {
        Processor::X86_64(here) => X86_64 { prefetchw: true, ..here }.into(),
        other => other,
    }
}

fn allocation(
    assignment: &Assignment,
    settings: PrefetchSettings,
    initialise: Initialise,
    shape: ShapeRef,
) -> Sequence {
    let preserve = assignment.preserve();
    let slow = SlowCall { preserve: &preserve, misaligned: assignment.misaligned };
    let (allocations, registers) = ([Allocation::object(shape).unwrap()], assignment.registers());
    let emitter = Emitter::new(with_write_prefetch(), settings).unwrap();
    emitter.allocate(&Site { allocations: &allocations, initialise, registers, slow }).unwrap()
}

fn told(assignment: &Assignment, settings: PrefetchSettings, initialise: Initialise) {
    let heap = heap("ZealInterval=1");
    let shape = heap.register(Shape::fixed("Pair", 24)).unwrap();
    let told = Told(Arc::default());
    let frames = told.0.clone();
    let provider = heap.add_root_provider(Box::new(told));
    let preserve = assignment.preserve();
    let slow = SlowCall { preserve: &preserve, misaligned: assignment.misaligned };
    let mutator_in = assignment.registers().mutator;
    let poll = Emitter::new(Machine::HOST.processor(), settings)
        .unwrap()
        .poll(&Poll { mutator: mutator_in, slow })
        .unwrap();
    let allocation = allocation(assignment, settings, initialise, shape);
    let whole = framed(&[&allocation, &poll, &allocation, &allocation], assignment.misaligned);
    let [first, _, second, third] = whole.safepoints() else { panic!("three allocations and a poll") };
    let mut buffer = CodeBuffer::default();
    let function = buffer.add("three", whole.clone());
    let code = buffer.finish(targets(0)).unwrap();
    heap.attach(|mutator| {
        let mut machine = RegisterFile::patterned(1);
        machine.set(mutator_in, mutator.raw().hot().addr() as u64);
        // SAFETY: this thread's hot part; no reference is held, and objects have no slots.
        unsafe { machine.run(&code, function) };
        let cold = code.functions()[0].cold_address;
        let expected = [first, second, third]
            .map(|one| (cold + one.return_offset, machine.stack() as usize - one.pushed_bytes));
        // A collection asks more than once.
        let mut frames = std::mem::take(&mut *frames.lock().unwrap());
        frames.dedup();
        assert_eq!(frames, expected);
    })
    .unwrap();
    heap.remove_root_provider(provider);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_collection_finds_the_place_and_the_stack_that_safepoints_say(
        assignment in host_assignment(), settings in settings(), initialise in initialise(),
    ) {
        told(&assignment, settings, initialise);
    }
}

#[test]
fn a_loop_of_allocations() {
    let heap = heap("Collector=epsilon,TLABSize=512,MinTLABSize=256");
    let shapes = [24, 40].map(|bytes| heap.register(Shape::fixed("Object", bytes)).unwrap());
    // The counter is in a register that a C function changes: the slow path preserves it.
    let assignment = Assignment::plain(Machine::HOST);
    let counter = if Machine::HOST == Machine::X86_64 { Register::RSI } else { Register::X5 };
    assert!(!Machine::HOST.callee_saved().contains(&counter));
    assert!(![assignment.registers().object, assignment.input()].contains(&counter));
    let slow = SlowCall { preserve: &[counter], misaligned: false };
    let mut body = Sequence::new(Machine::HOST);
    for (shape, initialise) in shapes.into_iter().zip([Initialise::PerObject, Initialise::Ahead]) {
        let (allocations, registers) = ([Allocation::object(shape).unwrap()], assignment.registers());
        let emitter = Emitter::for_heap(&heap);
        let site = Site { allocations: &allocations, initialise, registers, slow };
        body.append(&emitter.allocate(&site).unwrap()).unwrap();
    }
    // dec rsi, and subs x5, x5, #1
    body.append(&own(&[0x48, 0xFF, 0xCE], &[0xF100_04A5])).unwrap();
    body.jump(Jump::IfNotEqual, Target::Inside(Part::Hot, 0));
    let mut buffer = CodeBuffer::default();
    let function = buffer.add("loop", framed(&[&body], false));
    let code = buffer.finish(targets(0)).unwrap();
    heap.attach(|mutator| {
        let mut machine = RegisterFile::patterned(1);
        machine.set(assignment.registers().mutator, mutator.raw().hot().addr() as u64);
        machine.set(counter, 5000);
        // SAFETY: this thread's hot part; no code reads the objects.
        unsafe { machine.run(&code, function) };
        assert_eq!((machine.get(counter), machine.no_room()), (0, false));
    })
    .unwrap();
    let census = heap.verify().unwrap();
    assert_eq!(shapes.map(|shape| census.objects(shape.id())), [5000, 5000]);
}
