//! `allotment tlab-log`: the content of a JVM's log of its TLABs, and the effect of other sizings.

mod page;
mod words;

use super::failed;
use crate::tlab_log::{
    Account, Advice, BUILT_IN, Candidate, Judge, Log, Replay, Replayed, Sizes, Sources, bytes,
};
use allotment_report::command::{Failure, print, print_bold};
use allotment_report::format::{Input, Layout, OutputFile, check_files, named_files, width};
use allotment_report::page::{Document, html};
use page::{NOTHING_TO_REPLAY, lacking_charts, tlab_log_document};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;
use words::{counted, heading, nothing, sentences, wrapped};

/// The arguments of `allotment tlab-log`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TlabLogArguments {
    /// A log that -Xlog:gc+tlab=trace or =debug wrote. Its rotated files FILE.0, FILE.1 and so on are
    /// read with it. `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Show at most this many threads, those that allocated most first; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Show only the thread with this number: its `id` in the log, or its address as 0x... [default:
    /// all threads].
    #[arg(long, value_name = "ID", value_parser = thread)]
    pub thread: Option<u64>,

    /// Replay the allocations of the log under other settings. `;` separates the candidates, `,` the
    /// settings of one. Without a list the usual candidates are replayed.
    #[arg(long, value_name = "NAME=VALUE,..;..", require_equals = true, num_args = 0..=1, default_missing_value = BUILT_IN)]
    pub replay: Option<String>,

    /// The settings that the JVM ran with, which candidates of --replay change [default: those of
    /// HotSpot].
    #[arg(long, value_name = "NAME=VALUE,..", require_equals = true)]
    pub settings: Option<String>,

    /// Write the figures of all threads, and the replay, to this file as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write a page with charts to this file: sizes over time, refills, waste, and the replay.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

fn thread(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number
        .map_err(|_| format!("`{text}` is not a thread; write its id, such as 4711, or its address, 0x7f..."))
}

/// Reads the logs and prints their content.
///
/// # Errors
/// [`Failure::Usage`] for a replay of a setting that does not exist, or an output that is an input
/// or another output. [`Failure::Failed`] if a file cannot be read or written, if no line of the
/// files is about TLABs, or if the requested thread is not in them.
pub(super) fn tlab_log(arguments: &TlabLogArguments) -> Result<(), Failure> {
    let own = arguments.settings.as_deref().map_or(Ok(Candidate::default()), Candidate::one);
    let own = own.map_err(|error| Failure::Usage(format!("--settings: {error}")))?;
    let candidates = arguments.replay.as_deref().map(|list| own.with(list)).transpose();
    let candidates = candidates.map_err(|error| Failure::Usage(format!("--replay: {error}")))?;
    let sources = Sources::find(&arguments.files).map_err(failed)?;
    let outputs = [("--json", &arguments.json), ("--report", &arguments.report)];
    // The sources include the rotated siblings, which the user did not name.
    check_files(&sources.paths, &named_files(&outputs))?;
    let file = arguments.json.as_deref().map(OutputFile::open).transpose()?;
    let page = arguments.report.as_deref().map(OutputFile::open).transpose()?;
    let log = sources.read().map_err(failed)?;
    let names: Vec<String> = sources.paths.iter().map(|path| Input::name(path)).collect();
    let output = output(&log, &names, arguments, &own, candidates, page.is_some())?;
    if let Some(file) = file {
        file.write(format!("{:#}\n", output.json).as_bytes())?;
    }
    if let Some(page) = page {
        page.write(html(&output.page, "TLAB log")?.as_bytes())?;
    }
    print(&output.text)?;
    if output.answer.is_empty() {
        return Ok(());
    }
    print("\n")?;
    print_bold(&output.answer)
}

/// The full output for a log of one file with these bytes: the text, the JSON and the page, one
/// after the other, with the usual replays. It does the work of `tlab_log` without files, so
/// that a test can call it with arbitrary bytes.
///
/// # Errors
/// Why the bytes are not a log.
pub fn tell_tlab_log(bytes: &[u8]) -> Result<String, String> {
    let log = crate::tlab_log::read(bytes).map_err(|error| error.to_string())?;
    let said = |failure: Failure| match failure {
        Failure::Usage(text) | Failure::Failed(text) => text,
        other => format!("{other:?}"),
    };
    let arguments = TlabLogArguments { top: 20, ..TlabLogArguments::default() };
    let (own, list) = (Candidate::default(), Candidate::list(BUILT_IN)?);
    let output = output(&log, &["the log".into()], &arguments, &own, Some(list), true).map_err(said)?;
    let page = html(&output.page, "TLAB log").map_err(|error| format!("{error:#}"))?;
    Ok(format!("{}{}{:#}\n{page}", output.text, output.answer, output.json))
}

