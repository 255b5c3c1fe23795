//! The parent: runs the forks of all cases, one at a time, and makes rows of their messages.
//!
//! Forks are interleaved: the first fork of every case, then the second of every case in reverse
//! order, and so on (A B B A). So a machine that slows down steadily does so equally for all cases.
//! Refused: all forks of a case one after the other, as in JMH. The drift of a shared machine over
//! minutes is larger than many effects of interest.

use super::axis::label;
use super::fork_process::{self, End, Fork};
use super::gather::Gathered;
use super::host;
use super::jvm_case::{JVM, JvmCase, OnJvms};
use super::jvm_fork::{self, JvmOrder};
use super::neighbours::{Company, Neighbours};
use super::progress::Progress;
use super::{Axis, Case, Estimate, Experiment, Interrupt, Order, Pin, Plan, SecondaryValue, Settings, Watch};
use crate::format::phrase::count;
use crate::format::{Origin, ScoreRow};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The input of a run.
pub struct Run<'a> {
    /// The program whose hidden command `fork` is a fork: this one.
    pub program: PathBuf,
    /// The experiments of the cases.
    pub experiments: &'a [&'a Experiment],
    /// The cases to measure.
    pub cases: &'a [Case],
    /// The cases that JVMs measure beside them.
    pub on_jvms: &'a OnJvms,
    /// The numbers and times of iterations.
    pub settings: &'a Settings,
    /// The time for which a fork may report nothing, besides the time of an iteration.
    pub timeout: Duration,
    /// The CPUs that threads may be bound to, in the order in which they are taken.
    pub cpus: &'a [usize],
    /// Shows no progress.
    pub quiet: bool,
    /// Ends the run early.
    pub interrupt: &'a Interrupt,
}

/// The calls of [`Worker::batch`](super::Worker::batch) behind a row. Both means are NaN for a row
/// of a JVM, which does not report its calls, and for a row without a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// Mean calls of a thread in an iteration.
    pub per_iteration: f64,
    /// Mean nanoseconds of a call.
    pub nanoseconds: f64,
}

impl Calls {
    const UNKNOWN: Calls = Calls { per_iteration: f64::NAN, nanoseconds: f64::NAN };
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The cases that have results or that failed, in the order of the cases.
    pub rows: Vec<ScoreRow>,
    /// The calls behind each row.
    pub calls: Vec<Calls>,
    /// The standard error of forks that succeeded.
    pub complaints: Vec<String>,
    /// Cases without any result, since the run ended early.
    pub unmeasured: Vec<String>,
    /// Whether the run was ended early.
    pub interrupted: bool,
}

impl Outcome {
    /// The failures, each with its case.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        self.rows.iter().filter_map(ScoreRow::failure_text)
    }

    /// The number of cases, measured or not.
    pub fn cases(&self) -> usize {
        self.rows.len() + self.unmeasured.len()
    }

    /// Why the run as a whole is not complete, such as `interrupted, 2 of 3 cases not measured`.
    /// `None` if all cases were measured.
    pub fn incomplete(&self) -> Option<String> {
        let of = |number: usize, what: &str| {
            (number > 0).then(|| format!("{number} of {} {what}", count(self.cases(), "case")))
        };
        let interrupted = self.interrupted.then(|| "interrupted".to_string());
        let failed = of(self.failures().count(), "failed");
        let unmeasured = of(self.unmeasured.len(), "not measured");
        let parts: Vec<String> = interrupted.into_iter().chain(failed).chain(unmeasured).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A case that is measured by this program or by a JVM.
struct MeasuredCase<'a> {
    gathered: Gathered,
    /// Its name in messages.
    name: String,
    /// The number of its processes.
    forks: u32,
    /// The expected time of its next fork: the plan's estimate, then the mean of its forks.
    expected: Duration,
    /// The times of its forks.
    took: Vec<Duration>,
    on_jvm: Option<&'a JvmCase>,
    /// The JVM that measured it, as JMH names it.
    machine: Option<Origin>,
    /// Why one of its forks failed.
    failure: Option<String>,
}

