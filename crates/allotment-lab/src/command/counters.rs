//! `--counters`, and `allotment counters`, which lists the available counters.

use super::{Failure, RunArguments, print};
use crate::counters::{Code, Event, Expected, Family, Planned, Usage, here, plan, rows, trial};
use std::fmt::Write;

/// The counters of a run, if the user asked for some.
///
/// # Errors
/// [`Failure::Usage`] for an unknown counter.
pub(super) fn planned(arguments: &RunArguments) -> Result<Option<Planned>, Failure> {
    let plan = |list: &Vec<String>| plan(list, Family::detect(), &mut trial);
    let planned = arguments.counters.as_ref().map(plan).transpose();
    planned.map_err(|error| Failure::Usage(format!("--counters: {error}")))
}

/// `allotment counters`.
///
/// # Errors
/// Standard output is closed or full.
pub fn counters() -> Result<(), Failure> {
    let family = Family::detect();
    let mut text = match here() {
        Ok(()) => "the processor's counters are available\n".to_string(),
        Err(refusal) => format!("the processor's counters are not available: {refusal}\n"),
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

/// The status of an event by code; if it does not count the expected quantity, the reason too.
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
