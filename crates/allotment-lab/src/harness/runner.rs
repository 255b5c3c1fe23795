//! The parent: runs the forks of all cases, one at a time, and makes rows of what they say.
//!
//! Forks are interleaved: the first fork of every case, then the second of every case in reverse order, and
//! so on (A B B A). A machine that slows down steadily then does so equally for all. Running a case's
//! forks one after the other, as JMH does, was refused: the drift of a shared machine over minutes is
//! larger than many effects of interest.

use super::axis::label;
use super::fork_process::{self, End, Fork};
use super::gather::Gathered;
use super::neighbours::{Company, Left, Neighbours};
use super::progress::Progress;
use super::protocol::IterationRecord;
use super::settings::START;
use super::{Axis, Case, Experiment, Interrupt, Order, Pin, SecondaryValue, Settings};
use crate::format::ScoreRow;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Everything a run needs to know.
pub struct Run<'a> {
    /// The program whose hidden command `fork` is a fork: this one.
    pub program: PathBuf,
    /// Where the cases' experiments are found.
    pub experiments: &'a [&'a dyn Experiment],
    /// What to measure.
    pub cases: &'a [Case],
    /// How long and how often.
    pub settings: &'a Settings,
    /// How long a fork may say nothing, besides the time of an iteration.
    pub timeout: Duration,
    /// The CPUs that threads may be bound to, in the order in which they are taken.
    pub cpus: &'a [usize],
    /// Shows no progress.
    pub quiet: bool,
    /// Ends the run early.
    pub interrupt: &'a Interrupt,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The cases that have results, in the order of the cases.
    pub rows: Vec<ScoreRow>,
    /// For each row the mean calls of a thread in an iteration and the mean nanoseconds of a call.
    pub calls: Vec<(f64, f64)>,
    /// What went wrong, naming the case. The other cases are not affected.
    pub failures: Vec<String>,
    /// What forks wrote to standard error though nothing went wrong.
    pub complaints: Vec<String>,
    /// Cases without any result.
    pub unmeasured: Vec<String>,
    /// Whether the run was ended early.
    pub interrupted: bool,
}

/// Measures. A case one of whose forks has failed gets no further forks; what its earlier forks found stays.
pub fn run(run: &Run<'_>) -> Outcome {
    let forks = run.settings.forks();
    let mut outcome = Outcome::default();
    let mut failed = vec![false; run.cases.len()];
    let mut gathered: Vec<Gathered> = run
        .cases
        .iter()
        .map(|case| Gathered { case: case.clone(), plan: run.settings.plan(case.jmh_mode), forks: vec![] })
        .collect();
    let total = run.settings.estimate(run.cases.iter().map(|case| case.jmh_mode));
    let mut progress = Progress::new(total, forks * run.cases.len() as u32, run.quiet);
    for (fork, index) in interleaved(forks, run.cases.len()) {
        if run.interrupt.requested() {
            outcome.interrupted = true;
            break;
        }
        let case = &gathered[index];
        let planned = case.plan.duration() + START;
        if failed[index] {
            progress.advance(planned);
            continue;
        }
        let name = describe(&case.case, axes_of(run, &case.case));
        progress.fork(&name, fork + 1, forks);
        let order = Order {
            case: case.case.clone(),
            plan: case.plan,
            cpus: bindings(run.settings.pin, case.case.threads, run.cpus),
            watch: run.settings.watch.clone(),
            parent: std::process::id(),
        };
        let silence = case.plan.time.max(case.plan.warmup_time) + run.timeout;
        let company = company(run, &case.case);
        let mut command = Command::new(&run.program);
        command.arg("fork");
        let mut shown = Duration::ZERO;
        let mut ended = match &company {
            Ok(_) => fork_process::run(command, &order, silence, run.interrupt, &mut |record| {
                let time = if record.warmup { order.plan.warmup_time } else { order.plan.time };
                progress.advance(time);
                shown += time;
            }),
            Err(_) => Fork::silent(End::Finished),
        };
        progress.advance(planned.saturating_sub(shown));
        let mut measured = std::mem::take(&mut ended.iterations);
        measured.retain(|record| !record.warmup);
        part(company, &mut measured, &mut ended.end);
        match ended.end {
            End::Finished => {
                if !ended.complaints.trim().is_empty() {
                    outcome.complaints.push(format!("{name}: {}", ended.complaints.trim()));
                }
                gathered[index].forks.push(measured);
            }
            End::Interrupted => {
                gathered[index].forks.push(measured);
                outcome.interrupted = true;
                break;
            }
            End::Failed(text) => {
                failed[index] = true;
                outcome.failures.push(format!("{name}, fork {} of {forks}: {text}", fork + 1));
            }
        }
    }
    progress.finish();
    for case in &gathered {
        let axes = axes_of(run, &case.case);
        match case.row(axes, forks) {
            Some(row) => {
                outcome.rows.push(row);
                outcome.calls.push(case.calls());
            }
            None => outcome.unmeasured.push(describe(&case.case, axes)),
        }
    }
    outcome.complaints.dedup();
    outcome
}

