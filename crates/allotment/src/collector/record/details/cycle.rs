//! The lines of a concurrent cycle.
//!
//! A cycle has no single pause. So `PrintGC` prints a line for each of its pauses and of the parts
//! between them, as HotSpot does for Shenandoah, and the usual line last. A cycle that degenerated
//! has further parts in the stop that ended it. These are details.
//!
//! Refused: lines while the cycle runs. Lines of several heaps would mix, and a cycle's number is
//! known when its record is added.

use super::super::{CollectionRecord, CycleDetails, Milliseconds, OldMarking, Phase};
use std::fmt;

impl CollectionRecord {
    /// The pauses of a concurrent cycle and what ran between them, in order, without the stop that
    /// ended the cycle. Of a collection that was one stop: nothing. A part that began beside
    /// threads and was finished in the stop is in both.
    pub fn phases_before_stop(&self) -> &[Phase] {
        self.cycle().map_or(&[], |cycle| &self.phases[..cycle.before_stop.unwrap_or(self.phases.len())])
    }

    /// The parts of the stop that ended a cycle, and of a collection that was one stop.
    pub fn phases_in_stop(&self) -> &[Phase] {
        &self.phases[self.phases_before_stop().len()..]
    }

    /// The line of each pause of a cycle and of each part between them.
    pub(super) fn cycle_lines(&self) -> impl Iterator<Item = String> + '_ {
        let cycle = self.cycle();
        let stop = cycle.filter(|cycle| cycle.before_stop.is_some()).and_then(|cycle| cycle.pauses.last());
        self.phases_before_stop().iter().chain(stop).map(|phase| self.phase_line(phase))
    }

    /// The lines that only a cycle has.
    pub(super) fn cycle_details(&self, cycle: &CycleDetails, line: &mut dyn FnMut(fmt::Arguments<'_>)) {
        if !cycle.trigger.is_empty() {
            line(format_args!("{}", cycle.trigger));
        }
        if let Some(step) = cycle.degenerated {
            line(format_args!("Degenerated: {step}"));
        }
        for part in self.phases_in_stop() {
            line(format_args!("In the stop: {} {}", part.name, Milliseconds(part.time)));
        }
        line(format_args!("Live: {} objects, {}k", self.live_objects, kilobytes(self.live_bytes)));
        line(format_args!(
            "Regions: {} in the set, {} of them kept; {} were without live objects; humongous objects: {} freed",
            cycle.set_regions, cycle.kept_regions, cycle.immediate_regions, cycle.humongous_freed
        ));
        line(format_args!(
            "Moved: {}k by workers, {}k by mutators",
            kilobytes(cycle.moved_by_workers),
            kilobytes(cycle.moved_by_mutators)
        ));
        line(format_args!(
            "Words: {} recorded by mutators; slots: {} updated by workers; weak: {} cleared",
            cycle.recorded_words, cycle.updated_slots, self.weak_cleared
        ));
        if let Some(of) = &cycle.generations {
            for (age, bytes) in of.ages.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                line(format_args!("Age {age}: {bytes} bytes"));
            }
            line(format_args!(
                "Old: {} regions, {} of them promoted in place; {}k copied; threshold {}; {} dirty cards",
                of.old_regions,
                of.promoted_regions,
                kilobytes(of.old_copied_bytes),
                of.tenuring_threshold,
                of.dirty_cards
            ));
            if of.old_marking != OldMarking::None || of.old_set_regions + of.old_candidates > 0 {
                line(format_args!(
                    "Old marking: {}; {}k in {} between cycles; {} old regions in the set, {} left for later",
                    of.old_marking,
                    kilobytes(of.old_marked_bytes as usize),
                    Milliseconds(of.old_marking_time),
                    of.old_set_regions,
                    of.old_candidates
                ));
            }
        }
        if cycle.assists > 0 {
            line(format_args!("Assists: {} slices, {}", cycle.assists, Milliseconds(cycle.assist_time)));
        }
        if cycle.pacing_waits > 0 {
            line(format_args!(
                "Pacing: {} waits, {}, the longest {}",
                cycle.pacing_waits,
                Milliseconds(cycle.pacing_time),
                Milliseconds(cycle.longest_pacing_wait)
            ));
        }
        line(format_args!("Workers: {} of {}", self.workers, self.wanted.most));
    }
}

fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}