impl MeasuredCase<'_> {
    /// Forks that are still to come.
    fn forks_left(&self) -> u32 {
        if self.failure.is_some() { 0 } else { self.forks.saturating_sub(self.took.len() as u32) }
    }

    /// The expected time of these forks.
    fn left(&self) -> Duration {
        self.expected.saturating_mul(self.forks_left())
    }

    /// Records the time of a fork.
    fn learn(&mut self, time: Duration) {
        self.took.push(time);
        self.expected = self.took.iter().sum::<Duration>() / self.took.len() as u32;
    }
}

/// Measures the cases. After a failed fork a case gets no further forks. Its row has the reason, and
/// the results of the earlier forks.
pub fn run(run: &Run<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut entries = measured_cases(run);
    let forks: Vec<u32> = entries.iter().map(|entry| entry.forks).collect();
    let mut left: Duration =
        entries.iter().map(MeasuredCase::left).fold(Duration::ZERO, Duration::saturating_add);
    let mut progress = Progress::new(forks.iter().sum(), run.quiet);
    for (fork, index) in interleaved(&forks) {
        if run.interrupt.requested() {
            outcome.interrupted = true;
            break;
        }
        let entry = &mut entries[index];
        if entry.failure.is_some() {
            progress.leave_out();
            continue;
        }
        progress.fork(&entry.name, fork + 1, entry.forks, left);
        let (start, left_of_entry) = (Instant::now(), entry.left());
        let waited = run.settings.await_cpus.and_then(|most| host::await_cpus(most, run.cpus, run.interrupt));
        outcome.complaints.extend(waited.map(|text| format!("{}: {text}", entry.name)));
        let ended = one_fork(run, entry);
        if let End::Failed(text) = &ended.end {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            entry.failure = Some(format!("fork {} of {}: {text}", fork + 1, entry.forks));
        } else {
            entry.gathered.forks.push(ended.iterations);
            if ended.end == End::Interrupted {
                outcome.interrupted = true;
                break;
            }
            let complaints = ended.complaints.trim();
            let complaints = Some(complaints).filter(|text| !text.is_empty());
            outcome.complaints.extend(complaints.map(|text| format!("{}: {text}", entry.name)));
        }
        entry.learn(start.elapsed());
        left = left.saturating_sub(left_of_entry).saturating_add(entry.left());
    }
    progress.finish();
    for entry in entries {
        let axes = axes_of(run.experiments, &entry.gathered.case);
        let is_failed = entry.failure.is_some();
        match entry.gathered.row(axes, entry.forks, entry.failure) {
            Some(mut row) => {
                row.parameters.extend(entry.on_jvm.map(JvmCase::parameter));
                row.machine = entry.machine.or(entry.on_jvm.filter(|_| is_failed).map(JvmCase::origin));
                outcome.rows.push(row);
                let calls = entry.gathered.calls();
                outcome.calls.push(if entry.on_jvm.is_some() { Calls::UNKNOWN } else { calls });
            }
            None => outcome.unmeasured.push(entry.name),
        }
    }
    outcome.complaints.dedup();
    outcome
}

/// Every case, each followed by the JVMs' cases beside it.
fn measured_cases<'a>(run: &Run<'a>) -> Vec<MeasuredCase<'a>> {
    let mut entries = Vec::new();
    for (index, case) in run.cases.iter().enumerate() {
        let beside = run.on_jvms.cases.iter().filter(|on_jvm| on_jvm.beside == index);
        for on_jvm in std::iter::once(None).chain(beside.map(Some)) {
            let (forks, plan) = match on_jvm {
                None => (run.settings.forks(), run.settings.plan(case.jmh_mode)),
                Some(on_jvm) => (run.settings.jvm_forks(), on_jvm.plan(run.settings, case.jmh_mode)),
            };
            entries.push(MeasuredCase {
                gathered: Gathered { case: case.clone(), plan, forks: vec![] },
                name: case_name(case, run.experiments, on_jvm),
                forks,
                expected: Estimate::of_fork(case, plan, on_jvm, run.experiments).total(),
                took: vec![],
                on_jvm,
                machine: None,
                failure: None,
            });
        }
    }
    entries
}

