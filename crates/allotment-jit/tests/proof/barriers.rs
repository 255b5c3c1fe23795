//! Barriers and polls on the processor: cards, the load hook, and stops that another thread
//! requests.

use super::kit::{Assignment, Conventions, cases, heap, host_assignment, word};
use super::machine::{RegisterFile, framed, targets};
use allotment::Mutator;
use allotment::raw::{Element, Hot, PrefetchSettings, Shape, SlotKind};
use allotment_jit::{Code, CodeBuffer, Emitter, FunctionId, Load, Machine, Poll, Sequence, SlowCall, Store};
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

fn emitter() -> Emitter {
    Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap()
}

fn code(sequence: &Sequence, assignment: &Assignment) -> (Code, FunctionId) {
    let mut buffer = CodeBuffer::default();
    let function = buffer.add("barrier", framed(&[sequence], assignment.misaligned));
    (buffer.finish(targets(hook as *const () as usize as u64)).unwrap(), function)
}

thread_local! {
    /// The last arguments of the hook.
    static HOOKED: Cell<Option<(usize, usize, u64)>> = const { Cell::new(None) };
}

/// Records its arguments, and returns another value.
extern "C" fn hook(hot: *const Hot, slot: *const u64, value: u64) -> u64 {
    HOOKED.set(Some((hot.addr(), slot.addr(), value)));
    value + 8
}

