//! The measuring threads, driven with workers that count, fail and wait.

use super::super::case::examples::case;
use super::super::watch::Seen;
use super::super::{Settings, TimeUnit, keep_value};
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

/// A thread's part with nothing but its share.
fn part(share: Share) -> Part {
    Part { share, samples: vec![], secondary: vec![], seen: Seen::default() }
}

#[test]
fn a_shot_that_threads_share_says_what_two_cpus_are() {
    let said = |threads, workers: &str| {
        let workers = ("workers".to_string(), workers.to_string());
        let case = Case { params: vec![workers], ..case(JmhMode::SingleShot, threads) };
        let share = Share {
            measured_operations: 1,
            all_operations: 1,
            calls: 1,
            time: Duration::from_nanos(5),
            began: Some(Instant::now()),
        };
        let mut report = |_| Ok(());
        let bench = Bench::new(&case, SHORT, &[], &mut report);
        let parts: Vec<Part> = (0..threads).map(|_| part(share)).collect();
        let record = bench.record(false, &parts, Duration::from_secs(1), None, &mut NoProbe).unwrap();
        let labels: Vec<String> = record.secondary.into_iter().map(|metric| metric.label).collect();
        labels.contains(&"line".to_string()) && labels.contains(&host::CPUS.to_string())
    };
    let two = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
    // No workers is as many as the heap wants.
    assert_eq!([said(2, "1"), said(1, "2"), said(1, "0"), said(1, "1")], [two, two, two, false]);
}

#[test]
fn rates_add_up_over_threads_and_times_do_not() {
    let start = Instant::now();
    let value = |mode, unit| {
        let case = Case { unit, ..case(mode, 2) };
        let part = |operations, nanoseconds| {
            part(Share {
                measured_operations: operations,
                all_operations: operations + 5,
                calls: 2,
                time: Duration::from_nanos(nanoseconds),
                began: Some(start + Duration::from_nanos(operations)),
            })
        };
        let mut report = |_| Ok(());
        let bench = Bench::new(&case, SHORT, &[], &mut report);
        let parts = [part(300, 100), part(100, 200)];
        let record = bench.record(false, &parts, Duration::from_secs(1), None, &mut NoProbe).unwrap();
        assert_eq!((record.calls, record.nanoseconds_per_call), (2, 75.0));
        // One thread runs from 300 to 400 ns, the other from 100 to 300.
        let wall = record.secondary.iter().find(|metric| metric.label == "wall");
        let expected = (mode == JmhMode::SingleShot).then(|| (3e-4, "ms".into()));
        assert_eq!(wall.map(|wall| (wall.value, wall.unit.clone())), expected);
        match record.measured {
            Measured::Value(value) => value,
            Measured::Histogram(_) => panic!("no value"),
        }
    };
    let third = 1.0 / 3.0;
    assert_eq!(value(JmhMode::Throughput, TimeUnit::Nanoseconds), 3.5);
    assert_eq!(value(JmhMode::Throughput, TimeUnit::Microseconds), 3500.0);
    assert_eq!(value(JmhMode::AverageTime, TimeUnit::Nanoseconds), (third + 2.0) / 2.0);
    assert_eq!(value(JmhMode::SingleShot, TimeUnit::Nanoseconds), (third + 2.0) / 2.0);
}

#[test]
fn a_single_shot_is_a_single_call() {
    let plan = Settings::default().plan(JmhMode::SingleShot);
    let records = measured(JmhMode::SingleShot, 2, plan, counter).unwrap();
    assert_eq!((records.len(), records[0].calls), (4, 1));
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
        assert!(iteration.time >= iteration.window && iteration.window > Duration::ZERO);
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

    fn finish(&mut self) -> anyhow::Result<()> {
        if self.index == 1 && self.fault == "finish" { bail!("in vain") } else { Ok(()) }
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
        assert_eq!(failure(mode, faulty("finish")), "thread 2 of 3: in vain");
        assert!(failure(mode, faulty("lazy")).contains("counted no operation"));
        assert!(failure(mode, faulty("restless")).contains("did not call `wait`"));
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

/// Thread 0 stops the world with every call, as a collector would: it waits until each other thread
/// is idle or has seen the request. A harness that blocked a thread outside of `idle` would leave
/// it waiting.
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

/// One thread prepares for all, slowly; no other may begin before it has, in any mode.
#[test]
fn nobody_begins_before_all_have_prepared() {
    struct Turns<'a> {
        thread: Thread,
        prepared: &'a AtomicUsize,
        iterations: usize,
    }
    impl Worker for Turns<'_> {
        fn prepare(&mut self) -> anyhow::Result<()> {
            if self.thread.index == 0 {
                thread::sleep(Duration::from_millis(10));
                self.prepared.fetch_add(1, Ordering::SeqCst);
            }
            self.iterations += 1;
            Ok(())
        }
        fn batch(&mut self) -> u64 {
            assert_eq!(self.prepared.load(Ordering::SeqCst), self.iterations);
            1
        }
    }
    for mode in [JmhMode::SingleShot, JmhMode::Throughput, JmhMode::SampleTime] {
        let prepared = AtomicUsize::new(0);
        let build = |thread: &Thread| Ok(Turns { thread: *thread, prepared: &prepared, iterations: 0 });
        assert_eq!(measured(mode, 3, SHORT, build).unwrap().len(), 3);
    }
}