/// Runs a fork of an entry to its end, beside its neighbours. Returns it without the iterations of
/// the warm-up.
fn one_fork(run: &Run<'_>, entry: &mut MeasuredCase<'_>) -> Fork {
    let (case, plan) = (&entry.gathered.case, entry.gathered.plan);
    let company = company(run, case);
    let mut fork = match (&company, entry.on_jvm) {
        (Err(_), _) => Fork::silent(End::Finished),
        (Ok(_), Some(on_jvm)) => {
            let order = JvmOrder { jar: &run.on_jvms.jar, on_jvm, case, plan };
            jvm_fork::run(&order, silence_of(run, case, plan), run.interrupt)
        }
        (Ok(_), None) => own_fork(run, case, run.settings.watch.clone()),
    };
    entry.machine = fork.machine.take().or(entry.machine.take());
    fork.iterations.retain(|record| !record.warmup);
    part(company, &mut fork);
    // A signal for the whole session reaches the forks too. Their earlier results stay valid.
    if matches!(fork.end, End::Failed(_)) && run.interrupt.explains_end() {
        fork.end = End::Interrupted;
    }
    fork
}

/// Runs a fork of this program to its end.
pub(super) fn own_fork(run: &Run<'_>, case: &Case, watch: Watch) -> Fork {
    let plan = run.settings.plan(case.jmh_mode);
    let order = Order {
        case: case.clone(),
        plan,
        cpus: bindings(run.settings.pin, case.threads, run.cpus),
        watch,
        parent: std::process::id(),
    };
    let mut command = Command::new(&run.program);
    command.arg("fork");
    fork_process::run(command, &order, silence_of(run, case, plan), run.interrupt)
}

/// Starts the neighbours of a case, if it has some.
fn company(run: &Run<'_>, case: &Case) -> Result<Option<Company>, End> {
    let Some(neighbours) = Neighbours::of(case) else { return Ok(None) };
    let mut command = Command::new(&run.program);
    command.arg("neighbour");
    let cpus = neighbour_bindings(run.settings.pin, case.threads, neighbours.threads, run.cpus);
    Company::start(command, neighbours, cpus, run.timeout, run.interrupt).map(Some)
}

/// Ends neighbours after their fork. Their rate goes to the first of its iterations, since it is one
/// value for each fork. If the neighbours had ended early, the fork's iterations are dropped.
fn part(company: Result<Option<Company>, End>, fork: &mut Fork) {
    match company.and_then(|company| company.map(Company::leave).transpose()) {
        Ok(rate) => {
            if let (Some(rate), Some(first)) = (rate, fork.iterations.first_mut()) {
                first.secondary.push(SecondaryValue::average("neighbours.rate", "lines/us", rate));
            }
        }
        Err(end) => {
            fork.iterations.clear();
            if fork.end == End::Finished {
                fork.end = end;
            }
        }
    }
}

/// The axes of a case's experiment.
fn axes_of(experiments: &[&Experiment], case: &Case) -> &'static [Axis] {
    Experiment::of(case, experiments).map_or(&[], |experiment| experiment.axes)
}

/// The time for which a fork of a case may report nothing.
fn silence_of(run: &Run<'_>, case: &Case, plan: Plan) -> Duration {
    let silence = Experiment::of(case, run.experiments).map_or(Duration::ZERO, |one| (one.silence)(case));
    plan.time.max(plan.warmup_time) + silence + run.timeout
}

/// A case with all its coordinates as people read them, for messages.
pub fn case_name(case: &Case, experiments: &[&Experiment], on_jvm: Option<&JvmCase>) -> String {
    let axes = axes_of(experiments, case);
    let mut params: String =
        case.params.iter().map(|(name, value)| format!("{name} = {}, ", label(axes, name, value))).collect();
    if let Some(on_jvm) = on_jvm {
        params += &format!("{JVM} = {}, ", on_jvm.jvm.name());
    }
    format!("{} ({params}threads = {}, {})", case.benchmark(), case.threads, case.jmh_mode)
}

