//! The measuring threads, driven with workers that count, fail and wait.

use super::super::case::examples::case;
use super::super::{Settings, keep_value};
use super::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SHORT: Plan = Plan {
    warmup_iterations: 1,
    warmup_time: Duration::from_millis(5),
    iterations: 2,
    time: Duration::from_millis(20),
};

/// Counts its own calls; not `Send`, as a mutator would not be.
struct Counter {
    calls: Rc<Cell<u64>>,
    operations: u64,
}

impl Worker for Counter {
    fn batch(&mut self) -> u64 {
        self.calls.set(self.calls.get() + 1);
        keep_value(self.calls.get());
        self.operations
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        let calls = self.calls.replace(0) as f64;
        assert_eq!(calls * self.operations as f64, share.all_operations as f64);
        vec![
            SecondaryValue::sum("sum", "x", 1.0),
            SecondaryValue::maximum("max", "x", 7.0),
            SecondaryValue::average("avg", "x", 5.0),
            SecondaryValue::average("never", "x", f64::NAN),
        ]
    }
}

fn counter(_: &Thread) -> anyhow::Result<Counter> {
    Ok(Counter { calls: Rc::default(), operations: 3 })
}

fn measured<W: Worker>(
    jmh_mode: JmhMode,
    threads: usize,
    plan: Plan,
    build: impl Fn(&Thread) -> anyhow::Result<W> + Sync,
) -> anyhow::Result<Vec<IterationRecord>> {
    let (case, cpus) = (case(jmh_mode, threads), vec![None; threads]);
    let mut records = Vec::new();
    let mut report = |record| {
        records.push(record);
        Ok(())
    };
    Bench::new(&case, plan, &cpus, &mut report).measure(build)?;
    Ok(records)
}

fn failure<W: Worker>(jmh_mode: JmhMode, build: impl Fn(&Thread) -> anyhow::Result<W> + Sync) -> String {
    format!("{:#}", measured(jmh_mode, 3, SHORT, build).expect_err("it must fail"))
}

#[test]
fn every_iteration_of_every_mode_is_reported() {
    for mode in [JmhMode::Throughput, JmhMode::AverageTime, JmhMode::SampleTime] {
        let records = measured(mode, 2, SHORT, counter).unwrap();
        let warmups: Vec<bool> = records.iter().map(|record| record.warmup).collect();
        assert_eq!(warmups, [true, false, false], "{mode}");
        for record in records {
            assert!(record.calls > 0 && record.nanoseconds_per_call > 0.0);
            match record.measured {
                Measured::Value(value) => assert!(value > 0.0 && mode != JmhMode::SampleTime),
                Measured::Histogram(counts) => {
                    assert_eq!(mode, JmhMode::SampleTime);
                    assert!(counts.windows(2).all(|pair| pair[0].0 < pair[1].0));
                    assert!(counts.iter().all(|&(_, times)| times > 0) && !counts.is_empty());
                }
            }
        }
    }
}

#[test]
fn throughput_and_average_time_agree() {
    let value = |mode, threads| match measured(mode, threads, SHORT, counter).unwrap()[1].measured {
        Measured::Value(value) => value,
        Measured::Histogram(_) => panic!("no value"),
    };
    // Rates add up over threads and times do not: threads = rate * time, as far as two runs are alike.
    let threads = 4;
    let product = value(JmhMode::Throughput, threads) * value(JmhMode::AverageTime, threads);
    assert!((1.0..=16.0).contains(&product), "{product}");
}

#[test]
fn a_single_shot_is_a_single_call() {
    let plan = Settings::default().plan(JmhMode::SingleShot);
    let records = measured(JmhMode::SingleShot, 2, plan, counter).unwrap();
    assert_eq!((records.len(), records[0].calls), (1, 1));
}

#[test]
fn values_are_combined_over_threads_and_those_that_are_none_left_out() {
    let record = &measured(JmhMode::Throughput, 3, SHORT, counter).unwrap()[1];
    let values: Vec<(&str, f64)> = record.secondary.iter().map(|v| (v.label.as_str(), v.value)).collect();
    assert_eq!(values, [("sum", 3.0), ("max", 7.0), ("avg", 5.0)]);
}

