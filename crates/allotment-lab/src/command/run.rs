//! `allotment run`: chooses the cases, checks everything that can be checked, measures, writes and
//! prints.

use super::baseline::baselines;
use super::measuring::{UsableCpus, doubts, end, lock, measure, plan, report, say, this_program, warn};
use super::print_answers;
use super::printed::{Printed, tables};
use super::reporting::write_report;
use super::{Failure, RunArguments, counters, jvm, print};
use crate::c::{CC, Compiler};
use crate::format::csv::to_csv;
use crate::format::json::{JVM_HEAPS, to_json};
use crate::format::phrase::count;
use crate::format::suggest::did_you_mean;
use crate::format::{OutputFile, Report, check_files, distinct, named_files};
use crate::harness::{
    Case, Experiment, Interrupt, JmhMode, Neighbours, OnJvms, Outcome, Profiled, Run, Settings, Watch,
    expand, profile,
};
use crate::jvm::larger_heaps;
use crate::machine::{Machine, free_memory};
use allotment::Heap;
use allotment::internals::platform::Topology;
use allotment::options::ENVIRONMENT_VARIABLE;
use std::path::PathBuf;

/// Measures the cases that `arguments` ask for, or prints which these are.
///
/// # Errors
/// [`Failure::Usage`] before anything is measured. [`Failure::Failed`] if another run measures; and if
/// a fork failed or a file could not be written, after everything else has been printed.
/// [`Failure::Interrupted`] likewise.
pub fn run(arguments: &RunArguments, experiments: &[&Experiment]) -> Result<(), Failure> {
    let chosen = named(&arguments.experiments, experiments)?;
    check_environment()?;
    let topology = Topology::detect();
    let cpus = UsableCpus::of(&topology);
    let (cases, left_out) = expand(&chosen, &arguments.selection(), cpus.at_once)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let cases = beside(arguments.neighbours, cases)?;
    let baselines = baselines(arguments, &chosen, &cases)?;
    let chosen_jdks = arguments.jvm.choose()?;
    let files = if arguments.plan { Files::default() } else { Files::open(arguments)? };
    let counters = counters::planned(arguments)?;
    let _lock = lock(arguments.measuring.ignore_lock || arguments.plan)?;
    let watch = Watch { counters: counters.as_ref().map(|one| one.plan.clone()), profile: false };
    let settings = Settings { watch, ..arguments.settings() };
    let interrupt = Interrupt::install()?;
    let machine = Machine::detect(&topology);
    for one in &left_out {
        if one.is_for_another_machine() {
            warn(&[one.to_string()]);
        } else {
            say(arguments.measuring.quiet, &one.to_string());
        }
    }
    let (on_jvms, mut undone) = arguments.jvm.cases(&chosen_jdks, &chosen, &cases, &settings, &interrupt)?;
    let uncounted = counters.iter().flat_map(|one| &one.missing);
    undone.extend(uncounted.map(|name| format!("--counters: {name} cannot be counted here")));
    jvm::check_baselines(&baselines, &on_jvms)?;
    let on_jvms = if arguments.plan {
        OnJvms { cases: on_jvms, ..OnJvms::default() }
    } else {
        chosen_jdks.with_jar(on_jvms, &mut undone, &interrupt)?
    };
    let run = Run {
        program: this_program()?,
        experiments,
        cases: &cases,
        on_jvms: &on_jvms,
        settings: &settings,
        timeout: arguments.timeout,
        cpus: &cpus.order,
        quiet: arguments.measuring.quiet,
        interrupt: &interrupt,
    };
    if arguments.plan {
        return end(&Outcome::default(), &undone, print(&plan(&run)));
    }
    let (mut outcome, circumstances) = measure(&run, cpus.at_once);
    // The files are written before anything else can go wrong.
    let doubts = doubts(&outcome, &circumstances);
    let report = report(&outcome, circumstances_of(arguments, &machine, &cases, &on_jvms), &doubts);
    let written = files.write(&report, experiments);
    let mut profiled = Vec::new();
    if arguments.profile && !outcome.interrupted {
        say(
            arguments.measuring.quiet,
            &format!("profiling {} in a process each", count(cases.len(), "case")),
        );
        profiled = profile(&run);
    }
    let unprofiled =
        |one: &Profiled| Some(format!("no profile of {}: {}", one.case, one.text.as_ref().err()?));
    undone.extend(profiled.iter().filter_map(unprofiled));
    outcome.interrupted |= interrupt.requested();
    let describe = |mode: JmhMode| format!("{mode}: {}", settings.plan(mode).describe(settings.forks()));
    let mut settings_text = distinct(cases.iter().map(|case| describe(case.jmh_mode)));
    settings_text.extend(counters.into_iter().flat_map(|one| one.lines));
    settings_text.extend(jvm::settings_lines(&on_jvms, &cases, &settings));
    let (tables, answers) = tables(&Printed {
        report: &report,
        experiments: &chosen,
        baselines: &baselines,
        settings: &settings_text,
        outcome: &outcome,
        on_jvms: &on_jvms,
    });
    let printed = print(&(tables + &profiles(&profiled)));
    warn(&doubts);
    let printed = printed.and_then(|()| print_answers(&answers));
    written?;
    end(&outcome, &undone, printed)
}