/// The order of forks as (fork, case), both from zero. `forks` has the number of forks of each case.
fn interleaved(forks: &[u32]) -> Vec<(u32, usize)> {
    let mut order = Vec::new();
    for fork in 0..forks.iter().copied().max().unwrap_or(0) {
        let due: Vec<(u32, usize)> =
            (0..forks.len()).filter(|&index| fork < forks[index]).map(|index| (fork, index)).collect();
        if fork % 2 == 0 { order.extend(due) } else { order.extend(due.into_iter().rev()) }
    }
    order
}

/// The CPU of each thread; `None` for a thread that is not bound.
fn bindings(pin: Pin, threads: usize, cpus: &[usize]) -> Vec<Option<usize>> {
    let bound = match pin {
        Pin::Auto => threads <= cpus.len(),
        Pin::Always => !cpus.is_empty(),
        Pin::Never => false,
    };
    (0..threads).map(|thread| bound.then(|| cpus[thread % cpus.len()])).collect()
}

/// The CPU of each neighbour. The CPUs follow those of the measuring threads.
fn neighbour_bindings(pin: Pin, threads: usize, neighbours: usize, cpus: &[usize]) -> Vec<Option<usize>> {
    bindings(pin, threads + neighbours, cpus).split_off(threads)
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::{JmhMode, Kind};
    use super::*;
    use crate::format::examples;
    use proptest::prelude::*;

    static SIZED: Experiment = Experiment {
        name: "example",
        axes: &[Axis::new("size", "", Kind::Size, &["16"])],
        ..Experiment::NEW
    };

    #[test]
    fn messages_name_sizes_as_people_do() {
        let text = case_name(&case(JmhMode::SampleTime, 2), &[&SIZED], None);
        assert_eq!(text, "example.plain (size = 64k, resize = off, threads = 2, sample)");
    }

    #[test]
    fn what_is_missing_of_a_run_is_said() {
        let rows = vec![examples::row()];
        let unmeasured = vec!["a".to_string(), "b".to_string()];
        let whole = Outcome { rows, ..Outcome::default() };
        assert_eq!(whole.incomplete(), None);
        let failed = Outcome { rows: vec![examples::row(), examples::failed_row()], ..whole.clone() };
        assert_eq!(failed.incomplete().unwrap(), "1 of 2 cases failed");
        assert!(failed.failures().next().unwrap().contains("killed by signal 9"));
        let cut = Outcome { unmeasured, interrupted: true, ..whole.clone() };
        assert_eq!(cut.incomplete().unwrap(), "interrupted, 2 of 3 cases not measured");
        let both = Outcome { rows: failed.rows, ..cut };
        assert_eq!(both.incomplete().unwrap(), "interrupted, 1 of 4 cases failed, 2 of 4 cases not measured");
        assert_eq!(Outcome { interrupted: true, ..whole }.incomplete().unwrap(), "interrupted");
    }

    #[test]
    fn the_time_left_follows_what_forks_take() {
        let case = case(JmhMode::SingleShot, 1);
        let plan = Settings::default().plan(JmhMode::SingleShot);
        let mut entry = MeasuredCase {
            gathered: Gathered { case, plan, forks: vec![] },
            name: String::new(),
            forks: 3,
            expected: Duration::from_secs(1),
            took: vec![],
            on_jvm: None,
            machine: None,
            failure: None,
        };
        assert_eq!(entry.left(), Duration::from_secs(3));
        entry.learn(Duration::from_secs(10));
        assert_eq!(entry.left(), Duration::from_secs(20));
        entry.learn(Duration::from_secs(20));
        assert_eq!(entry.left(), Duration::from_secs(15));
        entry.failure = Some("fork 3 of 3: killed".into());
        assert_eq!(entry.left(), Duration::ZERO, "a case that failed gets no further forks");
    }

    #[test]
    fn forks_go_there_and_back() {
        assert_eq!(interleaved(&[3, 2]), [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0)]);
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
        fn every_fork_of_every_case_runs_once(forks in prop::collection::vec(0u32..6, 0..6)) {
            let mut order = interleaved(&forks);
            order.sort_by_key(|&(fork, case)| (case, fork));
            let all: Vec<_> =
                forks.iter().enumerate().flat_map(|(case, &n)| (0..n).map(move |fork| (fork, case))).collect();
            prop_assert_eq!(order, all);
        }
    }
}
