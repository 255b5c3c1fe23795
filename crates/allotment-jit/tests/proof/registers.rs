//! The effects of sequences on registers and on the stack, instruction by instruction.
//!
//! `same_heap` shows that registers survive on the processor. Here every write is counted, and the
//! calls are checked from inside: arguments, the stack's alignment (the interpreter's check), and
//! the statements about the return address.

use super::interpreter::{Exit, Interpreter};
use super::kit::{Assignment, Conventions, MACHINES, any_assignment, cases};
use super::prefetch::{Case, HOT_PART, What, case, not_called};
use super::program::ARRAYS;
use allotment::raw::{Hot, PrefetchSettings, PrefetchStyle};
use allotment_jit::{Emitter, Initialise, Machine, Poll, Register, Sequence, SlowCall, Target};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The heap's answer to a call.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Memory,
    NoRoom,
}

/// The address of the heap's answer.
const ELSEWHERE: u64 = 0x4000_0000;

/// Runs the sequence and checks each call: the target, the arguments, and the statements about its
/// return address.
fn slow_path(case: &Case, sequence: &Sequence, answer: Answer) -> (Interpreter, Interpreter) {
    let mut machine = case.machine(sequence, case.bytes() as u64 - 8);
    let before = machine.clone();
    let conventions = case.assignment.machine;
    let stack = machine.get(conventions.stack_pointer());
    let mut calls = 0;
    let exit = machine.run(&mut |machine, target| {
        calls += 1;
        let zeroed = match case.initialise {
            Initialise::ByCaller => false,
            Initialise::PerObject => case.argument().is_some(),
            Initialise::Ahead => true,
        };
        let array = [Target::AllocateArray, Target::AllocateArrayZeroed];
        let plain = [Target::Allocate, Target::AllocateZeroed];
        let arguments = conventions.arguments().map(|one| machine.get(one));
        if let What::Length(index, length) = case.what {
            let (fixed, element) = ARRAYS[index];
            assert_eq!(target, array[usize::from(zeroed)]);
            assert_eq!(arguments, [HOT_PART, length as u64, element.bytes() as u64, fixed as u64]);
        } else {
            assert_eq!(target, plain[usize::from(zeroed)]);
            assert_eq!(arguments[..2], [HOT_PART, case.bytes() as u64]);
        }
        let [safepoint] = sequence.safepoints() else { panic!("one call") };
        assert_eq!(safepoint.return_offset, machine.return_offset);
        assert_eq!(safepoint.pushed_bytes as u64, stack - machine.get(conventions.stack_pointer()));
        assert_eq!(safepoint.stub_return, None);
        let bytes = case.bytes() as u64;
        machine.trash();
        let object = if matches!(answer, Answer::Memory) { ELSEWHERE } else { 0 };
        if zeroed && object != 0 {
            machine.memory.extend((0..bytes).step_by(8).map(|at| (object + at, 0)));
        }
        machine.set(conventions.result(), object);
    });
    assert_eq!(calls, 1);
    assert_eq!(machine.get(conventions.stack_pointer()), stack);
    let expected = if matches!(answer, Answer::Memory) { Exit::FellThrough } else { Exit::OutOfMemory };
    assert_eq!(exit, expected);
    (before, machine)
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn the_fast_path_writes_its_clobbers_and_the_object(case in case()) {
        let style_2 = case.settings.style == PrefetchStyle::Watermark;
        let sequence = case.sequence();
        let mut machine = case.machine(&sequence, case.bytes() as u64);
        if style_2 {
            // The watermark must move on, too.
            machine.memory.insert(HOT_PART + Hot::WATERMARK_OFFSET as u64, case.top);
        }
        let stack_pointer = case.assignment.machine.stack_pointer();
        let stack = machine.get(stack_pointer);
        prop_assert_eq!(machine.run(&mut not_called), Exit::FellThrough);
        prop_assert_eq!(machine.get(stack_pointer), stack);
        let mut promised: BTreeSet<Register> = sequence.clobbers().iter().copied().collect();
        prop_assert!(!promised.contains(&case.assignment.registers().object));
        promised.insert(case.assignment.registers().object);
        // Exactly these are written, and nothing below the stack pointer.
        prop_assert_eq!(&machine.written, &promised);
        prop_assert!(!(1..64).any(|word| machine.memory.contains_key(&(stack - 8 * word))));
    }

    #[test]
    fn the_slow_path_keeps_inputs_what_it_preserves_and_what_c_does(case in case(), memory in any::<bool>()) {
        let sequence = case.sequence();
        let answer = if memory { Answer::Memory } else { Answer::NoRoom };
        let (before, after) = slow_path(&case, &sequence, answer);
        let registers = case.assignment.registers();
        let object = if memory { ELSEWHERE } else { 0 };
        prop_assert_eq!(after.get(registers.object), object);
        let mut kept = case.assignment.preserve();
        kept.push(registers.mutator);
        kept.extend(case.argument().map(|_| case.assignment.input()));
        kept.extend(case.assignment.machine.callee_saved());
        // A function that is no leaf has its return address elsewhere, and still the sequences keep it.
        kept.extend(link(case.assignment.machine));
        for register in kept {
            if register != registers.object && !sequence.clobbers().contains(&register) {
                prop_assert_eq!(before.get(register), after.get(register), "{:?}", register);
            }
        }
        if memory && matches!(case.initialise, Initialise::ByCaller | Initialise::PerObject) {
            case.check_objects(&after, ELSEWHERE);
        }
    }

    #[test]
    fn polls_use_the_registers_they_are_given(assignment in any_assignment(), on in any::<bool>()) {
        poll(&assignment, on);
    }
}