#[test]
fn a_probe_sees_all_operations_of_all_threads() {
    struct Operations(u64, Vec<Iteration>);
    impl Probe for Operations {
        fn before(&mut self) {
            self.0 += 1;
        }
        fn after(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
            self.1.push(*iteration);
            vec![SecondaryValue::average("befores", "x", self.0 as f64)]
        }
    }
    let (case, mut seen) = (case(JmhMode::Throughput, 2), Vec::new());
    let mut report = |record: IterationRecord| {
        seen.extend(record.secondary.iter().find(|v| v.label == "befores").map(|v| v.value));
        Ok(())
    };
    let mut probe = Operations(0, vec![]);
    Bench::new(&case, SHORT, &[None, None], &mut report).measure_with(&mut probe, counter).unwrap();
    assert_eq!(seen, [1.0, 2.0, 3.0]);
    for iteration in probe.1 {
        assert!(iteration.all_operations >= iteration.measured_operations);
        assert_eq!(iteration.all_operations % 3, 0);
        assert!(iteration.time > Duration::ZERO);
    }
}

struct Faulty {
    index: usize,
    fault: &'static str,
}

impl Worker for Faulty {
    fn batch(&mut self) -> u64 {
        assert!(self.index != 1 || self.fault != "panic", "broken on purpose");
        u64::from(self.index != 1 || self.fault != "lazy")
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        if self.index == 1 && self.fault == "prepare" { bail!("not today") } else { Ok(()) }
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        if self.fault != "restless" {
            wait();
        }
    }
}

#[test]
fn a_failing_thread_ends_the_others_and_is_named() {
    let faulty = |fault| move |thread: &Thread| Ok(Faulty { index: thread.index, fault });
    for mode in [JmhMode::Throughput, JmhMode::SampleTime, JmhMode::SingleShot] {
        assert_eq!(failure(mode, faulty("panic")), "thread 2 of 3: panicked: broken on purpose");
        assert_eq!(failure(mode, faulty("prepare")), "thread 2 of 3: not today");
        assert!(failure(mode, faulty("lazy")).contains("counted no operation"));
        assert!(failure(mode, faulty("restless")).contains("did not wait"));
        let unbuilt = |thread: &Thread| -> anyhow::Result<Faulty> {
            if thread.index == 2 { bail!("no room") } else { faulty("none")(thread) }
        };
        assert_eq!(failure(mode, unbuilt), "thread 3 of 3: no room");
    }
}

#[test]
fn a_parent_that_does_not_listen_ends_the_fork() {
    let case = case(JmhMode::Throughput, 2);
    let mut report = |_| bail!("broken pipe");
    let ended = Bench::new(&case, SHORT, &[None, None], &mut report).measure(counter);
    assert_eq!(ended.unwrap_err().to_string(), "broken pipe");
}

/// Thread 0 stops the world with every call, as a collector would: it waits until each other thread is idle or
/// has seen the request. A harness that blocked a thread outside of `idle` would leave it waiting.
#[test]
fn a_worker_may_stop_the_world_at_any_call() {
    const WORKING: usize = 0;
    const PARKED: usize = 1;
    static STOP: AtomicBool = AtomicBool::new(false);
    static STATES: [AtomicUsize; 3] = [const { AtomicUsize::new(PARKED) }; 3];
    static STUCK: AtomicBool = AtomicBool::new(false);

    struct Mutator(usize);
    impl Mutator {
        /// Counts as stopped while `blocked` runs, and until the world may run again.
        fn parked(&self, blocked: impl FnOnce()) {
            STATES[self.0].store(PARKED, Ordering::SeqCst);
            blocked();
            loop {
                while STOP.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                    thread::yield_now();
                }
                STATES[self.0].store(WORKING, Ordering::SeqCst);
                if !STOP.load(Ordering::SeqCst) {
                    return;
                }
                STATES[self.0].store(PARKED, Ordering::SeqCst);
            }
        }
    }
    impl Worker for Mutator {
        fn batch(&mut self) -> u64 {
            if self.0 != 0 {
                if STOP.load(Ordering::SeqCst) {
                    self.parked(|| ());
                }
                return 1;
            }
            STOP.store(true, Ordering::SeqCst);
            let asked = Instant::now();
            while STATES[1..].iter().any(|state| state.load(Ordering::SeqCst) == WORKING) {
                if asked.elapsed() > Duration::from_secs(20) {
                    STUCK.store(true, Ordering::SeqCst);
                    break;
                }
                thread::yield_now();
            }
            STOP.store(false, Ordering::SeqCst);
            1
        }
        fn idle(&mut self, wait: &mut dyn FnMut()) {
            self.parked(wait);
        }
    }
    impl Drop for Mutator {
        fn drop(&mut self) {
            STATES[self.0].store(PARKED, Ordering::SeqCst);
        }
    }
    measured(JmhMode::Throughput, 3, SHORT, |thread: &Thread| Ok(Mutator(thread.index))).unwrap();
    assert!(!STUCK.load(Ordering::SeqCst), "a thread was neither idle nor working");
}
