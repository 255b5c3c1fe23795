//! `--jvm`: the Java virtual machines that measure too, and the remarks on them below a table.

use super::Failure;
use super::measuring::tell;
use crate::format::{distinct, grouped, told};
use crate::harness::{
    Baseline, Case, Experiment, Interrupt, JVM, JvmCase, NO_JVM, OnJvms, Settings, jvm_cases,
};
use crate::jvm::{Collector, Jars, JavaLayout, Jdk, Jvm, Surroundings, find, find_all, larger_heaps};
use allotment::internals::platform::available_memory;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Flags that ask for Java virtual machines.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Java virtual machines")]
pub struct JvmArguments {
    /// JDKs that run the same work: `none`, `auto` for all that are found, or folders of JDKs or
    /// paths of their programs `java`.
    #[arg(long, value_name = "WHICH,..", value_delimiter = ',', default_value = "none")]
    pub jvm: Vec<String>,

    /// Collectors of these JVMs: parallel, g1, serial, z, shenandoah, genshen, epsilon; NAME-compact
    /// has compact object headers [default: parallel].
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub jvm_collector: Vec<Collector>,

    /// More flags for these JVMs, separated by blanks.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub jvm_args: Option<String>,
}

/// The JDKs that the user asked for.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    jdks: Vec<Jdk>,
    /// Whether the user named the JDKs. A missing feature of a named JDK is a failure of the run. A
    /// missing feature of a JDK that was merely found is a note.
    named: bool,
}

impl Chosen {
    /// Prints at once what cannot be done. If the user asked for it, also keeps the text for the
    /// end of the run.
    fn missed(&self, text: String, undone: &mut Vec<String>) {
        note(&text);
        if self.named {
            undone.push(format!("--jvm: {text}"));
        }
    }
}

