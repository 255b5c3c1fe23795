//! Mutators help a cycle that would come too late.
//!
//! Few workers cannot keep up with hundreds of threads that allocate. To make those sleep until
//! there is memory makes the latest of them wait for all. So a thread that takes a buffer while a
//! cycle is behind does a slice of the cycle's work first, as in Go (Clements and Hudson, 2015),
//! and then has its buffer. A slice ends after [`SLICE`], or when a stop is requested. It waits for
//! nothing and reaches no safepoint.
//!
//! With `ZealCycles` threads help each cycle, and a slice ends after a count instead of a time. So
//! slices end at every place, and a seed does the same in each run.
//!
//! Refused: pacing, that is sleep (HotSpot had it up to JDK 25). A sleeping thread brings no cycle
//! to its end.

use super::engine::Engine;
use crate::collector::concurrent::{BoundedStack, Buffers, Marker, Updater};
use crate::mutator::{Hot, Mutator, Shared};
use crate::timeline::{Arguments, Category};
use std::time::{Duration, Instant};

/// The time after which a slice ends.
const SLICE: Duration = Duration::from_micros(50);

/// The number of questions after which a slice ends with `ZealCycles`. It looks random. `before`
/// slices were begun earlier.
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
            self.leftover.want();
        }
        self.assisted.add_found(marker.finish());
    }

    fn assist_moving(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let (home, evacuator) = (shared.space.home(), self.evacuator(&shared.space));
        let (mut buffers, mut copied) = (Buffers::default(), 0);
        if self.copy_next(&evacuator, home, &mut buffers, halted, &mut copied) {
            evacuator.end_buffers(&mut buffers);
            self.copies.count(home, copied as usize);
        } else {
            self.update_next(&mut Updater::new(evacuator, halted, home));
        }
    }
}
