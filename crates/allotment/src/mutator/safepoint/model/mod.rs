//! Every interleaving of a stop with the actions of threads meanwhile: `RUSTFLAGS="--cfg loom"
//! cargo test -p allotment --lib --release model::`.
//!
//! The heap is one cell that loom watches. A running thread writes to it, and so does the thread
//! that has stopped the world. The model fails if two of them write at once, or one does not see
//! the other's write. It also fails if a wake-up is lost: then no thread is left to run.

mod requests;
mod visits;

use super::limit::Limit;
use super::patience::Patience;
use super::stop::{Participant, Safepoints, StopKind};
use super::thread_list::Place;
use super::{Late, Status, ThreadIdentity, Volunteers};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::sync::atomic::{AtomicU32, Ordering};

struct Thread {
    limit: Limit,
    status: Status,
    place: Place,
    identity: ThreadIdentity,
    /// The thread's own while it runs, and the stopper's while the world is stopped.
    own: UnsafeCell<u32>,
    /// The number of the last visit of the thread's roots.
    visited: Mutex<u32>,
    /// How many visits were begun. Written in stops, Relaxed, as in the heap.
    begun: loom::sync::atomic::AtomicU32,
    /// The barriers that the thread has taken over. The model checker does not see them.
    barriers: AtomicU32,
    shared: Shared,
    /// Copies of `visited` and `begun` that the model checker does not see.
    truth: [AtomicU32; 2],
}

/// What a heap tells threads that come back. Stands for the barriers in force, and for the visits
/// that full stops have ended.
#[derive(Clone)]
struct Shared {
    /// A number that grows. Written in stops, Relaxed, as in the heap.
    barriers: Arc<loom::sync::atomic::AtomicU32>,
    /// A copy that the model checker does not see.
    truth: std::sync::Arc<AtomicU32>,
}

impl Shared {
    fn new() -> Shared {
        Shared { barriers: Arc::new(loom::sync::atomic::AtomicU32::new(0)), truth: Default::default() }
    }

    /// Puts other barriers in force. In a stop.
    fn change_barriers(&self) {
        let next = self.truth.fetch_add(1, Ordering::Relaxed) + 1;
        self.barriers.store(next, Ordering::Relaxed);
    }
}

impl Thread {
    fn new(shared: &Shared) -> Arc<Thread> {
        Arc::new(Thread {
            limit: Limit::default(),
            status: Status::default(),
            place: Place::default(),
            identity: ThreadIdentity::current(),
            own: UnsafeCell::new(0),
            visited: Mutex::new(0),
            begun: loom::sync::atomic::AtomicU32::new(0),
            barriers: AtomicU32::new(0),
            shared: shared.clone(),
            truth: [const { AtomicU32::new(0) }; 2],
        })
    }

    /// Begins a visit. In a stop.
    fn begin_visit(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.truth[0].fetch_add(1, Ordering::Relaxed);
    }

    /// Makes the visit that was begun, if it was not made. For the owner, or for a worker that
    /// found the owner safe.
    fn visit_if_due(&self, visited: &mut u32) {
        let begun = self.begun.load(Ordering::Relaxed);
        if *visited != begun {
            touch(self);
            self.truth[1].fetch_add(1, Ordering::Relaxed);
            *visited = begun;
        }
    }