impl JvmArguments {
    /// Finds the JDKs. Prints a remark on standard error for each found JDK that does not run.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a path that is not a JDK, or for words that exclude each other.
    pub(super) fn choose(&self) -> Result<Chosen, Failure> {
        let words: Vec<&str> = self.jvm.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["none"] => match self.idle_flag() {
                None => Ok(Chosen::default()),
                Some(flag) => Err(Failure::Usage(format!(
                    "{flag} is for Java virtual machines, and none measures; add --jvm auto or --jvm PATH"
                ))),
            },
            ["auto"] => {
                let (jdks, told) = find_all(&Surroundings::of_process());
                told.iter().for_each(|text| note(text));
                if jdks.is_empty() {
                    note("--jvm auto found no JDK of release 17 or later: only the heap is measured");
                }
                Ok(Chosen { jdks, named: false })
            }
            paths => {
                if let Some(word) = paths.iter().find(|word| matches!(**word, "none" | "auto")) {
                    return Err(Failure::Usage(format!("--jvm: `{word}` goes with nothing else")));
                }
                let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
                let jdks = find(&paths).map_err(|text| Failure::Usage(format!("--jvm: {text}")))?;
                Ok(Chosen { jdks, named: true })
            }
        }
    }

    /// A flag that concerns JVMs and was given without any.
    fn idle_flag(&self) -> Option<&'static str> {
        if self.jvm_collector.is_empty() {
            return self.jvm_args.is_some().then_some("--jvm-args");
        }
        Some("--jvm-collector")
    }

    /// The collectors that the user asked for, or the usual one.
    fn collectors(&self) -> Vec<Collector> {
        let usual = self.jvm_collector.is_empty().then_some(Collector::USUAL);
        usual.into_iter().chain(self.jvm_collector.iter().copied()).collect()
    }

    /// Asks the JDKs for their collectors. Returns the cases to measure beside `cases`, and the
    /// requested cases that are impossible. Each missing case is a line on standard error; the rest
    /// is measured.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    pub(super) fn cases(
        &self,
        chosen: &Chosen,
        experiments: &[&Experiment],
        cases: &[Case],
        settings: &Settings,
        interrupt: &Interrupt,
    ) -> Result<(Vec<JvmCase>, Vec<String>), Failure> {
        let mut undone = Vec::new();
        let counterpart =
            |case: &Case| experiments.iter().any(|e| e.name == case.experiment && e.on_jvm(case).is_some());
        if chosen.jdks.is_empty() {
            return Ok((Vec::new(), undone));
        }
        if !cases.iter().any(counterpart) {
            let text = "nothing of this run has a counterpart on a JVM: see docs/jvm.md";
            chosen.missed(text.into(), &mut undone);
            return Ok((Vec::new(), undone));
        }
        let jvms = self.ask(chosen, &mut undone, interrupt)?;
        let (cases, left_out) = jvm_cases(experiments, cases, &jvms, settings, available_memory().bytes);
        left_out.iter().for_each(|text| note(text));
        for jvm in jvms.iter().filter(|jvm| cases.iter().all(|case| case.jvm != **jvm)) {
            chosen.missed(format!("nothing is left to measure on {}", jvm.name()), &mut undone);
        }
        Ok((cases, undone))
    }

    /// Asks the JDKs for the collectors. A collector that cannot be asked becomes a line on
    /// standard error, and one in `undone` where the user asked for it.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    fn ask(
        &self,
        chosen: &Chosen,
        undone: &mut Vec<String>,
        interrupt: &Interrupt,
    ) -> Result<Vec<Jvm>, Failure> {
        let extra: Vec<String> =
            self.jvm_args.iter().flat_map(|text| text.split_whitespace()).map(String::from).collect();
        let mut jvms: Vec<Jvm> = Vec::new();
        let collectors = self.collectors();
        let mut nowhere: Vec<Collector> = collectors.clone();
        for jdk in &chosen.jdks {
            for &collector in &collectors {
                match Jvm::ask(jdk, collector, &extra, &|| interrupt.requested()) {
                    Ok(jvm) => {
                        nowhere.retain(|other| *other != collector);
                        if !jvms.contains(&jvm) {
                            jvms.push(jvm);
                        }
                    }
                    Err(_) if interrupt.requested() => return Err(Failure::Interrupted),
                    Err(text) => chosen.missed(text, undone),
                }
            }
        }
        // Of the JDKs that were merely found, one with a requested collector is enough.
        if !chosen.named && collectors.iter().any(|collector| *collector != Collector::USUAL) {
            undone.extend(
                nowhere.iter().map(|collector| format!("--jvm-collector: no JDK here runs {collector}")),
            );
        }
        Ok(jvms)
    }

    /// The layouts of Java classes on each JVM that the user asked for, with its name. A JVM
    /// without layouts becomes a line on standard error, and one in `undone` where the user asked
    /// for it.
    ///
    /// # Errors
    /// [`Failure::Usage`] as [`choose`](Self::choose); [`Failure::Interrupted`].
    pub(super) fn layouts(
        &self,
        classes: &[&str],
        undone: &mut Vec<String>,
    ) -> Result<Vec<(String, Vec<JavaLayout>)>, Failure> {
        let chosen = self.choose()?;
        let mut found = Vec::new();
        if chosen.jdks.is_empty() {
            return Ok(found);
        }
        if classes.is_empty() {
            chosen.missed("no Java classes stand beside these objects".into(), undone);
            return Ok(found);
        }
        let interrupt = Interrupt::install()?;
        let jvms = self.ask(&chosen, undone, &interrupt)?;
        if jvms.is_empty() {
            return Ok(found);
        }
        let Some(jar) = chosen.jar("only our layouts are shown", undone, &interrupt)? else {
            return Ok(found);
        };
        for jvm in jvms {
            match jvm.layouts(&jar, classes, &|| interrupt.requested()) {
                Ok(layouts) => found.push((jvm.name(), layouts)),
                Err(_) if interrupt.requested() => return Err(Failure::Interrupted),
                Err(text) => chosen.missed(text, undone),
            }
        }
        Ok(found)
    }
}

