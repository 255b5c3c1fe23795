//! `allotment tlab-log`: what a JVM's log of its TLABs says, and what other sizings would have done.

use super::{Failure, print};
use crate::format::OutputFile;
use crate::report::{html, tlab_log_document};
use crate::tlab_log::{
    Account, BUILT_IN, Candidate, Log, Replayed, Sources, Verdict, Waste, replay, verdicts,
};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// The arguments of `allotment tlab-log`.
#[derive(Clone, Debug, clap::Args)]
pub struct TlabLogArguments {
    /// Logs written by -Xlog:gc+tlab=trace or =debug, with their rotated siblings FILE.0, FILE.1 ...; `-` is
    /// standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Show this many threads, those that allocated most first; 0: all of them.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Show only the thread with this number: its `id` in the log, or its address as 0x...
    #[arg(long, value_name = "ID", value_parser = thread)]
    pub thread: Option<u64>,

    /// Replay what was allocated under other settings; without a list under the usual ones. Candidates are
    /// separated by `;`, the settings of one by `,`.
    #[arg(long, value_name = "NAME=VALUE,..;..", require_equals = true, num_args = 0..=1, default_missing_value = BUILT_IN)]
    pub replay: Option<String>,

    /// Write all of it as JSON, every thread included.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write a page with charts: sizes over time, refills, waste, and the replay.
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

/// Reads the logs and prints what they say.
///
/// # Errors
/// [`Failure::Usage`] for a replay of what cannot be set; [`Failure::Failed`] if a file cannot be read or
/// written, if no line of them is about TLABs, or if the thread asked for is not in them.
pub fn tlab_log(arguments: &TlabLogArguments) -> Result<(), Failure> {
    let candidates = arguments.replay.as_deref().map(Candidate::list).transpose();
    let candidates = candidates.map_err(|error| Failure::Usage(format!("--replay: {error}")))?;
    let failed = |error: &dyn std::error::Error| Failure::Failed(error.to_string());
    let file = arguments.json.as_deref().map(OutputFile::open).transpose().map_err(|error| failed(&error))?;
    let page =
        arguments.report.as_deref().map(OutputFile::open).transpose().map_err(|error| failed(&error))?;
    let sources = Sources::find(&arguments.files).map_err(|error| failed(&error))?;
    let log = sources.read().map_err(|error| failed(&error))?;
    let name = |path: &PathBuf| match path.to_str() {
        Some("-") => "standard input".to_string(),
        _ => path.display().to_string(),
    };
    let names: Vec<String> = sources.paths().iter().map(name).collect();
    if log.accounts().is_empty() && log.totals.collections == 0 {
        return Err(Failure::Failed(nothing(&log, &names)));
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
    let replayed = candidates.map(|list| replayed(&log, list));
    if let Some(file) = file {
        let text = format!("{:#}\n", as_json(&log, &names, replayed.as_deref()));
        file.write(text.as_bytes()).map_err(|error| failed(&error))?;
    }
    let mut text = heading(&log, &names);
    if let Some(page) = page {
        let (said, replayed) = (sentences(&log, &shown), replayed.as_deref().unwrap_or_default());
        let about = text.trim_end().replace('\n', "; ");
        let document = tlab_log_document(&log, &about, said.lines(), replayed);
        page.write(html(&document, "TLAB log")?.as_bytes()).map_err(|error| failed(&error))?;
    }
    text += &threads(&log, &shown, arguments.top);
    if let Some(replayed) = &replayed {
        text += &replays(&log, replayed);
    }
    print(&text)
}

/// A few names whole, many by their first and last.
fn named(names: &[String]) -> String {
    const FEW: usize = 4;
    match names {
        [first, .., last] if names.len() > FEW => format!("{} files, {first} to {last}", names.len()),
        _ => names.join(", "),
    }
}

fn nothing(log: &Log, names: &[String]) -> String {
    format!(
        "no line about TLABs in {} ({} lines of something else, {} damaged); start the JVM with \
         -Xlog:gc+tlab=trace:file=tlab.log and give tlab.log",
        named(names),
        log.skipped.foreign,
        log.skipped.damaged
    )
}

fn target(log: &Log) -> u64 {
    log.target.unwrap_or(50)
}

fn most_desired(log: &Log) -> u64 {
    log.accounts().iter().filter_map(|account| account.sizes).map(|sizes| sizes.max).max().unwrap_or(0)
}

fn replayed(log: &Log, list: Vec<Candidate>) -> Vec<(Candidate, Replayed)> {
    let most = most_desired(log);
    list.into_iter()
        .map(|candidate| (replay(&log.cycles, &candidate, most), candidate))
        .map(|(a, b)| (b, a))
        .collect()
}

fn heading(log: &Log, names: &[String]) -> String {
    let dialects: Vec<&str> = log.dialects().map(|dialect| dialect.name()).collect();
    let mut text = format!("{}\n", named(names));
    let _ = writeln!(text, "{} lines of a JDK {}", log.read, dialects.join(" and of one "));
    let skipped = log.skipped;
    if skipped.damaged + skipped.foreign > 0 {
        let _ = writeln!(
            text,
            "skipped {} damaged lines and {} about something else",
            skipped.damaged, skipped.foreign
        );
    }
    if log.refused > 0 {
        let _ = writeln!(text, "{} refills found no room", log.refused);
    }
    let totals = &log.totals;
    if totals.collections > 0 {
        let _ = writeln!(
            text,
            "{} collections of at most {} threads: {} refills, {} slow allocations, waste {} (gc {}, slow {}, fast {})",
            totals.collections,
            totals.most_threads,
            totals.refills,
            totals.slow_allocations,
            bytes(totals.waste.sum()),
            bytes(totals.waste.gc),
            bytes(totals.waste.slow),
            bytes(totals.waste.fast),
        );
    }
    if let Some(missing) = log.missing_refills().filter(|missing| *missing != 0) {
        let _ = writeln!(
            text,
            "the collections' totals have {missing} more refills than their threads' lines: lines are missing"
        );
    }
    text
}

/// A size for people: three digits, binary units.
fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$}{}", UNITS[unit])
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1}%", part as f64 * 100.0 / whole as f64) }
}

