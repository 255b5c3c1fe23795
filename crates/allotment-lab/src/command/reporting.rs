//! `allotment report` and `allotment compare`: the content of result files as a page and as a
//! comparison; also `allotment run --report`.
//!
//! A run's own report is written in the files' format and read back. The report therefore equals
//! what a reader of the file gets, and only one way to a page exists.

use super::{Failure, print};
use crate::format::json::{INCOMPLETE, to_json};
use crate::format::phrase::{Effect, NO_RATIO, count, ratio_within};
use crate::format::{
    Columns, Entry, Input, Layout, OutputFile, Report, check_directory, check_files, check_printed_files,
    named_files, number, read_json, read_text, width,
};
use crate::harness::Experiment;
use crate::report::{Changed, Changes, Source, changes, changes_json, document};
use allotment_report::chart::standalone;
use allotment_report::page::{Document, Section, html, markdown};
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// The arguments of `allotment report`.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArguments {
    /// JSON files of `allotment run --json` or of JMH (-rf json); `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Write the page to this file: HTML with charts; `-` is standard output.
    #[arg(long, short = 'o', value_name = "FILE", required_unless_present_any = ["markdown", "svg"])]
    pub output: Option<PathBuf>,

    /// Write each chart as an SVG file into this directory.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,

    /// Write the verdicts and tables to this file as Markdown; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,

    /// The page's title.
    #[arg(long, value_name = "TEXT", default_value = TITLE)]
    pub title: String,
}

const TITLE: &str = "allotment report";

/// The arguments of `allotment compare`.
#[derive(Clone, Debug, clap::Args)]
pub struct CompareArguments {
    /// The JSON file to compare with.
    #[arg(value_name = "OLD")]
    pub old: PathBuf,

    /// The JSON file to compare.
    #[arg(value_name = "NEW")]
    pub new: PathBuf,

    /// Exit with 1 if a row is slower beyond the error, and by more than this many percent.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_on_slower: Option<f64>,

    /// Write the comparison to this file as JSON: an object for each row.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').parse().ok();
    number
        .filter(|percent: &f64| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| format!("`{text}` is not a percentage; write a number from 0 on, such as 5"))
}

/// Reads result files, and writes the report.
///
/// # Errors
/// [`Failure::Usage`] if an output is an input or another output, or the directory is called `-`;
/// [`Failure::Failed`] if a file cannot be read or written, is not a result file, or if there are no
/// results in any.
pub fn report(arguments: &ReportArguments, experiments: &[&Experiment]) -> Result<(), Failure> {
    let outputs = [("-o", &arguments.output), ("--markdown", &arguments.markdown)];
    let mut outputs = named_files(&outputs);
    if let Some(directory) = &arguments.svg {
        check_directory("--svg", directory)?;
    }
    check_printed_files(&arguments.files, &outputs)?;
    let page = arguments.output.as_deref().map(open).transpose()?;
    let text = arguments.markdown.as_deref().map(open).transpose()?;
    let sources = arguments.files.iter().map(|path| source(path)).collect::<Result<Vec<_>, _>>()?;
    let document = document(sources, experiments);
    if document.sections.is_empty() {
        let names: Vec<String> = arguments.files.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::Failed(format!("there are no results in {}", names.join(", "))));
    }
    let charts = arguments.svg.as_deref().map_or(Vec::new(), |directory| charts(directory, &document));
    outputs.extend(charts.iter().map(|(path, _)| ("--svg", path.as_path())));
    check_printed_files(&arguments.files, &outputs)?;
    let written = page.map(|file| write_page(file, &document, &arguments.title)).transpose();
    let text = text.map(|file| file.write(markdown(&document, &arguments.title).as_bytes())).transpose();
    let charts = arguments.svg.as_ref().map(|directory| write_charts(directory, charts)).transpose();
    // Each output is written before the error of another is returned.
    written?;
    text?;
    charts?;
    Ok(())
}

