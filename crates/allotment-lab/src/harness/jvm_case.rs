//! Cases that JVMs measure beside ours, and their times.
//!
//! Every JVM gets a row beside each of our cases that has a counterpart, but only one row for the
//! same work. If several of our cases differ in something that a JVM does not have (our collectors),
//! its row stands beside the first.

use super::settings::Settings;
use super::{Case, Experiment, JmhMode, Neighbours, Plan};
use crate::format::{Origin, Parameter};
use crate::jvm::{Jvm, Workload};
use std::path::PathBuf;
use std::time::Duration;

/// The coordinate of the JVM, which our rows do not have.
pub const JVM: &str = "jvm";

/// The approximate time to start JMH and the JVM that it measures.
pub(super) const JVM_START: Duration = Duration::from_millis(1500);

/// The warm-up of a JVM, in multiples of ours: a JVM first compiles.
const WARMUP_FACTOR: u32 = 5;

/// The least warm-up of a JVM, in all iterations together. After this time C2 has compiled the
/// measured loops.
const LEAST_WARMUP: Duration = Duration::from_secs(1);

/// One of our cases, on a JVM.
#[derive(Clone, Debug)]
pub struct JvmCase {
    /// The index of our case that it stands beside.
    pub beside: usize,
    /// The experiment of that case.
    pub experiment: String,
    /// The JVM that measures.
    pub jvm: Jvm,
    /// The benchmark.
    pub workload: Workload,
}

/// The cases that JVMs measure.
#[derive(Clone, Debug, Default)]
pub struct OnJvms {
    /// The jar with the benchmarks.
    pub jar: PathBuf,
    /// The cases, in the order of those they stand beside.
    pub cases: Vec<JvmCase>,
}

/// The cases that `jvms` measure beside `cases` in `memory` bytes, and the reasons for those that
/// are left out.
pub fn jvm_cases(
    experiments: &[&Experiment],
    cases: &[Case],
    jvms: &[Jvm],
    settings: &Settings,
    memory: usize,
) -> (Vec<JvmCase>, Vec<String>) {
    let (mut found, mut left_out): (Vec<JvmCase>, Vec<String>) = (Vec::new(), Vec::new());
    for (beside, case) in cases.iter().enumerate() {
        let Some(workload) = Experiment::of(case, experiments).and_then(|experiment| experiment.on_jvm(case))
        else {
            continue;
        };
        for jvm in jvms {
            let mut workload = workload.clone();
            let mut leave_out = |why: String| {
                left_out.push(format!("{} on {} left out: {why}", case.benchmark(), jvm.name()));
            };
            if !jvm.collector.collects() {
                let kept = workload.kept.filter(|_| case.jmh_mode == JmhMode::SingleShot);
                let Some(kept) = kept else {
                    leave_out(
                        "that collector never frees memory, and the work has no end or needs a collection"
                            .into(),
                    );
                    continue;
                };
                let plan = plan_of(settings, case.jmh_mode, &workload);
                let shots = (plan.warmup_iterations + plan.iterations) as usize;
                workload.sizes.heap = workload.sizes.heap.saturating_add(kept.saturating_mul(shots));
            }
            let needed = with_vm(workload.sizes.heap_bytes());
            if needed > memory {
                leave_out(format!(
                    "its heap and the rest of the VM need {}m of memory, and {}m are available",
                    needed.div_ceil(1 << 20),
                    memory >> 20
                ));
                continue;
            }
            let alike = |other: &JvmCase| {
                let of = &cases[other.beside];
                (other.jvm == *jvm && other.workload == workload)
                    && Neighbours::of(of) == Neighbours::of(case)
                    && (of.threads, of.jmh_mode, of.benchmark())
                        == (case.threads, case.jmh_mode, case.benchmark())
            };
            if found.iter().any(alike) {
                continue;
            }
            found.push(JvmCase { beside, experiment: case.experiment.clone(), jvm: jvm.clone(), workload });
        }
    }
    left_out.sort();
    left_out.dedup();
    (found, left_out)
}

/// The iterations of a fork that measures `workload` in `mode`. A whole run has a warm-up of its
/// own.
fn plan_of(settings: &Settings, mode: JmhMode, workload: &Workload) -> Plan {
    let plan = settings.jvm_plan(mode);
    match workload.whole {
        Some(_) => Plan { warmup_iterations: settings.plan(mode).warmup_iterations, ..plan },
        None => plan,
    }
}

