//! Barriers, instruction by instruction: which bits they test, what they pass to their slow paths,
//! and what they cost while no barrier is in force.
//!
//! All sixteen combinations of bits are run, even those that no heap sets.

use super::interpreter::{Event, Exit, Interpreter};
use super::kit::{ANY, Assignment, GENERAL, assignment};
use super::prefetch::{HOT_PART, not_called};
use allotment::raw::{Hot, PrefetchSettings};
use allotment_jit::{CompareExchange, Emitter, Load, Register, Sequence, SlowCall, Store, Target};
use proptest::prelude::*;

const BASE: u64 = 0x5000_0000;
/// The biased card table.
const CARDS: u64 = 0x7000_0000;
const ALL: std::ops::Range<u32> = 0..16;

fn emitter() -> Emitter {
    Emitter::new(ANY, PrefetchSettings::OFF).unwrap()
}

/// A machine with a hot part in which these barriers are in force, and a word in a slot.
fn machine(sequence: &Sequence, assignment: &Assignment, bits: u32, slot: u64) -> Interpreter {
    let mut machine = Interpreter::new(sequence);
    if assignment.misaligned {
        machine.set(Register::RSP, Interpreter::STACK_AT - 8);
    }
    machine.set(assignment.registers().mutator, HOT_PART);
    machine.set_barriers(HOT_PART, bits);
    machine.memory.insert(HOT_PART + Hot::CARDS_OFFSET as u64, CARDS);
    machine.memory.insert(slot, 77);
    machine.answer = 78;
    machine
}

/// All registers but `changed` are as they were.
fn assert_kept(before: &Interpreter, after: &Interpreter, changed: &[Register]) {
    for register in GENERAL.into_iter().chain([Register::RSP]).filter(|one| !changed.contains(one)) {
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
    let sequence = emitter().store(&store).unwrap();
    assert_eq!(sequence.clobbers(), [scratch]);
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
        assert_eq!(stores, [&Event::Store(slot), &card(slot)]);
        assert_eq!(run.word(slot), 79);
        assert_kept(&before, &run, &[scratch]);
        if set == 0 {
            assert_eq!(run.steps, 2 + 5, "a test, a jump not taken, a store and its card");
        }
    }
}

fn loads(assignment: &Assignment, displacement: i32, slot: u64, same: bool) {
    let registers = assignment.registers();
    let (mutator, base) = (registers.mutator, registers.object);
    let value = if same { base } else { registers.top };
    let load = Load { mutator, base, displacement, value, hook: None };
    for (emit, mask, offset) in LOADS {
        let sequence = emit(&emitter(), &load);
        assert_eq!(sequence.clobbers(), []);
        for bits in ALL {
            let mut run = machine(&sequence, assignment, bits, slot);
            run.set(base, BASE);
            let before = run.clone();
            assert_eq!(run.run(&mut not_called), Exit::FellThrough);
            let set = bits & mask;
            assert_eq!(barriers(&run, 3), expected(set, offset, &[HOT_PART, slot, 77]), "{bits}");
            assert_eq!(run.get(value), if set != 0 { 78 } else { 77 });
            assert_kept(&before, &run, &[value]);
            if set == 0 {
                assert_eq!(run.steps, 3, "a test, a jump not taken, a load");
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
        let sequence = emit(&emitter(), &load);
        assert!(sequence.safepoints().is_empty(), "the hook is not a safepoint");
        for bits in ALL {
            let mut run = machine(&sequence, assignment, bits, slot);
            run.set(base, BASE);
            let before = run.clone();
            let exit = run.run(&mut |machine, target| {
                // The hook is given the result of the load's slow path.
                let arguments = [Register::RDI, Register::RSI, Register::RDX].map(|one| machine.get(one));
                assert_eq!((target, arguments), (Target::LoadHook, [HOT_PART, slot, 78]));
                machine.trash();
                machine.set(Register::RAX, 80);
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
                for register in preserve.iter().chain([&mutator, &base, &Register::RSP]) {
                    assert_eq!(before.get(*register), run.get(*register), "{register:?}");
                }
            } else {
                assert_kept(&before, &run, &[value]);
            }
            if set == 0 {
                assert_eq!(run.steps, 3, "one test for the barrier and the hook");
            }
        }
    }
}

fn exchanges(assignment: &Assignment, displacement: i32, slot: u64, succeeds: bool) {
    // `rax` already has a role.
    let free: Vec<Register> = assignment.all().into_iter().filter(|one| *one != Register::RAX).collect();
    let [base, expected_in, new, scratch, ..] = free[..] else { panic!("14 registers") };
    let mutator = free[4];
    let (expected_word, held) = (expected_in, Register::RAX);
    let exchange =
        CompareExchange { mutator, base, displacement, expected: expected_word, new, held, scratch };
    let sequence = emitter().compare_exchange(&exchange).unwrap();
    assert_eq!(sequence.clobbers(), [scratch]);
    let wanted = if succeeds { 77 } else { 76 };
    for bits in ALL {
        let mut run = machine(&sequence, assignment, bits, slot);
        run.set(mutator, HOT_PART);
        run.set(base, BASE);
        run.set(expected_in, wanted);
        run.set(new, 79);
        let before = run.clone();
        assert_eq!(run.run(&mut not_called), Exit::FellThrough);
        let set = bits & (Hot::MARKING | Hot::FORWARDING);
        let arguments = [HOT_PART, slot, wanted, 79];
        assert_eq!(barriers(&run, 4), expected(set, Hot::COMPARE_EXCHANGE_SLOW_OFFSET, &arguments), "{bits}");
        assert_eq!(run.get(Register::RAX), if set != 0 { 78 } else { 77 });
        assert_eq!(run.word(slot), if set == 0 && succeeds { 79 } else { 77 });
        assert_eq!(run.events.last(), Some(&card(slot)));
        assert_kept(&before, &run, &[scratch, Register::RAX]);
        if set == 0 {
            assert_eq!(run.steps, 2 + 6, "a test, a jump not taken, a move, the exchange, and the card");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn each_bit_calls_the_slow_paths_that_it_should(
        assignment in assignment(), displacement in -40..40_i32, same in any::<bool>(),
    ) {
        let displacement = displacement * 8;
        let slot = BASE.wrapping_add_signed(displacement.into());
        stores(&assignment, displacement, slot);
        loads(&assignment, displacement, slot, same);
        hooked_loads(&assignment, displacement, slot);
        exchanges(&assignment, displacement, slot, same);
    }
}
