//! Tests of what cores may see of each other, and that locked instructions are atomic: litmus
//! tests, known sequences, and random programs against a memory without caches.

use super::{
    Arbitration, CoherenceEngine, CoherenceOutcome, CoherenceScenario, Geometry, Latencies, Model, Pattern,
    Performed, Program, Protocol, State, Step,
};
use proptest::prelude::*;
use std::collections::VecDeque;

const PROTOCOLS: [Protocol; 3] = [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi];
const ARBITRATIONS: [Arbitration; 3] = [Arbitration::Fifo, Arbitration::Random, Arbitration::Nearest];

/// Two addresses in different lines.
const X: u64 = 0;
const Y: u64 = 64;
const Z: u64 = 128;

/// Steps one after the other. A compare-and-swap expects the value read before, adds one, and is
/// repeated until it succeeds.
#[derive(Debug)]
struct Script {
    steps: VecDeque<Step>,
    swapping: Option<(u64, u64)>,
    attempts: u64,
}

impl Script {
    fn new(steps: impl IntoIterator<Item = Step>) -> Script {
        Script { steps: steps.into_iter().collect(), swapping: None, attempts: 0 }
    }
}

impl Program for Script {
    fn next(&mut self, read: u64) -> Step {
        if let Some((address, expected)) = self.swapping.take()
            && (expected == u64::MAX || read != expected)
        {
            self.swapping = Some((address, read));
            self.attempts += 1;
            return Step::CompareExchange { address, expected: read, new: read + 1 };
        }
        match self.steps.pop_front() {
            Some(Step::CompareExchange { address, .. }) => {
                self.swapping = Some((address, u64::MAX));
                Step::Load(address)
            }
            step => step.unwrap_or(Step::Done),
        }
    }
}

fn engine(
    scripts: Vec<Vec<Step>>,
    protocol: Protocol,
    arbitration: Arbitration,
    seed: u64,
) -> CoherenceEngine<Script> {
    let programs = scripts.into_iter().map(Script::new).collect();
    let geometry = Geometry { l1_lines: 8, l2_lines: 16, l3_lines: 32, store_buffer: 4, fill_buffers: 2 };
    let machine = CoherenceScenario { geometry, arbitration, seed, protocol, ..scenario(Pattern::Tlab, 1) };
    let mut engine = CoherenceEngine::new(programs, 96 * 64, &machine);
    engine.trace = Some(Vec::new());
    engine.run();
    engine.caches.check().unwrap();
    assert!(engine.finished().all(|time| time.is_some()));
    engine
}

impl CoherenceEngine<Script> {
    /// The accesses in the order in which they became visible.
    fn trace(&self) -> &[Performed] {
        self.trace.as_deref().unwrap_or_default()
    }
}

/// The values that a core's loads and locked instructions read, in order.
fn reads(engine: &CoherenceEngine<Script>, core: usize) -> Vec<u64> {
    let reading =
        |performed: &&Performed| performed.core == core && !matches!(performed.step, Step::Store(..));
    engine.trace().iter().filter(reading).map(|performed| performed.value).collect()
}

#[test]
fn an_upgrade_that_comes_second_is_a_miss() {
    let latencies = Latencies::of(Model::Client);
    let first = vec![Step::Load(X), Step::Compute(2000), Step::Store(X, 1)];
    // Both cores have the line. The second core asks while the first request is being served.
    let wait = 1500 + latencies.memory - latencies.forward + 10;
    let second = vec![Step::Compute(500), Step::Load(X), Step::Compute(wait), Step::Store(X, 2)];
    let engine = engine(vec![first, second], Protocol::Mesi, Arbitration::Fifo, 0);
    let counters = &engine.caches.counters;
    assert_eq!((counters.upgrades, counters.hitm, counters.invalidations), (1, 1, 2));
    assert_eq!((engine.caches.state(0, X), engine.caches.state(1, X)), (State::Invalid, State::Modified));
}

