//! The figures of concurrent cycles in an iteration: how many, what ran beside threads and how
//! long, what moved and who moved it.
//!
//! A cycle is parts that run beside threads, and pauses between them. The pauses are in `pause.*`
//! like those of other collectors. The parts have rows of their own, named after what they do. A
//! part that the collector gets later has a row without a change here.
//!
//! Refused: one row for the whole time of a cycle. It hides the cost to a mutator: loads
//! cost more during evacuation and update, stores more during marking.

use super::{by_object, mebibytes, milliseconds};
use crate::harness::SecondaryValue;
use allotment::stats::{CollectionKind, CollectionRecord, CycleScope, OldMarking};
use std::time::Duration;

/// The names of parts whose row is not simply their name.
const SHORT: &[(&str, &str)] = &[
    ("marking", "mark"),
    ("weak references", "weak"),
    ("evacuation", "evacuate"),
    ("update references", "update"),
];

/// The row of a part of a cycle: `concurrent.mark` of `Concurrent marking`, `pause.init-mark` of
/// `Pause Init Mark`. `None`: it is not a part of a cycle.
pub(in super::super) fn label(part: &str) -> Option<String> {
    let (kind, name) = part.split_once(' ')?;
    let kind = match kind {
        "Concurrent" => "concurrent",
        "Pause" => "pause",
        _ => return None,
    };
    let short = SHORT.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
    Some(format!("{kind}.{}", short.to_lowercase().replace(' ', "-")))
}

/// The cycles of an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cycles {
    concurrent: u64,
    degenerated: u64,
    /// Cycles of a heap with generations that looked at young objects only.
    young: u64,
    /// Markings of old objects that ended without a global cycle, and the time of these between
    /// cycles.
    old_marked: u64,
    old_marking: Duration,
    /// Old regions that were moved.
    old_set: usize,
    /// Bytes of copies in old regions.
    old_copied: usize,
    has_generations: bool,
    /// The parts beside threads, in the order of their first appearance.
    parts: Vec<Part>,
    live_objects: usize,
    moved_by_workers: usize,
    moved_by_mutators: usize,
    recorded_words: u64,
    assists: u64,
    assist_time: Duration,
}

/// A part of the cycles of an iteration.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    label: String,
    /// The cycles that had it.
    cycles: u64,
    total: Duration,
    longest: Duration,
}

impl Cycles {
    /// Adds a record, if it is that of a cycle.
    pub(super) fn add(&mut self, record: &CollectionRecord) {
        let Some(cycle) = record.cycle() else { return };
        if record.kind() == CollectionKind::Degenerated {
            self.degenerated += 1;
        } else {
            self.concurrent += 1;
        }
        if let Some(generations) = &cycle.generations {
            self.has_generations = true;
            self.young += u64::from(generations.scope == CycleScope::Young);
            self.old_copied += generations.old_copied_bytes;
            let is_young = generations.scope == CycleScope::Young;
            self.old_marked += u64::from(is_young && generations.old_marking == OldMarking::Ended);
            self.old_marking += generations.old_marking_time;
            self.old_set += generations.old_set_regions;
        }
        let parts = record.phases_before_stop().iter();
        let mut own: Vec<(String, Duration)> = Vec::new();
        for part in parts {
            let Some(label) = label(part.name).filter(|label| label.starts_with("concurrent.")) else {
                continue;
            };
            // A cycle that goes back to an earlier part has that part once.
            match own.iter_mut().find(|(known, _)| *known == label) {
                Some((_, time)) => *time += part.time,
                None => own.push((label, part.time)),
            }
        }
        own.into_iter().for_each(|(label, time)| self.add_part(label, time));
        self.live_objects += record.live_objects;
        self.moved_by_workers += cycle.moved_by_workers;
        self.moved_by_mutators += cycle.moved_by_mutators;
        self.recorded_words += cycle.recorded_words;
        self.assists += cycle.assists;
        self.assist_time += cycle.assist_time;
    }

    fn add_part(&mut self, label: String, time: Duration) {
        match self.parts.iter_mut().find(|part| part.label == label) {
            Some(part) => {
                part.cycles += 1;
                part.total += time;
                part.longest = part.longest.max(time);
            }
            None => self.parts.push(Part { label, cycles: 1, total: time, longest: time }),
        }
    }