/// The output for a log, in each of the forms.
struct Output {
    text: String,
    /// The last lines of the text; empty if the log allows no answer.
    answer: String,
    json: Value,
    page: Document,
}

fn output(
    log: &Log,
    names: &[String],
    arguments: &TlabLogArguments,
    own: &Candidate,
    candidates: Option<Vec<Candidate>>,
    with_page: bool,
) -> Result<Output, Failure> {
    if log.accounts().is_empty() && log.totals.lines == 0 {
        return Err(Failure::Failed(nothing(log, names)));
    }
    let mut shown: Vec<&Account> = log.accounts().iter().collect();
    if let Some(wanted) = arguments.thread {
        shown.retain(|account| account.thread.id == wanted || account.thread.pointer == wanted);
        if shown.is_empty() {
            let count = log.accounts().len();
            return Err(Failure::Failed(format!(
                "thread {wanted} is not among the {count} threads of the log; `id` in its lines is what to give"
            )));
        }
    }
    shown.sort_by_key(|account| std::cmp::Reverse(account.allocated));
    // An incomplete history is not fed to a model.
    let judge = Judge::of(log);
    let is_whole = judge.silence().is_none();
    let own = own.clone().aiming_at(log.target);
    let replay = Replay::new(&log.cycles, &own, most_desired(log));
    let replayed: Option<Vec<(Candidate, Replayed)>> = candidates.map(|list| {
        let run = |candidate: Candidate| (replay.run(&candidate), candidate);
        list.into_iter().filter(|_| is_whole).map(run).map(|(done, candidate)| (candidate, done)).collect()
    });
    let advice = is_whole.then(|| Advice::of(log, &replay, &own));
    let answer = advice.as_ref().map(Advice::sentence);
    let json = as_json(log, &judge, names, advice.as_ref(), replayed.as_deref());
    let mut text = heading(log, names);
    let about = text.trim_end().replace('\n', "; ");
    let mut said = sentences(log, &judge, &shown);
    let lacking = lacking_charts(log, replayed.as_deref());
    let on_page = answer.iter().fold(String::new(), |text, answer| text + answer + "\n") + &said + &lacking;
    let page = tlab_log_document(log, &about, on_page.lines(), replayed.as_deref().unwrap_or_default());
    if with_page {
        // The replay's part of the text already says this.
        let charts = lacking.lines().filter(|line| *line != NOTHING_TO_REPLAY || replayed.is_none());
        said.extend(charts.flat_map(|line| [line, "\n"]));
    }
    let columns = width::of_output();
    (text, said) = (wrapped(&text, columns), wrapped(&said, columns));
    text += &threads(log, &judge, &shown, arguments.top, &said, columns);
    if let Some(replayed) = &replayed {
        text += &replays(log, &judge, replayed, columns);
    }
    let answer = answer.map_or(String::new(), |answer| wrapped(&answer, columns));
    Ok(Output { text, answer, json, page })
}

fn most_desired(log: &Log) -> u64 {
    log.accounts().iter().filter_map(|account| account.sizes).map(|sizes| sizes.max).max().unwrap_or(0)
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}%", part as f64 * 100.0 / whole as f64) }
}

/// The table, followed by the sentences in `said`.
fn threads(
    log: &Log,
    judge: &Judge,
    shown: &[&Account],
    top: usize,
    said: &str,
    columns: Option<usize>,
) -> String {
    if log.accounts().is_empty() {
        return said.into();
    }
    let count = if top == 0 { shown.len() } else { top.min(shown.len()) };
    // Each column with its head.
    let row = |name: String, account: &Account, verdicts: String| {
        let size = |of: fn(Sizes) -> u64| account.sizes.map_or(String::new(), |sizes| bytes(of(sizes)));
        let waste = account.waste;
        [
            ("Thread", name),
            ("Refills", account.refills.to_string()),
            ("Most", account.most_refills.to_string()),
            ("Slow", account.slow_allocations.to_string()),
            ("Allocated", bytes(account.allocated)),
            ("First", size(|sizes| sizes.first)),
            ("Last", size(|sizes| sizes.last)),
            ("Min", size(|sizes| sizes.min)),
            ("Max", size(|sizes| sizes.max)),
            ("Waste", bytes(waste.sum())),
            ("%", percent(waste.sum(), account.buffers)),
            ("gc", bytes(waste.gc)),
            ("slow", bytes(waste.slow)),
            ("fast", bytes(waste.fast)),
            ("", verdicts),
        ]
    };
    let of_thread =
        |account: &&Account| row(account.thread.id.to_string(), account, judge.names(account).join(", "));
    let all = row(format!("all {}", log.accounts().len()), &log.sum(), String::new());
    let header = all.each_ref().map(|(head, _)| *head);
    let rows = shown[..count].iter().map(of_thread).chain([all]);
    let rows = rows.map(|row| row.map(|(_, cell)| cell).to_vec()).collect();
    let mut text = format!("\n{}", table(&header, rows, columns));
    if count < shown.len() {
        let more = counted((shown.len() - count) as u64, "more thread");
        let _ = writeln!(text, "{more}; --top 0 shows all");
    }
    text.push('\n');
    text += said;
    text
}