/// Runs `body` with the address of an array of 512 references, 4 KiB: eight cards and more.
fn with_array(body: impl FnOnce(&mut Mutator<'_>, usize)) {
    let heap = heap("");
    let shape = Shape::array("References", 16, Element::Reference(SlotKind::Strong));
    let shape = heap.register(shape).unwrap();
    heap.attach(|mutator| {
        // SAFETY: the shape is the heap's, and no collection comes before the end.
        let array = unsafe { mutator.raw_mut().alloc_raw(shape, 512).unwrap() };
        body(mutator, array.addr().get());
        // SAFETY: the array's own slots.
        unsafe { array.byte_add(16).write_bytes(0, 512 * 8) };
    })
    .unwrap();
}

/// The cards of the array that are dirty, as distances of the slots' numbers from the array's own
/// card.
fn dirty_cards(hot: *const Hot, array: usize) -> Vec<usize> {
    let card = |number: usize| {
        let address = word(hot, Hot::CARDS_OFFSET).wrapping_add((array >> Hot::CARD_SHIFT) + number);
        // SAFETY: the card of a slot of the array.
        unsafe { std::ptr::with_exposed_provenance::<u8>(address).read() }
    };
    (0..8).filter(|number| card(*number) == Hot::DIRTY_CARD).collect()
}

/// Makes all of them clean.
fn clean_cards(hot: *const Hot, array: usize) {
    for number in 0..8 {
        let address = word(hot, Hot::CARDS_OFFSET).wrapping_add((array >> Hot::CARD_SHIFT) + number);
        // SAFETY: the card of a slot of the array; its value matters to a collection only.
        unsafe { std::ptr::with_exposed_provenance_mut::<u8>(address).write(!Hot::DIRTY_CARD) };
    }
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn a_store_writes_the_slot_and_dirties_its_card_only(
        assignment in host_assignment(), slot in 0..400_usize, base in 0..400_usize,
    ) {
        let registers = assignment.registers();
        let displacement = (slot as i32 - base as i32) * 8;
        let (value, scratch) = (assignment.input(), registers.scratch);
        let store = Store { mutator: registers.mutator, base: registers.object, displacement, value, scratch };
        let sequence = emitter().store(&store).unwrap();
        let (code, function) = code(&sequence, &assignment);
        with_array(|mutator, array| {
            clean_cards(mutator.raw().hot(), array);
            let mut machine = RegisterFile::patterned(slot as u64);
            machine.set(registers.mutator, mutator.raw().hot().addr() as u64);
            machine.set(registers.object, (array + 16 + 8 * base) as u64);
            machine.set(value, array as u64);
            let before = machine.clone();
            // SAFETY: the base and the displacement lead to a slot of the array, the value is a
            // reference to it.
            unsafe { machine.run(&code, function) };
            let address = array + 16 + 8 * slot;
            // SAFETY: a slot of the array.
            let stored = unsafe { std::ptr::with_exposed_provenance::<u64>(address).read() };
            assert_eq!(stored, array as u64);
            let card = (address >> Hot::CARD_SHIFT) - (array >> Hot::CARD_SHIFT);
            assert_eq!(dirty_cards(mutator.raw().hot(), array), [card]);
            for register in Machine::HOST.general().into_iter().filter(|one| *one != scratch) {
                assert_eq!(before.get(register), machine.get(register), "{register:?}");
            }
        });
    }

    #[test]
    fn the_hook_is_called_while_it_is_on_and_what_it_returns_is_the_value(
        assignment in host_assignment(), slot in 0..400_usize, base in 0..400_usize,
    ) {
        let registers = assignment.registers();
        let (mutator_in, base_in, value) = (registers.mutator, registers.object, registers.top);
        let preserve = assignment.preserve();
        let load = Load {
            mutator: mutator_in,
            base: base_in,
            displacement: (slot as i32 - base as i32) * 8,
            value,
            hook: Some(SlowCall { preserve: &preserve, misaligned: assignment.misaligned }),
        };
        let (code, function) = code(&emitter().load(&load).unwrap(), &assignment);
        with_array(|mutator, array| {
            let address = array + 16 + 8 * slot;
            // SAFETY: a slot of the array.
            unsafe { std::ptr::with_exposed_provenance_mut::<u64>(address).write(array as u64) };
            for on in [false, true, false] {
                mutator.raw_mut().stop_the_world(|world| world.set_load_hook(on)).unwrap();
                HOOKED.set(None);
                let mut machine = RegisterFile::patterned(slot as u64);
                machine.set(mutator_in, mutator.raw().hot().addr() as u64);
                machine.set(base_in, (array + 16 + 8 * base) as u64);
                let before = machine.clone();
                // SAFETY: the base and the displacement lead to a slot of the array.
                unsafe { machine.run(&code, function) };
                assert_eq!(HOOKED.get(), on.then_some((mutator.raw().hot().addr(), address, array as u64)));
                assert_eq!(machine.get(value), array as u64 + if on { 8 } else { 0 });
                for register in preserve.iter().chain([&mutator_in, &base_in]) {
                    assert_eq!(before.get(*register), machine.get(*register), "{register:?}");
                }
            }
        });
    }
}

#[test]
fn a_poll_comes_to_the_stop_that_another_thread_asks_for() {
    let assignment = Assignment::plain(Machine::HOST);
    let mutator_in = assignment.registers().mutator;
    let poll = emitter().poll(&Poll { mutator: mutator_in, slow: SlowCall::default() }).unwrap();
    let (code, function) = code(&poll, &assignment);
    let heap = heap("");
    let (stops, polls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            heap.attach(|mutator| {
                while stops.load(Ordering::Acquire) < 20 {
                    let mut machine = RegisterFile::patterned(1);
                    machine.set(mutator_in, mutator.raw().hot().addr() as u64);
                    // SAFETY: this thread's hot part; no reference is held.
                    unsafe { machine.run(&code, function) };
                    polls.fetch_add(1, Ordering::Relaxed);
                }
            })
            .unwrap();
        });
        while stops.load(Ordering::Relaxed) < 20 {
            let stopped = heap.stop_the_world(|world| {
                let before = polls.load(Ordering::Relaxed);
                std::thread::yield_now();
                // No thread goes on while the world is stopped.
                assert_eq!(before, polls.load(Ordering::Relaxed));
                world.threads()
            });
            if stopped.unwrap() == Some(1) {
                stops.fetch_add(1, Ordering::Release);
            }
        }
    });
    assert!(polls.into_inner() > 0);
}
