//! Pacing: the numbers, by table and by properties; then slices of a move.

use super::super::cycle::Stage;
use super::super::levy::*;
use super::super::pacer::Pacer;
use super::kit::{BY_HAND, Kit, Lists, in_both_modes};
use super::*;
use crate::collector::concurrent::{Copier, Updater};
use crate::mutator::Debt;
use proptest::prelude::*;
use std::sync::atomic::Ordering;
use std::thread;

fn settings(list: &str) -> PacingSettings {
    PacingSettings::from(&options(list))
}

#[test]
fn settings_are_the_options() {
    let usual = PacingSettings { is_on: true, max_delay: ms(10), slack_percent: 10, surcharge: 1.1 };
    assert_eq!(settings(""), usual);
    let given =
        settings("ShenandoahPacingMaxDelay=3 ShenandoahPacingCycleSlack=20 ShenandoahPacingSurcharge=2");
    assert_eq!(given, PacingSettings { is_on: true, max_delay: ms(3), slack_percent: 20, surcharge: 2.0 });
    assert!(!settings("-ShenandoahPacing").is_on);
    // Waits are short, and are not made longer.
    assert!(settings("+ZealCycles").max_delay < ms(1));
    assert_eq!(settings("+ZealCycles ShenandoahPacingMaxDelay=0").max_delay, Duration::ZERO);
}

/// What a thread owes after it has taken the slack and `bytes` more.
fn owed(step: PacedStep, free_mib: usize, work_mib: usize, bytes: usize) -> f64 {
    let outlook = Outlook { free_bytes: free_mib * MIB, work_bytes: work_mib * MIB, threads: 1 };
    let levy = Levy::new(1, step, outlook, &settings(""));
    let mut debt = Debt::default();
    levy.charge(&mut debt, 0, levy.exempt_bytes + bytes as u64);
    debt.owed_bytes as f64 / bytes as f64
}

#[test]
fn a_byte_costs_more_the_less_is_free() {
    // 100 MiB are free, of which 10 cost nothing; marking may use 45 of the others.
    for (step, free, work, rate) in [
        (PacedStep::Mark, 100, 45, 1.1),
        (PacedStep::Mark, 100, 450, 11.0),
        (PacedStep::Mark, 1000, 45, 0.11),
        (PacedStep::Evacuate, 100, 30, 1.1),
        (PacedStep::Update, 100, 90, 1.1),
    ] {
        let found = owed(step, free, work, MIB);
        assert!((found - rate).abs() < 0.01, "{step:?} {free} {work}: {found}");
    }
    // Nothing is free: every byte costs all that is left.
    assert!(owed(PacedStep::Update, 0, 100, KIB) > 1e5);
}

#[test]
fn memory_from_before_the_step_is_not_charged() {
    let outlook = Outlook { free_bytes: 0, work_bytes: MIB, threads: 1 };
    let first = Levy::new(1, PacedStep::Mark, outlook, &settings(""));
    let next = Levy { number: 2, ..first };
    let mut debt = Debt::default();
    first.charge(&mut debt, 100_000, 8);
    let of_eight = debt.owed_bytes;
    // 16 bytes since then, and 8 now.
    first.charge(&mut debt, 100_024, 8);
    assert_eq!((debt.charged_bytes, debt.owed_bytes), (100_032, 4 * of_eight));
    next.charge(&mut debt, 200_000, 8);
    assert_eq!((debt.levy, debt.owed_bytes), (2, of_eight), "debts end with their step");
}

#[test]
fn work_beyond_what_was_expected_is_taken_for_half_of_it() {
    assert_eq!(
        [(10, 100), (60, 100), (100, 100), (0, 0)].map(|(done, used)| work_beyond(done, used)),
        [10, 40, 1, 1]
    );
}

/// A step of which threads and workers do a bit in turn.
#[derive(Debug)]
struct Model {
    levy: Levy,
    threads: Vec<Thread>,
    credit: u64,
    left: u64,
    taken: u64,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    debt: Debt,
    taken: u64,
}