impl Chosen {
    /// Makes the jar that `cases` need. If that fails, a line on standard error says so and there
    /// are no cases. If the user asked for the cases, `undone` has the line too.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    pub(super) fn with_jar(
        &self,
        cases: Vec<JvmCase>,
        undone: &mut Vec<String>,
        interrupt: &Interrupt,
    ) -> Result<OnJvms, Failure> {
        if cases.is_empty() {
            return Ok(OnJvms::default());
        }
        let jar = self.jar("only the heap is measured", undone, interrupt)?;
        Ok(jar.map_or_else(OnJvms::default, |jar| OnJvms { jar, cases }))
    }

    /// The jar, which is made if necessary. `None` if that fails: a line on standard error says why,
    /// and what follows from that.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    fn jar(
        &self,
        otherwise: &str,
        undone: &mut Vec<String>,
        interrupt: &Interrupt,
    ) -> Result<Option<PathBuf>, Failure> {
        let building = || note("building the Java benchmarks, once");
        let jars = Jars::of(&Surroundings::of_process(), &self.jdks);
        match jars.get(&building, &|| interrupt.requested()) {
            Ok(jar) => Ok(Some(jar)),
            Err(_) if interrupt.requested() => Err(Failure::Interrupted),
            Err(error) => {
                self.missed(format!("{}; {otherwise}", told(&error)), undone);
                Ok(None)
            }
        }
    }
}

/// Checks that the JVMs that are baselines measure in this run. A name that no JVM has would be
/// compared with nothing.
///
/// # Errors
/// [`Failure::Usage`] with the existing names.
pub(super) fn check_baselines(baselines: &[Option<Baseline>], on_jvms: &[JvmCase]) -> Result<(), Failure> {
    let names = distinct(on_jvms.iter().map(|case| case.jvm.name()));
    let unknown = |baseline: &&Baseline| {
        baseline.coordinate == JVM && baseline.value != NO_JVM && !names.contains(&baseline.value)
    };
    let Some(wrong) = baselines.iter().flatten().find(unknown) else { return Ok(()) };
    let there_are = match names.as_slice() {
        [] => "no JVM measures in this run; --jvm asks for them".into(),
        names => {
            format!("no JVM of this run has that name; there are {}, or {NO_JVM} for ours", names.join(", "))
        }
    };
    Err(Failure::Usage(format!("--baseline `{JVM}={}`: {there_are}", wrong.value)))
}

/// A line on standard error.
fn note(text: &str) {
    tell(&format!("note: {}", text.split_whitespace().collect::<Vec<_>>().join(" ")));
}

/// The settings of the JVMs' forks, a line for each JMH mode.
pub(super) fn settings_lines(on_jvms: &OnJvms, cases: &[Case], settings: &Settings) -> Vec<String> {
    distinct(on_jvms.cases.iter().map(|on_jvm| {
        let mode = cases[on_jvm.beside].jmh_mode;
        let plan = on_jvm.plan(settings, mode);
        format!("{mode} on JVMs: {}", plan.describe(settings.jvm_forks()))
    }))
}