    /// Takes over the barriers of the heap.
    fn adopt_barriers(&self) {
        self.barriers.store(self.shared.barriers.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The work of a thread between two safepoints, in a model of light stops.
    fn work(&self) {
        touch(self);
        let in_force = self.shared.truth.load(Ordering::Relaxed);
        assert_eq!(self.barriers.load(Ordering::Relaxed), in_force, "barriers, at the thread's work");
        let [begun, done] = self.truth.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert_eq!(begun, done, "visits, before the thread's work");
    }
}

impl Participant for Arc<Thread> {
    fn limit(&self) -> &Limit {
        &self.limit
    }
    fn status(&self) -> &Status {
        &self.status
    }
    fn place(&self) -> &Place {
        &self.place
    }
    fn identity(&self) -> &ThreadIdentity {
        &self.identity
    }
    /// Has the steps of the mutator's duty.
    fn do_duty(&self) {
        let mut visited = self.visited.lock().unwrap();
        self.adopt_barriers();
        self.limit.acknowledge();
        self.visit_if_due(&mut visited);
    }
}

type Heap = Arc<Safepoints<Arc<Thread>, HeapData>>;

/// What the lock guards beside the threads.
struct HeapData {
    attached: u32,
    shared: Shared,
}

fn heap() -> Heap {
    let data = HeapData { attached: 0, shared: Shared::new() };
    Arc::new(Safepoints::new(Late::new(0, None), 8, data))
}

/// The calling thread attaches: it is woken up later, so it must be the thread that waits.
fn attach(heap: &Heap) -> Arc<Thread> {
    let shared = heap.lock().data.shared.clone();
    let thread = Thread::new(&shared);
    heap.attach(thread.clone(), |data| {
        data.attached += 1;
        thread.adopt_barriers();
    });
    thread
}

fn detach(heap: &Heap, thread: &Arc<Thread>) {
    heap.detach(thread, |data| data.attached -= 1);
}

/// The work of a thread between two safepoints.
fn touch(thread: &Thread) {
    // SAFETY: loom ends the model if it is not.
    thread.own.with_mut(|own| unsafe { *own += 1 });
}

/// A safepoint.
fn poll(heap: &Heap, thread: &Arc<Thread>) {
    if thread.limit.pending() {
        thread.limit.acknowledge();
        heap.park(thread);
    }
}

fn threads_and_shared(heap: &Heap) -> (Vec<Arc<Thread>>, Shared) {
    let inner = heap.lock();
    (inner.threads.to_vec(), inner.data.shared.clone())
}

/// A stop that uses the state of all threads. Returns whether this thread's stop took place.
fn stop(heap: &Heap, own: Option<&Arc<Thread>>) -> bool {
    let touch_all = || {
        let (threads, shared) = threads_and_shared(heap);
        shared.change_barriers();
        for thread in &threads {
            touch(thread);
            // As for settled threads: those that sleep take the barriers over when they come back.
            if !thread.status.is_asleep() {
                thread.barriers.store(shared.truth.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        assert_eq!(threads.len(), heap.lock().data.attached as usize);
    };
    heap.stop(StopKind::Full, own, |_| touch_all()).is_some()
}

fn spawn<R: 'static>(heap: &Heap, body: impl FnOnce(Heap) -> R + 'static) -> thread::JoinHandle<R> {
    let heap = heap.clone();
    thread::spawn(move || body(heap))
}

#[test]
fn a_thread_that_polls_or_leaves_is_waited_for() {
    loom::model(|| {
        let heap = heap();
        let own = attach(&heap);
        let stopper = spawn(&heap, |heap| assert!(stop(&heap, None)));
        touch(&own);
        poll(&heap, &own);
        touch(&own);
        detach(&heap, &own);
        stopper.join().unwrap();
        assert_eq!(heap.statistics().stops, 1);
    });
}

#[test]
fn a_thread_in_blocking_is_not_waited_for_and_does_not_come_back_too_early() {
    loom::model(|| {
        let heap = heap();
        let own = attach(&heap);
        let stopper = spawn(&heap, |heap| assert!(stop(&heap, None)));
        touch(&own);
        heap.enter_blocking(&own);
        heap.leave_blocking(&own);
        touch(&own);
        heap.enter_blocking(&own);
        // The thread need not come back for the stop to end.
        stopper.join().unwrap();
        heap.leave_blocking(&own);
        assert_eq!((heap.lock().threads.len(), own.status.is_safe()), (1, false));
    });
}

#[test]
fn one_stop_after_another_finds_a_thread_that_runs_or_has_not_woken_up() {
    let mut four_preemptions = loom::model::Builder::new();
    four_preemptions.preemption_bound = Some(4);
    four_preemptions.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let stopper = spawn(&heap, |heap| {
            assert!(stop(&heap, None));
            assert!(stop(&heap, None));
        });
        poll(&heap, &own);
        touch(&own);
        heap.enter_blocking(&own);
        stopper.join().unwrap();
    });
}

#[test]
fn who_attaches_waits_and_who_detaches_has_arrived() {
    loom::model(|| {
        let heap = heap();
        let other = spawn(&heap, |heap| {
            let own = attach(&heap);
            touch(&own);
            detach(&heap, &own);
        });
        assert!(stop(&heap, None));
        let own = attach(&heap);
        touch(&own);
        detach(&heap, &own);
        other.join().unwrap();
        assert_eq!(heap.lock().threads.len(), 0);
    });
}

#[test]
fn of_two_stoppers_one_stops_and_the_other_stands_still_or_follows() {
    // Each of them first takes the lock to lay threads asleep: without a bound that takes minutes.
    let mut six = loom::model::Builder::new();
    six.preemption_bound = Some(6);
    six.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let other = spawn(&heap, |heap| {
            let own = attach(&heap);
            touch(&own);
            let stopped = stop(&heap, Some(&own));
            touch(&own);
            detach(&heap, &own);
            stopped
        });
        touch(&own);
        let stopped = stop(&heap, Some(&own));
        touch(&own);
        detach(&heap, &own);
        let stops = u64::from(stopped) + u64::from(other.join().unwrap());
        assert!(stops >= 1 && heap.statistics().stops == stops);
    });
}

#[test]
fn a_stopper_from_outside_and_one_from_inside() {
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(2);
    three.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let outside = spawn(&heap, |heap| stop(&heap, None));
        let waiter = spawn(&heap, |heap| {
            let blocking = attach(&heap);
            heap.enter_blocking(&blocking);
            heap.leave_blocking(&blocking);
            touch(&blocking);
            detach(&heap, &blocking);
        });
        let inside = stop(&heap, Some(&own));
        touch(&own);
        detach(&heap, &own);
        waiter.join().unwrap();
        assert!(outside.join().unwrap() || inside);
    });
}