/// The approximate memory of a JVM with a heap of that many bytes: a quarter more, for the
/// collector's tables, code, and JMH beside it.
fn with_vm(heap: usize) -> usize {
    heap.saturating_add(heap / 4)
}

impl JvmCase {
    /// All flags of the JVM that is measured, the user's last.
    pub fn flags(&self) -> Vec<String> {
        let Jvm { jdk, collector, extra, .. } = &self.jvm;
        let mut flags = collector.flags(jdk.feature);
        flags.extend(collector.sizing(self.workload.sizes));
        flags.extend(self.workload.flags.iter().cloned());
        flags.extend(collector.of_shenandoah(&self.workload.shenandoah, jdk.feature));
        flags.extend(extra.iter().cloned());
        flags
    }

    /// The iterations of a fork, where our case is measured in `mode`.
    pub fn plan(&self, settings: &Settings, mode: JmhMode) -> Plan {
        plan_of(settings, mode, &self.workload)
    }

    /// The origin of a row for which JMH has reported none.
    pub(super) fn origin(&self) -> Origin {
        Origin {
            program: self.jvm.jdk.java().display().to_string(),
            arguments: self.flags(),
            jdk_version: self.jvm.jdk.version.clone(),
            vm_name: "a JVM".into(),
            vm_version: String::new(),
        }
    }

    /// The coordinate of its row. The label says if each allocation is a call into the VM, since the
    /// call then dominates the score.
    pub fn parameter(&self) -> Parameter {
        let value = self.jvm.name();
        let calls = self.workload.without_buffers && !self.jvm.bumps_without_buffers();
        let label = if calls { format!("{value} (VM calls)") } else { value.clone() };
        Parameter { name: JVM.into(), value, label }
    }
}

