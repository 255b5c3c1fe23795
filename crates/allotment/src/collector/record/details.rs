//! The lines of `PrintGC` and `PrintGCDetails`. They are made when threads run again, and only if
//! the log or a caller wants them.

mod cycle;

use super::{CollectionRecord, Milliseconds, Phase};
use crate::options::Options;
use std::fmt;

/// The level of a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LogLevel {
    /// Printed by `PrintGC`.
    #[error("info")]
    Info,
    /// Printed by `PrintGC`, once.
    #[error("warning")]
    Warning,
    /// Printed by `PrintGCDetails` only.
    #[error("debug")]
    Debug,
}

impl LogLevel {
    /// The most detailed lines that these options print; `None` if they print none.
    pub(crate) fn from_options(options: &Options) -> Option<LogLevel> {
        if options.print_gc_details {
            return Some(LogLevel::Debug);
        }
        options.print_gc.then_some(LogLevel::Info)
    }
}

/// The line about memory that went back to the system.
pub(in crate::collector) fn uncommitted_line(uncommitted: usize, committed: usize) -> String {
    format!(
        "Uncommitted {}k that were free for UncommitDelay, {}k are committed",
        uncommitted.div_ceil(1024),
        committed.div_ceil(1024)
    )
}

impl CollectionRecord {
    fn phase_line(&self, phase: &Phase) -> String {
        let (name, suffix, time) = (phase.name, self.suffix(), Milliseconds(phase.time));
        format!("GC({}) {name}{suffix} {time}", self.number)
    }

    /// One line for each phase, as `-Xlog:gc+phases` has them: `GC(3) Mark 4.100ms`.
    pub(super) fn phase_lines(&self) -> impl Iterator<Item = String> + '_ {
        self.phases.iter().map(|phase| self.phase_line(phase))
    }

    /// All lines of the log up to `level`, in order. The line of the record comes after its
    /// details.
    pub(in crate::collector) fn log_lines(&self, level: LogLevel) -> Vec<(LogLevel, String)> {
        let is_cycle = self.cycle().is_some();
        let mut lines: Vec<(LogLevel, String)> =
            self.cycle_lines().map(|line| (LogLevel::Info, line)).collect();
        if level == LogLevel::Debug {
            let phases = self.phase_lines().filter(|_| !is_cycle);
            lines.extend(phases.chain(self.lines_after_phases()).map(|line| (LogLevel::Debug, line)));
        }
        lines.push((LogLevel::Info, self.to_string()));
        if let Some(cycle) = self.cycle().filter(|cycle| !cycle.advice.is_empty()) {
            lines.push((LogLevel::Warning, format!("GC({}) {}", self.number, cycle.advice)));
        }
        lines
    }

    /// The details as lines: the content of `-Xlog:gc+tlab`, `gc+age`, `gc+cards`, `gc+plab`,
    /// `gc+task`, `gc` and `gc+ergo`.
    pub fn detail_lines(&self) -> Vec<String> {
        self.phase_lines().chain(self.lines_after_phases()).collect()
    }

    /// The details without the lines of phases.
    pub(super) fn lines_after_phases(&self) -> Vec<String> {
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
            let beside = if young.caller_rested { " beside the caller" } else { "" };
            line(format_args!("{}", self.workers_line(beside, "expected", young.imbalance(), young.steals)));
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
            line(format_args!("{}", self.workers_line("", "used", full.imbalance(), full.steals)));
        }
        if self.uncommitted > 0 {
            line(format_args!("{}", uncommitted_line(self.uncommitted, self.committed)));
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
            if let Some(raised) = sizing.raised {
                line(format_args!("room for the allocation: {raised} regions may be in use"));
            }
        }
        lines
    }

    /// The workers, and the bytes that decided their number: they were `expected` or `used`.
    fn workers_line(&self, beside: &str, bytes: &str, imbalance: f64, steals: u64) -> String {
        let CollectionRecord { workers, wanted, .. } = self;
        let fewer = *workers < wanted.workers;
        let wish = if fewer { format!(", {} wanted", wanted.workers) } else { String::new() };
        format!(
            "Workers: {workers} of {}{beside}{wish}, {bytes} {}k, imbalance {imbalance:.2}, steals {steals}",
            wanted.most,
            wanted.bytes.div_ceil(1024)
        )
    }
}