fn open(path: &Path) -> Result<OutputFile, Failure> {
    Ok(OutputFile::open(path)?)
}

/// Writes the report of a run into a file that was opened before it.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_report(
    file: OutputFile,
    report: &Report,
    experiments: &[&Experiment],
) -> Result<(), Failure> {
    let text = to_json(report).context("cannot write the results as JSON")?;
    let entries = read_json(&String::from_utf8_lossy(&text)).context("cannot read the results again")?;
    write_page(file, &document(vec![Source { name: TITLE.into(), entries }], experiments), TITLE)
}

fn write_page(file: OutputFile, document: &Document, title: &str) -> Result<(), Failure> {
    let page = html(document, title)?;
    Ok(file.write(page.as_bytes())?)
}

/// The charts and their files: `tlab-1.svg`, `tlab-2.svg` and so on, for each experiment.
fn charts(directory: &Path, document: &Document) -> Vec<(PathBuf, String)> {
    let of = |section: &Section| {
        let charts = section.groups.iter().flat_map(|group| &group.charts).enumerate();
        let named = |(index, chart)| {
            let name = format!("{}-{}.svg", file_name(&section.name), index + 1);
            (directory.join(name), standalone(chart))
        };
        charts.map(named).collect::<Vec<_>>()
    };
    document.sections.iter().flat_map(of).collect()
}

fn write_charts(directory: &Path, charts: Vec<(PathBuf, String)>) -> Result<(), Failure> {
    fs::create_dir_all(directory)
        .map_err(|error| Failure::Failed(format!("cannot write `{}`: {error}", directory.display())))?;
    for (path, chart) in charts {
        open(&path)?.write(chart.as_bytes())?;
    }
    Ok(())
}

fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    name.chars().map(plain).collect::<String>().trim_start_matches('.').to_string()
}

/// Reads a file.
fn source(path: &Path) -> Result<Source, Failure> {
    let name = Input::name(path);
    let text = read_text(path).map_err(|error| Failure::Failed(error.to_string()))?;
    let entries = read_json(&text).map_err(|error| Failure::Failed(format!("`{name}`: {error}")))?;
    Ok(Source { name, entries })
}

/// Compares two result files row by row.
///
/// # Errors
/// [`Failure::Usage`] if the output is an input. [`Failure::Failed`] if a file cannot be read or
/// written, or if the files have no row in common. [`Failure::Failed`] also if a row is slower than
/// `--fail-on-slower` allows, after the table has been printed.
pub fn compare_files(arguments: &CompareArguments) -> Result<(), Failure> {
    let output = arguments.json.as_deref().map(|path| ("--json", path));
    check_files(&[arguments.old.clone(), arguments.new.clone()], output.as_slice())?;
    let json = arguments.json.as_deref().map(open).transpose()?;
    let (old, new) = (source(&arguments.old)?, source(&arguments.new)?);
    if let Some(empty) = [&old, &new].into_iter().find(|source| source.entries.is_empty()) {
        return Err(Failure::Failed(format!("there are no results in {}", empty.name)));
    }
    let measured = |source: &Source| -> Vec<Entry> {
        source.entries.iter().filter(|entry| entry.row.is_measured()).cloned().collect()
    };
    let found = changes(&measured(&old), &measured(&new));
    if found.both.is_empty() {
        return Err(Failure::Failed(format!(
            "`{}` and `{}` have no row in common: rows are the same if benchmark, mode, unit, threads and \
             parameters are",
            arguments.old.display(),
            arguments.new.display()
        )));
    }
    let written = json.map(|file| write_changes(file, &found)).transpose();
    // Each output is written before the error of the other is returned.
    print(&(table(&found, width::of_output().unwrap_or(USUAL)) + &incomplete(&old) + &incomplete(&new)))?;
    written?;
    let Some(most) = arguments.fail_on_slower else { return Ok(()) };
    let slower = || found.both.iter().filter(|one| one.speed == Effect::Below && one.slower_percent() > most);
    let worst = slower().max_by(|a, b| a.slower_percent().total_cmp(&b.slower_percent()));
    worst.map_or(Ok(()), |worst| {
        Err(Failure::Failed(format!(
            "{} of {} {} slower by more than {most} %, {} most, by {:.1} %",
            slower().count(),
            count(found.both.len(), "row"),
            if slower().count() == 1 { "is" } else { "are" },
            worst.new.full_name(),
            worst.slower_percent()
        )))
    })
}

