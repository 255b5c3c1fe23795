//! `--counters`, and `allotment counters`, which lists the available counters.

use super::{Failure, RunArguments, print};
use crate::counters::{Code, Event, Expected, Family, Usage, here, plan, rows, trial};
use crate::harness::Watch;
use std::fmt::Write;

/// The counters that a run watches, the remarks on them for its report, and the counters that the
/// user named but that are not available.
///
/// # Errors
/// [`Failure::Usage`] for an unknown counter.
pub(super) fn watch(arguments: &RunArguments) -> Result<(Watch, Vec<String>, Vec<String>), Failure> {
    let Some(list) = &arguments.counters else { return Ok((Watch::default(), Vec::new(), Vec::new())) };
    let planned = plan(list, Family::detect(), &mut trial)
        .map_err(|error| Failure::Usage(format!("--counters: {error}")))?;
    let undone =
        planned.missing.iter().map(|name| format!("--counters: {name} cannot be counted here")).collect();
    Ok((Watch { counters: Some(planned.plan), profile: false }, planned.lines, undone))
}

/// `allotment counters`.
///
/// # Errors
/// Standard output is closed or full.
pub fn counters() -> Result<(), Failure> {
    let family = Family::detect();
    let mut text = match here() {
        Ok(()) => "the processor's counters can be had\n".to_string(),
        Err(refusal) => format!("the processor's counters cannot be had: {refusal}\n"),
    };
    let usual: Vec<String> = Event::usual().map(|event| event.label).collect();
    text += "\nby perf's names; auto has those marked *\n";
    for name in Event::names() {
        let mark = if usual.iter().any(|known| known == name) { "*" } else { " " };
        let _ = writeln!(text, "{mark} {name:<28} {}", status(Event::named(name)));
    }
    text += "\nby the system\n";
    for usage in Usage::ALL {
        let _ = writeln!(text, "* {:<28} {}", usage.name(), usage.what());
    }
    let Some(family) = family else {
        text += "\nno events by code are known for this processor; give codes as r21d0\n";
        return print(&text);
    };
    let _ = writeln!(text, "\nby code, on this processor ({family})");
    for row in rows() {
        let Some(code) = row.on(family) else { continue };
        let mark = if row.auto { "*" } else { " " };
        let (status, why) = proven(code, row.expected);
        let _ = writeln!(
            text,
            "{mark} {:<20} {:<15} {status:<9} {}: {}{why}",
            row.quantity,
            code.written(),
            code.name(),
            row.what
        );
    }
    print(&text)
}

/// Whether an event is available.
fn status(event: Option<Event>) -> &'static str {
    if event.is_some_and(|event| trial(&[event]).is_ok()) { "here" } else { "not here" }
}

/// Whether an event by code counts the expected quantity; if not, the quantity it counts.
fn proven(code: &Code, expected: Expected) -> (&'static str, String) {
    let tried = code.event().and_then(|event| trial(&[event]).ok());
    match tried.map(|readings| readings.iter().try_for_each(|reading| expected.judge(reading))) {
        None => ("not here", String::new()),
        Some(Ok(())) => ("here", String::new()),
        Some(Err(why)) => ("untrusted", format!("; {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_can_be_asked_for() {
        let hitm = rows().find(|row| row.quantity == "rfo-hitm").unwrap();
        assert_eq!(hitm.on(Family::IceLakeServer).unwrap().written(), "r1b7:10003c0002");
        for family in [Family::Haswell, Family::SapphireRapids, Family::Zen3] {
            for code in rows().filter_map(|row| row.on(family)) {
                assert_eq!(code.event().unwrap().label, code.name());
            }
        }
    }
}
