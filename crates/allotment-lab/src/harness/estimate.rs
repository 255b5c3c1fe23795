//! The estimated time of a run: the part that its settings determine, and the part that is unknown.
//!
//! A timed iteration takes the time that it is given. A single shot takes as long as its work. Some
//! experiments know that time from their parameters ([`Experiment::shot_time`]). Any other shot
//! counts as [`TYPICAL_SHOT`] until a first process of its case has run. The progress of a run then
//! uses the time of that process.
//!
//! Refused: an estimate without those shots. They are most of a run of all experiments.

use super::jvm_case::{JVM_START, JvmCase};
use super::settings::START;
use super::{Case, Experiment, JmhMode, Plan, Settings};
use crate::format::phrase::count;
use crate::format::time::rough;
use std::iter::Sum;
use std::time::Duration;

/// The assumed time of a single shot with its preparation, where nothing determines it.
///
/// With this value the estimate of `run all --quick --jvm auto`, with two JDKs on two cores, is the
/// 9.5 minutes that the run took there. Its 404 such shots are a fourth of that.
const TYPICAL_SHOT: Duration = Duration::from_millis(400);

/// An estimate of a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The time that settings and parameters determine.
    pub known: Duration,
    /// Single shots of unknown time.
    pub unknown_shots: u64,
}

impl Estimate {
    /// The estimate of one process that measures `case` by `plan`; on a JVM if `on_jvm` is one.
    pub(super) fn of_fork(
        case: &Case,
        plan: Plan,
        on_jvm: Option<&JvmCase>,
        experiments: &[&Experiment],
    ) -> Estimate {
        let start = if on_jvm.is_some() { JVM_START } else { START };
        if case.jmh_mode != JmhMode::SingleShot {
            return Estimate { known: start + plan.duration(), unknown_shots: 0 };
        }
        let shots = plan.warmup_iterations + plan.iterations;
        match Experiment::of(case, experiments).and_then(|experiment| (experiment.shot_time)(case)) {
            Some(time) => Estimate { known: start + time * shots, unknown_shots: 0 },
            None => Estimate { known: start, unknown_shots: shots.into() },
        }
    }

    /// The estimate of all forks of `cases` and of the JVMs' `on_jvms` beside them.
    pub fn of_run(
        cases: &[Case],
        on_jvms: &[JvmCase],
        settings: &Settings,
        experiments: &[&Experiment],
    ) -> Estimate {
        let own = cases.iter().map(|case| Estimate::of_case(case, settings, experiments));
        let beside = on_jvms.iter().map(|one| Estimate::of_jvm_case(one, cases, settings, experiments));
        own.chain(beside).sum()
    }

    /// The estimate of all forks of a case.
    pub fn of_case(case: &Case, settings: &Settings, experiments: &[&Experiment]) -> Estimate {
        let plan = settings.plan(case.jmh_mode);
        Estimate::of_fork(case, plan, None, experiments).times(settings.forks())
    }

    /// The estimate of all forks of a JVM's case beside one of `cases`.
    pub fn of_jvm_case(
        on_jvm: &JvmCase,
        cases: &[Case],
        settings: &Settings,
        experiments: &[&Experiment],
    ) -> Estimate {
        let case = &cases[on_jvm.beside];
        let plan = on_jvm.plan(settings, case.jmh_mode);
        Estimate::of_fork(case, plan, Some(on_jvm), experiments).times(settings.jvm_forks())
    }

    /// The whole time, with the typical time for each shot of an unknown time.
    pub fn total(&self) -> Duration {
        let shots = Duration::from_secs_f64(TYPICAL_SHOT.as_secs_f64() * self.unknown_shots as f64);
        self.known.saturating_add(shots)
    }

    fn times(self, forks: u32) -> Estimate {
        Estimate {
            known: self.known.saturating_mul(forks),
            unknown_shots: self.unknown_shots.saturating_mul(forks.into()),
        }
    }

    /// The estimate in words: `about 12 min 3 s`, and how much of it is a guess.
    pub fn describe(&self) -> String {
        let about = format!("about {}", rough(self.total()));
        if self.unknown_shots == 0 {
            return about;
        }
        let shots = count(self.unknown_shots as usize, "single shot");
        let each = TYPICAL_SHOT.as_secs_f64();
        format!("{about}, where {shots} of unknown length count as {each} s each")
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Estimate>>(all: I) -> Estimate {
        all.fold(Estimate::default(), |one, other| Estimate {
            known: one.known.saturating_add(other.known),
            unknown_shots: one.unknown_shots.saturating_add(other.unknown_shots),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::jvm_cases;
    use super::*;
    use crate::jvm::Workload;
    use crate::jvm::examples::jvm;

    static KNOWN: Experiment = Experiment {
        name: "example",
        shot_time: |case| (case.threads == 1).then(|| Duration::from_secs(2)),
        on_jvm: |_| Ok(Some(Workload::new("allotment.A.a", 64 << 20))),
        ..Experiment::NEW
    };

    fn of(cases: &[Case], settings: &Settings) -> Estimate {
        Estimate::of_run(cases, &[], settings, &[&KNOWN])
    }

    #[test]
    fn timed_iterations_take_the_time_that_they_are_given() {
        let cases = [case(JmhMode::Throughput, 1), case(JmhMode::AverageTime, 2)];
        let estimate = of(&cases, &Settings::default());
        let known = Duration::from_millis(2 * 3 * (7 * 300 + 50));
        assert_eq!(estimate, Estimate { known, unknown_shots: 0 });
        assert_eq!(estimate.describe(), "about 13 s");
    }

    #[test]
    fn a_shot_takes_what_its_experiment_says_or_what_is_typical() {
        let shot = |threads| case(JmhMode::SingleShot, threads);
        let known = of(&[shot(1)], &Settings::default());
        assert_eq!(known, Estimate { known: Duration::from_millis(3 * (4 * 2000 + 50)), unknown_shots: 0 });
        let unknown = of(&[shot(2)], &Settings::default());
        assert_eq!(unknown, Estimate { known: Duration::from_millis(150), unknown_shots: 12 });
        assert_eq!(unknown.total(), unknown.known + TYPICAL_SHOT * 12);
        assert_eq!(
            unknown.describe(),
            "about 5.0 s, where 12 single shots of unknown length count as 0.4 s each"
        );
    }

    #[test]
    fn a_jvm_takes_its_own_plan_and_start() {
        let (cases, quick) =
            ([case(JmhMode::Throughput, 1)], Settings { quick: true, ..Settings::default() });
        let (on_jvms, _) = jvm_cases(&[&KNOWN], &cases, &[jvm(25, "g1")], &quick, usize::MAX);
        let estimate = Estimate::of_jvm_case(&on_jvms[0], &cases, &quick, &[&KNOWN]);
        assert_eq!(estimate.known, Duration::from_millis(1000 + 300 + 1500));
        let both = Estimate::of_run(&cases, &on_jvms, &quick, &[&KNOWN]);
        assert_eq!(both, [estimate, of(&cases, &quick)].into_iter().sum());
    }

    #[test]
    fn the_largest_run_has_an_estimate() {
        let most = Settings {
            forks: Some(1000),
            warmup_iterations: Some(10_000),
            iterations: Some(10_000),
            ..Settings::default()
        };
        let estimate = of(&vec![case(JmhMode::SingleShot, 2); 300], &most);
        assert_eq!(estimate.unknown_shots, 6_000_000_000);
        assert!(estimate.describe().contains(" 6000000000 single shots "), "{}", estimate.describe());
    }
}
