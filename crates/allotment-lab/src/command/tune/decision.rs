//! Answers questions from the measured figures.

use super::questions::{Candidate, Program, Question};
use crate::format::ScoreRow;
use crate::format::phrase::{Effect, ratio_within};
use crate::statistics::Ratio;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    /// The subject of the question.
    pub(super) about: &'static str,
    /// The answer in one line.
    pub(super) answer: String,
    /// The gain or loss of each value.
    pub(super) details: Vec<String>,
    /// The text for the option list; `None` if the default is right.
    pub(super) options: Option<String>,
}

/// A value, with its gain for each program.
struct Tried<'q> {
    candidate: &'q Candidate,
    ratios: Vec<(&'q Program, Ratio)>,
}

impl Tried<'_> {
    fn harms(&self) -> bool {
        self.ratios.iter().any(|(_, ratio)| Effect::of(ratio) == Effect::Below)
    }

    fn helps(&self) -> bool {
        self.ratios.iter().any(|(_, ratio)| Effect::of(ratio) == Effect::Above)
    }

    /// The geometric mean of the gains; NaN if one of them is unknown.
    fn mean(&self) -> f64 {
        let ratios: Vec<Ratio> = self.ratios.iter().map(|(_, ratio)| *ratio).collect();
        Ratio::mean(&ratios).map_or(f64::NAN, |mean| mean.value)
    }

    /// A line for the value, and one for each program.
    fn describe(&self) -> Vec<String> {
        let of = |(program, ratio): &(&Program, Ratio)| {
            let what = match Effect::of(ratio) {
                Effect::Above => "helps",
                Effect::Below => "harms",
                Effect::None | Effect::Unknown | Effect::NoRatio => "no difference",
            };
            format!("  {:<22} {what:<13} {}", ratio_within(ratio, ""), program.label)
        };
        std::iter::once(self.candidate.label.clone()).chain(self.ratios.iter().map(of)).collect()
    }
}

/// Answers a question from the measured rows.
pub(super) fn decide(question: &Question, rows: &[ScoreRow]) -> Finding {
    let [default, others @ ..] = &question.candidates[..] else { return unknown(question, &[]) };
    let row = |program: &Program, candidate: &Candidate| {
        let case = question.case(program, candidate);
        rows.iter().find(|row| {
            let parameters = row.parameters.iter().map(|one| (&one.name, &one.value));
            row.benchmark == case.benchmark()
                && row.threads == case.threads
                && parameters.eq(case.params.iter().map(|(name, value)| (name, value)))
        })
    };
    let tried: Vec<Tried<'_>> = others
        .iter()
        .map(|candidate| Tried {
            candidate,
            ratios: question
                .programs
                .iter()
                .filter_map(|program| {
                    let (own, base) = (row(program, candidate)?, row(program, default)?);
                    Some((program, Ratio::of(&own.primary.summary(), &base.primary.summary())))
                })
                .collect(),
        })
        .collect();
    if tried.iter().all(|one| one.ratios.is_empty()) {
        return unknown(question, &tried);
    }
    let useful = tried.iter().filter(|one| one.helps() && !one.harms() && one.mean() > 1.0);
    let best = useful.max_by(|a, b| a.mean().total_cmp(&b.mean()));
    let details = tried.iter().flat_map(Tried::describe).collect();
    let (answer, options) = match best {
        Some(best) => (
            format!("{}, {:.2} of {} on average", best.candidate.label, best.mean(), default.label),
            Some(best.candidate.options.clone()),
        ),
        None => {
            let options = (!default.options.is_empty()).then(|| default.options.clone());
            (format!("{}: {}", default.label, why_not(&tried)), options)
        }
    };
    Finding { about: question.about, answer, details, options }
}

/// Why no value is better than the first.
fn why_not(tried: &[Tried<'_>]) -> &'static str {
    let (helps, harms) = (tried.iter().any(Tried::helps), tried.iter().any(Tried::harms));
    match (helps, harms) {
        (false, false) => "no difference outside the error",
        (false, true) => "nothing helps, something harms",
        (true, _) => "what helps one program harms another",
    }
}

fn unknown(question: &Question, tried: &[Tried<'_>]) -> Finding {
    let details = tried.iter().map(|one| format!("{}: not measured", one.candidate.label)).collect();
    Finding { about: question.about, answer: "not measured".into(), details, options: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    fn question(programs: &[&str], default_options: &str) -> Question {
        let candidate = |name: &'static str, options: &str| Candidate {
            label: name.into(),
            options: options.into(),
            mode: "m",
            parameters: vec![("set", name.into())],
        };
        Question {
            about: "buffers",
            experiment: "e",
            programs: programs
                .iter()
                .map(|name| Program {
                    label: (*name).into(),
                    threads: 1,
                    parameters: vec![("program", (*name).into())],
                })
                .collect(),
            candidates: vec![
                candidate("default", default_options),
                candidate("a", "A=1"),
                candidate("b", "B=1"),
            ],
        }
    }

    fn row(program: &str, set: &str, score: f64, spread: f64) -> ScoreRow {
        let parameter = |name: &str, value: &str| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let values = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|part| score + part * spread);
        ScoreRow {
            benchmark: "e.m".into(),
            threads: 1,
            parameters: vec![parameter("program", program), parameter("set", set)],
            primary: examples::metric("", "ops/us", Combine::Average, &[&values]),
            ..examples::row()
        }
    }

    #[test]
    fn the_best_of_those_that_help_and_do_not_harm_is_recommended() {
        let question = question(&["x", "y"], "");
        let rows = [
            row("x", "default", 100.0, 0.1),
            row("y", "default", 100.0, 0.1),
            row("x", "a", 120.0, 0.1),
            row("y", "a", 100.0, 0.1),
            row("x", "b", 150.0, 0.1),
            row("y", "b", 90.0, 0.1),
        ];
        let finding = decide(&question, &rows);
        assert_eq!(finding.options.as_deref(), Some("A=1"), "{finding:?}");
        assert!(finding.answer.starts_with("a, 1.10 of default"), "{}", finding.answer);
        assert_eq!(
            finding.details[3..],
            ["b", "  1.50 (1.50 to 1.50)    helps         x", "  0.90 (0.90 to 0.90)    harms         y"]
        );
    }

    #[test]
    fn what_the_error_covers_is_no_difference() {
        let rows = [row("x", "default", 100.0, 20.0), row("x", "a", 110.0, 20.0), row("x", "b", 90.0, 20.0)];
        let finding = decide(&question(&["x"], ""), &rows);
        assert_eq!(
            (finding.answer.as_str(), finding.options),
            ("default: no difference outside the error", None)
        );
        // The value compared with need not be the heap's default.
        assert_eq!(decide(&question(&["x"], "Style=0"), &rows).options.as_deref(), Some("Style=0"));
    }

    #[test]
    fn what_was_not_measured_is_not_recommended() {
        let finding = decide(&question(&["x"], "Style=0"), &[row("x", "a", 1.0, 0.1)]);
        assert_eq!((finding.answer.as_str(), finding.options), ("not measured", None));
    }
}
