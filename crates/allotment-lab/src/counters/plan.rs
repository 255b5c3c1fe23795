//! From the requested names to the events that are counted here. Names become events, each event is
//! tried, and events that fit count together.
//!
//! The plan is made once, before any measurement, so an unknown name is an error at once and every
//! fork counts the same events. Unavailable events are listed with the reason. Nothing replaces
//! them but counts of the system, under their own names.

use super::{Event, Expected, Family, Group, Reading, Refusal, Usage, rows};
use crate::format::suggest::within;
use crate::format::{distinct, grouped};
use serde::{Deserialize, Serialize};

/// The events to count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterPlan {
    /// Groups of events that have counters at the same time. Groups take turns if they must.
    pub groups: Vec<Vec<Event>>,
    /// The counts of the system.
    pub usage: Vec<Usage>,
}

impl CounterPlan {
    /// The labels of a thread's counts, in the order of its readings.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let events = self.groups.iter().flatten().map(|event| event.label.as_str());
        events.chain(self.usage.iter().filter(|usage| **usage != Usage::Steal).map(|usage| usage.name()))
    }
}

/// A plan, and the remarks on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The events to count.
    pub plan: CounterPlan,
    /// The events that are not counted, and why.
    pub lines: Vec<String>,
    /// The events that the user named and that are not counted.
    pub missing: Vec<String>,
}

/// A name that matches no counter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no counter `{name}`; {hint}")]
pub struct UnknownCounter {
    name: String,
    hint: String,
}

/// Checks that the processor's counters are available.
///
/// # Errors
/// [`Refusal`].
pub fn here() -> Result<(), Refusal> {
    let cycles = Event::named("cycles").ok_or(Refusal::Absent(libc::ENOENT))?;
    Group::open(&[cycles.attribute]).map(drop)
}

/// A requested count.
enum Wanted {
    Event(Event, Expected),
    Usage(Usage),
    /// An event that other processors have, and this one lacks.
    Elsewhere(&'static str),
}

impl Wanted {
    fn label(&self) -> String {
        match self {
            Wanted::Event(event, _) => event.label.clone(),
            Wanted::Usage(usage) => usage.name().into(),
            Wanted::Elsewhere(name) => (*name).into(),
        }
    }
}

/// The word for all events that are useful here.
const AUTO: &str = "auto";

/// Plans to count the events on the list: `auto`, names, codes. `trial` counts a group's events in
/// the known loop.
///
/// # Errors
/// [`UnknownCounter`].
pub fn plan(
    list: &[String],
    family: Option<Family>,
    trial: &mut dyn FnMut(&[Event]) -> Result<Vec<Reading>, Refusal>,
) -> Result<Planned, UnknownCounter> {
    let (mut wanted, mut named) = (Vec::new(), Vec::new());
    for word in list {
        let found = wanted_by(word, family)?;
        if word != AUTO {
            named.extend(found.iter().map(Wanted::label));
        }
        wanted.extend(found);
    }
    let (mut plan, mut lines, mut refused) = (CounterPlan::default(), Vec::new(), Vec::new());
    let mut asked_of_processor = false;
    for one in wanted {
        match one {
            Wanted::Usage(usage) if plan.usage.contains(&usage) => {}
            Wanted::Usage(usage) => plan.usage.push(usage),
            Wanted::Elsewhere(name) => {
                let here = family.map_or("this processor".into(), |family| family.to_string());
                lines.push(format!("counters: no event of {here} is known for {name}"));
            }
            Wanted::Event(event, _)
                if plan.groups.iter().flatten().any(|known| known.label == event.label) => {}
            Wanted::Event(event, expected) => {
                asked_of_processor |= !event.attribute.is_software();
                match trial(std::slice::from_ref(&event)) {
                    Err(refusal) => refused.push(((refusal, event.attribute.is_software()), event.label)),
                    Ok(readings) => match readings.iter().try_for_each(|reading| expected.judge(reading)) {
                        Ok(()) => add(&mut plan.groups, event, trial),
                        Err(why) => {
                            lines.push(format!("counters: {} is not trusted here: {why}", event.label))
                        }
                    },
                }
            }
        }
    }
    let counted =
        |plan: &CounterPlan| plan.groups.iter().flatten().any(|event| !event.attribute.is_software());
    let first = refused.iter().find(|((_, software), _)| !software).map(|((refusal, _), _)| *refusal);
    if let (true, false, Some(refusal)) = (asked_of_processor, counted(&plan), first) {
        plan.usage = distinct(plan.usage.into_iter().chain(Usage::ALL));
        let instead: Vec<&str> = plan.labels().chain([Usage::Steal.name()]).collect();
        lines.insert(
            0,
            format!("counters: none here: {refusal}; counted in software instead: {}", instead.join(", ")),
        );
        refused.retain(|((_, software), _)| *software);
    }
    for ((refusal, _), names) in grouped(refused) {
        lines.push(format!("counters: not counted here: {} ({refusal})", names.join(", ")));
    }
    let counted: Vec<&str> = plan.labels().chain(plan.usage.iter().map(|usage| usage.name())).collect();
    let missing = named.into_iter().filter(|name| !counted.contains(&name.as_str())).collect();
    Ok(Planned { plan, lines, missing })
}

/// Puts an event into the last group if they can count together, otherwise into a new group. Counts
/// of the system need no counter of the processor, and must not wait for one.
fn add(
    groups: &mut Vec<Vec<Event>>,
    event: Event,
    trial: &mut dyn FnMut(&[Event]) -> Result<Vec<Reading>, Refusal>,
) {
    let software = event.attribute.is_software();
    let last = groups
        .iter_mut()
        .rfind(|group| group.first().is_some_and(|first| first.attribute.is_software() == software));
    if let Some(group) = last {
        group.push(event.clone());
        if trial(group).is_ok() {
            return;
        }
        group.pop();
    }
    groups.push(vec![event]);
}

/// The counts that a word of the list asks for.
fn wanted_by(word: &str, family: Option<Family>) -> Result<Vec<Wanted>, UnknownCounter> {
    if word == AUTO {
        let usual = Event::usual().map(|event| Wanted::Event(event, Expected::Any));
        let by_code = rows()
            .filter(|row| row.auto)
            .filter_map(|row| Some(Wanted::Event(row.on(family?)?.event()?, row.expected)));
        return Ok(usual.chain(by_code).chain(Usage::ALL.map(Wanted::Usage)).collect());
    }
    if let Some(usage) = Usage::ALL.into_iter().find(|usage| usage.name() == word) {
        return Ok(vec![Wanted::Usage(usage)]);
    }
    let row = rows().find(|row| row.quantity == word || row.names().any(|name| name == word));
    if let Some(row) = row {
        return Ok(vec![match family.and_then(|family| row.on(family)?.event()) {
            Some(event) => Wanted::Event(event, row.expected),
            None => Wanted::Elsewhere(row.quantity),
        }]);
    }
    match Event::named(word).or_else(|| Event::coded(word)) {
        Some(event) => Ok(vec![Wanted::Event(event, Expected::Any)]),
        None => Err(UnknownCounter { name: word.into(), hint: hint(word) }),
    }
}

/// The nearest name, if one is near.
fn hint(word: &str) -> String {
    let known = ["auto"].into_iter().chain(Event::names()).chain(Usage::ALL.map(Usage::name));
    let known = known.chain(rows().flat_map(|row| row.names().chain([row.quantity])));
    match within(word, known, 3) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "`allotment counters` lists them; a code is written r21d0".into(),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