    /// The rows. Values of an iteration without a cycle are not finite, except counts.
    pub(super) fn values(&self) -> Vec<SecondaryValue> {
        let total: Duration = self.parts.iter().map(|part| part.total).sum();
        let mut values = vec![
            SecondaryValue::average("gc.concurrent", "counts", self.concurrent as f64),
            SecondaryValue::average("gc.degenerated", "counts", self.degenerated as f64),
            SecondaryValue::average("gc.moved.workers", "MiB", mebibytes(self.moved_by_workers as f64)),
            SecondaryValue::average("gc.moved.mutators", "MiB", mebibytes(self.moved_by_mutators as f64)),
            SecondaryValue::average("gc.recorded", "words", self.recorded_words as f64),
            SecondaryValue::average("assist.slices", "counts", self.assists as f64),
            SecondaryValue::average("assist.total", "ms", milliseconds(self.assist_time)),
            SecondaryValue::average("concurrent.total", "ms", milliseconds(total)),
            SecondaryValue::average("concurrent.object", "ns", by_object(total, self.live_objects)),
        ];
        if self.has_generations {
            values.push(SecondaryValue::average("gc.cycles.young", "counts", self.young as f64));
            values.push(SecondaryValue::average("gc.old.marked", "counts", self.old_marked as f64));
            values.push(SecondaryValue::average("gc.old.marking", "ms", milliseconds(self.old_marking)));
            values.push(SecondaryValue::average("gc.old.moved", "regions", self.old_set as f64));
            values.push(SecondaryValue::average("gc.copied.old", "MiB", mebibytes(self.old_copied as f64)));
        }
        for Part { label, cycles, total, longest } in &self.parts {
            let mean = milliseconds(*total) / *cycles as f64;
            values.push(SecondaryValue::average(label, "ms", mean));
            values.push(SecondaryValue::maximum(&format!("{label}.max"), "ms", milliseconds(*longest)));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::collectors::heap_of;
    use super::super::tests::{iteration, value};
    use super::super::{HeapUse, Probe};
    use super::*;
    use allotment::{NewArray, NewSlots, OutOfMemory, Slots, alloc, root};

    #[test]
    fn parts_have_rows_named_after_what_they_do() {
        for (part, row) in [
            ("Concurrent reset", Some("concurrent.reset")),
            ("Concurrent marking", Some("concurrent.mark")),
            ("Concurrent weak references", Some("concurrent.weak")),
            ("Concurrent evacuation", Some("concurrent.evacuate")),
            ("Concurrent update references", Some("concurrent.update")),
            ("Concurrent cleanup", Some("concurrent.cleanup")),
            ("Concurrent new part", Some("concurrent.new-part")),
            ("Pause Init Mark", Some("pause.init-mark")),
            ("Pause Final Update Refs", Some("pause.final-update-refs")),
            ("Mark", None),
            ("Assist of a thread", None),
        ] {
            assert_eq!(label(part).as_deref(), row, "{part}");
        }
    }

    #[test]
    fn a_part_counts_once_for_each_cycle() {
        let mut cycles = Cycles { concurrent: 2, live_objects: 10, ..Cycles::default() };
        cycles.add_part("concurrent.mark".into(), Duration::from_millis(1));
        cycles.add_part("concurrent.mark".into(), Duration::from_millis(4));
        cycles.add_part("concurrent.update".into(), Duration::from_millis(2));
        let values = cycles.values();
        assert_eq!((value(&values, "concurrent.mark"), value(&values, "concurrent.mark.max")), (2.5, 4.0));
        assert_eq!(value(&values, "concurrent.update"), 2.0);
        assert_eq!((value(&values, "concurrent.total"), value(&values, "concurrent.object")), (7.0, 7e5));
    }

    /// Arrays with garbage between them, and cycles that are asked for.
    #[test]
    fn cycles_are_told_with_their_pauses_and_their_parts() {
        let (heap, mut probe) = HeapUse::of(heap_of("shenandoah", 16 << 20).unwrap()).unwrap();
        probe.before();
        heap.attach(|mu| {
            root!(mu, kept = alloc!(mu, NewArray::<Option<Slots<u8>>>::new(500, None))?);
            for index in 0..500 {
                let bytes = alloc!(mu, NewSlots::<u8>::new(1000, 1))?;
                kept.get(mu).at(index).store(mu, Some(bytes));
                alloc!(mu, NewSlots::<u8>::new(1000, 1))?;
            }
            (0..2).for_each(|_| assert!(mu.collect()));
            assert_eq!(kept.get(mu).iter(mu).flatten().count(), 500);
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
        let values = probe.after(&iteration());
        let of = |label: &str| value(&values, label);
        assert!(of("gc.concurrent") >= 2.0, "{values:?}");
        assert_eq!((of("gc.young"), of("gc.full"), of("gc.degenerated")), (0.0, 0.0, 0.0));
        assert!(of("gc.moved.workers") + of("gc.moved.mutators") > 0.3, "{values:?}");
        assert!(of("concurrent.mark") > 0.0 && of("concurrent.mark") <= of("concurrent.mark.max"));
        assert!(of("concurrent.evacuate") > 0.0 && of("concurrent.update") > 0.0, "{values:?}");
        assert!(of("concurrent.total") > of("concurrent.mark") && of("concurrent.object") > 0.0);
        assert!(of("pause.p50") > 0.0 && of("pause.max") < of("pause.total"), "each stop is a pause");
    }

    #[test]
    fn a_heap_that_is_stopped_has_no_rows_of_cycles() {
        let (_heap, mut probe) = HeapUse::of(heap_of("parallel", 16 << 20).unwrap()).unwrap();
        probe.before();
        let values = probe.after(&iteration());
        let is_cycles = |label: &str| label.starts_with("concurrent.") || label == "gc.concurrent";
        assert!(!values.iter().any(|value| is_cycles(&value.label)), "{values:?}");
    }
}
