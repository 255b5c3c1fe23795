//! Mutators help a cycle that would come too late.
//!
//! Few workers cannot keep up with hundreds of threads that allocate. If those threads slept until
//! there is memory, the latest of them would wait for all others. So a thread that takes a buffer
//! while a cycle is behind first does a slice of the cycle's work, as in Go (Clements and Hudson,
//! 2015), and then has its buffer. A slice ends after [`SLICE`], or when a stop is requested. A
//! slice waits for nothing and reaches no safepoint.
//!
//! With `ZealCycles` threads help each cycle, and a slice ends after a count instead of a time. So
//! slices end at every place, and runs with one seed are alike.
//!
//! Refused: pacing, that is sleep (HotSpot had it up to JDK 25). A sleeping thread brings no cycle
//! to its end.

use super::engine::Engine;
use crate::collector::concurrent::{BoundedStack, Copier, Marker, Updater};
use crate::mutator::{Hot, Mutator, Shared};
use crate::timeline::{Arguments, Category};
use std::time::{Duration, Instant};

/// The time after which a slice ends.
const SLICE: Duration = Duration::from_micros(50);

/// The number of questions after which a slice ends with `ZealCycles`: a pseudo-random one.
/// `before` slices were begun earlier.
fn random_questions(before: u64) -> u64 {
    // Up to 4,096, and short slices as often as long ones.
    let random = before.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    1 + ((random >> 8 & 0xFFF) >> (random % 12))
}

impl Engine {
    /// Does a slice of the cycle's work, if the cycle is behind.
    pub(super) fn assist(&self, mutator: &Mutator<'_>) {
        let shared = mutator.shared();
        if !self.eager_assists && !self.assisted.is_behind(shared.space.free.regions_left()) {
            return;
        }
        let mut questions = random_questions(self.assisted.begin_slice());
        let begun = Instant::now();
        let mut ends = || {
            if !self.eager_assists {
                return begun.elapsed() >= SLICE;
            }
            questions = questions.saturating_sub(1);
            questions == 0
        };
        let mut halted = || mutator.is_stop_requested() || ends();
        if shared.threads.barriers() & Hot::FORWARDING != 0 {
            self.assist_moving(shared, &mut halted);
        } else {
            self.assist_marking(shared, &mut halted);
        }
        let time = begun.elapsed();
        self.assisted.end_slice(time);
        if let Some(timeline) = &shared.watch.timeline {
            timeline.did(Category::Assist, "Assist", (begun, time), Arguments::default());
        }
    }

    fn assist_marking(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let Some(entries) = BoundedStack::new() else { return };
        let marking = self.marking(shared, &self.interrupt, self.tables.sought());
        let mut marker = Marker::new(&shared.space, marking, entries);
        if !marker.drain_some(halted) {
            self.left.found.want();
        }
        self.assisted.add_found(marker.finish());
    }

    fn assist_moving(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let (home, evacuator) = (shared.space.home(), self.evacuator(&shared.space));
        let mut copier = Copier::new(evacuator, home);
        if self.copy_next(&mut copier, halted) {
            self.copies.count(home, copier.finish());
        } else {
            self.update_next(&mut Updater::new(evacuator, home), halted);
        }
    }
}
