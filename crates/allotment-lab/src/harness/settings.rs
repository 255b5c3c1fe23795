//! The numbers and times of iterations: JMH's settings with smaller defaults.
//!
//! JMH's own defaults take 500 s per case, which a grid of some hundred cases does not allow. Three
//! forks of five iterations give fifteen values, beyond which the t quantile hardly falls. The
//! settings are printed with every table.

use super::{JmhMode, Watch};
use crate::format::phrase::count;
use crate::format::time::iteration_time;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The approximate time to start a process.
pub(super) const START: Duration = Duration::from_millis(50);

/// Whether measuring threads are bound to a CPU each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Pin {
    /// If there are enough CPUs for all threads of the case.
    #[default]
    Auto,
    /// Always, several threads to a CPU if necessary.
    Always,
    /// Never: the scheduler places them.
    Never,
}

/// Settings of a run. Unset values follow from `quick` and the JMH mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Smaller defaults, for a first look.
    pub quick: bool,
    /// Processes per case; 3, quick 2.
    pub forks: Option<u32>,
    /// Warm-up iterations per fork; 2, quick 1; single shots 1, quick 0.
    pub warmup_iterations: Option<u32>,
    /// Time of each; 300 ms, quick 100 ms.
    pub warmup_time: Option<Duration>,
    /// Measured iterations per fork; 5, quick 3; single shots 3, quick 2.
    pub iterations: Option<u32>,
    /// Time of each; 300 ms, quick 100 ms.
    pub time: Option<Duration>,
    /// Binding threads to CPUs.
    pub pin: Pin,
    /// The longest time that a process waits until two CPUs do the work of two cores. `None`: it does
    /// not wait.
    pub await_cpus: Option<Duration>,
    /// The counters and samples besides the clock.
    pub watch: Watch,
}

/// The iterations of one fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Warm-up iterations.
    pub warmup_iterations: u32,
    /// Time of each; zero for a single shot.
    pub warmup_time: Duration,
    /// Measured iterations.
    pub iterations: u32,
    /// Time of each; zero for a single shot.
    pub time: Duration,
}

impl Plan {
    /// The time of all iterations. Single shots count nothing, since their time is unknown.
    pub fn duration(&self) -> Duration {
        self.warmup_time * self.warmup_iterations + self.time * self.iterations
    }

    /// The plan of a number of forks in words: `3 forks x (2 warm-up x 300 ms + 5 measured x 300 ms)`.
    pub fn describe(&self, forks: u32) -> String {
        format!(
            "{} x ({} warm-up x {} + {} measured x {})",
            count(forks as usize, "fork"),
            self.warmup_iterations,
            iteration_time(self.warmup_time),
            self.iterations,
            iteration_time(self.time)
        )
    }
}

impl Settings {
    /// Processes per case.
    pub fn forks(&self) -> u32 {
        self.forks.unwrap_or(if self.quick { 2 } else { 3 })
    }

    /// The iterations of a fork in a JMH mode.
    pub fn plan(&self, mode: JmhMode) -> Plan {
        let single = mode == JmhMode::SingleShot;
        let (warmup, measured) = match (single, self.quick) {
            (true, true) => (0, 2),
            (true, false) => (1, 3),
            (false, true) => (1, 3),
            (false, false) => (2, 5),
        };
        let time = Duration::from_millis(if self.quick { 100 } else { 300 });
        let timed = |chosen: Option<Duration>| if single { Duration::ZERO } else { chosen.unwrap_or(time) };
        Plan {
            warmup_iterations: self.warmup_iterations.unwrap_or(warmup),
            warmup_time: timed(self.warmup_time),
            iterations: self.iterations.unwrap_or(measured),
            time: timed(self.time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_as_documented() {
        let settings = Settings::default();
        assert_eq!(
            settings.plan(JmhMode::Throughput).describe(settings.forks()),
            "3 forks x (2 warm-up x 300 ms + 5 measured x 300 ms)"
        );
        let quick = Settings { quick: true, ..Settings::default() };
        assert_eq!(quick.plan(JmhMode::AverageTime).duration(), Duration::from_millis(400));
    }

    #[test]
    fn a_single_shot_has_no_time() {
        let plan = Settings::default().plan(JmhMode::SingleShot);
        assert_eq!((plan.warmup_iterations, plan.iterations, plan.time), (1, 3, Duration::ZERO));
        let settings =
            Settings { iterations: Some(7), time: Some(Duration::from_secs(1)), ..Settings::default() };
        let plan = settings.plan(JmhMode::SingleShot);
        assert_eq!((plan.iterations, plan.time), (7, Duration::ZERO));
    }

    #[test]
    fn what_is_set_wins_over_quick() {
        let settings = Settings { quick: true, forks: Some(9), iterations: Some(4), ..Settings::default() };
        assert_eq!((settings.forks(), settings.plan(JmhMode::Throughput).iterations), (9, 4));
    }
}
