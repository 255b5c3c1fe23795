//! A script: the steps of one thread on a heap, and the interpreter that checks them against the
//! model.
//!
//! Steps are few and plain. Whatever the options are, the same script must give the same objects,
//! of the same shape, at places that nothing else uses.

use super::kit::{Kit, What};
use super::model::Model;
use crate::Heap;
use crate::mutator::sampling::Distances;
use crate::mutator::{Mark, Mutator};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

/// How a burst ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    Early,
    Panic,
    /// Goes on while another thread asks for a safepoint.
    Stopped,
}

/// An event between two objects of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    Nothing,
    /// Another object, without the reservation.
    Object(What),
    /// A request that is not answered yet: the reservation still serves.
    Request,
    /// A request that is answered: the reservation lapses.
    Safepoint,
}

/// One step of a script.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `try_alloc_raw`, and where that fails a reservation of that size.
    Try(What),
    /// `alloc`.
    Alloc(What),
    /// A reservation of these bytes, partly used.
    Room(usize, Vec<(What, Between)>),
    Burst(Vec<What>, Exit),
    Mark,
    /// Goes back to the mark that many levels up; `true`: the mark stays in use.
    Recycle(usize, bool),
    Interval(usize),
    Request,
    Safepoint,
    Uncommit,
    Reattach,
    Reset,
}

/// A heap and the objects that one thread has put there.
pub(super) struct Run {
    heap: Heap,
    kit: Kit,
    pub(super) model: Model,
    /// No other thread uses the heap, so its free room and its contents are known.
    alone: bool,
}

/// One attachment.
struct Attached<'r, 'm, 't> {
    run: &'r mut Run,
    mutator: &'m mut Mutator<'t>,
    /// Each mark with the number of objects at that time.
    marks: Vec<(Mark<'t>, usize)>,
    private: bool,
    /// Whether a safepoint was requested.
    pending: bool,
    points: Points,
}

/// The sampling points of one attachment, by the rule: a block of more bytes than the distance left
/// passes one, and the next distance begins after the block.
struct Points {
    distances: Distances,
    /// 0: off.
    interval: usize,
    /// Bytes up to the point.
    left: usize,
    passed: u64,
}

impl Points {
    /// Those of the heap's newest thread.
    fn new(heap: &Heap) -> Points {
        let distances = Distances::new(heap.shared.watch.sampler.seed, heap.metrics().threads.ever);
        let mut points = Points { distances, interval: 0, left: 0, passed: 0 };
        points.set(heap.shared.watch.sampler.interval());
        points
    }

    fn set(&mut self, interval: usize) {
        if interval != self.interval {
            self.interval = interval;
            self.left = self.distances.next(interval);
        }
    }

    fn count(&mut self, bytes: usize) {
        if self.interval == 0 {
            return;
        }
        if bytes > self.left {
            self.passed += 1;
            self.left = self.distances.next(self.interval);
        } else {
            self.left -= bytes;
        }
    }
}

impl Run {
    pub(super) fn new(heap: Heap) -> Run {
        let kit = Kit::new(&heap);
        Run { alone: true, ..Run::among(&heap, &kit, 0) }
    }

    /// The run of one of several threads of a heap, which each have a number.
    pub(super) fn among(heap: &Heap, kit: &Kit, thread: u64) -> Run {
        Run { heap: heap.clone(), kit: kit.clone(), model: Model::new(heap, kit, thread), alone: false }
    }

    /// Runs a script from beginning to end, attached except for the steps that must run detached.
    pub(super) fn script(&mut self, steps: &[Step]) {
        let mut rest = steps;
        loop {
            let end = rest.iter().position(|step| matches!(step, Step::Reattach | Step::Reset));
            let (now, later) = rest.split_at(end.unwrap_or(rest.len()));
            let heap = self.heap.clone();
            heap.attach(|mutator| Attached::new(self, mutator).steps(now)).expect("not attached yet");
            self.check();
            let Some((step, later)) = later.split_first() else { return };
            if matches!(step, Step::Reset) {
                self.heap.reset().expect("nobody is attached");
                self.model.keep(0);
                assert_eq!(self.heap.memory().used_bytes, 0);
                self.check();
            }
            rest = later;
        }
    }

    fn check(&self) {
        if self.alone {
            self.model.check_heap();
        } else {
            self.model.check();
        }
    }

    fn check_full(&self, bytes: usize, private: bool) {
        if self.alone {
            self.model.check_full(bytes, private);
        }
    }
}

impl<'r, 'm, 't> Attached<'r, 'm, 't> {
    fn new(run: &'r mut Run, mutator: &'m mut Mutator<'t>) -> Self {
        let (private, pending) = (false, false);
        let points = Points::new(&run.heap);
        Attached { run, mutator, marks: Vec::new(), private, pending, points }
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
            // Another thread may change the interval at any time.
            if self.run.alone {
                assert_eq!(self.mutator.sampling_points(), self.points.passed, "after {step:?}");
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Try(what) => self.object(*what),
            Step::Alloc(what) => self.alloc(*what),
            Step::Room(bytes, pieces) => self.room(*bytes, pieces),
            Step::Burst(objects, exit) => self.burst(objects, *exit),
            Step::Mark => {
                let mark = self.mutator.raw_mut().mark();
                self.private = true;
                self.marks.push((mark, self.run.model.len()));
            }
            Step::Recycle(levels, again) => self.recycle(*levels, *again),
            Step::Interval(bytes) => {
                self.run.heap.set_allocation_sample_interval(*bytes);
                self.safepoint();
                self.points.set(*bytes);
            }
            Step::Request => self.request(),
            Step::Safepoint => self.safepoint(),
            Step::Uncommit => {
                self.run.heap.uncommit();
            }
            Step::Reattach | Step::Reset => unreachable!("the script was split there"),
        }
    }