fn threads(log: &Log, shown: &[&Account], top: usize) -> String {
    if log.accounts().is_empty() {
        return "the threads are not in the log: it takes -Xlog:gc+tlab=trace to have them\n".into();
    }
    let count = if top == 0 { shown.len() } else { top.min(shown.len()) };
    let mut table = table(&[
        "Thread",
        "Refills",
        "Most",
        "Slow",
        "Allocated",
        "First",
        "Last",
        "Min",
        "Max",
        "Waste",
        "%",
        "gc",
        "slow",
        "fast",
        "",
    ]);
    let numbers = |refills: u64, most: u64, slow: u64, allocated: u64| {
        vec![refills.to_string(), most.to_string(), slow.to_string(), bytes(allocated)]
    };
    let wastes = |waste: &Waste, buffers: u64| {
        let each = [waste.gc, waste.slow, waste.fast].map(bytes);
        [vec![bytes(waste.sum()), percent(waste.sum(), buffers)], each.to_vec()].concat()
    };
    for account in &shown[..count] {
        let mut row = vec![account.thread.id.to_string()];
        row.extend(numbers(
            account.refills,
            account.most_refills,
            account.slow_allocations,
            account.allocated,
        ));
        row.extend(match account.sizes {
            Some(sizes) => [sizes.first, sizes.last, sizes.min, sizes.max].map(bytes),
            None => [const { String::new() }; 4],
        });
        row.extend(wastes(&account.waste, account.buffers));
        row.push(
            verdicts(account, target(log))
                .iter()
                .map(|verdict| verdict.name())
                .collect::<Vec<_>>()
                .join(", "),
        );
        table.add_row(row);
    }
    let all = log.accounts();
    let sum = |of: fn(&Account) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let mut waste = Waste::default();
    all.iter().for_each(|account| waste.add(&account.waste));
    let most = all.iter().map(|account| account.most_refills).max().unwrap_or(0);
    let mut row = vec![format!("all {}", all.len())];
    row.extend(numbers(sum(|a| a.refills), most, sum(|a| a.slow_allocations), sum(|a| a.allocated)));
    row.extend([const { String::new() }; 4]);
    row.extend(wastes(&waste, sum(|a| a.buffers)));
    table.add_row(row);
    let mut text = format!("\n{}", rendered(&mut table));
    if count < shown.len() {
        let _ = writeln!(text, "{} more threads; --top 0 shows all", shown.len() - count);
    }
    text.push('\n');
    text += &sentences(log, shown);
    text
}

