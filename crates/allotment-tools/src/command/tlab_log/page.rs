//! A JVM's log of its TLABs as a document, with the same charts as a report of results.

use crate::tlab_log::{Account, Candidate, Log, Replayed, Waste, bytes_in};
use allotment_report::chart::{Axis, COLOURS, Chart, Look, Point, Scale, Series};
use allotment_report::page::{Document, Group, Section, Table, Title};

/// The most threads in a chart of bars.
const MOST_BARS: usize = 15;

/// The document, with one section. `about` describes the log; `verdicts` names threads with too
/// much or too little buffer.
pub(super) fn tlab_log_document<'a>(
    log: &Log,
    about: &str,
    verdicts: impl Iterator<Item = &'a str>,
    replayed: &[(Candidate, Replayed)],
) -> Document {
    let mut order: Vec<usize> = (0..log.accounts().len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(log.accounts()[index].allocated));
    let threads: Vec<(usize, &Account)> =
        order.iter().map(|&index| (index, &log.accounts()[index])).collect();
    let mut charts = vec![sizes(log, &threads), refills(&threads), waste(&threads)];
    charts.retain(|chart| chart.series.iter().any(|series| !series.points.is_empty()));
    let several = !charts.is_empty();
    let group = |title: &str, charts| Group { title: title.into(), charts, left_out: 0 };
    let mut groups = Vec::new();
    if several {
        groups.push(group("Threads that allocated most", charts));
    }
    if !replayed.is_empty() && !log.cycles.is_empty() {
        groups.push(group("The same allocation under other settings, replayed", replays(replayed)));
    }
    let section = Section {
        name: "TLABs".into(),
        question: Some("Which threads starve, which hoard, and what would other sizes have done?".into()),
        answers: verdicts.map(String::from).collect(),
        groups,
        table: table(&threads),
        ..Section::default()
    };
    Document { sections: vec![section], about: about.into(), warnings: Vec::new() }
}

/// Why there is nothing to replay.
pub(super) const NOTHING_TO_REPLAY: &str = "nothing to replay: no collection with what its threads allocated is in the log; \
    it takes -Xlog:gc+tlab=trace, and a collection";

/// The charts that a document lacks, the reason, and the remedy, a line each. `replayed` is `None`
/// if no replay was requested.
pub(super) fn lacking_charts(log: &Log, replayed: Option<&[(Candidate, Replayed)]>) -> String {
    if log.accounts().is_empty() {
        return String::new();
    }
    let threads = || log.accounts().iter().enumerate();
    let sized = threads().any(|(index, _)| !log.history.of(index).is_empty());
    let mut text = String::new();
    if log.untimed > 0 {
        let which = if sized {
            "what is missing in the chart of sizes over time"
        } else {
            "no chart of sizes over time"
        };
        text += &format!(
            "{which}: {} of the lines of collections do not say when they were written; log with the decoration \
             uptime, -Xlog:gc+tlab=trace:file=tlab.log:uptime (JDK 8: -XX:+PrintGCTimeStamps)\n",
            log.untimed
        );
    } else if !sized {
        text += "no chart of sizes over time: sizes change at collections, and no thread's line of one is in the \
                 log; log for longer, with -Xlog:gc+tlab=trace\n";
    }
    if threads().all(|(_, account)| account.refills == 0) {
        text += "no chart of refills: no line tells of a buffer that a thread was given\n";
    }
    if threads().all(|(_, account)| account.waste.sum() == 0) {
        text += "no chart of waste: no line tells of bytes that were wasted\n";
    }
    if replayed.is_some() && log.cycles.is_empty() {
        text += NOTHING_TO_REPLAY;
        text.push('\n');
    }
    text
}

fn name(account: &Account) -> String {
    format!("thread {}", account.thread.id)
}

/// A size with three digits and a binary unit.
fn bytes(bytes: f64) -> String {
    bytes_in([" B", " KiB", " MiB", " GiB", " TiB"], bytes)
}

fn point(x: f64, y: f64, label: String) -> Point {
    Point { x, y, low: f64::NAN, high: f64::NAN, label }
}

/// Desired sizes along the time since the first of them.
fn sizes(log: &Log, threads: &[(usize, &Account)]) -> Chart {
    let known = |index: usize| log.history.of(index);
    let with_history = || threads.iter().filter(|(index, _)| !known(*index).is_empty()).take(COLOURS);
    let start = with_history().map(|(index, _)| known(*index)[0].0).min().unwrap_or(0);
    let series = |(place, (index, account)): (usize, &(usize, &Account))| Series {
        name: name(account),
        look: Look { colour: place + 1, dash: 0 },
        points: known(*index)
            .iter()
            .map(|&(time, size)| {
                let seconds = time.saturating_sub(start) as f64 / 1e9;
                let kib = size as f64 / 1024.0;
                point(seconds, kib, format!("{} at {seconds:.3} s", bytes(size as f64)))
            })
            .collect(),
    };
    Chart {
        title: "Desired size over time".into(),
        x: Axis { label: "seconds since the first".into(), scale: Scale::Linear },
        ticks: Vec::new(),
        y: Axis { label: "KiB".into(), scale: Scale::Log },
        series: with_history().enumerate().map(series).collect(),
    }
}

/// Bars for the first threads.
fn bars(title: &str, unit: &str, words: Vec<String>, series: Vec<Series>) -> Chart {
    Chart {
        title: title.into(),
        x: Axis { label: String::new(), scale: Scale::Words(words) },
        ticks: Vec::new(),
        y: Axis { label: unit.into(), scale: Scale::Linear },
        series,
    }
}

