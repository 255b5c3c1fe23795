//! The names of series, and the look of each.
//!
//! The baseline is in ink, and is drawn in each of the charts among which many series are divided.
//! Other series take the colours in the order of their first rows. Rows of a JVM have the colour of
//! the lab's row and a dash for each JVM.

use crate::format::coordinates::{MODE, mode, number as parsed, value};
use crate::format::phrase;
use crate::format::{ScoreRow, distinct};
use crate::harness::{Baseline, JVM};
use allotment_report::chart::{COLOURS, Look};

/// The names of the series of a group of charts.
pub(super) struct Names {
    series: Vec<String>,
    /// Names without the JVM, in order of appearance; the baseline first if there is one.
    pub(super) all: Vec<String>,
    has_baseline: bool,
    jvms: Vec<String>,
}

impl Names {
    pub(super) fn of(rows: &[&ScoreRow], series: &[String], baseline: Option<&Baseline>) -> Names {
        let jvms = distinct(rows.iter().filter_map(|row| Some(value(row, JVM)?.1)));
        let mut names = Names { series: series.to_vec(), all: Vec::new(), has_baseline: false, jvms };
        let is_baseline = |row: &ScoreRow| {
            let coordinate = baseline.map_or("", |baseline| baseline.coordinate.as_str());
            let known = series.iter().any(|name| name == coordinate);
            known && value(row, coordinate).is_some_and(|(own, _)| baseline.is_some_and(|b| b.value == own))
        };
        let first = rows.iter().find(|row| is_baseline(row)).map(|row| names.main(row));
        names.has_baseline = first.is_some();
        names.all = distinct(first.into_iter().chain(rows.iter().map(|row| names.main(row))));
        names
    }

    /// The name without the JVM.
    pub(super) fn main(&self, row: &ScoreRow) -> String {
        let compared = || self.series.iter().filter(|name| *name != JVM);
        let single = compared().count() == 1;
        let part = |name: &String| {
            let (value, label) = value(row, name)?;
            // A word needs no name of its coordinate where nothing else is compared.
            let plain = name == MODE || single && parsed(&value).is_none();
            Some(if plain { label } else { format!("{name} {label}") })
        };
        let parts: Vec<String> = compared().filter_map(part).collect();
        if parts.is_empty() { mode(row).to_string() } else { parts.join(", ") }
    }

    pub(super) fn is_baseline(&self, row: &ScoreRow) -> bool {
        self.has_baseline && self.all.first() == Some(&self.main(row))
    }

    pub(super) fn whole(&self, row: &ScoreRow) -> String {
        match value(row, JVM) {
            Some((_, jvm)) => format!("{}, {}", self.main(row), phrase::jvm(&jvm)),
            None => self.main(row),
        }
    }

    /// The series of one chart, few enough for the colours; the baseline is in all charts.
    pub(super) fn parts(&self) -> Vec<Vec<String>> {
        let (first, others) = self.all.split_at(usize::from(self.has_baseline));
        if others.is_empty() {
            return vec![first.to_vec()];
        }
        // The parts have equal length, instead of a short last one.
        let count = others.len().div_ceil(COLOURS);
        let each = others.len().div_ceil(count);
        others.chunks(each).map(|part| [first, part].concat()).collect()
    }

    pub(super) fn look(&self, row: &ScoreRow) -> Look {
        let main = self.main(row);
        let part = self.parts().into_iter().find(|part| part.contains(&main)).unwrap_or_default();
        let index = part.iter().position(|name| *name == main).unwrap_or(0);
        let jvm = value(row, JVM).and_then(|(_, jvm)| self.jvms.iter().position(|known| *known == jvm));
        let colour = if self.has_baseline { index } else { index + 1 };
        Look { colour, dash: jvm.map_or(0, |index| index + 1) }
    }
}