/// The neighbours of a case, walking; none if it has none.
fn company(run: &Run<'_>, case: &Case) -> Result<Option<Company>, Left> {
    let Some(neighbours) = Neighbours::of(case) else { return Ok(None) };
    let mut command = Command::new(&run.program);
    command.arg("neighbour");
    let cpus = neighbour_bindings(run.settings.pin, case.threads, neighbours.threads, run.cpus);
    Company::start(command, neighbours, cpus, run.timeout, run.interrupt).map(Some)
}

/// Ends neighbours after their fork. Their rate goes to the first of its iterations, since it is one value for each fork; what
/// was measured beside neighbours that were not there is dropped.
fn part(company: Result<Option<Company>, Left>, measured: &mut Vec<IterationRecord>, end: &mut End) {
    match company.and_then(|company| company.map(Company::leave).transpose()) {
        Ok(rate) => {
            let rate = rate.map(|rate| SecondaryValue::average("neighbours.rate", "lines/us", rate));
            if let (Some(rate), Some(first)) = (rate, measured.first_mut()) {
                first.secondary.push(rate);
            }
        }
        Err(left) => {
            measured.clear();
            if *end == End::Finished {
                *end = match left {
                    Left::Interrupted => End::Interrupted,
                    Left::Failed(text) => End::Failed(text),
                };
            }
        }
    }
}

/// The axes of a case's experiment.
pub(super) fn axes_of(run: &Run<'_>, case: &Case) -> &'static [Axis] {
    let experiment = run.experiments.iter().find(|experiment| experiment.name() == case.experiment);
    experiment.map_or(&[], |experiment| experiment.axes())
}

/// A case with all its coordinates as people read them, for messages.
pub(super) fn describe(case: &Case, axes: &[Axis]) -> String {
    let params: String =
        case.params.iter().map(|(name, value)| format!("{name} = {}, ", label(axes, name, value))).collect();
    format!("{} ({params}threads = {}, {})", case.benchmark(), case.threads, case.jmh_mode)
}

/// The order of forks as (fork, case), both from zero.
fn interleaved(forks: u32, cases: usize) -> impl Iterator<Item = (u32, usize)> {
    (0..forks).flat_map(move |fork| {
        (0..cases).map(move |index| (fork, if fork % 2 == 0 { index } else { cases - 1 - index }))
    })
}

/// For each thread the CPU it is bound to.
pub(super) fn bindings(pin: Pin, threads: usize, cpus: &[usize]) -> Vec<Option<usize>> {
    let bound = match pin {
        Pin::Auto => threads <= cpus.len(),
        Pin::Always => !cpus.is_empty(),
        Pin::Never => false,
    };
    (0..threads).map(|thread| bound.then(|| cpus[thread % cpus.len()])).collect()
}

/// For each neighbour the CPU it is bound to: those behind the measuring threads', and only if there are enough for both.
fn neighbour_bindings(pin: Pin, threads: usize, neighbours: usize, cpus: &[usize]) -> Vec<Option<usize>> {
    bindings(pin, threads + neighbours, cpus).split_off(threads)
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::{JmhMode, Kind};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_name_sizes_as_people_do() {
        let axes = [Axis::new("size", "", Kind::Size, &["16"])];
        let text = describe(&case(JmhMode::SampleTime, 2), &axes);
        assert_eq!(text, "example.plain (size = 64k, resize = off, threads = 2, sample)");
    }

    #[test]
    fn forks_go_there_and_back() {
        let order: Vec<_> = interleaved(3, 2).collect();
        assert_eq!(order, [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]);
    }

    #[test]
    fn threads_are_bound_when_there_is_room() {
        assert_eq!(bindings(Pin::Auto, 2, &[3, 5]), [Some(3), Some(5)]);
        assert_eq!(bindings(Pin::Auto, 3, &[3, 5]), [None; 3]);
        assert_eq!(bindings(Pin::Always, 3, &[3, 5]), [Some(3), Some(5), Some(3)]);
        assert_eq!(bindings(Pin::Never, 1, &[3, 5]), [None]);
        assert_eq!(bindings(Pin::Always, 1, &[]), [None]);
        assert_eq!(neighbour_bindings(Pin::Auto, 1, 1, &[3, 5]), [Some(5)]);
        assert_eq!(neighbour_bindings(Pin::Auto, 1, 2, &[3, 5]), [None; 2]);
        assert_eq!(neighbour_bindings(Pin::Always, 1, 2, &[3, 5]), [Some(5), Some(3)]);
    }

    proptest! {
        #[test]
        fn every_fork_of_every_case_runs_once(forks in 0u32..6, cases in 0usize..6) {
            let mut order: Vec<_> = interleaved(forks, cases).collect();
            order.sort();
            let all: Vec<_> = (0..forks).flat_map(|f| (0..cases).map(move |c| (f, c))).collect();
            prop_assert_eq!(order, all);
        }
    }
}