#[test]
fn fetch_and_add_loses_nothing_and_succeeds_at_once() {
    for protocol in PROTOCOLS {
        for arbitration in ARBITRATIONS {
            for (cores, each) in [(1, 10), (2, 100), (7, 50), (64, 5), (256, 2)] {
                let scripts = vec![vec![Step::FetchAdd(X, 1); each]; cores];
                let mut engine = engine(scripts, protocol, arbitration, 3);
                let all = (cores * each) as u64;
                assert_eq!(engine.caches.load(0, X).0, all);
                let counters = &engine.caches.counters;
                assert!(counters.hitm + counters.forwards <= all, "{counters:?}");
                let mut old: Vec<u64> = (0..cores).flat_map(|core| reads(&engine, core)).collect();
                old.sort_unstable();
                assert!(old.into_iter().eq(0..all));
            }
        }
    }
}

#[test]
fn a_contended_line_passes_on_after_each_fetch_and_add() {
    let scripts = vec![vec![Step::FetchAdd(X, 1); 40]; 4];
    let engine = engine(scripts, Protocol::Mesi, Arbitration::Fifo, 0);
    assert_eq!(engine.caches.counters.hitm + engine.caches.counters.forwards, 4 * 40 - 1);
}

#[test]
fn compare_and_swap_loses_nothing_and_may_fail() {
    for protocol in PROTOCOLS {
        for cores in [1_u64, 2, 5, 32] {
            let each = 20;
            let swap = Step::CompareExchange { address: X, expected: 0, new: 0 };
            let mut engine =
                engine(vec![vec![swap; each as usize]; cores as usize], protocol, Arbitration::Random, 9);
            let all = cores * each;
            assert_eq!(engine.caches.load(0, X).0, all);
            let attempts: u64 = (0..cores as usize).map(|core| engine.program(core).attempts).sum();
            assert!((all..=cores * all).contains(&attempts), "{attempts}");
            assert_eq!(attempts > all, cores > 1);
        }
    }
}

#[test]
fn a_locked_instruction_is_a_fence() {
    let script = vec![Step::Store(X, 1), Step::Store(Y, 2), Step::FetchAdd(Z, 1), Step::Load(X)];
    let engine = engine(vec![script], Protocol::Mesi, Arbitration::Fifo, 0);
    let order: Vec<Step> = engine.trace().iter().map(|performed| performed.step).collect();
    assert_eq!(order, [Step::Store(X, 1), Step::Store(Y, 2), Step::FetchAdd(Z, 1), Step::Load(X)]);
    let times: Vec<u64> = engine.trace().iter().map(|performed| performed.time).collect();
    assert!(times[3] >= times[2] + Latencies::of(Model::Client).lock, "{times:?}");
}

/// The values that C0 and C1 read last, for all differences of their beginnings.
fn outcomes(first: &[Step], second: &[Step], prepare: bool) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for protocol in PROTOCOLS {
        for skew in 0..240 {
            let ready = |steps: &[Step], wait: u64| {
                // Both cores have both lines, or neither core has any.
                let warm = if prepare { vec![Step::Load(X), Step::Load(Y)] } else { vec![] };
                warm.into_iter().chain([Step::Compute(wait)]).chain(steps.to_vec()).collect()
            };
            let scripts = vec![ready(first, 1000 + skew), ready(second, 1120)];
            let engine = engine(scripts, protocol, Arbitration::Fifo, 0);
            let last = |core| reads(&engine, core).last().copied().unwrap();
            found.push((last(0), last(1)));
        }
    }
    found
}

#[test]
fn a_store_may_be_seen_after_a_younger_load_but_not_over_a_lock() {
    let script = |store: Step, other| [store, Step::Load(other)];
    let plain = outcomes(&script(Step::Store(X, 1), Y), &script(Step::Store(Y, 1), X), true);
    assert!(plain.contains(&(0, 0)), "store buffers must show");
    for prepare in [false, true] {
        let first = script(Step::Exchange(X, 1), Y);
        let locked = outcomes(&first, &script(Step::Exchange(Y, 1), X), prepare);
        assert!(!locked.contains(&(0, 0)));
    }
}