/// Who starves and who hoards, in a line each.
fn sentences(log: &Log, shown: &[&Account]) -> String {
    const NAMED: usize = 8;
    let mut text = String::new();
    for (verdict, what) in [
        (
            Verdict::ManyRefills,
            &*format!("starve: more than twice the {} refills aimed at between two collections", target(log)),
        ),
        (Verdict::ManySlowAllocations, "starve: more objects outside their buffers than buffers"),
        (Verdict::Hoards, "hoard: collections took a quarter of their buffers from them, unused"),
    ] {
        let who: Vec<u64> = shown
            .iter()
            .filter(|account| verdicts(account, target(log)).contains(&verdict))
            .map(|account| account.thread.id)
            .collect();
        if !who.is_empty() {
            let named = who.iter().take(NAMED).map(u64::to_string).collect::<Vec<_>>().join(", ");
            let more = if who.len() > NAMED { ", ..." } else { "" };
            let _ = writeln!(text, "{} {what}: {named}{more}", who.len());
        }
    }
    if text.is_empty() { "no thread starves or hoards\n".into() } else { text }
}

fn replays(log: &Log, replayed: &[(Candidate, Replayed)]) -> String {
    if log.cycles.is_empty() {
        return "\nnothing to replay: no collection with its threads' lines is in the log\n".into();
    }
    let mut table = table(&["Replayed", "Refills", "Largest", "Waste", "%", "gc", "slow", "JVM"]);
    for (candidate, done) in replayed {
        let waste = done.gc_waste.saturating_add(done.slow_waste);
        table.add_row(vec![
            candidate.name.clone(),
            done.refills.to_string(),
            bytes(done.largest),
            bytes(waste),
            percent(waste, done.buffers),
            bytes(done.gc_waste),
            bytes(done.slow_waste),
            candidate.flags.clone(),
        ]);
    }
    let cut = if log.cycles.is_cut() { ", the first that fit in memory" } else { "" };
    format!(
        "\nreplay of {} collections{cut}; a model: compare its rows with each other\n\n{}",
        log.cycles.len(),
        rendered(&mut table)
    )
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
    table.set_header(header);
    let last = header.len() - 1;
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        let left = index == 0 || index == last;
        column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
    }
    table
}

fn rendered(table: &mut Table) -> String {
    table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

fn as_json(log: &Log, names: &[String], replayed: Option<&[(Candidate, Replayed)]>) -> Value {
    let threads: Vec<Value> = log
        .accounts()
        .iter()
        .map(|account| {
            let verdicts = verdicts(account, target(log));
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
                "verdicts": verdicts.iter().map(|verdict| verdict.name()).collect::<Vec<_>>(),
            })
        })
        .collect();
    let replays = replayed.map(|replayed| {
        let row = |(candidate, done): &(Candidate, Replayed)| {
            json!({
                "settings": candidate.name,
                "flags": candidate.flags,
                "refills": done.refills,
                "bufferBytes": done.buffers,
                "largest": done.largest,
                "waste": { "gc": done.gc_waste, "slow": done.slow_waste },
            })
        };
        replayed.iter().map(row).collect::<Vec<_>>()
    });
    json!({
        "files": names,
        "dialects": log.dialects().map(|dialect| dialect.name()).collect::<Vec<_>>(),
        "lines": { "read": log.read, "damaged": log.skipped.damaged, "foreign": log.skipped.foreign },
        "refusedRefills": log.refused,
        "targetRefills": target(log),
        "totals": log.totals,
        "threads": threads,
        "replay": replays,
    })
}
