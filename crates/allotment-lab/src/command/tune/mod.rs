//! `allotment tune`: measures this machine for a minute, and names the options worth setting.
//!
//! The questions are data ([`questions`]), and the answers are arithmetic ([`decision`]), so both
//! are tested without a measurement. An option is recommended under two conditions. The whole
//! interval of its gain lies above 1 for at least one measured program. For no program does the
//! interval lie below 1, since an option that helps here and harms there is a choice, not an
//! improvement. Everything else is "no difference", and the default stays.

mod decision;
mod questions;

use super::measuring::{UsableCpus, doubts, end, lock, measure, open_json, report, this_program, warn};
use super::{Failure, TuneArguments, print};
use crate::format::ScoreRow;
use crate::format::json::to_json;
use crate::harness::{Experiment, Interrupt, JmhMode, OnJvms, Run, Settings};
use crate::machine::Machine;
use allotment::internals::platform::Topology;
use allotment::options::ENVIRONMENT_VARIABLE;
use allotment::raw::Processor;
use decision::{Finding, decide};
use questions::{cases, for_processor, questions};
use std::fmt::Write as _;
use std::time::Duration;

/// Measures, and prints the recommendations.
///
/// # Errors
/// [`Failure::Usage`] where options are set in the environment, since they would be measured too.
/// [`Failure::Failed`] if a fork failed or a file could not be written. [`Failure::Interrupted`].
pub fn tune(arguments: &TuneArguments, experiments: &[&Experiment]) -> Result<(), Failure> {
    if std::env::var_os(ENVIRONMENT_VARIABLE).is_some_and(|text| !text.is_empty()) {
        return Err(Failure::Usage(format!(
            "{ENVIRONMENT_VARIABLE} is set and would be measured too: unset it, or empty it"
        )));
    }
    let topology = Topology::detect();
    let cpus = UsableCpus::of(&topology);
    let processor = Processor::detect();
    let all = questions(&topology, &processor, cpus.at_once);
    let (questions, left_out) = for_processor(all, experiments, processor);
    let cases = cases(&questions);
    let file = open_json(arguments.json.as_deref())?;
    let _lock = lock(arguments.measuring.ignore_lock)?;
    let interrupt = Interrupt::install()?;
    let settings = settings(arguments.forks);
    warn(&left_out);
    let run = Run {
        program: this_program()?,
        experiments,
        cases: &cases,
        on_jvms: &OnJvms::default(),
        settings: &settings,
        timeout: Duration::from_secs(60),
        cpus: &cpus.order,
        quiet: arguments.measuring.quiet,
        interrupt: &interrupt,
    };
    let (outcome, circumstances) = measure(&run, cpus.at_once);
    let doubts = doubts(&outcome, &circumstances);
    let written = file.filter(|_| !outcome.rows.is_empty()).map(|file| -> anyhow::Result<()> {
        let report = report(&outcome, Machine::detect(&topology).pairs(), &doubts);
        Ok(file.write(&to_json(&report)?)?)
    });
    let measured: Vec<ScoreRow> = outcome.rows.iter().filter(|row| row.is_measured()).cloned().collect();
    let findings: Vec<Finding> = questions.iter().map(|question| decide(question, &measured)).collect();
    let text = text(&findings, &settings.plan(JmhMode::Throughput).describe(settings.forks()));
    let printed = if outcome.interrupted { Ok(()) } else { print(&text) };
    warn(&doubts);
    written.transpose()?;
    end(&outcome, &[], printed)
}

/// Settings that measure some thirty cases in a minute.
fn settings(forks: Option<u32>) -> Settings {
    Settings {
        forks: Some(forks.unwrap_or(4)),
        warmup_iterations: Some(1),
        warmup_time: Some(Duration::from_millis(60)),
        iterations: Some(4),
        time: Some(Duration::from_millis(90)),
        ..Settings::default()
    }
}

/// The output: a line for each question, and the line for the environment.
fn text(findings: &[Finding], settings: &str) -> String {
    let mut text = format!("# {settings}\n\n");
    for finding in findings {
        let _ = writeln!(text, "{}: {}", finding.about, finding.answer);
        for detail in &finding.details {
            let _ = writeln!(text, "    {detail}");
        }
    }
    let options: Vec<&str> = findings.iter().filter_map(|finding| finding.options.as_deref()).collect();
    if options.is_empty() {
        let _ = writeln!(text, "\nthe defaults are right for this machine, as far as this run could see:");
    } else {
        text.push('\n');
    }
    let _ = writeln!(text, "{ENVIRONMENT_VARIABLE}=\"{}\"", options.join(","));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::harness::Estimate;

    fn finding(options: Option<&str>) -> Finding {
        Finding {
            about: "buffers",
            answer: "an answer".into(),
            details: vec!["a detail".into()],
            options: options.map(str::to_owned),
        }
    }

    #[test]
    fn the_last_line_can_be_pasted() {
        let found =
            text(&[finding(Some("TLABSize=64k")), finding(None), finding(Some("+ZeroTLAB"))], "settings");
        assert!(found.ends_with("\nALLOTMENT_OPTIONS=\"TLABSize=64k,+ZeroTLAB\"\n"), "{found}");
        let none = text(&[finding(None)], "settings");
        assert!(none.ends_with("ALLOTMENT_OPTIONS=\"\"\n") && none.contains("defaults are right"), "{none}");
    }

    #[test]
    fn it_takes_about_a_minute() {
        let questions = questions(&Topology::detect(), &Processor::detect(), 2);
        let cases = cases(&questions);
        let planned = Estimate::of_run(&cases, &[], &settings(None), experiments::all());
        assert!((30..90).contains(&planned.total().as_secs()), "{planned:?} for {} cases", cases.len());
    }
}