#[test]
fn stores_are_seen_in_order() {
    for prepare in [false, true] {
        for protocol in PROTOCOLS {
            let mut seen = [false; 4];
            for skew in 0..600 {
                let warm = || if prepare { vec![Step::Load(Y), Step::Load(X)] } else { vec![] };
                let [mut writer, mut reader] = [warm(), warm()];
                writer.extend([Step::Compute(600), Step::Store(X, 1), Step::Store(Y, 1)]);
                reader.extend([Step::Compute(300 + skew), Step::Load(Y), Step::Load(X)]);
                let engine = engine(vec![writer, reader], protocol, Arbitration::Fifo, 0);
                let read = reads(&engine, 1);
                let [.., y, x] = read[..] else { panic!("{read:?}") };
                assert!(y <= x, "the second store without the first");
                seen[(2 * y + x) as usize] = true;
            }
            assert!(seen[0] && seen[3], "neither and both must occur: {seen:?}");
        }
    }
}

#[test]
fn who_waits_for_a_value_sees_it() {
    let waits = vec![Step::WaitWhile(X, 0), Step::Load(Y)];
    let sets = vec![Step::Compute(5000), Step::Store(Y, 7), Step::Store(X, 1)];
    for protocol in PROTOCOLS {
        let engine = engine(vec![waits.clone(), sets.clone(), waits.clone()], protocol, Arbitration::Fifo, 0);
        assert_eq!((reads(&engine, 0).last(), reads(&engine, 2).last()), (Some(&7), Some(&7)));
        assert!(reads(&engine, 0).len() < 6, "waiting is no traffic");
    }
}

/// Executes the recorded accesses, in order, on a memory without caches.
fn replay(engine: &CoherenceEngine<Script>) {
    let mut memory = vec![0_u64; 96 * 8];
    for performed in engine.trace() {
        let (address, written) = match performed.step {
            Step::Load(_) if performed.forwarded => continue,
            Step::Load(address) => (address, None),
            Step::Store(address, value) => {
                memory[(address / 8) as usize] = value;
                continue;
            }
            Step::CompareExchange { address, expected, new } => {
                (address, (performed.value == expected).then_some(new))
            }
            Step::FetchAdd(address, amount) => (address, Some(performed.value + amount)),
            Step::Exchange(address, value) => (address, Some(value)),
            other => panic!("{other:?} is no access"),
        };
        let word = &mut memory[(address / 8) as usize];
        assert_eq!(performed.value, *word, "{performed:?}");
        *word = written.unwrap_or(*word);
    }
}

/// Checks the order of each core's own accesses: the order of its program, except that loads may
/// pass its older stores.
fn in_order(engine: &CoherenceEngine<Script>, cores: usize) {
    for core in 0..cores {
        let own: Vec<&Performed> = engine.trace().iter().filter(|performed| performed.core == core).collect();
        let mut stored = std::collections::HashMap::new();
        for performed in own {
            match performed.step {
                Step::Store(address, value) => {
                    // Values rise in a program, so a store buffer that reorders stores is detected.
                    assert!(stored.insert(0, value).is_none_or(|last| last < value), "{address}: {value}");
                }
                Step::Load(_) if performed.forwarded => {
                    let last = stored.get(&0).copied().unwrap_or(0);
                    assert!(performed.value > last, "a load from the buffer of what has left it");
                }
                _ => {}
            }
        }
    }
}