/// The word for all experiments.
const ALL: &str = "all";

/// The profile of each case.
fn profiles(profiled: &[Profiled]) -> String {
    let text = |Profiled { case, text }: &Profiled| match text {
        Ok(text) => format!("\nprofile of {case}\n{text}"),
        Err(why) => format!("\nno profile of {case}: {why}\n"),
    };
    profiled.iter().map(text).collect()
}

/// The experiments of these names, each once.
fn named<'a>(names: &[String], experiments: &[&'a Experiment]) -> Result<Vec<&'a Experiment>, Failure> {
    let mut chosen: Vec<&Experiment> = Vec::new();
    let expand = |name: &'_ String| match name.as_str() {
        ALL => experiments.iter().map(|experiment| experiment.name.to_string()).collect(),
        one => vec![one.to_string()],
    };
    for name in &names.iter().flat_map(expand).collect::<Vec<_>>() {
        let Some(&found) = experiments.iter().find(|experiment| experiment.name == name) else {
            let hint = match did_you_mean(name, experiments.iter().map(|one| one.name)).trim_end() {
                "" => "see allotment list, or write all".to_string(),
                meant => meant.to_string(),
            };
            return Err(Failure::Usage(format!("there is no experiment `{name}`; {hint}")));
        };
        if !chosen.iter().any(|known| known.name == found.name) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

/// The cases alone and with neighbours, if the user asked for neighbours and the machine has the
/// memory.
fn beside(neighbours: Option<Neighbours>, cases: Vec<Case>) -> Result<Vec<Case>, Failure> {
    let Some(neighbours) = neighbours else { return Ok(cases) };
    let (wanted, free) = (neighbours.total_bytes(), free_memory());
    if wanted > free {
        return Err(Failure::Usage(format!(
            "--neighbours {}: they walk {} MiB together, and {} MiB of memory are free",
            neighbours.label(),
            wanted >> 20,
            free >> 20
        )));
    }
    Ok(neighbours.beside(cases))
}

/// Checks the options that the environment sets: every heap of every fork would refuse them.
///
/// # Errors
/// [`Failure::Usage`] in the option's own words.
fn check_environment() -> Result<(), Failure> {
    let wrong = |error| Failure::Usage(format!("{ENVIRONMENT_VARIABLE}: {error}"));
    Heap::builder().resolve().map(drop).map_err(wrong)
}

/// The machine and the settings, as result files hold them.
fn circumstances_of(
    arguments: &RunArguments,
    machine: &Machine,
    cases: &[Case],
    on_jvms: &OnJvms,
) -> Vec<String> {
    let mut circumstances = machine.pairs();
    circumstances.push(format!("pin={:?}", arguments.pin).to_lowercase());
    let options = std::env::var(ENVIRONMENT_VARIABLE).ok();
    circumstances.extend(options.map(|options| format!("{ENVIRONMENT_VARIABLE}={options}")));
    let compilers = cases.iter().flat_map(|case| &case.params).filter(|(name, _)| name == CC);
    let version = |name: &String| Some(format!("{name}={}", Compiler::find(name).ok()?.version()?));
    circumstances.extend(distinct(compilers.map(|(_, name)| name.clone())).iter().filter_map(version));
    if !on_jvms.cases.is_empty() {
        circumstances.push(format!("{JVM_HEAPS}={}", larger_heaps()));
    }
    circumstances
}

/// The output files that the user asked for, opened before the measurement.
#[derive(Default)]
struct Files {
    json: Option<OutputFile>,
    csv: Option<OutputFile>,
    report: Option<OutputFile>,
}

impl Files {
    fn open(arguments: &RunArguments) -> Result<Files, Failure> {
        let RunArguments { json, csv, report, .. } = arguments;
        let outputs = [("--json", json), ("--csv", csv), ("--report", report)];
        check_files(&[], &named_files(&outputs))?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::open).transpose();
        Ok(Files { json: open(json)?, csv: open(csv)?, report: open(report)? })
    }

    /// Writes the files. Without results the files keep their old content.
    fn write(self, report: &Report, experiments: &[&Experiment]) -> Result<(), Failure> {
        if report.rows.is_empty() {
            return Ok(());
        }
        let json = self.json.map(|file| -> anyhow::Result<()> { Ok(file.write(&to_json(report)?)?) });
        let csv = self.csv.map(|file| -> anyhow::Result<()> { Ok(file.write(to_csv(report).as_bytes())?) });
        let page = self.report.map(|file| write_report(file, report, experiments));
        // All files are tried before the error of one is returned.
        json.transpose()?;
        csv.transpose()?;
        page.transpose()?;
        Ok(())
    }
}