impl Model {
    fn new(step: PacedStep, outlook: Outlook) -> Model {
        let levy = Levy::new(1, step, outlook, &settings(""));
        let threads = vec![Thread::default(); outlook.threads];
        Model { levy, threads, credit: 0, left: outlook.work_bytes as u64, taken: 0 }
    }

    fn work(&mut self, bytes: u64) {
        let done = bytes.min(self.left);
        self.left -= done;
        self.credit += done;
    }

    /// A thread takes memory, unless it owes too much. `waits`: whether threads do wait then.
    fn take(&mut self, thread: usize, bytes: u64, waits: bool) {
        let Thread { debt, taken } = &mut self.threads[thread];
        let pay = |debt: &mut Debt, credit: &mut u64| {
            let paid = debt.owed_bytes.min(*credit);
            debt.owed_bytes -= paid;
            *credit -= paid;
        };
        pay(debt, &mut self.credit);
        if waits && debt.owed_bytes >= self.levy.worth_a_wait() {
            return;
        }
        self.levy.charge(debt, *taken, bytes);
        pay(debt, &mut self.credit);
        *taken += bytes;
        self.taken += bytes;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The promise of pacing: however threads and workers follow each other, threads that wait when
    /// they owe never take more than is free.
    #[test]
    fn threads_that_wait_leave_memory_until_the_end_of_the_step(
        free in 8 * MIB..512 * MIB,
        work in MIB..1024 * MIB,
        threads in 1_usize..8,
        // One of 64 parts of the least memory for each thread at once.
        events in prop::collection::vec((0_usize..12, 1..(8 * MIB / 64 / 8) as u64), 1..4000),
    ) {
        for step in [PacedStep::Mark, PacedStep::Evacuate, PacedStep::Update] {
            let mut model = Model::new(step, Outlook { free_bytes: free, work_bytes: work, threads });
            for &(who, bytes) in &events {
                match who.checked_sub(threads) {
                    None => model.take(who, bytes, true),
                    Some(_) => model.work(bytes * 8),
                }
            }
            // Then all of the work is done, and every thread takes what it may.
            model.work(u64::MAX);
            for turn in 0..100_000 {
                let before = model.taken;
                (0..threads).for_each(|thread| model.take(thread, 16 << 10, true));
                if model.taken == before {
                    break;
                }
                prop_assert!(turn < 99_999, "without an end");
            }
            prop_assert!(model.taken <= free as u64, "{step:?}: {} of {free} bytes", model.taken);
        }
    }

    /// A thread that takes its part of the slack owes nothing, whatever the others do.
    #[test]
    fn a_light_thread_never_pays_for_others(
        free in MIB..512 * MIB,
        work in MIB..1024 * MIB,
        greedy in prop::collection::vec(1..MIB as u64, 1..100),
    ) {
        let mut model = Model::new(PacedStep::Mark, Outlook { free_bytes: free, work_bytes: work, threads: 4 });
        let part = model.levy.exempt_bytes / greedy.len() as u64;
        for bytes in greedy {
            (1..4).for_each(|thread| model.take(thread, bytes, false));
            model.take(0, part, true);
            prop_assert_eq!(model.threads[0].debt.owed_bytes, 0);
        }
    }
}

#[test]
fn without_waits_threads_take_more_than_there_is() {
    let outlook = Outlook { free_bytes: MIB, work_bytes: MIB, threads: 1 };
    let mut model = Model::new(PacedStep::Update, outlook);
    (0..100).for_each(|_| model.take(0, 64 << 10, false));
    assert!(model.taken > MIB as u64 && model.threads[0].debt.owed_bytes > model.levy.worth_a_wait());
}

/// Threads owe nothing for a cycle that no thread drives.
#[test]
fn threads_do_not_pay_for_a_cycle_without_a_driver() {
    let in_a_child_of_fork = |kit: &Kit| kit.shared().collector.forget_threads();
    let after_a_panic = |kit: &Kit| {
        thread::scope(|scope| {
            let driver = scope.spawn(|| {
                let _driving = kit.collector().drive();
                panic!("a hook of the embedder panics on the control thread");
            });
            driver.join().unwrap_err();
        });
    };
    in_both_modes(|| {
        for leave in [in_a_child_of_fork as fn(&Kit), after_a_panic] {
            let kit = Kit::new(4096, 60, &format!("+ZealPoison,{BY_HAND}"));
            let engine = &kit.collector().engine;
            let run = kit.heap.attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 2, 1);
                lists.add_half_dead(&kit, mutator, 400);
                mutator.blocking(|| {
                    kit.advance_to(Stage::Update);
                    kit.interrupted();
                    assert!(engine.pacer.levy().is_some() && engine.assisted.has_cycle());
                    leave(&kit);
                });
                assert!(engine.pacer.levy().is_none() && !engine.assisted.has_cycle());
                assert!(lists.push(&kit, mutator, 0));
                assert_eq!(mutator.debt().owed_bytes, 0);
                mutator.blocking(|| kit.end_cycle());
                lists.check(mutator);
            });
            run.unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// In a child of `fork()` threads look whether a cycle should begin, even if one is under way. So
/// they start the thread that goes on with it.
#[test]
fn a_child_of_fork_goes_on_with_the_cycle() {
    in_both_modes(|| {
        for step in [Stage::Mark, Stage::Evacuate, Stage::Update] {
            let kit = Kit::new(4096, 200, &format!("+ZealPoison,{BY_HAND}"));
            let (collector, threads) = (kit.collector(), &kit.shared().threads);
            let run = kit.heap.attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 2, 1);
                lists.add_half_dead(&kit, mutator, 400);
                mutator.blocking(|| kit.advance_to(step));
                assert_eq!(kit.stage(), step);
                kit.shared().collector.forget_threads();
                collector.passive.store(false, Ordering::Relaxed);
                let before = threads.full_collections.load(Ordering::Relaxed);
                while threads.full_collections.load(Ordering::Relaxed) == before {
                    kit.waste(mutator, 200);
                    mutator.blocking(|| thread::sleep(Duration::from_millis(1)));
                }
                collector.passive.store(true, Ordering::Relaxed);
                mutator.blocking(|| {
                    while collector.progress.is_wanted() || kit.stage() != Stage::Idle {
                        thread::yield_now();
                    }
                });
                lists.check(mutator);
            });
            run.unwrap();
            let metrics = kit.heap.metrics().collections;
            assert_eq!(metrics.degenerated, 0, "{step:?}: no thread had to stop the world");
            kit.heap.verify().unwrap();
        }
    });
}