/// Two threads that may have to be woken by each other, or by the stopper, while one stop follows
/// another.
fn two_wait(other_waits: impl Fn(&Heap, &Arc<Thread>) + Copy + Send + Sync + 'static) {
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(2);
    three.check(move || {
        let heap = heap();
        let stopper = {
            let own = attach(&heap);
            let stopper = spawn(&heap, |heap| {
                assert!(stop(&heap, None));
                assert!(stop(&heap, None));
            });
            let other = spawn(&heap, move |heap| {
                let own = attach(&heap);
                other_waits(&heap, &own);
                touch(&own);
                detach(&heap, &own);
            });
            heap.enter_blocking(&own);
            heap.leave_blocking(&own);
            touch(&own);
            detach(&heap, &own);
            other.join().unwrap();
            stopper
        };
        stopper.join().unwrap();
    });
}

#[test]
fn of_two_that_come_back_each_is_woken() {
    two_wait(|heap, own| {
        heap.enter_blocking(own);
        heap.leave_blocking(own);
    });
}

#[test]
fn of_one_that_stands_still_and_one_that_comes_back_each_is_woken() {
    two_wait(poll);
}

/// The marks that the tasks of a stop leave.
struct Cells([UnsafeCell<u32>; 2]);

// SAFETY: loom ends the model if two threads touch a cell at once.
unsafe impl Sync for Cells {}

impl Cells {
    fn note(&self, number: usize) {
        // SAFETY: as above.
        self.0[number].with_mut(|cell| unsafe { *cell += 1 });
    }
}

/// A thread that a stop holds.
struct Held(Arc<Thread>);

// SAFETY: as for cells.
unsafe impl Sync for Held {}

impl Held {
    fn touch(&self) {
        touch(&self.0);
    }
}

/// A thread that polls once and so spins, beside a stopper that shares tasks of two numbers with
/// it, `tasks_of_stops` of them in each stop. The stopper sees the helpers' writes, and the helpers
/// see the stopper's.
fn shared_with_one_that_polls(preemptions: usize, tasks_of_stops: &'static [u32]) {
    let helped = std::sync::Arc::new(AtomicU32::new(0));
    let count = helped.clone();
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let (heap, count) = (heap(), count.clone());
        let own = attach(&heap);
        let stopper = spawn(&heap, move |heap| {
            for &tasks in tasks_of_stops {
                let stopped = heap.stop(StopKind::Full, None, |_| share(&heap, tasks, &count));
                assert!(stopped.is_some());
            }
        });
        touch(&own);
        poll(&heap, &own);
        touch(&own);
        detach(&heap, &own);
        stopper.join().unwrap();
    });
    assert!(helped.load(Ordering::Relaxed) > 0, "some came too late, not all");
}

/// Shares tasks one after another with the thread that is held, if it is still attached.
fn share(heap: &Heap, tasks: u32, helped: &AtomicU32) {
    let Some(held) = heap.lock().threads.first().cloned() else { return };
    let (cells, held) = (Cells([UnsafeCell::new(0), UnsafeCell::new(0)]), Held(held));
    for turn in 1..=tasks {
        let mut helpers = 0;
        let task = |number| {
            cells.note(number);
            held.touch();
        };
        heap.volunteers.share(1, 1, &task, |came| {
            cells.note(0);
            helpers = came;
        });
        match helpers {
            0 => task(1),
            _ => _ = helped.fetch_add(1, Ordering::Relaxed),
        }
        // SAFETY: loom ends the model if another thread touches it.
        assert!(cells.0.iter().all(|done| done.with(|done| unsafe { *done } == turn)));
    }
    held.touch();
}

#[test]
fn a_thread_that_looks_on_is_called_or_leaves() {
    shared_with_one_that_polls(5, &[2]);
}

/// A thread that still spins for the end of one stop may be called by the next stop. It is held
/// until it has done its task.
#[test]
fn who_looks_on_for_the_end_of_one_stop_is_called_by_the_next() {
    shared_with_one_that_polls(3, &[0, 1]);
}

/// One of two spinning threads is called. The other spins or leaves, and no thread is called twice.
#[test]
fn of_two_that_look_on_one_is_called() {
    static HELPED: AtomicU32 = AtomicU32::new(0);
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(3);
    three.check(|| {
        let volunteers = Arc::new(Volunteers::default());
        let looks_on = || {
            let volunteers = volunteers.clone();
            thread::spawn(move || volunteers.look_on(Patience { cpus: 8 }, || true))
        };
        let others = [looks_on(), looks_on()];
        let cells = Cells([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let mut helpers = 0;
        volunteers.share(0, 1, &|number| cells.note(number), |came| helpers = came);
        // SAFETY: loom ends the model if another thread touches it.
        let done = |number: usize| cells.0[number].with(|cell| unsafe { *cell });
        assert!([done(0), done(1)] == [helpers as u32, 0]);
        HELPED.fetch_add(helpers as u32, Ordering::Relaxed);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert!(HELPED.load(Ordering::Relaxed) > 0, "some came too late, not all");
}