/// One bar, and its name.
fn bar(name: String, value: f64, label: String) -> Series {
    Series { name, look: Look { colour: 1, dash: 0 }, points: vec![point(0.0, value, label)] }
}

fn refills(threads: &[(usize, &Account)]) -> Chart {
    let series = |(_, account): &(usize, &Account)| {
        let label = format!("{} of {}", account.refills, bytes(account.buffers as f64));
        bar(name(account), account.refills as f64, label)
    };
    let refilled = threads.iter().filter(|(_, account)| account.refills > 0);
    let series = refilled.take(MOST_BARS).map(series).collect();
    bars("Refills", "buffers", vec![String::new()], series)
}

/// The wasted bytes, by cause.
fn waste(threads: &[(usize, &Account)]) -> Chart {
    let wasteful: Vec<&Account> = threads
        .iter()
        .map(|(_, account)| *account)
        .filter(|account| account.waste.sum() > 0)
        .take(MOST_BARS / 3)
        .collect();
    let kinds: [(&str, fn(&Waste) -> u64); 3] = [
        ("taken away by collections", |waste| waste.gc),
        ("dropped for a new buffer", |waste| waste.slow),
        ("dropped by fast refills", |waste| waste.fast),
    ];
    let series = |(index, (kind, of)): (usize, &(&str, fn(&Waste) -> u64))| Series {
        name: (*kind).into(),
        look: Look { colour: index + 1, dash: 0 },
        points: wasteful
            .iter()
            .enumerate()
            .filter(|(_, account)| of(&account.waste) > 0)
            .map(|(place, account)| {
                let part = of(&account.waste) as f64;
                let percent = part / (account.buffers as f64).max(1.0) * 100.0;
                point(place as f64, part / 1024.0, format!("{}, {percent:.1} %", bytes(part)))
            })
            .collect(),
    };
    let mut series: Vec<Series> = kinds.iter().enumerate().map(series).collect();
    series.retain(|one| !one.points.is_empty());
    bars("Waste", "KiB, and percent of the buffers", wasteful.iter().map(|one| name(one)).collect(), series)
}

/// A bar for each candidate: refills, and waste.
fn replays(replayed: &[(Candidate, Replayed)]) -> Vec<Chart> {
    let chart = |title: &str, unit: &str, of: &dyn Fn(&Replayed) -> (f64, String)| {
        let series = replayed.iter().map(|(candidate, done)| {
            let (value, label) = of(done);
            bar(candidate.name.clone(), value, label)
        });
        bars(title, unit, vec![String::new()], series.collect())
    };
    let mut charts = vec![
        chart("Refills", "buffers", &|done| (done.refills as f64, done.refills.to_string())),
        chart("Slow allocations", "objects outside buffers", &|done| {
            let count = done.slow_allocations.unwrap_or(0);
            (count as f64, count.to_string())
        }),
        chart("Waste", "percent of the buffers", &|done| {
            let waste = done.waste() as f64;
            let percent = waste / (done.buffers as f64).max(1.0) * 100.0;
            (percent, format!("{percent:.1} %, {}", bytes(waste)))
        }),
    ];
    if replayed.iter().all(|(_, done)| done.slow_allocations.is_none()) {
        charts.remove(1);
    }
    charts
}

fn table(threads: &[(usize, &Account)]) -> Table {
    let header = ["refills", "outside buffers", "allocated", "waste", "least size", "largest size"];
    let header = [Title::text("thread")].into_iter().chain(header.map(Title::number)).collect();
    let cells = |(_, account): &(usize, &Account)| {
        let size = |of: Option<u64>| of.map_or(String::new(), |size| bytes(size as f64));
        vec![
            account.thread.id.to_string(),
            account.refills.to_string(),
            account.slow_allocations.to_string(),
            bytes(account.allocated as f64),
            bytes(account.waste.sum() as f64),
            size(account.sizes.map(|sizes| sizes.min)),
            size(account.sizes.map(|sizes| sizes.max)),
        ]
    };
    Table { constant: String::new(), header, rows: threads.iter().map(cells).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_shown_by_what_they_allocated() {
        let mut log = Log::default();
        for line in [
            "[1.0s][trace][gc,tlab] TLAB: gc thread: 0x00007f01 [id: 7] desired_size: 64KB slow allocs: 0  refill waste: 1024B alloc: 0.50000    1024KB refills: 3 waste  0.0% gc: 1000B slow: 100B fast: 0B",
            "[2.0s][trace][gc,tlab] TLAB: gc thread: 0x00007f01 [id: 7] desired_size: 128KB slow allocs: 0  refill waste: 1024B alloc: 0.50000    1024KB refills: 3 waste  0.0% gc: 1000B slow: 100B fast: 0B",
            "[2.0s][trace][gc,tlab] TLAB: gc thread: 0x00007f02 [id: 8] desired_size: 512KB slow allocs: 0  refill waste: 1024B alloc: 0.50000    1024KB refills: 9 waste  0.0% gc: 1000B slow: 0B fast: 0B",
        ] {
            log.line(line.as_bytes(), true);
        }
        log.finish();
        let document = tlab_log_document(&log, "a log", ["1 starves"].into_iter(), &[]);
        let section = &document.sections[0];
        assert_eq!(section.table.rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["8", "7"]);
        let [sizes, refills, waste] = &section.groups[0].charts[..] else { panic!("{section:?}") };
        assert_eq!(sizes.series[1].name, "thread 7");
        let points: Vec<_> = sizes.series[1].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(0.0, 64.0), (1.0, 128.0)]);
        assert_eq!(refills.series[0].points[0].y, 9.0);
        assert_eq!(waste.series.len(), 2, "nothing was wasted by fast refills");
        assert_eq!(section.groups.len(), 1, "nothing was replayed");
    }
}
