//! Programs in heaps: the results that they may expect.

use super::simulator::{Account, Program, Simulator};
use super::*;

/// A usual program: 5 % of its allocation lives for a while, 1 % lives long.
const USUAL: Program = Program { ns_per_byte: 1.0, medium: (0.05, 4e6), long: 0.01, live: 20 * MIB };

/// Nearly all of its allocation dies at once, and the program does some work with it.
const FLEETING: Program = Program { ns_per_byte: 4.0, medium: (0.0005, 1e5), long: 0.0, live: 0 };

const PROGRAMS: [Program; 5] = [
    USUAL,
    Program { live: 60 * MIB, medium: (0.02, 1e6), ..USUAL },
    Program { live: 5 * MIB, medium: (0.1, 20e6), ..USUAL },
    Program { live: 5 * MIB, medium: (0.3, 1e6), ..USUAL },
    Program { live: 40 * MIB, medium: (0.03, 10e6), long: 0.002, ..USUAL },
];

/// Bytes that live at any time, those that live only for a while included.
fn alive(program: Program) -> f64 {
    program.live as f64 + program.medium.0 * program.medium.1
}

/// A heap of `factor` times the live bytes, and a region for short-lived bytes.
fn heap_for(program: Program, factor: f64) -> Machine {
    machine(((alive(program) * factor) as usize).max(4 * MIB) + MIB, 256 * KIB)
}

/// Builds the long-lived data, lets sizes settle, and then runs. Memory is never out.
fn run(program: Program, machine: Machine, list: &str) -> (Simulator, Account) {
    let mut simulator = Simulator::new(settings(list), machine);
    let mut accounts =
        [simulator.start(program), simulator.run(program, 1 << 30), simulator.run(program, 2 << 30)];
    assert!(
        accounts.iter().all(|account| !account.out_of_memory),
        "{program:?} in {machine:?}: {accounts:?}"
    );
    (simulator, std::mem::take(&mut accounts[2]))
}

#[test]
fn no_heap_with_room_is_out_of_memory() {
    for program in PROGRAMS {
        for factor in [1.15, 1.3, 1.5, 2.0, 4.0] {
            let machine = heap_for(program, factor);
            let (_, run) = run(program, machine, "");
            assert_eq!(run.allocated, 2 << 30);
            // Each full collection is preceded by the allocation of at least half of the room that
            // the last one left.
            let headroom = machine.geometry.heap_bytes() as f64 - alive(program);
            let most = 2.0 * run.allocated as f64 / headroom + 2.0;
            assert!((run.full as f64) < most, "{program:?} in {factor}: {} full, {most}", run.full);
        }
    }
}

#[test]
fn more_memory_is_less_collection() {
    for program in PROGRAMS {
        let shares: Vec<f64> =
            [1.15, 1.5, 3.0, 10.0].map(|factor| run(program, heap_for(program, factor), "").1.share()).into();
        assert!(shares.is_sorted_by(|less, more| *more < less * 1.05), "{program:?}: {shares:?}");
        assert!(shares[3] < shares[0] / 1.5, "{program:?}: {shares:?}");
    }
}

#[test]
fn young_collections_take_their_share_where_there_is_room() {
    let at = |list| run(USUAL, machine(1 << 30, MIB), list).1.young_share();
    let (usual, rare) = (at(""), at("GCTimeRatio=49"));
    assert!(usual < 1.25 / 25.0, "{usual}");
    assert!(rare < 1.25 / 50.0, "{rare}");
}

#[test]
fn eden_stays_in_the_cache_where_nothing_survives() {
    let mut simulator = Simulator::new(settings(""), machine(1 << 30, 512 * KIB));
    let first = simulator.decision.eden_regions;
    assert_eq!(first, 4);
    let quiet = simulator.run(FLEETING, 1 << 30);
    assert_eq!((simulator.decision.eden_regions, quiet.full), (first, 0));
    // After a burst, too.
    simulator.run(Program { medium: (0.5, 8e6), ..FLEETING }, 1 << 30);
    assert!(simulator.decision.eden_regions > 4 * first, "{}", simulator.decision);
    simulator.run(FLEETING, 4 << 30);
    assert_eq!(simulator.decision.eden_regions, first, "{}", simulator.decision);
}

#[test]
fn a_growing_program_is_collected_in_full_a_few_times_only() {
    let mut simulator = Simulator::new(settings(""), machine(2 << 30, MIB));
    let built = simulator.start(Program { live: 800 * MIB, ..USUAL });
    // 64 MiB doubled until it is 1600: five times, if each is a full collection.
    assert!(built.full <= 5 && !built.out_of_memory, "{built:?}");
}

#[test]
fn garbage_is_collected_rather_than_given_the_whole_heap() {
    // 25 MiB live; much of the memory that becomes old dies there.
    let program = Program { medium: (0.1, 50e6), ..USUAL };
    let (_, run) = run(program, machine(4 << 30, 2 * MIB), "MaxNewSize=32m");
    assert!(run.full >= 2, "{run:?}");
    assert!(run.most_regions * 2 * MIB < 256 * MIB, "{run:?}");
}

#[test]
fn phases_are_survived() {
    let small = USUAL;
    let burst = Program { ns_per_byte: 0.5, medium: (0.4, 60e6), ..USUAL };
    let mut simulator = Simulator::new(settings(""), machine(80 * MIB, 256 * KIB));
    simulator.start(small);
    for _ in 0..3 {
        for program in [small, burst, FLEETING] {
            let account = simulator.run(program, 512 << 20);
            assert!(!account.out_of_memory, "{program:?}: {account:?}");
        }
    }
}

#[test]
fn pauses_follow_their_goal() {
    let heap = machine(512 * MIB, 256 * KIB);
    let program = Program { medium: (0.2, 8e6), ..USUAL };
    let longest = |list| {
        let mut simulator = Simulator::new(settings(list), heap);
        simulator.start(program);
        simulator.run(program, 1 << 30);
        simulator.run(program, 1 << 30).longest_young_ns
    };
    let (free, bound) = (longest(""), longest("MaxGCPauseMillis=1"));
    assert!(free > 1.6e6, "{free}");
    assert!(bound < 1.5e6, "{bound}");
}

#[test]
fn the_threshold_follows_the_room() {
    let program = Program { medium: (0.05, 8e6), ..USUAL };
    let copied = |factor| run(program, heap_for(program, factor), "").1.copied;
    // In a large heap it does not pay to copy bytes that may die; in a small one it does.
    assert!(copied(6.0) < copied(1.3), "{} {}", copied(6.0), copied(1.3));
}

#[test]
fn a_pause_of_more_than_its_share_doubles_eden() {
    let mut sizing = Sizing::new(settings(""), machine(1 << 30, 0));
    assert_eq!(sizing.first(2).eden_regions, 4, "half of L2 for each of two cores");
    let done = Collection {
        pause_ns: 1_000_000,
        mutator_ns: 5_000_000,
        eden_regions: 4,
        free_regions: 2000,
        threads: 2,
        ..Collection::default()
    };
    let next = sizing.after(&done);
    assert_eq!((next.eden_regions, next.full), (8, false));
}