/// A slice that ends in the step after its own pays for nothing there. Otherwise threads could take
/// memory for work that the step still has to do.
#[test]
fn work_of_an_earlier_step_gives_no_credit() {
    let pacer = Pacer::new(settings(""));
    let outlook = Outlook { free_bytes: MIB, work_bytes: 100, threads: 1 };
    let begin = |step| {
        pacer.begin(step, outlook);
        pacer.levy().expect("a levy").number
    };
    let first = begin(PacedStep::Evacuate);
    assert_eq!(pacer.did(first, 60, 20), None);
    assert_eq!(pacer.pay(1000), 40);
    let next = begin(PacedStep::Update);
    assert_eq!(pacer.did(first, 100, 0), None);
    assert_eq!(pacer.pay(1000), 0);
    assert_eq!(pacer.did(next, 100, 0), Some(100), "the step has done its own work alone");
    assert_eq!(pacer.pay(1000), 100);
    pacer.end();
    // No levy has the number 0, which a thread without a debt has.
    assert_eq!((pacer.did(next, 1, 0), pacer.did(0, 1, 0)), (None, None));
    assert_eq!(pacer.pay(1000), 0);
}

/// Work under a levy that was renewed meanwhile is work of the same step.
#[test]
fn work_across_a_renewal_gives_credit() {
    let pacer = Pacer::new(settings(""));
    let outlook = Outlook { free_bytes: MIB, work_bytes: 100, threads: 1 };
    for _ in 0..2 {
        pacer.begin(PacedStep::Mark, outlook);
        let old = pacer.levy().expect("a levy").number;
        pacer.renew(PacedStep::Mark, outlook);
        pacer.renew(PacedStep::Mark, outlook);
        assert_ne!(pacer.levy().expect("a levy").number, old);
        assert_eq!(pacer.did(old, 60, 0), None);
        assert_eq!(pacer.did(old, 40, 0), Some(100));
        assert_eq!(pacer.pay(1000), 100);
        pacer.begin(PacedStep::Evacuate, outlook);
        assert_eq!((pacer.did(old, 100, 0), pacer.pay(1000)), (None, 0), "another step");
        pacer.end();
    }
}

