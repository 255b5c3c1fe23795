//! A cycle: its steps in order, each with what it leaves to the next.
//!
//! ```text
//! Reset      beside  the live map of the last cycle is cleared                 (reset.rs)
//! InitMark   STOP    borders of regions; barriers on, duties                   (init_mark.rs)
//! Mark       beside  roots of threads in `blocking`, handles, pins; trace      (mark.rs)
//! FinalMark  STOP    what mutators recorded last; back to Mark if that is much (mark.rs)
//! Weak       beside  weak slots and handles; the set is chosen                 (weak.rs)
//! BeginMove  STOP    the set is final; barriers on, duties; on to Free if
//!                    nothing is worth a move                                   (begin_move.rs)
//! Evacuate   beside  empty regions are free; handles are healed; the set is
//!                    copied                                                    (moving.rs)
//! Update     beside  slots that refer to the set                               (moving.rs)
//! EndMove    STOP    barriers off                                              (moving.rs)
//! Free       beside  the set is free                                           (free.rs)
//! ```
//!
//! A step is a value that owns the results of the steps before it. An interrupted step is the next
//! one again: the work that is left is in the value or in lists of the engine, never on a stack. So
//! another thread can continue it, even one that has stopped the world
//! ([`Place`](super::place::Place)). Refused: one record with the fields of all steps, because a
//! reader could not tell which fields are valid at which step.
//!
//! ```text
//! interrupted  the rest is in                 a stop of the world at this step
//! Reset        its next region                gives the cycle up: the next Reset clears the marks
//! Mark         left, to_scan, the SATB queue  gives up (nothing has moved), or notes all roots and
//!                                             marks the rest
//! FinalMark    left, the SATB queue           gives up, or marks the rest
//! Weak         left, weak slots               finishes: threads may have seen null
//! BeginMove    (is a pause)                   gives up (weak slots are null, nothing has moved),
//!                                             or finishes
//! Evacuate     to_evacuate, duties            forwards all roots, copies the rest
//! Update       to_update                      updates the rest
//! Free         its lists, to_settle           frees the rest, puts it in order
//! ```
//!
//! A young cycle that is given up keeps the recorded words of old objects, unless it begins their
//! marking ([`old_marking`](super::old_marking)).

mod begin_move;
mod free;
mod generations;
mod init_mark;
mod mark;
mod measure;
mod moving;
mod reset;
mod weak;

use super::account::Account;
use super::engine::Engine;
use super::place::Place;
use super::scope::Scope;
use crate::mutator::Cause;
use free::Freeing;
use mark::Marking;
use moving::Moving;
use reset::Reset;
use std::time::Duration;
use weak::{Chosen, Weak};

/// A cycle under way, or the last one.
pub(super) struct Cycle {
    step: Step,
    pub(super) account: Account,
}

/// The next step of a cycle, with its data.
enum Step {
    /// No cycle is under way.
    Idle,
    Reset(Reset),
    InitMark,
    Mark(Marking),
    FinalMark(Marking),
    Weak(Weak),
    BeginMove(Chosen),
    Evacuate(Moving),
    Update(Moving),
    EndMove(Moving),
    Free(Freeing),
}

/// The name of a [`Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Idle,
    Reset,
    InitMark,
    Mark,
    FinalMark,
    Weak,
    BeginMove,
    Evacuate,
    Update,
    EndMove,
    Free,
}

impl Stage {
    /// The name in records and logs, as HotSpot has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::Idle => "Idle",
            Stage::Reset => "Concurrent reset",
            Stage::InitMark => "Pause Init Mark",
            Stage::Mark => "Concurrent marking",
            Stage::FinalMark => "Pause Final Mark",
            Stage::Weak => "Concurrent weak references",
            Stage::BeginMove => "Pause Init Evacuation",
            Stage::Evacuate => "Concurrent evacuation",
            Stage::Update => "Concurrent update references",
            Stage::EndMove => "Pause Final Update Refs",
            Stage::Free => "Concurrent cleanup",
        }
    }

    /// Whether the step needs a stop.
    pub(super) fn is_pause(self) -> bool {
        matches!(self, Stage::InitMark | Stage::FinalMark | Stage::BeginMove | Stage::EndMove)
    }
}

impl Cycle {
    /// No cycle, before the first one.
    pub(super) fn none() -> Cycle {
        let account = Account::new(Cause::Requested, Scope::Global, Duration::ZERO, 0);
        Cycle { step: Step::Idle, account }
    }

    /// A cycle that begins.
    pub(super) fn begin(account: Account) -> Cycle {
        Cycle { step: Step::Reset(Reset::default()), account }
    }

    /// Ends the cycle where it is. The caller forgets the entries of its steps on lists.
    pub(super) fn abandon(&mut self) {
        self.step = Step::Idle;
    }

    /// The next step.
    pub(super) fn stage(&self) -> Stage {
        match self.step {
            Step::Idle => Stage::Idle,
            Step::Reset(_) => Stage::Reset,
            Step::InitMark => Stage::InitMark,
            Step::Mark(_) => Stage::Mark,
            Step::FinalMark(_) => Stage::FinalMark,
            Step::Weak(_) => Stage::Weak,
            Step::BeginMove(_) => Stage::BeginMove,
            Step::Evacuate(_) => Stage::Evacuate,
            Step::Update(_) => Stage::Update,
            Step::EndMove(_) => Stage::EndMove,
            Step::Free(_) => Stage::Free,
        }
    }

    /// Whether no cycle is under way.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    /// Does the next step at `place`, which suits the step. An interrupted step, or one that waits
    /// for threads, is the next one again.
    pub(super) fn advance(&mut self, engine: &Engine, place: Place<'_>) {
        let account = &mut self.account;
        self.step = match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Idle => Step::Idle,
            Step::Reset(mut reset) => match reset.run(engine, account, place.work()) {
                true => Step::InitMark,
                false => Step::Reset(reset),
            },
            Step::InitMark => {
                init_mark::run(engine, account, place.stop());
                Step::Mark(Marking::default())
            }
            Step::Mark(mut marking) => match marking.mark(engine, account, place.work()) {
                true => Step::FinalMark(marking),
                false => Step::Mark(marking),
            },
            Step::FinalMark(mut marking) => match marking.finish(engine, account, place.stop()) {
                false => Step::Mark(marking),
                true if account.lost => Step::Idle,
                true => Step::Weak(Weak::default()),
            },
            Step::Weak(mut weak) => match weak.run(engine, account, place.work()) {
                Some(chosen) => Step::BeginMove(chosen),
                None => Step::Weak(weak),
            },
            Step::BeginMove(chosen) => chosen.begin(engine, account, place.stop()),
            Step::Evacuate(mut moving) => match moving.evacuate(engine, account, place.work()) {
                true => Step::Update(moving),
                false => Step::Evacuate(moving),
            },
            Step::Update(mut moving) => match moving.update(engine, account, place.work()) {
                true => Step::EndMove(moving),
                false => Step::Update(moving),
            },
            Step::EndMove(moving) => Step::Free(moving.end(engine, account, place.stop())),
            Step::Free(mut freeing) => match freeing.run(engine, account, place.work()) {
                true => Step::Idle,
                false => Step::Free(freeing),
            },
        };
    }
}