/// The remarks on the JVMs beside an experiment: a line for each JVM, and one for each difference
/// from this project's heap.
pub(super) fn remarks(on_jvms: &OnJvms, experiment: &str) -> String {
    let cases: Vec<&JvmCase> = on_jvms.cases.iter().filter(|case| case.experiment == experiment).collect();
    let mut text = String::new();
    for jvm in distinct(cases.iter().map(|case| &case.jvm)) {
        let own: Vec<Vec<String>> =
            cases.iter().filter(|case| case.jvm == *jvm).map(|case| case.flags()).collect();
        // Prefetch flags change the bytes that are reserved for prefetch.
        let kept = if own.iter().flatten().any(|flag| flag.contains("AllocatePrefetch")) {
            String::new()
        } else {
            format!(", {} bytes of each buffer kept for prefetch", jvm.prefetch.reserve())
        };
        let vendor = jvm.jdk.vendor.as_ref().map_or(String::new(), |vendor| format!(" ({vendor})"));
        let _ = writeln!(
            text,
            "{}: JDK {}{vendor}, object headers of {} bytes{kept}; {}",
            jvm.name(),
            jvm.jdk.version,
            jvm.header_bytes,
            flags(&own)
        );
        if !jvm.bumps_without_buffers()
            && cases.iter().any(|case| case.jvm == *jvm && case.workload.without_buffers)
        {
            let _ = writeln!(
                text,
                "not alike: {} without buffers calls into the VM for each object, since release 20 (JDK-8290706); \
                 a JVM up to 19 has the shared pointer in line",
                jvm.name()
            );
        }
    }
    let mut differs: Vec<&str> = cases.iter().flat_map(|case| case.workload.differs).copied().collect();
    differs.sort_unstable();
    differs.dedup();
    if !cases.is_empty() {
        let _ = writeln!(text, "not alike: {}", larger_heaps());
    }
    for sentence in differs {
        let _ = writeln!(text, "not alike: {sentence}");
    }
    text
}

/// The flags that all command lines of a list share, and the values of the flags in which they
/// differ.
fn flags(lines: &[Vec<String>]) -> String {
    let in_all = |flag: &&String| lines.iter().all(|line| line.contains(flag));
    let (common, varying): (Vec<&String>, Vec<&String>) =
        distinct(lines.iter().flatten()).into_iter().partition(in_all);
    let parts = |flag: &&'_ String| {
        let end = flag.find(|c: char| c == '=' || c.is_ascii_digit());
        let end = end.map_or(flag.len(), |at| at + usize::from(flag.as_bytes()[at] == b'='));
        (flag[..end].to_string(), flag[end..].to_string())
    };
    let varying = grouped(varying.iter().map(parts));
    let varying: Vec<String> =
        varying.iter().map(|(name, values)| format!("{name}{}", values.join("|"))).collect();
    let by_case = if varying.is_empty() { String::new() } else { format!("; by case {}", varying.join(" ")) };
    let common: Vec<&str> = common.into_iter().map(String::as_str).collect();
    format!("{}{by_case}", common.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_differ_are_told_with_all_their_values() {
        let lines = ["-Xmx12m -XX:+UseG1GC -XX:TLABSize=1", "-Xmx13m -XX:+UseG1GC -XX:-UseTLAB"];
        let lines = lines.map(|line| line.split(' ').map(String::from).collect::<Vec<_>>());
        assert_eq!(flags(&lines), "-XX:+UseG1GC; by case -Xmx12m|13m -XX:TLABSize=1 -XX:-UseTLAB");
        assert_eq!(flags(&lines[..1]), "-Xmx12m -XX:+UseG1GC -XX:TLABSize=1");
    }

    #[test]
    fn flags_of_jvms_without_a_jvm_are_refused() {
        let arguments = |jvm: &str, collectors: Vec<Collector>, args: Option<&str>| JvmArguments {
            jvm: vec![jvm.into()],
            jvm_collector: collectors,
            jvm_args: args.map(String::from),
        };
        assert!(arguments("none", vec![], None).choose().is_ok());
        let g1 = || vec!["g1".parse().unwrap()];
        for (given, flag) in [
            (arguments("none", g1(), None), "--jvm-collector"),
            (arguments("none", vec![], Some("-Xint")), "--jvm-args"),
            (arguments("none", g1(), Some("-Xint")), "--jvm-collector"),
        ] {
            let Err(Failure::Usage(text)) = given.choose() else { panic!("{given:?}") };
            assert!(text.starts_with(flag) && text.contains("add --jvm auto"), "{text}");
        }
        let usual = arguments("auto", vec![], None).collectors();
        assert_eq!(usual.iter().map(ToString::to_string).collect::<Vec<_>>(), ["parallel"]);
    }
}