/// A thread that waits for credit goes on when the control thread panics.
#[test]
fn a_panic_of_the_control_thread_ends_waits_for_credit() {
    let kit = Kit::new(4096, 60, BY_HAND);
    let pacer = &kit.collector().engine.pacer;
    pacer.begin(PacedStep::Update, Outlook { free_bytes: MIB, work_bytes: MIB, threads: 1 });
    let levy = pacer.levy().expect("a levy").number;
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            while pacer.is_in_force(levy) {
                pacer.wait(levy, Duration::from_secs(3600));
            }
        });
        let driver = scope.spawn(|| {
            let _driving = kit.collector().drive();
            panic!("a hook of the embedder panics on the control thread");
        });
        driver.join().unwrap_err();
        waiting.join().unwrap();
    });
}

/// Slices that are halted at each question do all copies and all updates: the rest of a piece goes
/// back to its list, and begins where the slice ended.
#[test]
fn a_slice_goes_on_where_the_one_before_was_halted() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 60, &format!("+VerifyAfterGC,+ZealPoison,{BY_HAND}"));
        let (engine, shared) = (&kit.collector().engine, kit.shared());
        let slices = |slice: &dyn Fn(&mut dyn FnMut() -> bool) -> Option<usize>| {
            let (mut slices, mut bytes) = (0, 0);
            while let Some(done) = slice(&mut || true) {
                (slices, bytes) = (slices + 1, bytes + done);
                assert!(slices < 10_000, "slices without progress");
            }
            (slices, bytes)
        };
        let run = kit.heap.attach(|mutator| {
            let mut lists = Lists::new(&kit, mutator, 2, 1);
            lists.add_half_dead(&kit, mutator, 400);
            mutator.blocking(|| {
                kit.advance_to(Stage::Evacuate);
                kit.interrupted();
                let regions = kit.collector().lock().account.record.set_regions;
                let (copies, bytes) = slices(&|halted| {
                    let mut copier = Copier::new(engine.evacuator(&shared.space), 0);
                    let done = engine.copy_next(shared, &mut copier, halted);
                    copier.finish();
                    done
                });
                assert!(regions > 1 && copies > 2 * regions, "{copies} slices of {regions} regions");
                assert!(bytes > regions * 2048 && bytes <= regions * 4096, "{bytes} of {regions} regions");
                kit.advance_to(Stage::Update);
                kit.interrupted();
                let (updates, _) = slices(&|halted| {
                    let mut updater = Updater::new(engine.evacuator(&shared.space), 0);
                    engine.update_next(shared, &mut updater, halted)
                });
                assert!(updates > 2 * regions, "{updates} slices of more than {regions} regions");
                kit.next();
                assert_eq!(kit.stage(), Stage::EndMove, "nothing was left");
                kit.end_cycle();
            });
            lists.check(mutator);
        });
        run.unwrap();
        kit.heap.verify().unwrap();
    });
}