fn within(scene: impl Fn(&Thread, Play<'_>) -> anyhow::Result<()> + Sync) -> anyhow::Result<()> {
    let case = case(JmhMode::Throughput, 2);
    Bench::new(&case, SHORT, &[None, None], &mut |_| Ok(())).measure_within(&mut NoProbe, scene)
}

#[test]
fn a_scene_is_around_all_iterations_of_its_worker() {
    struct Borrowing<'a>(&'a Cell<u64>);
    impl Worker for Borrowing<'_> {
        fn batch(&mut self) -> u64 {
            self.0.set(self.0.get() + 1);
            1
        }
    }
    let calls: [AtomicUsize; 2] = Default::default();
    within(|thread, play| {
        // On the thread's own stack, as a mutator would be.
        let counted = Cell::new(0);
        play.play(Borrowing(&counted))?;
        calls[thread.index].fetch_add(counted.get() as usize, Ordering::SeqCst);
        Ok(())
    })
    .unwrap();
    assert!(calls.iter().all(|calls| calls.load(Ordering::SeqCst) > 3), "{calls:?}");
}

#[test]
fn a_scene_that_fails_or_does_not_play_is_told() {
    let failure = |scene: fn(&Thread, Play<'_>) -> anyhow::Result<()>| {
        format!("{:#}", within(scene).expect_err("it must fail"))
    };
    let worker = |thread: &Thread| Faulty { index: thread.index, fault: "none" };
    let set_up = failure(|thread, play| match thread.index {
        1 => bail!("no stage"),
        index => play.play(Faulty { index, fault: "none" }),
    });
    assert_eq!(set_up, "thread 2 of 2: no stage");
    let taken_down = failure(|thread, play| {
        play.play(Faulty { index: thread.index, fault: "none" })?;
        if thread.index == 1 { bail!("no exit") } else { Ok(()) }
    });
    assert_eq!(taken_down, "thread 2 of 2: no exit");
    let idle = within(|thread, play| if thread.index == 1 { Ok(()) } else { play.play(worker(thread)) });
    assert!(format!("{:#}", idle.unwrap_err()).contains("thread 2 of 2: its scene ended"));
    // What play returns must not be dropped.
    let deaf = failure(|thread, play| {
        let _ = play.play(Faulty { index: thread.index, fault: "prepare" });
        Ok(())
    });
    assert!(deaf.contains("thread 2 of 2: its scene ended"), "{deaf}");
}

#[test]
fn counters_are_divided_by_the_windows_operations() {
    use crate::counters::Usage;

    /// Touches a fresh page for each of its operations.
    struct Toucher;

    impl Worker for Toucher {
        fn batch(&mut self) -> u64 {
            crate::counters::fresh_pages(256) as u64
        }
    }

    let watch = Watch {
        counters: Some(crate::counters::CounterPlan {
            groups: vec![],
            usage: vec![Usage::MinorFaults, Usage::TaskClock, Usage::Steal],
        }),
        profile: false,
    };
    let mut records = Vec::new();
    let mut report = |record| {
        records.push(record);
        Ok(())
    };
    let case = case(JmhMode::AverageTime, 2);
    Bench::new(&case, SHORT, &[None, None], &mut report).watching(&watch).measure(|_| Ok(Toucher)).unwrap();
    assert_eq!(records.len(), 3);
    for record in &records {
        let labels: Vec<&str> = record.secondary.iter().map(|value| value.label.as_str()).collect();
        assert_eq!(labels, ["minor-faults", "task-clock", "steal"]);
        let faults = record.secondary[0].value;
        assert!((1.0..1.1).contains(&faults), "{faults}");
        assert!(record.secondary[1].value > 0.0 && record.secondary[2].value >= 0.0);
    }
}

#[test]
fn a_profile_is_of_the_measured_code() {
    struct Spinner;

    impl Worker for Spinner {
        fn batch(&mut self) -> u64 {
            spin_for_the_profile();
            1
        }
    }

    #[inline(never)]
    fn spin_for_the_profile() {
        (0..10_000_u64).for_each(|number| _ = std::hint::black_box(number));
    }

    let watch = Watch { counters: None, profile: true };
    let plan = Plan { time: Duration::from_millis(200), ..SHORT };
    let case = case(JmhMode::AverageTime, 1);
    let mut report = |_| Ok(());
    let mut bench = Bench::new(&case, plan, &[None], &mut report).watching(&watch);
    bench.measure(|_| Ok(Spinner)).unwrap();
    let text = bench.profile().unwrap();
    assert!(text.contains(" samples by ") && text.contains("spin_for_the_profile+0x"), "{text}");
}
