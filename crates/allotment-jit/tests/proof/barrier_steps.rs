//! Barriers, instruction by instruction: which bits they test, what they pass to their slow paths,
//! and what they cost while no barrier is in force.
//!
//! All sixteen combinations of bits are run, even those that no heap sets.

use super::interpreter::{Event, Exit, Interpreter};
use super::kit::{ANY_AARCH64, Assignment, Conventions, any_assignment, cases};
use super::prefetch::{HOT_PART, not_called};
use allotment::raw::{AArch64, Hot, PrefetchSettings};
use allotment_jit::{CompareExchange, Emitter, Load, Machine, Register, Sequence, SlowCall, Store, Target};
use proptest::prelude::*;

const BASE: u64 = 0x50_5000_0000;
/// The biased card table.
const CARDS: u64 = 0x7000_0000;
const ALL: std::ops::Range<u32> = 0..16;

fn emitter(machine: Machine) -> Emitter {
    Emitter::new(machine.processor(), PrefetchSettings::OFF).unwrap()
}

/// The store of a reference that another thread may read.
fn published(machine: Machine, slot: u64) -> Event {
    match machine {
        Machine::X86_64 => Event::Store(slot),
        _ => Event::Release(slot),
    }
}

/// A machine with a hot part in which these barriers are in force, and a word in a slot.
fn machine(sequence: &Sequence, assignment: &Assignment, bits: u32, slot: u64) -> Interpreter {
    let mut machine = Interpreter::new(sequence);
    if assignment.misaligned {
        machine.set(assignment.machine.stack_pointer(), Interpreter::STACK_AT - 8);
    }
    machine.set(assignment.registers().mutator, HOT_PART);
    machine.set_barriers(HOT_PART, bits);
    machine.memory.insert(HOT_PART + Hot::CARDS_OFFSET as u64, CARDS);
    machine.memory.insert(slot, 77);
    machine.answer = 78;
    machine
}

/// All registers but `changed` are as they were.
/// A sequence of AArch64 keeps the link register, too, but may change x16 and x17.
fn assert_kept(machine: Machine, before: &Interpreter, after: &Interpreter, changed: &[Register]) {
    let general = machine.registers().filter(|one| one.is_general() && !machine.own().contains(one));
    for register in general.filter(|one| !changed.contains(one)) {
        assert_eq!(before.get(register), after.get(register), "{register:?}");
    }
}

/// The calls of slow paths: their offsets, and the given number of arguments.
fn barriers(machine: &Interpreter, arguments: usize) -> Vec<(usize, Vec<u64>)> {
    let barrier = |event: &Event| match event {
        Event::Barrier(offset, passed) => Some((*offset, passed[..arguments].to_vec())),
        _ => None,
    };
    machine.events.iter().filter_map(barrier).collect()
}

/// The one call, if one of the bits is set.
fn expected(set: u32, offset: usize, arguments: &[u64]) -> Vec<(usize, Vec<u64>)> {
    if set != 0 { vec![(offset, arguments.to_vec())] } else { Vec::new() }
}

fn card(slot: u64) -> Event {
    Event::Byte(CARDS + (slot >> Hot::CARD_SHIFT), Hot::DIRTY_CARD)
}

