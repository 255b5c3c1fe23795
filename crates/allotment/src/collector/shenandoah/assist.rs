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
use crate::collector::concurrent::{Buffers, Few, Marker, Updater};
use crate::mutator::{Hot, Mutator, Shared};
use crate::timeline::{Arguments, Category};
use std::time::{Duration, Instant};

/// The time after which a slice ends.
const SLICE: Duration = Duration::from_micros(50);

/// The end of a slice.
enum End {
    /// After [`SLICE`].
    Time,
    /// After this number of questions whether it has come.
    Questions(u64),
}

impl End {
    /// An end that looks random, of a slice of which `before` were begun before.
    fn random(before: u64) -> End {
        // Up to 4,095, and short ones as often as long ones.
        let random = before.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        End::Questions(1 + ((random >> 8 & 0xFFF) >> (random % 12)))
    }

    /// Whether it has come, for a slice that was begun at `begun`.
    fn has_come(&mut self, begun: Instant) -> bool {
        match self {
            End::Time => begun.elapsed() >= SLICE,
            End::Questions(left) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
        }
    }
}

impl Engine {
    /// Does a slice of the cycle's work, if the cycle is behind.
    pub(super) fn assist(&self, mutator: &Mutator<'_>) {
        let shared = mutator.shared();
        if !self.eager_assists && !self.assisted.is_behind(shared.space.free.regions_left()) {
            return;
        }
        let before = self.assisted.begin_slice();
        let mut end = if self.eager_assists { End::random(before) } else { End::Time };
        let begun = Instant::now();
        let mut halted = || mutator.is_stop_requested() || end.has_come(begun);
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
        let Some(entries) = Few::new() else { return };
        let marking = self.marking(shared, &self.interrupt, self.tables.sought());
        let mut marker = Marker::new(&shared.space, marking, entries);
        if !marker.drain_some(halted) {
            self.leftover.want();
        }
        self.assisted.add_found(marker.finish());
    }

    fn assist_moving(&self, shared: &Shared, halted: &mut dyn FnMut() -> bool) {
        let (home, evacuator) = (shared.space.home(), self.evacuator(shared));
        let (mut buffers, mut copied) = (Buffers::default(), 0);
        if self.copy_next(&evacuator, home, &mut buffers, halted, &mut copied) {
            evacuator.end_buffers(&mut buffers);
            self.copies.count(home, copied as usize);
        } else {
            self.update_next(&mut Updater::new(evacuator, halted, home));
        }
    }
}
