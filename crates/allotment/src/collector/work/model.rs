//! Interleavings of workers that share, wait and end. Stacks are checked with up to three
//! preemptions, because a waiting worker checks repeatedly:
//! `RUSTFLAGS="--cfg loom" cargo test -p allotment --lib --release model::`.

use super::*;
use crate::sync::{AtomicUsize, Ordering};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// The work done, as loom sees it: to read it while a worker still works ends the model.
struct Log {
    queues: TaskQueues,
    /// A cell for each worker.
    done: [UnsafeCell<usize>; 2],
    left: AtomicUsize,
}

fn log(pieces: usize) -> Arc<Log> {
    let queues = TaskQueues::new(2, StackLimits { piece: 2, pieces }).unwrap();
    let done = [UnsafeCell::new(0), UnsafeCell::new(0)];
    Arc::new(Log { queues, done, left: AtomicUsize::new(0) })
}

/// An entry of `n` stands for itself and for `n - 1` entries of 1. Returns when no work is left.
fn work(log: &Log, number: usize, first: &[usize], give: bool) {
    let mut stack = log.queues.worker(number);
    for &entry in first {
        assert!(stack.push(entry));
    }
    loop {
        while let Some(entry) = stack.pop() {
            // SAFETY: loom ends the model if another thread touches it.
            log.done[number].with_mut(|done| unsafe { *done += 1 });
            for _ in 1..entry {
                assert!(stack.push(1));
            }
            if give && stack.is_wanted() {
                stack.give();
            }
        }
        if !stack.find() {
            break;
        }
    }
    // All work is done, by whichever worker, and each worker that has left saw all of it.
    // SAFETY: as above.
    let sum: usize = log.done.iter().map(|done| done.with(|done| unsafe { *done })).sum();
    let expected: usize = log.left.load(Ordering::Relaxed);
    assert_eq!(sum, expected, "somebody left while there was work");
}

fn with_three_preemptions(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

fn check(pieces: usize, first: &'static [usize], second: &'static [usize], give: bool) {
    with_three_preemptions(move || {
        let log = log(pieces);
        log.left.store(first.iter().chain(second).sum(), Ordering::Relaxed);
        let other = {
            let log = log.clone();
            thread::spawn(move || work(&log, 1, second, give))
        };
        work(&log, 0, first, give);
        other.join().unwrap();
    });
}

#[test]
fn nobody_leaves_while_another_could_still_offer_something() {
    check(4, &[3], &[], true);
}

#[test]
fn pieces_that_overflow_are_taken_by_either() {
    check(4, &[1, 1, 1], &[], false);
}

#[test]
fn both_have_work_and_both_leave() {
    check(4, &[2], &[1], true);
}

/// The queues of two workers, and memory that a worker touches while it has work or is alone.
struct Touched(TaskQueues, UnsafeCell<usize>);

// SAFETY: loom ends the model if two threads touch the cell at once.
unsafe impl Sync for Touched {}

impl Touched {
    fn shared() -> Arc<Touched> {
        let queues = TaskQueues::new(2, StackLimits { piece: 2, pieces: 4 }).unwrap();
        Arc::new(Touched(queues, UnsafeCell::new(0)))
    }

    fn touch(&self) {
        // SAFETY: loom ends the model if another thread touches it.
        self.1.with_mut(|cell| unsafe { *cell += 1 });
    }

    /// Worker 1: touches the memory for each entry that it gets from the other.
    fn work_for_other(&self) {
        let mut stack = self.0.worker(1);
        while stack.find() {
            while stack.pop().is_some() {
                self.touch();
            }
        }
    }
}

/// A worker that is alone touches memory that the other touched before, and that the other touches
/// again once it is offered an entry.
#[test]
fn a_lone_worker_may_touch_memory_that_others_touched() {
    with_three_preemptions(|| {
        let shared = Touched::shared();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.touch();
                shared.work_for_other();
            })
        };
        let mut stack = shared.0.worker(0);
        stack.look_around();
        if stack.is_alone() {
            shared.touch();
            assert!(stack.push(1) && stack.give_all() && !stack.is_alone());
            stack.rest();
        } else {
            while stack.find() {}
        }
        other.join().unwrap();
    });
}

/// A worker checks the others at the moment when the other takes its last piece.
#[test]
fn nobody_is_alone_while_another_takes_the_last_piece() {
    with_three_preemptions(|| {
        let shared = Touched::shared();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.work_for_other())
        };
        let mut stack = shared.0.worker(0);
        assert!(stack.push(1) && stack.give_all());
        stack.look_around();
        if stack.is_alone() {
            shared.touch();
        }
        loop {
            while stack.pop().is_some() {}
            if !stack.find() {
                break;
            }
        }
        other.join().unwrap();
    });
}

struct Cells([UnsafeCell<usize>; 2]);

// SAFETY: loom ends the model if two threads touch a cell at once.
unsafe impl Sync for Cells {}

impl Cells {
    fn of(&self, number: usize) -> &UnsafeCell<usize> {
        &self.0[number]
    }
}

#[test]
fn a_gang_does_one_task_after_another_and_ends() {
    loom::model(|| {
        let gang = Gang::new("model", 2);
        assert_eq!(gang.ready(2), 2);
        let cells = Cells([UnsafeCell::new(0), UnsafeCell::new(0)]);
        for turn in 1..=2 {
            Workers::new(&gang, 2).run(&|number| {
                // SAFETY: loom ends the model if another thread touches it.
                cells.of(number).with_mut(|cell| unsafe { *cell += turn });
            });
            for cell in [cells.of(0), cells.of(1)] {
                // SAFETY: as above.
                assert_eq!(cell.with(|cell| unsafe { *cell }), (1..=turn).sum::<usize>());
            }
        }
    });
}

#[test]
fn a_resting_worker_leaves_all_entries_to_the_other() {
    loom::model(|| {
        let queues = Arc::new(TaskQueues::new(2, StackLimits { piece: 2, pieces: 4 }).unwrap());
        queues.begin();
        let other = {
            let queues = queues.clone();
            thread::spawn(move || {
                let (mut stack, mut sum) = (queues.worker(1), 0);
                loop {
                    while let Some(entry) = stack.pop() {
                        sum += entry;
                    }
                    if !stack.find() {
                        return sum;
                    }
                }
            })
        };
        let mut stack = queues.worker(0);
        assert!(stack.push(1) && stack.push(2) && stack.give_all());
        stack.rest();
        assert_eq!(other.join().unwrap(), 3);
    });
}