type Emit = fn(&Emitter, &Load<'_>) -> Sequence;
/// A load, the bits it tests, and its slow path.
const LOADS: [(Emit, u32, usize); 2] = [
    (|emitter, load| emitter.load(load).unwrap(), Hot::FORWARDING, Hot::LOAD_SLOW_OFFSET),
    (
        |emitter, load| emitter.load_weak(load).unwrap(),
        Hot::MARKING | Hot::WEAK | Hot::FORWARDING,
        Hot::LOAD_WEAK_SLOW_OFFSET,
    ),
];

fn stores(assignment: &Assignment, displacement: i32, slot: u64) {
    let registers = assignment.registers();
    let (mutator, base, scratch) = (registers.mutator, registers.object, registers.scratch);
    let store = Store { mutator, base, displacement, value: assignment.input(), scratch };
    let sequence = emitter(assignment.machine).store(&store).unwrap();
    assert_clobbers(&sequence, assignment.machine, &[scratch], displacement);
    assert!(sequence.safepoints().is_empty() && sequence.relocations().len() == 2, "the two jumps");
    for bits in ALL {
        let mut run = machine(&sequence, assignment, bits, slot);
        run.set(base, BASE);
        run.set(assignment.input(), 79);
        let before = run.clone();
        assert_eq!(run.run(&mut not_called), Exit::FellThrough);
        let set = bits & Hot::MARKING;
        assert_eq!(barriers(&run, 2), expected(set, Hot::STORE_SLOW_OFFSET, &[HOT_PART, slot]), "{bits}");
        // The slow path comes first, the card last.
        let stores: Vec<&Event> =
            run.events.iter().skip_while(|one| matches!(one, Event::Barrier(..))).collect();
        assert_eq!(stores, [&published(assignment.machine, slot), &card(slot)]);
        assert_eq!(run.word(slot), 79);
        assert_kept(assignment.machine, &before, &run, &[scratch]);
        if set == 0 {
            let steps = match assignment.machine {
                // A test, a jump not taken, a store and its card.
                Machine::X86_64 => 2 + 5,
                // The slot's address, a load, a test and a jump; a store, and four for the card.
                _ => sum(displacement) + 3 + 1 + 4,
            };
            assert_eq!(run.steps, steps);
        }
    }
}

fn loads(assignment: &Assignment, displacement: i32, slot: u64, same: bool) {
    let registers = assignment.registers();
    let (mutator, base) = (registers.mutator, registers.object);
    let value = if same { base } else { registers.top };
    let load = Load { mutator, base, displacement, value, hook: None };
    for (emit, mask, offset) in LOADS {
        let sequence = emit(&emitter(assignment.machine), &load);
        assert_clobbers(&sequence, assignment.machine, &[], displacement);
        for bits in ALL {
            let mut run = machine(&sequence, assignment, bits, slot);
            run.set(base, BASE);
            let before = run.clone();
            assert_eq!(run.run(&mut not_called), Exit::FellThrough);
            let set = bits & mask;
            assert_eq!(barriers(&run, 3), expected(set, offset, &[HOT_PART, slot, 77]), "{bits}");
            assert_eq!(run.get(value), if set != 0 { 78 } else { 77 });
            assert_kept(assignment.machine, &before, &run, &[value]);
            if set == 0 {
                assert_eq!(
                    run.steps,
                    load_steps(assignment.machine, displacement),
                    "a test, a jump not taken, a load"
                );
            }
        }
    }
}

fn hooked_loads(assignment: &Assignment, displacement: i32, slot: u64) {
    let registers = assignment.registers();
    let (mutator, base, value) = (registers.mutator, registers.object, registers.top);
    let preserve = assignment.preserve();
    let hook = SlowCall { preserve: &preserve, misaligned: assignment.misaligned };
    let load = Load { mutator, base, displacement, value, hook: Some(hook) };
    for (emit, mask, offset) in LOADS {
        let sequence = emit(&emitter(assignment.machine), &load);
        assert!(sequence.safepoints().is_empty(), "the hook is not a safepoint");
        for bits in ALL {
            let mut run = machine(&sequence, assignment, bits, slot);
            run.set(base, BASE);
            let before = run.clone();
            let exit = run.run(&mut |machine, target| {
                // The hook is given the result of the load's slow path.
                let arguments = assignment.machine.arguments().map(|one| machine.get(one));
                assert_eq!((target, &arguments[..3]), (Target::LoadHook, &[HOT_PART, slot, 78][..]));
                machine.trash();
                machine.set(assignment.machine.result(), 80);
            });
            assert_eq!(exit, Exit::FellThrough);
            let (set, hooked) = (bits & (mask | Hot::HOOK), bits & Hot::HOOK != 0);
            assert_eq!(barriers(&run, 3), expected(set, offset, &[HOT_PART, slot, 77]), "{bits}");
            assert_eq!(run.events.contains(&Event::Call(Target::LoadHook)), hooked);
            assert_eq!(
                run.get(value),
                if hooked {
                    80
                } else if set != 0 {
                    78
                } else {
                    77
                }
            );
            if hooked {
                for register in preserve.iter().chain([&mutator, &base, &assignment.machine.stack_pointer()])
                {
                    assert_eq!(before.get(*register), run.get(*register), "{register:?}");
                }
            } else {
                assert_kept(assignment.machine, &before, &run, &[value]);
            }
            if set == 0 {
                let steps = load_steps(assignment.machine, displacement);
                assert_eq!(run.steps, steps, "one test for the barrier and the hook");
            }
        }
    }
}

/// An exchange. On AArch64 without the atomic instructions of the Large System Extensions, other
/// threads interfere with it as often as `interferences` says.
fn exchanges(
    assignment: &Assignment,
    displacement: i32,
    slot: u64,
    succeeds: bool,
    interferences: Option<usize>,
) {
    let machine_of = assignment.machine;
    // On x86-64 `rax` already has a role.
    let rax = (machine_of == Machine::X86_64).then_some(Register::RAX);
    let free: Vec<Register> = assignment.all().into_iter().filter(|one| Some(*one) != rax).collect();
    let [base, expected_in, new, scratch, mutator, other, ..] = free[..] else { panic!("14 registers") };
    let held = rax.unwrap_or(other);
    let exchange = CompareExchange { mutator, base, displacement, expected: expected_in, new, held, scratch };
    let emitter = match (machine_of, interferences) {
        (Machine::AArch64, Some(_)) => {
            Emitter::new(AArch64 { lse: false, ..ANY_AARCH64 }, PrefetchSettings::OFF).unwrap()
        }
        _ => emitter(machine_of),
    };
    let sequence = emitter.compare_exchange(&exchange).unwrap();
    assert_clobbers(&sequence, machine_of, &[scratch], displacement);
    let wanted = if succeeds { 77 } else { 76 };
    for bits in ALL {
        let mut run = machine(&sequence, assignment, bits, slot);
        run.interferences = interferences.unwrap_or(0);
        run.set(mutator, HOT_PART);
        run.set(base, BASE);
        run.set(expected_in, wanted);
        run.set(new, 79);
        let before = run.clone();
        assert_eq!(run.run(&mut not_called), Exit::FellThrough);
        let set = bits & (Hot::MARKING | Hot::FORWARDING);
        let arguments = [HOT_PART, slot, wanted, 79];
        assert_eq!(barriers(&run, 4), expected(set, Hot::COMPARE_EXCHANGE_SLOW_OFFSET, &arguments), "{bits}");
        assert_eq!(run.get(held), if set != 0 { 78 } else { 77 });
        assert_eq!(run.word(slot), if set == 0 && succeeds { 79 } else { 77 });
        assert_eq!(run.events.last(), Some(&card(slot)));
        assert_eq!(run.events.contains(&Event::Exchange(slot)), set == 0);
        assert_kept(machine_of, &before, &run, &[scratch, held]);
        let steps = match (machine_of, interferences) {
            (Machine::X86_64, _) => 2 + 6,
            // The address; a load, two for the test, a jump; a move and the exchange; the card.
            (_, None) => sum(displacement) + 4 + 2 + 4,
            (_, Some(times)) => {
                let exchange = if succeeds { 5 * (1 + times) } else { 3 };
                sum(displacement) + 4 + exchange + 4
            }
        };
        if set == 0 {
            assert_eq!(run.steps, steps);
        }
    }
}

/// The instructions of a load while its barrier is not in force.
fn load_steps(machine: Machine, displacement: i32) -> usize {
    match machine {
        Machine::X86_64 => 3,
        _ if (-256..=32760).contains(&displacement) => 4,
        _ => 4 + sum(displacement),
    }
}

/// The instructions of AArch64 that add the number to a register: one or two for each 12 of 24 bits,
/// else two that make the number and one that adds.
fn sum(number: i32) -> usize {
    let size = number.unsigned_abs();
    if size < 1 << 24 {
        return usize::from(size % (1 << 12) != 0) + usize::from(size >> 12 != 0);
    }
    1 + usize::from(size % (1 << 16) != 0) + usize::from(size >> 16 != 0)
}

/// The clobbers are these, and on AArch64 the sequence's own. A slot without a displacement needs no
/// register there.
fn assert_clobbers(sequence: &Sequence, machine: Machine, registers: &[Register], displacement: i32) {
    let mut clobbers = sequence.clobbers().to_vec();
    clobbers.sort();
    let needed = if machine == Machine::AArch64 && displacement == 0 { &[] } else { registers };
    let mut expected = [needed, machine.own()].concat();
    expected.sort();
    assert_eq!(clobbers, expected);
}

/// Near the base, and at the edges of the numbers that instructions have room for.
fn displacements() -> impl Strategy<Value = i32> {
    let edges = [
        -512,
        -264,
        -256,
        -248,
        32760,
        32768,
        4096,
        4104,
        1 << 24,
        (1 << 24) - 8,
        (1 << 24) + 8,
        -4096,
        -(1 << 24),
        i32::MIN,
        i32::MAX - 7,
    ];
    prop_oneof![
        4 => (-40..40_i32).prop_map(|words| words * 8),
        2 => prop::sample::select(edges.to_vec()),
        1 => any::<i32>().prop_map(|bytes| bytes / 8 * 8),
    ]
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn each_bit_calls_the_slow_paths_that_it_should(
        assignment in any_assignment(), displacement in displacements(), same in any::<bool>(),
        interferences in 0..3_usize,
    ) {
        let slot = BASE.wrapping_add_signed(displacement.into());
        stores(&assignment, displacement, slot);
        loads(&assignment, displacement, slot, same);
        hooked_loads(&assignment, displacement, slot);
        exchanges(&assignment, displacement, slot, same, None);
        exchanges(&assignment, displacement, slot, same, Some(interferences));
    }
}
