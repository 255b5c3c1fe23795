//! The lines of `PrintGC` and `PrintGCDetails`. They are made when threads run again, and only for
//! a reader.

mod cycle;

use super::{CollectionRecord, Milliseconds, Phase};
use std::fmt;

/// How much a reader wants: the level of a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::collector) enum Level {
    /// Printed by `PrintGC`.
    #[error("info")]
    Info,
    /// Printed by `PrintGCDetails` only.
    #[error("debug")]
    Debug,
}

impl CollectionRecord {
    fn phase_line(&self, before: &str, phase: &Phase) -> String {
        let (name, suffix, time) = (phase.name, self.suffix(), Milliseconds(phase.time));
        format!("GC({}) {before}{name}{suffix} {time}", self.number)
    }

    /// One line for each phase, as `-Xlog:gc+phases` has them: `GC(3) Mark 4.100ms`.
    pub(in crate::collector) fn phase_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.phases.iter().map(|phase| self.phase_line("", phase))
    }

    /// All lines of the log up to `level`, in order. The line of the record is the last.
    pub(in crate::collector) fn log_lines(&self, level: Level) -> Vec<(Level, String)> {
        let is_cycle = self.cycle().is_some();
        let mut lines: Vec<(Level, String)> = self.cycle_lines().map(|line| (Level::Info, line)).collect();
        if level == Level::Debug {
            let phases = self.phase_lines().filter(|_| !is_cycle);
            lines.extend(phases.chain(self.lines_behind_phases()).map(|line| (Level::Debug, line)));
        }
        lines.push((Level::Info, self.to_string()));
        lines
    }

    /// The details as lines: the content of `-Xlog:gc+tlab`, `gc+age`, `gc+cards`, `gc+plab`,
    /// `gc+task`, `gc` and `gc+ergo`.
    pub fn detail_lines(&self) -> Vec<String> {
        self.phase_lines().chain(self.lines_behind_phases()).collect()
    }

    pub(super) fn lines_behind_phases(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let number = self.number;
        let mut line = |text: fmt::Arguments<'_>| lines.push(format!("GC({number}) {text}"));
        match self.cycle() {
            Some(cycle) => self.cycle_details(cycle, &mut line),
            // A cycle does not count buffers.
            None => line(format_args!("{}", self.buffers)),
        }
        if let Some(young) = self.young() {
            for (age, bytes) in young.survived_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                line(format_args!("Age {age}: {bytes} bytes"));
            }
            line(format_args!(
                "Promoted {} bytes, kept in place {}, threshold {}",
                young.promoted_bytes, young.kept_bytes, young.tenuring_threshold
            ));
            line(format_args!("Cards: {} dirty of {}", young.cards_dirty, young.cards_scanned));
            line(format_args!("PLAB waste {} bytes", young.plab_waste_bytes));
            line(format_args!("{}", Workers(self, "expected", young.imbalance(), young.steals)));
        }
        if let Some(full) = self.full() {
            line(format_args!(
                "Regions: {} left alone, {} freed; humongous objects: {} freed",
                full.regions_left_alone, full.regions_freed, full.humongous_freed
            ));
            if full.runs_moved > 0 {
                line(format_args!(
                    "Humongous runs: {} moved, {} regions, {}k",
                    full.runs_moved,
                    full.run_regions_moved,
                    full.run_bytes_moved.div_ceil(1024)
                ));
            }
            line(format_args!("Mark stack overflows: {}", full.mark_overflows));
            line(format_args!("{}", Workers(self, "used", full.imbalance(), full.steals)));
        }
        if self.uncommitted > 0 {
            line(format_args!(
                "Uncommitted {}k that were free for UncommitDelay, {}k are committed",
                self.uncommitted.div_ceil(1024),
                self.committed.div_ceil(1024)
            ));
        }
        if let Some(overhead) = &self.overhead {
            line(format_args!("GC overhead: {overhead}"));
        }
        if let Some(sizing) = &self.sizing {
            sizing.enlarged.iter().for_each(|enlarged| line(format_args!("{enlarged}")));
            sizing.last_part.iter().for_each(|last_part| line(format_args!("{last_part}")));
            line(format_args!("{}", sizing.collection));
            line(format_args!("{}", sizing.decision));
            line(format_args!("{}", sizing.buffers));
            if let Some((from, to)) = sizing.raised {
                line(format_args!("room for the allocation: {from}->{to} regions may be in use"));
            }
        }
        lines
    }
}

/// Prints the workers: the record, the name of the bytes that decided the number, the imbalance,
/// and the pieces stolen.
struct Workers<'r>(&'r CollectionRecord, &'static str, f64, u64);

impl fmt::Display for Workers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workers(record, bytes, imbalance, steals) = self;
        let CollectionRecord { workers, wanted, .. } = record;
        write!(f, "Workers: {workers} of {}", wanted.most)?;
        if record.young().is_some_and(|young| young.caller_rested) {
            f.write_str(" beside the caller")?;
        }
        if *workers < wanted.workers {
            write!(f, ", {} wanted", wanted.workers)?;
        }
        write!(f, ", {bytes} {}k, imbalance {imbalance:.2}, steals {steals}", wanted.bytes.div_ceil(1024))
    }
}