    fn request(&mut self) {
        self.run.heap.request_safepoint();
        self.pending = true;
    }

    fn safepoint(&mut self) {
        self.mutator.safepoint();
        self.pending = false;
    }

    /// Adds an object, or notes that there is none.
    fn outcome(&mut self, what: What, object: Option<NonNull<u8>>) {
        match object {
            Some(object) => {
                assert!(!self.pending, "{what:?} was allocated while a stop was requested");
                self.run.model.born(what, object);
                self.points.count(self.run.model.newest_bytes());
            }
            None if self.pending => {}
            None => self.run.check_full(self.run.kit.bytes(what.kind), self.private),
        }
    }

    fn object(&mut self, what: What) {
        let object = self.run.kit.allocate(&*self.mutator, what);
        self.outcome(what, object);
        if object.is_none() {
            self.room(self.run.kit.bytes(what.kind), &[(what, Between::Nothing)]);
        }
    }

    fn alloc(&mut self, what: What) {
        let (shape, length) = (self.run.kit.shape(what.kind), what.kind.length());
        // The allocation answers a request itself if the object does not fit the buffer. With a
        // request pending, no object does.
        self.pending = false;
        // SAFETY: the shape is the heap's, and the model forgets objects that are recycled or
        // reset.
        match unsafe { self.mutator.raw_mut().alloc_raw(shape, length) } {
            Ok(object) => self.outcome(what, Some(object)),
            Err(error) => {
                let bytes = self.run.kit.bytes(what.kind);
                assert_eq!(
                    (error.bytes(), error.heap_bytes()),
                    (bytes, self.run.heap.geometry().heap_bytes())
                );
                self.outcome(what, None);
            }
        }
    }

    fn room(&mut self, bytes: usize, pieces: &[(What, Between)]) {
        self.pending = false;
        let Ok(mut room) = self.mutator.make_room(bytes) else {
            return self.run.check_full(bytes, self.private);
        };
        assert_eq!(room.bytes(), bytes.next_multiple_of(8));
        self.points.count(room.bytes());
        let mut lapsed = false;
        for (what, between) in pieces {
            let (left, needed) = (room.bytes(), self.run.kit.bytes(what.kind));
            let object = self.run.kit.allocate((&*self.mutator, &mut room), *what);
            assert_eq!(object.is_some(), !lapsed && needed <= left, "{what:?} in {left} bytes");
            if let Some(object) = object {
                self.run.model.born(*what, object);
                assert_eq!(room.bytes(), left - needed);
            }
            match *between {
                Between::Nothing => {}
                Between::Object(what) => {
                    let object = self.run.kit.allocate(&*self.mutator, what);
                    self.outcome(what, object);
                }
                Between::Request => self.request(),
                Between::Safepoint => {
                    self.request();
                    self.safepoint();
                    lapsed = true;
                }
            }
        }
    }

    fn burst(&mut self, objects: &[What], exit: Exit) {
        let (run, points) = (&mut *self.run, &mut self.points);
        let (pending, private) = (self.pending, self.private);
        let heap = run.heap.clone();
        let mutator = &mut *self.mutator;
        let left = catch_unwind(AssertUnwindSafe(|| {
            mutator.raw_mut().burst(|burst| {
                for (index, what) in objects.iter().enumerate() {
                    if index == objects.len() / 2 {
                        match exit {
                            Exit::Done => {}
                            Exit::Early => return,
                            // Without the panic hook: nothing is printed.
                            Exit::Panic => resume_unwind(Box::new("a burst is left")),
                            Exit::Stopped => heap.request_safepoint(),
                        }
                    }
                    match run.kit.allocate(burst, *what) {
                        Some(object) => {
                            run.model.born(*what, object);
                            points.count(run.model.newest_bytes());
                        }
                        None if pending || exit == Exit::Stopped => {}
                        None => run.check_full(run.kit.bytes(what.kind), private),
                    }
                }
            })
        }));
        self.pending |= exit == Exit::Stopped && !objects.is_empty();
        let panicked = left.err().map(|payload| *payload.downcast_ref::<&str>().expect("a text"));
        let expected = (exit == Exit::Panic && !objects.is_empty()).then_some("a burst is left");
        assert_eq!(panicked, expected);
    }

    fn recycle(&mut self, levels: usize, again: bool) {
        let Some(level) = self.marks.len().checked_sub(1 + levels % self.marks.len().max(1)) else { return };
        let (mark, objects) = self.marks[level];
        self.marks.truncate(level + usize::from(again));
        self.run.model.keep(objects);
        // SAFETY: the model has forgotten all younger objects, marks are used as a stack, and no
        // reservation outlives its step.
        unsafe { self.mutator.raw_mut().recycle(mark) };
        self.run.model.check();
    }
}
