//! Sentences about a log: above the table, below it, and in place of a missing table.
//!
//! Each sentence states a fact in exact numbers, or names what is missing and the JVM option that
//! supplies it.

use crate::tlab_log::{Account, Difference, Judge, Log, Verdict, bytes};
use allotment_report::format::{phrase, width};
use std::fmt::Write;

/// A few names in full; of many names the first and the last.
fn named(names: &[String]) -> String {
    const FEW: usize = 4;
    match names {
        [first, .., last] if names.len() > FEW => format!("{} files, {first} to {last}", names.len()),
        _ => names.join(", "),
    }
}

pub(super) fn nothing(log: &Log, names: &[String]) -> String {
    const FLAG: &str = "start the JVM with -Xlog:gc+tlab=trace:file=tlab.log and give tlab.log";
    let skipped = log.skipped;
    if log.read + skipped.damaged + skipped.foreign == 0 {
        let verb = if names.len() == 1 { "is" } else { "are" };
        return format!("{} {verb} empty; {FLAG}", named(names));
    }
    if log.json > 0 {
        return format!("{} about TLABs in {} {}", counted(log.json, "line"), named(names), unwrap(log.json));
    }
    let foreign = format!("{} of something else", counted(skipped.foreign, "line"));
    let old = "(JDK 8: -XX:+PrintTLAB -XX:+PrintGCDetails)";
    match (skipped.damaged, log.read) {
        (0, 0) => format!("no line about TLABs in {} ({foreign}); {FLAG} {old}", named(names)),
        (0, read) => format!(
            "no line about TLABs in {} except {} ({foreign}); {FLAG} {old}",
            named(names),
            counted(read, "request")
        ),
        (damaged, read) => format!(
            "no line about what threads did with TLABs is whole in {} ({damaged} damaged, {read} requests, \
             {foreign}); log to a file of its own: {FLAG}",
            named(names)
        ),
    }
}

/// The fault of lines within JSON, and the remedy.
fn unwrap(count: u64) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{verb} within JSON and cannot be read; try `jq -r .log FILE | allotment tlab-log -`")
}

pub(super) fn counted(count: u64, what: &str) -> String {
    phrase::count(count as usize, what)
}

pub(super) fn heading(log: &Log, names: &[String]) -> String {
    let mut text = format!("{}\n", named(names));
    let _ = writeln!(text, "{} of {}", counted(log.read, "line"), log.releases().join(" and of "));
    let skipped = log.skipped;
    if skipped.damaged + skipped.foreign > 0 {
        let damaged = counted(skipped.damaged, "damaged line");
        let _ = writeln!(text, "skipped {damaged} and {} about something else", skipped.foreign);
    }
    if log.json > 0 {
        let _ = writeln!(text, "{} {}", format_args!("{} of them", log.json), unwrap(log.json));
    }
    if log.cut_off {
        text += "a file was cut off: its end is missing\n";
    }
    if log.repeated > 0 && log.is_in_order() {
        let _ = writeln!(text, "{} had come before, and counted once", counted(log.repeated, "line"));
    }
    if log.jvms() > 1 && !log.is_newest_first() {
        let how = if log.is_mixed() { "mixed with each other" } else { "one after the other" };
        let _ = writeln!(text, "{} JVMs wrote it, {how}; the figures are of all of them", log.jvms());
    }
    if log.refused > 0 {
        let _ = writeln!(text, "{} found no room", counted(log.refused, "refill"));
    }
    let totals = &log.totals;
    if totals.collections > 0 {
        let _ = write!(text, "{}", counted(totals.collections, "collection"));
    }
    if totals.lines > 0 {
        let _ = write!(
            text,
            " of at most {}: {}, {}, waste {} (gc {}, slow {}, fast {})",
            counted(totals.most_threads, "thread"),
            counted(totals.refills, "refill"),
            counted(totals.slow_allocations, "slow allocation"),
            bytes(totals.waste.sum()),
            bytes(totals.waste.gc),
            bytes(totals.waste.slow),
            bytes(totals.waste.fast),
        );
    }
    if totals.collections > 0 {
        text.push('\n');
    }
    let Some(Difference { missing, more }) = log.difference().filter(|_| log.is_in_order()) else {
        return text;
    };
    let why = match (missing, more) {
        (0, 0) => return text,
        _ if log.is_zgc() => Some(
            "ZGC's totals are not sums of the threads' lines: threads give their buffers up themselves, some of them \
             after the totals",
        ),
        _ if log.is_shenandoah() => Some(
            "Shenandoah's totals are not sums of the threads' lines: it takes buffers away more often than it logs \
             totals, and logs some totals again",
        ),
        _ => None,
    };
    let [fewer, extra] = [missing, more].map(|refills| counted(refills, "refill"));
    text += &match (why, missing, more) {
        (Some(why), ..) => format!(
            "{why}; totals line by totals line, the threads' lines have {extra} more and {missing} fewer; the table is \
             of the threads' lines\n"
        ),
        (None, _, 0) => {
            format!(
                "the collections' totals have {fewer} more than their threads' lines: lines are missing\n"
            )
        }
        (None, 0, _) => format!(
            "the threads' lines at collections have {extra} more than the totals: totals are missing, or lines came \
             twice; the table is of the threads' lines\n"
        ),
        _ => format!(
            "some of the collections' totals have {fewer} more than their threads' lines: lines are missing; others \
             have {more} fewer: totals are missing, or lines came twice\n"
        ),
    };
    text
}

