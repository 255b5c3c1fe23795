//! Where a step runs.
//!
//! A step is written once. The differences between places are here, so that a step that was begun
//! beside mutators can be ended in a stop. Refused: a second form of each step for the stopped
//! world.
//!
//! ```text
//! place    steps      workers  interrupted   roots are visited              last marking
//! beside   of work    few      by any stop   by each thread, as its duty
//! pause    of a stop  none     never         by each thread, afterwards     for 200 us
//! world    both       all      never         at once                        to its end
//! ```

use crate::collector::concurrent::Interrupt;
use crate::collector::work::Workers;
use crate::mutator::{Pause, Shared, World};
use crate::sync::Waiting;

/// Where a step runs.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    /// Beside mutators, or in the stopped world, which does all steps that are left.
    Work(Work<'p>),
    /// In a pause of the cycle's own: no span is open.
    Pause(&'p Pause<'p>),
}

impl<'p> Place<'p> {
    /// The workers, for a step that needs them.
    pub(super) fn work(self) -> Work<'p> {
        match self {
            Place::Work(work) => work,
            Place::Pause(_) => unreachable!("a pause has no time for the work of this step"),
        }
    }

    /// The stop, for a step during which no thread may be between two safepoints.
    pub(super) fn stop(self) -> Stop<'p> {
        match self {
            Place::Pause(pause) => Stop::Pause(pause),
            Place::Work(work) => Stop::World(work.world.expect("this step needs a stop")),
        }
    }
}

/// The workers of a step, with the heap and the interrupt.
#[derive(Clone, Copy)]
pub(super) struct Work<'p> {
    pub(super) shared: &'p Shared,
    pub(super) workers: Workers<'p>,
    /// Never set in a stopped world.
    pub(super) interrupt: &'p Interrupt,
    /// The stopped world. `None` while mutators run.
    pub(super) world: Option<&'p World<'p>>,
}

impl Work<'_> {
    /// Waits until every thread has done its duty. Returns `false` if it was interrupted.
    pub(super) fn await_duties(&self) -> bool {
        let mut waiting = Waiting::new();
        while !self.shared.threads.visit_roots_of_safe_threads() {
            if self.interrupt.is_set() {
                return false;
            }
            waiting.longer();
        }
        true
    }
}

/// A stop in which a step runs.
#[derive(Clone, Copy)]
pub(super) enum Stop<'p> {
    Pause(&'p Pause<'p>),
    World(&'p World<'p>),
}

impl<'p> Stop<'p> {
    /// The heap.
    pub(super) fn shared(self) -> &'p Shared {
        match self {
            Stop::Pause(pause) => pause.shared(),
            Stop::World(world) => world.shared(),
        }
    }

    /// Puts these barriers in force, beside those of the embedder.
    pub(super) fn set_barriers(self, bits: u32) {
        match self {
            Stop::Pause(pause) => pause.set_barriers(bits),
            Stop::World(world) => world.set_barriers(bits),
        }
    }
}