/// The missing rows of the runs in a file, and the cases that failed, in a line each.
fn incomplete(source: &Source) -> String {
    let mut told: Vec<&str> =
        source.entries.iter().filter_map(|entry| entry.origin.fact(INCOMPLETE)).collect();
    told.dedup();
    let incomplete = told.iter().map(|what| format!("`{}` is incomplete: {what}\n", source.name));
    let failures = source.entries.iter().filter_map(|entry| entry.row.failure_text());
    incomplete.chain(failures.map(|text| format!("`{}`: failed: {text}\n", source.name))).collect()
}

fn write_changes(file: OutputFile, found: &Changes) -> Result<(), Failure> {
    let text = changes_json(found).context("cannot write the comparison as JSON")?;
    Ok(file.write(&text)?)
}

/// Columns of a comparison where the width is unknown: enough for its table with two parameters.
const USUAL: usize = 132;

/// The rows of both files and the other rows, at most `wide` columns. Coordinates that are equal in
/// all rows are printed once. The change stands near the name, so a text search finds both in one
/// line.
fn table(found: &Changes, wide: usize) -> String {
    let columns = Columns::of(&found.both.iter().map(|one| &one.new).collect::<Vec<_>>());
    let mut header = vec!["Benchmark".to_string()];
    header.extend(columns.varying.iter().map(|one| format!("({})", one.name)));
    header.extend(["Mode", "Change", "New/old", "Old", "Error", "New", "Error", "Units"].map(String::from));
    let cells = |one: &Changed| {
        let (old, new) = (&one.old.primary, &one.new.primary);
        let (before, after) = (old.score(), new.score());
        let mut cells = vec![one.new.benchmark.clone()];
        cells.extend(columns.cells(&one.new));
        cells.extend([
            one.new.jmh_mode.clone(),
            match one.speed {
                Effect::Above => "faster",
                Effect::Below => "SLOWER",
                Effect::None => "",
                Effect::Unknown | Effect::NoRatio => "?",
            }
            .into(),
            ratio_within(&one.ratio, "x"),
            number::score(before),
            number::error(before, old.error()),
            number::score(after),
            number::error(after, new.error()),
            new.unit.clone(),
        ]);
        cells
    };
    let rows = found.both.iter().map(cells).collect();
    let words = vec![0, columns.varying.len() + 2, columns.varying.len() + 8];
    let lines = |text: &str| width::lines(text, Some(wide)) + "\n";
    let mut text = String::new();
    if !columns.constant.is_empty() {
        text += &(lines(&columns.constant) + "\n");
    }
    text += &Layout { header, rows, words }.text(Some(wide));
    text.push('\n');
    text.extend(found.only_old.iter().map(|row| lines(&format!("only old: {}", row.full_name()))));
    text.extend(found.only_new.iter().map(|row| lines(&format!("only new: {}", row.full_name()))));
    let of = |speed| found.both.iter().filter(|one| one.speed == speed).count();
    text += &lines(&format!(
        "{}: {} faster, {} slower, {} without a difference beyond the error, {} with too few values",
        count(found.both.len(), "row"),
        of(Effect::Above),
        of(Effect::Below),
        of(Effect::None),
        of(Effect::Unknown)
    ));
    if of(Effect::NoRatio) > 0 {
        text += &lines(&format!("{} with {NO_RATIO}", count(of(Effect::NoRatio), "row")));
    }
    text
}