/// The threads that have too little buffer and those that have too much, in a line each, or why
/// this is unknown.
pub(super) fn sentences(log: &Log, judge: &Judge, shown: &[&Account]) -> String {
    const NAMED: usize = 8;
    if let Some(why) = judge.silence() {
        return format!("{why}\n");
    }
    let refills = format!("more than twice the {} refills aimed at between two collections", log.target());
    let mut text = String::new();
    for (verdict, one, many, what) in [
        (Verdict::ManyRefills, "starves", "starve", refills.as_str()),
        (
            Verdict::ManySlowAllocations,
            "starves",
            "starve",
            "more objects outside their buffers than buffers",
        ),
        (Verdict::Hoards, "hoards", "hoard", "collections took a quarter of their buffers from them, unused"),
    ] {
        let who: Vec<u64> = shown
            .iter()
            .filter(|account| judge.verdicts(account).contains(&verdict))
            .map(|account| account.thread.id)
            .collect();
        if !who.is_empty() {
            let named = who.iter().take(NAMED).map(u64::to_string).collect::<Vec<_>>().join(", ");
            let more = if who.len() > NAMED { ", ..." } else { "" };
            let verb = if who.len() == 1 { one } else { many };
            let _ = writeln!(text, "{} {verb}: {what}: {named}{more}", who.len());
        }
    }
    if log.cycles.count == 0 {
        text += "no collection is in the log: refills and waste are judged between two collections; log for \
                 longer, or with a smaller -Xmx (Epsilon has no collections)\n";
    } else if shown.iter().all(|account| account.refills == 0 && account.slow_allocations == 0) {
        text += "no line tells of a buffer that one of these threads was given, so nothing is said of them\n";
    }
    if text.is_empty() { "no thread starves or hoards\n".into() } else { text }
}

/// Wraps sentences, each of which is a line, to at most `columns` columns, where that is known.
pub(super) fn wrapped(text: &str, columns: Option<usize>) -> String {
    text.lines().map(|line| width::lines(line, columns) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_as_wide_as_the_terminal() {
        let text = "no verdict: lines of 2 JVMs are mixed; give each one's log by itself\nno thread hoards\n";
        let lines = wrapped(text, Some(40));
        assert!(
            lines.lines().all(|line| line.len() <= 40) && lines.ends_with("\nno thread hoards\n"),
            "{lines}"
        );
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(wrapped(text, None), text);
    }
}
