//! The part of a record that only a concurrent cycle has.

use super::Phase;
use crate::collector::sizing::AGES;
use std::fmt;
use std::time::Duration;

/// The details of a concurrent cycle, or of one that was finished in a stop:
/// [`CollectionRecord::cycle`](super::CollectionRecord::cycle).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleDetails {
    /// The stops of the cycle, in order: how long all threads stood still, the time to the
    /// safepoint included.
    pub pauses: Vec<Phase>,
    /// Time for which the cycle worked while threads ran.
    pub concurrent_time: Duration,
    /// The time to the safepoint of each of these stops. Where one stop of the world ends two
    /// cycles, the time of the second cycle is zero.
    pub times_to_safepoint: Vec<Duration>,
    /// The trigger of the cycle, with its numbers; empty if a program asked for the cycle.
    pub trigger: String,
    /// What to change, where no trigger could have begun this cycle early enough, or where cycles
    /// gain nothing: once for each of these causes, and otherwise empty.
    pub advice: String,
    /// The step in which threads had to be stopped until the end of the cycle; `None` if threads
    /// ran in all steps.
    pub degenerated: Option<&'static str>,
    /// Number of the record's phases before the stop that ended the cycle; `None` if the cycle
    /// ended beside threads. A cycle whose moves were over by then did not degenerate.
    pub(in crate::collector) before_stop: Option<usize>,
    /// Regions whose live objects were moved.
    pub set_regions: usize,
    /// Regions of the set in which objects had to stay, because there was no memory for copies.
    pub kept_regions: usize,
    /// Regions that became free because nothing in them was live, those of humongous objects
    /// included.
    pub immediate_regions: usize,
    /// Humongous objects that died.
    pub humongous_freed: usize,
    /// Bytes that workers copied.
    pub moved_by_workers: usize,
    /// Bytes that mutators copied.
    pub moved_by_mutators: usize,
    /// Slices of the cycle's work that mutators did, because it would have come too late.
    pub assists: u64,
    /// The time of these slices, of all mutators together.
    pub assist_time: Duration,
    /// Times that a mutator waited, because it took memory faster than the cycle went on.
    pub pacing_waits: u64,
    /// The time of these waits, of all mutators together.
    pub pacing_time: Duration,
    /// The longest of these waits.
    pub longest_pacing_wait: Duration,
    /// Words that mutators overwrote while the collector marked, and handed over.
    pub recorded_words: u64,
    /// Slots that got the new place of their referent from a worker.
    pub updated_slots: u64,
    /// The details of generations; `None` in a heap without them.
    pub generations: Option<GenerationsDetails>,
}

/// The objects that a cycle of a heap with generations looks at: [`GenerationsDetails::scope`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CycleScope {
    /// Young ones, and old ones in dirty cards.
    Young,
    /// All, in this one cycle.
    Global,
}

impl fmt::Display for CycleScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CycleScope::Young => "Young",
            CycleScope::Global => "Global",
        })
    }
}

/// The state of the marking of old objects, which may take several cycles:
/// [`GenerationsDetails::old_marking`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OldMarking {
    /// Old objects are not being marked.
    #[default]
    None,
    /// The marking began with this cycle. It continues between the next ones.
    Began,
    /// The marking has not ended yet.
    UnderWay,
    /// The marking ended: the cycle knows which old objects are live. A global cycle begins and
    /// ends it.
    Ended,
}

impl fmt::Display for OldMarking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            OldMarking::None => "none",
            OldMarking::Began => "began",
            OldMarking::UnderWay => "under way",
            OldMarking::Ended => "ended",
        })
    }
}

/// The details that a cycle has only in a heap with generations: [`CycleDetails::generations`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerationsDetails {
    /// The objects that the cycle looked at.
    pub scope: CycleScope,
    /// Bytes that copies took in old regions. Of a global cycle these are mostly copies of objects
    /// that were old.
    pub old_copied_bytes: usize,
    /// Young regions whose objects became old where they were.
    pub promoted_regions: usize,
    /// Cycles after which an object becomes old when it is copied.
    pub tenuring_threshold: u8,
    /// Bytes of marked young objects by the cycles that they survived before.
    pub ages: [u64; AGES],
    /// Dirty cards of old regions when a young cycle looked at them.
    pub dirty_cards: u64,
    /// Regions of old objects after the cycle.
    pub old_regions: usize,
    /// The state of the marking of old objects at the end of the cycle.
    pub old_marking: OldMarking,
    /// The time that workers marked old objects between cycles, where that ended.
    pub old_marking_time: Duration,
    /// Bytes of old objects that were marked between cycles, where that ended.
    pub old_marked_bytes: u64,
    /// Old regions whose live objects were moved.
    pub old_set_regions: usize,
    /// Old regions that are worth a move, for the next cycles.
    pub old_candidates: usize,
}

impl CycleDetails {
    /// The text after the names of phases: empty in a heap without generations.
    pub(in crate::collector) fn suffix(&self) -> String {
        self.generations.as_ref().map_or_else(String::new, |of| format!(" ({})", of.scope))
    }

    /// The time for which all threads stood still.
    pub(in crate::collector) fn paused(&self) -> Duration {
        self.pauses.iter().map(|pause| pause.time).sum()
    }
}
