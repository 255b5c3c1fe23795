//! All measured rows, by experiment.

use super::section::section;
use crate::format::coordinates::group;
use crate::format::json::WARNING;
use crate::format::phrase::count;
use crate::format::{Entry, Parameter, distinct};
use crate::harness::{Experiment, label};
use allotment_report::page::{Document, Section};

/// The rows of a file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's name; shown where two files have the same row.
    pub name: String,
    /// Its rows.
    pub entries: Vec<Entry>,
}

/// Sorts the rows of all files, and computes the sections.
pub fn document(sources: Vec<Source>, experiments: &[&Experiment]) -> Document {
    let warnings = warnings(&sources);
    let mut entries = joined(sources);
    // Files do not hold the labels of values.
    for Entry { row, .. } in &mut entries {
        let Some(experiment) = experiments.iter().find(|one| one.name == group(row)) else { continue };
        for Parameter { name, value, label: shown } in &mut row.parameters {
            *shown = label(experiment.axes, name, value);
        }
    }
    let groups = || entries.iter().map(|entry| group(&entry.row));
    let known = experiments.iter().map(|one| one.name).filter(|name| groups().any(|group| group == *name));
    let names = distinct(known.chain(groups()));
    let of = |name: &&str| {
        let own: Vec<&Entry> = entries.iter().filter(|entry| group(&entry.row) == *name).collect();
        let experiment = experiments.iter().find(|experiment| experiment.name == *name);
        section(name, experiment.copied(), &own)
    };
    let sections: Vec<Section> = names.iter().map(of).collect();
    let failed = entries.iter().filter(|entry| entry.row.failure.is_some()).count();
    let failed = if failed > 0 { format!("; {} failed", count(failed, "case")) } else { String::new() };
    let about = format!(
        "{} of {}{failed}. Errors are half of the 99.9 % confidence interval; a difference is said only where the \
         whole interval of a ratio shows it.",
        count(entries.len(), "row"),
        count(sections.len(), "experiment")
    );
    Document { sections, about, warnings }
}

/// The warnings of the runs in all files. Where there are several files, they name theirs.
fn warnings(sources: &[Source]) -> Vec<String> {
    distinct(sources.iter().flat_map(|source| {
        let of = if sources.len() > 1 { format!("{}: ", source.name) } else { String::new() };
        let warnings = source.entries.iter().flat_map(|entry| entry.origin.facts(WARNING));
        warnings.map(move |warning| format!("{of}{warning}"))
    }))
}

/// The rows of all files. If a row is in two of them, the file becomes one more parameter of all
/// rows, since nothing else distinguishes the two.
fn joined(sources: Vec<Source>) -> Vec<Entry> {
    let mut seen: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut twice = false;
    for (index, source) in sources.iter().enumerate() {
        for entry in &source.entries {
            twice |= *seen.entry(entry.row.full_name()).or_insert(index) != index;
        }
    }
    let mut all = Vec::new();
    for source in sources {
        for mut entry in source.entries {
            if twice {
                let name = source.name.clone();
                entry.row.parameters.push(Parameter {
                    name: "file".into(),
                    label: name.clone(),
                    value: name,
                });
            }
            all.push(entry);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::format::ScoreRow;
    use crate::format::{Origin, examples};
    use allotment_report::page::markdown;

    fn source(name: &str, benchmarks: &[&str]) -> Source {
        let entry = |benchmark: &&str| Entry {
            row: ScoreRow { benchmark: (*benchmark).into(), ..examples::row() },
            origin: Origin { vm_name: name.into(), ..Origin::default() },
        };
        Source { name: name.into(), entries: benchmarks.iter().map(entry).collect() }
    }

    #[test]
    fn sections_come_in_the_order_of_experiments_and_foreign_ones_last() {
        let sources = vec![source("a", &["org.X.y", "clock.tsc"]), source("b", &["tlab.tlab"])];
        let document = document(sources, experiments::all());
        let names: Vec<&str> = document.sections.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["tlab", "clock", "org.X"]);
        let rows: usize = document.sections.iter().map(|section| section.table.rows.len()).sum();
        assert_eq!(rows, 3);
        assert!(document.sections[0].question.is_some() && document.sections[2].question.is_none());
        let constant = &document.sections[0].table.constant;
        assert_eq!(constant, "size = 64k, threads = 4", "sizes as people read them, and no file");
    }

    #[test]
    fn warnings_of_runs_are_told_once_and_failed_cases_are_counted() {
        let source = |name: &str| {
            let arguments = vec!["cpu=x".into(), "warning=busy".into(), "warning=short".into()];
            let origin = Origin { vm_name: "allotment".into(), arguments, ..Origin::default() };
            let entry = |row| Entry { row, origin: origin.clone() };
            let failed = ScoreRow { benchmark: "clock.tsc".into(), ..examples::failed_row() };
            Source { name: name.into(), entries: vec![entry(examples::row()), entry(failed)] }
        };
        let one = document(vec![source("a")], experiments::all());
        assert_eq!(one.warnings, ["busy", "short"]);
        assert!(one.about.starts_with("2 rows of 2 experiments; 1 case failed. "), "{}", one.about);
        let clock = &one.sections[0];
        assert!(
            clock.incomplete[0].starts_with("failed: clock.tsc (size = 65536, threads = 4, thrpt), fork 1")
        );
        assert!(clock.incomplete.len() == 1 && clock.groups.iter().all(|group| group.charts.is_empty()));
        assert!(clock.verdicts.is_empty(), "{:?}", clock.verdicts);
        let two = document(vec![source("a"), source("b")], experiments::all());
        assert_eq!(two.warnings, ["a: busy", "a: short", "b: busy", "b: short"]);
    }

    #[test]
    fn the_file_tells_apart_what_nothing_else_does() {
        let sources = vec![source("a", &["clock.tsc"]), source("b", &["clock.tsc"])];
        let both = document(sources, experiments::all());
        assert_eq!(both.sections[0].table.header[1].text, "file");
        let same = document(vec![source("a", &["clock.tsc", "clock.tsc"])], experiments::all());
        assert!(same.sections[0].table.header.iter().all(|title| title.text != "file"));
    }

    #[test]
    fn tables_are_aligned_and_cells_stay_cells() {
        let row = ScoreRow { benchmark: "org.X.a|b".into(), missing: 1, ..examples::row() };
        let foreign = Entry { row, origin: Origin::default() };
        let arguments = vec!["warning=a *busy* machine".into(), "incomplete=interrupted".into()];
        let origin = Origin { vm_name: "allotment".into(), arguments, ..Origin::default() };
        let ours = Entry { row: ScoreRow { benchmark: "clock.tsc".into(), ..examples::row() }, origin };
        let source = Source { name: "x".into(), entries: vec![ours, foreign] };
        let text = markdown(&document(vec![source], experiments::all()), "a *title*");
        let answers = "# a \\*title\\*\n\n- warning: a \\*busy\\* machine\n\n## Answers\n\n- clock: *What does reading the clock \
                       cost, and what is the shortest time that can be measured here?*\n  - **No answer without a row of \
                       mode monotonic in average time.**\n\n## clock\n";
        assert!(text.starts_with(answers), "{text}");
        assert!(text.contains("- \\* a run is incomplete: interrupted\n"), "{text}");
        assert!(text.contains("| mode | measured |") && text.contains("|---|---|--:|"), "{text}");
        assert!(text.contains("| a\\|b | thrpt | 4\\* | 250.000 |"), "{text}");
    }
}
