//! The answers of `api`: what the safe API costs in each mode, and how long the world stands still.

use super::ALONE;
use crate::experiments::saying::{all_against, contrast, speeds_of, takes, values};
use crate::format::ScoreRow;
use crate::format::answer::{capital, within};
use crate::format::coordinates::{MODE, THREADS, value};
use crate::format::phrase::Effect;
use crate::statistics::Ratio;

/// The rows of the code that an embedder writes.
fn safe_rows(rows: &[ScoreRow]) -> Vec<ScoreRow> {
    rows.iter().filter(|row| value(row, "way").is_none_or(|(way, _)| way == "safe")).cloned().collect()
}

/// Each mode against its raw twin, and the other ways of attaching against `attach`.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let safe = safe_rows(rows);
    let attach = |mode| contrast(&safe, MODE, mode, "attach", THREADS);
    let attaching = ["attach-thread", "attach-c"].into_iter().filter_map(attach);
    all_against(rows, "way", "raw", "order").into_iter().chain(attaching).collect()
}

/// Both answers, of rows that were measured here.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let safe = safe_rows(rows);
    let stop = takes(&safe, "stop", "mutators").map(|text| format!("{}.", capital(&text)));
    let collect = takes(&safe, "collect", "live").map(|text| format!("{text} for each live object."));
    cost(rows).into_iter().chain(stop).chain(collect.map(|text| capital(&text))).collect()
}

/// `The safe API against raw pointers: load takes 1.20 ± 0.02 times the time; no difference was
/// measured in poll, root.`
fn cost(rows: &[ScoreRow]) -> Option<String> {
    let (mut found, mut none, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    // The C API is not the safe one.
    let is_safe = |mode: &str| !ALONE.contains(&mode) && mode != "attach-c";
    for (mode, _) in values(rows, MODE).iter().filter(|(mode, _)| is_safe(mode)) {
        let speeds = speeds_of(rows, mode, "way", "safe", "raw");
        let Some(mean) = Ratio::mean(&speeds) else { continue };
        match Effect::of(&mean) {
            Effect::Below => found.push(format!("{mode} takes {} times the time", within(&mean.inverse()))),
            Effect::Above => found.push(format!("{mode} is {} times as fast", within(&mean))),
            Effect::None => none.push(mode.clone()),
            Effect::Unknown | Effect::NoRatio => unknown.push(mode.clone()),
        }
    }
    let listed = |before: &str, modes: Vec<String>| {
        (!modes.is_empty()).then(|| format!("{before} {}", modes.join(", ")))
    };
    found.extend(listed("no difference was measured in", none));
    found.extend(listed("there are too few values to judge", unknown));
    (!found.is_empty()).then(|| format!("The safe API against raw pointers: {}.", found.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;

    #[test]
    fn both_questions_have_an_answer() {
        let of = |mode: &str, way: &str, score: f64| {
            row(&format!("api.{mode}"), 1, &[("way", way)], "ns/op", score)
        };
        let mut rows = vec![of("load", "safe", 3.0), of("load", "raw", 2.0)];
        rows.extend([of("poll", "safe", 1.0), of("poll", "raw", 1.0)]);
        rows.extend([of("attach-c", "safe", 3.0), of("attach-c", "raw", 1.0)]);
        rows.push(row("api.stop", 1, &[("way", "safe"), ("mutators", "8")], "ns/op", 12_000.0));
        let said = answers(&rows);
        let starts = [
            "The safe API against raw pointers: load takes 1.50 ± 0.03 times the time; no difference was measured in poll.",
            "Stop takes 12.0 ± 0.3 us.",
        ];
        assert_eq!(said.len(), 2, "{said:#?}");
        for (sentence, start) in said.iter().zip(starts) {
            let plain = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
            assert_eq!(plain(sentence), plain(start), "{sentence}");
        }
        assert_eq!(answers(&[]), [""; 0]);
    }

    #[test]
    fn the_ways_of_attaching_are_compared() {
        let of = |mode: &str, way: &str, score: f64| {
            row(&format!("api.{mode}"), 1, &[("way", way)], "ns/op", score)
        };
        let rows = [
            of("attach", "safe", 50.0),
            of("attach", "raw", 10.0),
            of("attach-thread", "safe", 100.0),
            of("attach-c", "safe", 25.0),
            of("attach-c", "raw", 10.0),
        ];
        let said = verdicts(&rows);
        let found = said.iter().filter(|text| text.contains("against attach: "));
        let found: Vec<String> = found.map(|text| text.chars().take(31).collect()).collect();
        assert_eq!(
            found,
            ["attach-thread against attach: 2", "attach-c against attach: 0.50 t"],
            "{said:#?}"
        );
    }
}