/// A machine with a hot part whose words are all `on`.
fn machine(sequence: &Sequence, assignment: &Assignment, on: bool) -> Interpreter {
    let mut machine = Interpreter::new(sequence);
    if assignment.misaligned {
        machine.set(assignment.machine.stack_pointer(), Interpreter::STACK_AT - 8);
    }
    machine.set(assignment.registers().mutator, HOT_PART);
    machine.memory.extend((0..16).map(|word| (HOT_PART + 8 * word, on.into())));
    machine
}

fn poll(assignment: &Assignment, on: bool) {
    let emitter = Emitter::new(assignment.machine.processor(), PrefetchSettings::OFF).unwrap();
    let mutator = assignment.registers().mutator;
    let preserve: Vec<Register> = assignment.preserve();
    let slow = SlowCall { preserve: &preserve, misaligned: assignment.misaligned };
    let poll = emitter.poll(&Poll { mutator, slow }).unwrap();
    let mut run = machine(&poll, assignment, on);
    let before = run.clone();
    let exit = run.run(&mut |machine, target| {
        assert_eq!((target, machine.get(assignment.machine.arguments()[0])), (Target::Safepoint, HOT_PART));
        let [safepoint] = poll.safepoints() else { panic!("one call") };
        assert_eq!(safepoint.return_offset, machine.return_offset);
        machine.trash();
    });
    assert_eq!((exit, run.events.len()), (Exit::FellThrough, usize::from(on)));
    let mut kept = [&preserve[..], &[mutator, assignment.machine.stack_pointer()]].concat();
    kept.extend(link(assignment.machine));
    kept.into_iter().for_each(|register| assert_eq!(before.get(register), run.get(register), "{register:?}"));
}

/// The link register, if the machine has one.
fn link(machine: Machine) -> Option<Register> {
    (machine == Machine::AArch64).then_some(Register::X30)
}

#[test]
fn a_stub_keeps_to_the_calling_convention() {
    for machine in MACHINES {
        for style in (0..4).filter_map(PrefetchStyle::from_number) {
            let settings = PrefetchSettings { style, ..PrefetchSettings::OFF };
            stub(machine, &Emitter::new(machine.processor(), settings).unwrap());
        }
    }
}

fn stub(machine: Machine, emitter: &Emitter) {
    let [hot_in, size_in, ..] = machine.arguments();
    let header = allotment::raw::Header::from_bits(7 << 8);
    let allocation = allotment_jit::Allocation::sized_in(header, size_in);
    for initialise in [Initialise::ByCaller, Initialise::PerObject, Initialise::Ahead] {
        let stub = emitter.stub(allocation, initialise).unwrap();
        let [safepoint] = stub.safepoints() else { panic!("one call") };
        for (room, answer) in [(64, 0), (0, ELSEWHERE), (0, 0)] {
            let mut run = Interpreter::new(&stub);
            let stack = Interpreter::STACK_AT - if machine == Machine::X86_64 { 8 } else { 0 };
            // After a call, which leaves the return address on the stack or in the link register.
            let return_address = 0x1234_5678;
            run.set(machine.stack_pointer(), stack);
            run.memory.insert(stack, return_address);
            link(machine).into_iter().for_each(|link| run.set(link, return_address));
            run.set(hot_in, HOT_PART);
            run.set(size_in, 64);
            run.memory.insert(HOT_PART + Hot::TOP_OFFSET as u64, 0x3000_0000);
            run.memory.insert(HOT_PART + Hot::LIMIT_OFFSET as u64, 0x3000_0000 + room);
            run.memory.insert(HOT_PART + Hot::ZEROED_LIMIT_OFFSET as u64, 0x3000_0000 + room);
            run.memory.insert(HOT_PART + Hot::WATERMARK_OFFSET as u64, 0);
            let before = run.clone();
            let exit = run.run(&mut |run, _| {
                let place = run.get(machine.stack_pointer()) + safepoint.stub_return.unwrap() as u64;
                assert_eq!(run.word(place), return_address, "where the stub's return address is");
                run.trash();
                run.set(machine.result(), answer);
            });
            assert_eq!(exit, Exit::Returned);
            assert_eq!(run.get(machine.result()), if room > 0 { 0x3000_0000 } else { answer });
            let kept =
                machine.callee_saved().into_iter().chain([machine.stack_pointer()]).chain(link(machine));
            for register in kept {
                assert_eq!(before.get(register), run.get(register), "{register:?}");
            }
        }
    }
}