impl Settings {
    /// Processes per case on a JVM: as many as for our cases, but one in a quick run, where start and
    /// warm-up take most of the time.
    pub fn jvm_forks(&self) -> u32 {
        self.forks.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// The iterations of a fork on a JVM: the measured ones of ours, after five times our warm-up and
    /// at least a second of it. Single shots have at least five warm-up shots.
    pub(super) fn jvm_plan(&self, mode: JmhMode) -> Plan {
        let own = self.plan(mode);
        if mode == JmhMode::SingleShot {
            let warmup_iterations = (own.warmup_iterations * WARMUP_FACTOR).max(WARMUP_FACTOR);
            return Plan { warmup_iterations, ..own };
        }
        let warmup = (own.warmup_time * own.warmup_iterations * WARMUP_FACTOR).max(LEAST_WARMUP);
        Plan { warmup_iterations: WARMUP_FACTOR, warmup_time: warmup / WARMUP_FACTOR, ..own }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::neighbours::NEIGHBOURS;
    use super::*;
    use crate::jvm::examples::jvm;

    static TWICE: Experiment = Experiment {
        name: "example",
        on_jvm: |case| {
            let workload =
                Workload::new("allotment.A.a", 64 << 20).keeps(1 << 20).param("size", case.text("size")?);
            Ok((case.mode == "plain").then(|| workload.flag("-XX:TLABSize=64").without_buffers()))
        },
        ..Experiment::NEW
    };

    fn found(cases: &[Case], jvms: &[Jvm]) -> (Vec<(usize, String)>, Vec<String>) {
        within(usize::MAX, cases, jvms)
    }

    fn within(memory: usize, cases: &[Case], jvms: &[Jvm]) -> (Vec<(usize, String)>, Vec<String>) {
        let (found, left_out) = jvm_cases(&[&TWICE], cases, jvms, &Settings::default(), memory);
        (found.iter().map(|case| (case.beside, case.jvm.name())).collect(), left_out)
    }

    #[test]
    fn the_same_work_is_done_once_on_each_jvm() {
        let first = case(JmhMode::Throughput, 1);
        let mut other = first.clone();
        other.params[1].1 = "on".into();
        let more = case(JmhMode::Throughput, 2);
        let none = Case { mode: "other".into(), ..first.clone() };
        let foreign = Case { experiment: "foreign".into(), ..first.clone() };
        let jvms = [jvm(17, "parallel"), jvm(25, "g1")];
        let (cases, left_out) = found(&[none, first, other, more, foreign], &jvms);
        let expected = [(1, "17-parallel"), (1, "25-g1"), (3, "17-parallel"), (3, "25-g1")];
        assert_eq!(cases, expected.map(|(beside, name)| (beside, name.to_string())));
        assert_eq!(left_out, [""; 0]);
    }

    #[test]
    fn company_makes_it_other_work() {
        let alone = case(JmhMode::Throughput, 1);
        let mut beside = alone.clone();
        beside.params.push((NEIGHBOURS.into(), "2:65536:random".into()));
        let (cases, _) = found(&[alone, beside], &[jvm(25, "g1")]);
        assert_eq!(cases, [(0, "25-g1".to_string()), (1, "25-g1".to_string())]);
    }

    #[test]
    fn what_never_frees_gets_single_shots_only() {
        let jvms = [jvm(25, "epsilon")];
        let (cases, left_out) = found(&[case(JmhMode::Throughput, 1), case(JmhMode::SingleShot, 1)], &jvms);
        assert_eq!(cases, [(1, "25-epsilon".to_string())]);
        assert!(left_out.len() == 1 && left_out[0].contains("example.plain on 25-epsilon"), "{left_out:?}");
    }

    #[test]
    fn what_does_not_fit_into_memory_is_left_out_with_a_line() {
        let (cases, jvms) = ([case(JmhMode::SingleShot, 1)], [jvm(25, "g1"), jvm(25, "epsilon")]);
        let plan = Settings::default().jvm_plan(JmhMode::SingleShot);
        // Epsilon keeps a MiB of each shot beside the 64 of the heap and what JMH holds.
        let heap = (64 + 4 + plan.warmup_iterations as usize + plan.iterations as usize) << 20;
        let both = [(0, "25-g1".to_string()), (0, "25-epsilon".to_string())];
        assert_eq!(within(heap / 4 * 5, &cases, &jvms), (both.to_vec(), vec![]));
        let (some, told) = within(heap / 4 * 5 - 1, &cases, &jvms);
        assert_eq!(some, both[..1]);
        let (needed, there) = ((heap / 4 * 5).div_ceil(1 << 20), (heap / 4 * 5 - 1) >> 20);
        let expected = format!(
            "example.plain on 25-epsilon left out: its heap and the rest of the VM need {needed}m of memory, \
             and {there}m are available"
        );
        assert_eq!(told, [expected]);
        let (none, told) = within(10 << 20, &cases, &jvms);
        assert!(none.is_empty() && told.len() == 2, "{told:?}");
        assert!(
            told[1].contains("25-g1") && told[1].ends_with("need 85m of memory, and 10m are available"),
            "{told:?}"
        );
    }

    #[test]
    fn a_case_has_the_flags_of_collector_heap_workload_and_user() {
        let mut jvm = jvm(25, "parallel");
        jvm.extra = vec!["-Xss1m".into()];
        let case = case(JmhMode::Throughput, 1);
        let (cases, _) = jvm_cases(&[&TWICE], &[case], &[jvm], &Settings::default(), usize::MAX);
        let flags = cases[0].flags().join(" ");
        assert_eq!(
            flags,
            "-XX:+UseParallelGC -Xms68m -Xmx68m -XX:+UseTransparentHugePages -XX:TLABSize=64 -XX:-UseTLAB -Xss1m"
        );
        let parameter = cases[0].parameter();
        assert_eq!(
            (parameter.value.as_str(), parameter.label.as_str()),
            ("25-parallel", "25-parallel (VM calls)")
        );
    }

    #[test]
    fn a_jvm_warms_up_longer() {
        let quick = Settings { quick: true, ..Settings::default() };
        let plan = quick.jvm_plan(JmhMode::Throughput);
        assert_eq!((plan.warmup_iterations, plan.warmup_time), (5, Duration::from_millis(200)));
        assert_eq!((plan.iterations, plan.time), (3, Duration::from_millis(100)));
        assert_eq!(quick.jvm_plan(JmhMode::SingleShot).warmup_iterations, 5);
        let full = Settings::default();
        assert_eq!(full.jvm_plan(JmhMode::AverageTime).warmup_time, Duration::from_millis(600));
        assert_eq!((full.jvm_forks(), quick.jvm_forks()), (3, 1));
        assert_eq!(Settings { forks: Some(2), ..quick.clone() }.jvm_forks(), 2);
        assert_eq!(plan.describe(quick.jvm_forks()), "1 fork x (5 warm-up x 200 ms + 3 measured x 100 ms)");
        let run = Workload::new("allotment.A.a", 64 << 20);
        let warmup = |workload: &Workload| plan_of(&quick, JmhMode::SingleShot, workload).warmup_iterations;
        assert_eq!((warmup(&run), warmup(&run.clone().whole(Duration::from_secs(60)))), (5, 0));
    }
}