fn step(index: usize, (what, line, word): (u8, u64, u64)) -> Step {
    let address = line * 64 + word * 8;
    match what {
        0..=3 => Step::Load(address),
        4..=6 => Step::Store(address, index as u64 + 1),
        7 => Step::FetchAdd(address, 1000),
        8 => Step::Exchange(address, index as u64),
        9 => Step::CompareExchange { address, expected: 0, new: 0 },
        _ => Step::Compute(word * 20),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_programs_agree_with_a_memory_without_caches(
        programs in prop::collection::vec(
            prop::collection::vec((0..11_u8, prop_oneof![4 => 0..3_u64, 1 => 0..96_u64], 0..8_u64), 0..60), 1..7),
        protocol in prop::sample::select(PROTOCOLS.to_vec()),
        arbitration in prop::sample::select(ARBITRATIONS.to_vec()),
        seed in any::<u64>(),
    ) {
        let cores = programs.len();
        let script = |steps: Vec<_>| steps.into_iter().enumerate().map(|(index, what)| step(index, what)).collect();
        let scripts: Vec<Vec<Step>> = programs.into_iter().map(script).collect();
        let found = engine(scripts.clone(), protocol, arbitration, seed);
        replay(&found);
        in_order(&found, cores);
        let again = engine(scripts, protocol, arbitration, seed);
        prop_assert_eq!(found.trace(), again.trace());
    }
}

fn scenario(pattern: Pattern, cores: usize) -> CoherenceScenario {
    CoherenceScenario {
        pattern,
        protocol: Protocol::Mesi,
        cores,
        operations: 200,
        size: 16,
        buffer: 1024,
        latencies: Latencies::of(Model::Client),
        geometry: Geometry::of(Model::Client),
        arbitration: Arbitration::Fifo,
        seed: 1,
    }
}

fn run(pattern: Pattern, cores: usize) -> CoherenceOutcome {
    scenario(pattern, cores).run().unwrap()
}

#[test]
fn no_pattern_gives_memory_twice() {
    use Pattern::{BackOff, Cas, FetchAdd, Lock, Ticket, Tlab};
    for protocol in PROTOCOLS {
        for cores in [1, 3, 16] {
            for pattern in [Cas, BackOff, FetchAdd, Lock, Ticket] {
                let outcome = CoherenceScenario { protocol, ..scenario(pattern, cores) }.run().unwrap();
                let all = 200 * cores as u64;
                assert_eq!(
                    (outcome.top, outcome.successes),
                    (all * 16, all),
                    "{pattern:?} {protocol:?} {cores}"
                );
            }
            let outcome = CoherenceScenario { protocol, ..scenario(Tlab, cores) }.run().unwrap();
            // 64 objects fit into a buffer; the fourth buffer is not filled.
            assert_eq!((outcome.top, outcome.successes), (cores as u64 * 4 * 1024, cores as u64 * 4));
        }
    }
}

#[test]
fn the_order_is_that_of_real_machines() {
    let cycles = |pattern, cores| run(pattern, cores).cycles_per_operation();
    assert!(cycles(Pattern::Tlab, 1) < cycles(Pattern::Cas, 1));
    for cores in [2, 4, 16] {
        let (tlab, cas) = (run(Pattern::Tlab, cores), run(Pattern::Cas, cores));
        assert!(cas.cycles_per_operation() > 5.0 * tlab.cycles_per_operation());
        assert!(cas.attempts_per_success() > 1.05 && cas.attempts_per_success() <= cores as f64);
        assert!(cas.counters.hitm > 4 * tlab.counters.hitm);
        assert_eq!(run(Pattern::FetchAdd, cores).attempts_per_success(), 1.0);
        assert_eq!(run(Pattern::Ticket, cores).attempts_per_success(), 1.0);
    }
    let attempts = |pattern| run(pattern, 16).attempts_per_success();
    assert!(attempts(Pattern::BackOff) < attempts(Pattern::Cas));
    assert!(cycles(Pattern::Cas, 16) > 2.0 * cycles(Pattern::Cas, 4));
}

#[test]
fn a_seed_is_a_run() {
    let random =
        |seed| CoherenceScenario { arbitration: Arbitration::Random, seed, ..scenario(Pattern::Cas, 8) };
    assert_eq!(random(1).run(), random(1).run());
    assert_ne!(random(1).run().unwrap().cycles, random(2).run().unwrap().cycles);
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let good = scenario(Pattern::Tlab, 2);
    let latencies = Latencies { hitm: 0, ..good.latencies };
    for (wrong, error) in [
        (CoherenceScenario { cores: 0, ..good }, "a number of cores of 0"),
        (CoherenceScenario { cores: 257, ..good }, "a number of cores of 257"),
        (CoherenceScenario { operations: 0, ..good }, "a number of operations of 0"),
        (CoherenceScenario { size: 8, ..good }, "an object of 8 bytes"),
        (CoherenceScenario { size: 20, ..good }, "an object of 20 bytes"),
        (CoherenceScenario { buffer: 8, ..good }, "a buffer of 8 bytes"),
        (CoherenceScenario { buffer: 32 << 20, ..good }, "a buffer of 33554432 bytes"),
        (CoherenceScenario { latencies, ..good }, "a latency of 0 cycles"),
    ] {
        let told = wrong.run().unwrap_err().to_string();
        assert!(told.starts_with(error), "{told}");
    }
}