fn replays(log: &Log, judge: &Judge, replayed: &[(Candidate, Replayed)], columns: Option<usize>) -> String {
    if log.cycles.is_empty() {
        return wrapped(&format!("\n{NOTHING_TO_REPLAY}\n"), columns);
    }
    if judge.silence().is_some() {
        return "\nno replay: what it would be fed with is not whole\n".into();
    }
    let header = ["Replayed", "Refills", "Slow", "Largest", "Waste", "%", "gc", "slow", "JVM"];
    let row = |(candidate, done): &(Candidate, Replayed)| {
        let waste = done.waste();
        vec![
            candidate.name.clone(),
            done.refills.to_string(),
            done.slow_allocations.map_or(String::new(), |count| count.to_string()),
            bytes(done.largest),
            bytes(waste),
            percent(waste, done.buffers),
            bytes(done.gc_waste),
            bytes(done.slow_waste),
            candidate.flags.clone(),
        ]
    };
    let rows = replayed.iter().map(row).collect();
    let cut = if log.cycles.is_cut { ", the first that fit in memory" } else { "" };
    format!(
        "\nreplay of {}{cut}; a model: compare its rows with each other\n\n{}",
        counted(log.cycles.len() as u64, "collection"),
        table(&header, rows, columns)
    )
}

/// A table whose first and last columns are words.
fn table(header: &[&str], rows: Vec<Vec<String>>, columns: Option<usize>) -> String {
    let header: Vec<String> = header.iter().map(|title| title.to_string()).collect();
    Layout { words: vec![0, header.len() - 1], header, rows }.text(columns)
}

fn as_json(
    log: &Log,
    judge: &Judge,
    names: &[String],
    advice: Option<&Advice>,
    replayed: Option<&[(Candidate, Replayed)]>,
) -> Value {
    let threads: Vec<Value> = log
        .accounts()
        .iter()
        .map(|account| {
            json!({
                "id": account.thread.id,
                "pointer": format!("{:#x}", account.thread.pointer),
                "refills": account.refills,
                "mostRefills": account.most_refills,
                "cycles": account.cycles,
                "slowAllocations": account.slow_allocations,
                "bufferBytes": account.buffers,
                "allocatedBytes": account.allocated,
                "desiredSize": account.sizes,
                "waste": account.waste,
                "verdicts": judge.names(account),
            })
        })
        .collect();
    let replays = replayed.map(|replayed| {
        let row = |(candidate, done): &(Candidate, Replayed)| {
            json!({
                "settings": candidate.name,
                "flags": candidate.flags,
                "refills": done.refills,
                "slowAllocations": done.slow_allocations,
                "bufferBytes": done.buffers,
                "largest": done.largest,
                "waste": { "gc": done.gc_waste, "slow": done.slow_waste },
            })
        };
        replayed.iter().map(row).collect::<Vec<_>>()
    });
    let advice = advice.map(|advice| {
        let (flags, expected) = match advice {
            Advice::Set { candidate, expected, .. } => (Some(&candidate.flags), Some(expected)),
            _ => (None, None),
        };
        json!({ "answer": advice.sentence(), "flags": flags, "expected": expected, "found": log.cycles.found })
    });
    json!({
        "advice": advice,
        "files": names,
        "dialects": log.releases(),
        "jvms": log.jvms(),
        "cutOff": log.cut_off,
        "lines": { "read": log.read, "repeated": log.repeated, "damaged": log.skipped.damaged, "foreign": log.skipped.foreign },
        "refusedRefills": log.refused,
        "targetRefills": log.target(),
        "totals": log.totals,
        "noVerdict": judge.silence(),
        "threads": threads,
        "replay": replays,
    })
}
