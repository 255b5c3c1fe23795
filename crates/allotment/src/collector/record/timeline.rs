//! A record as it is drawn in a [timeline](crate::timeline).
//!
//! The drawing has only numbers of the record, so a pause is as long as in the record. A pause of a
//! stopped world begins with the time to its safepoint, which is part of its length.

use super::{CollectionRecord, CycleDetails, Details, Phase};
use crate::timeline::{Arguments, Category, Row, Slice, Timeline};
use std::time::{Duration, Instant};

impl CollectionRecord {
    /// The slices of the record in a timeline.
    pub(in crate::collector) fn drawn(&self, timeline: &Timeline) -> Vec<Slice> {
        let canvas = Canvas(timeline);
        match self.cycle() {
            Some(cycle) => self.drawn_cycle(cycle, canvas),
            None => {
                let mut times = Arguments::default();
                for phase in &self.phases {
                    times = times.time(phase.name, phase.time);
                }
                let start = self.start.saturating_sub(self.time_to_safepoint);
                let arguments = self.arguments().group("phases_us", times);
                let name = self.kind().to_string();
                let (row, category, time) = (Row::Stops, Category::Pause, self.pause);
                let mut slices = vec![Slice { row, category, name: name.into(), start, time, arguments }];
                slices.extend(canvas.safepoint(Row::Stops, start, self.time_to_safepoint));
                slices
                    .extend(self.phases.iter().map(|phase| canvas.phase(Row::Stops, Category::Phase, phase)));
                slices
            }
        }
    }

    fn drawn_cycle(&self, cycle: &CycleDetails, canvas: Canvas<'_>) -> Vec<Slice> {
        let beside = self.phases_before_stop();
        let mut slices = Vec::new();
        if let Some(last) = beside.last() {
            let time = canvas.0.at(last.end()).saturating_sub(self.start);
            let name = format!("Cycle{}", cycle.suffix()).into();
            let arguments = self.arguments().text("trigger", &cycle.trigger);
            let (row, category, start) = (Row::Cycles, Category::Cycle, self.start);
            slices.push(Slice { row, category, name, start, time, arguments });
        }
        let pauses = cycle.pauses.iter().zip(&cycle.times_to_safepoint);
        let number = || Arguments::default().number("number", self.number);
        let pause_at = |start: Instant| pauses.clone().find(|(pause, _)| pause.start == start);
        for phase in beside {
            match pause_at(phase.start) {
                Some((pause, &arrival)) => slices.extend(canvas.pause(Row::Cycles, pause, arrival, number())),
                None => slices.push(canvas.phase(Row::Cycles, Category::Concurrent, phase)),
            }
        }
        if cycle.before_stop.is_some()
            && let (Some(pause), Some(&arrival)) = (cycle.pauses.last(), cycle.times_to_safepoint.last())
        {
            slices.extend(canvas.pause(Row::Stops, pause, arrival, self.arguments()));
            let parts = self.phases_in_stop().iter();
            slices.extend(parts.map(|phase| canvas.phase(Row::Stops, Category::Phase, phase)));
        }
        slices
    }

    fn arguments(&self) -> Arguments {
        let number = |value: usize| value as u64;
        let arguments = Arguments::default()
            .number("number", self.number)
            .text("cause", &self.cause.to_string())
            .number("used_before", number(self.used_before))
            .number("used_after", number(self.used_after))
            .number("committed", number(self.committed))
            .number("live_bytes", number(self.live_bytes))
            .number("moved_bytes", number(self.moved_bytes))
            .number("workers", number(self.workers));
        match &self.details {
            Details::Young(young) => arguments
                .number("promoted_bytes", number(young.promoted_bytes))
                .number("cards_dirty", number(young.cards_dirty)),
            Details::Full(full) => arguments.number("regions_freed", number(full.regions_freed)),
            Details::Cycle(cycle) => arguments
                .number("set_regions", number(cycle.set_regions))
                .number("assists", cycle.assists)
                .number("pacing_waits", cycle.pacing_waits)
                .text("degenerated", cycle.degenerated.unwrap_or("")),
        }
    }
}

/// The slices of a cycle that began at `start` and was given up. Such a cycle has no record.
pub(in crate::collector) fn drawn_without_record(
    timeline: &Timeline,
    start: Duration,
    phases: &[Phase],
    pauses: &[Phase],
) -> Vec<Slice> {
    let canvas = Canvas(timeline);
    let Some(last) = phases.last() else { return Vec::new() };
    let time = timeline.at(last.end()).saturating_sub(start);
    let (row, category, name) = (Row::Cycles, Category::Cycle, "Cycle that was given up".into());
    let whole = Slice { row, category, name, start, time, arguments: Arguments::default() };
    let category = |phase: &Phase| {
        let is_pause = pauses.iter().any(|pause| pause.start == phase.start);
        if is_pause { Category::GivenUp } else { Category::Concurrent }
    };
    let parts = phases.iter().map(|phase| canvas.phase(Row::Cycles, category(phase), phase));
    std::iter::once(whole).chain(parts).collect()
}

/// The slice of a part that ran between two cycles.
pub(in crate::collector) fn drawn_between_cycles(timeline: &Timeline, phase: &Phase) -> Slice {
    Canvas(timeline).phase(Row::Cycles, Category::Concurrent, phase)
}

/// Draws parts of collections, which have their times by the system's clock.
#[derive(Clone, Copy)]
struct Canvas<'t>(&'t Timeline);

impl Canvas<'_> {
    fn phase(self, row: Row, category: Category, phase: &Phase) -> Slice {
        let (start, arguments) = (self.0.at(phase.start), Arguments::default());
        Slice { row, category, name: phase.name.into(), start, time: phase.time, arguments }
    }

    fn safepoint(self, row: Row, start: Duration, time: Duration) -> Option<Slice> {
        let (category, name) = (Category::Safepoint, "Time to safepoint".into());
        let arguments = Arguments::default();
        (!time.is_zero()).then_some(Slice { row, category, name, start, time, arguments })
    }

    /// A pause of a cycle, and the time to its safepoint.
    fn pause(
        self,
        row: Row,
        pause: &Phase,
        time_to_safepoint: Duration,
        arguments: Arguments,
    ) -> impl Iterator<Item = Slice> {
        let slice = Slice { arguments, ..self.phase(row, Category::Pause, pause) };
        let arrival = self.safepoint(row, slice.start, time_to_safepoint);
        std::iter::once(slice).chain(arrival)
    }
}
