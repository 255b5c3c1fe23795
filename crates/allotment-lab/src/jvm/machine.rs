//! A JDK with a collector. The JVM is asked once whether it has that collector, and for the
//! properties of its objects and buffers.
//!
//! The JVM is started with the collector's flags and prints all other flags.
//!
//! Refused: a table of the properties of each release. It would be wrong for the next release, and
//! for a JVM that was built without a collector.

use super::process::output_of;
use super::{Collector, Jdk};
use std::process::Command;
use std::time::Duration;

/// The time limit for a JVM to print its flags.
const PATIENCE: Duration = Duration::from_secs(30);

/// A JVM as rows name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jvm {
    /// Its release.
    pub jdk: Jdk,
    /// Its collector.
    pub collector: Collector,
    /// The arguments that the user adds to its command line.
    pub extra: Vec<String>,
    /// Bytes of the header of an object that is not an array.
    pub header_bytes: usize,
    /// The settings of allocation prefetch.
    pub prefetch: Prefetch,
}

/// A JVM's options of allocation prefetch, as far as they change the room in buffers. HotSpot
/// reserves bytes for prefetch in every style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefetch {
    /// `AllocatePrefetchDistance` in bytes.
    pub distance: usize,
    /// `AllocatePrefetchStepSize` in bytes.
    pub step: usize,
    /// The larger of `AllocatePrefetchLines` and `AllocateInstancePrefetchLines`.
    pub lines: usize,
}

impl Prefetch {
    /// Bytes at the end of each buffer that objects do not get, since a prefetch beyond them was
    /// once feared to fault: distance + step * (lines + 2), as HotSpot up to about release 26
    /// computes it.
    pub fn reserve(&self) -> usize {
        self.distance + self.step * (self.lines + 2)
    }
}

impl Jvm {
    /// Asks a JDK whether it has `collector`, with `extra` on its command line. `stop` ends the
    /// JVM.
    ///
    /// # Errors
    /// The JDK lacks the collector, or fails otherwise; the error is its output in one line. Or it
    /// was stopped.
    pub fn ask(
        jdk: &Jdk,
        collector: Collector,
        extra: &[String],
        stop: &dyn Fn() -> bool,
    ) -> Result<Jvm, String> {
        let name = name(jdk, collector);
        let mut command = Command::new(jdk.java());
        command.args(collector.flags(jdk.feature)).args(extra).args(["-XX:+PrintFlagsFinal", "-version"]);
        let output = output_of(command, &name, "run", PATIENCE, stop)?;
        let value = |flag: &str| value(&output, flag);
        let number = |flag: &str| value(flag).and_then(|value| value.parse().ok()).unwrap_or_default();
        let on = |flag: &str| value(flag) == Some("true");
        let header_bytes = match (on("UseCompactObjectHeaders"), on("UseCompressedClassPointers")) {
            (true, _) => 8,
            (false, true) => 12,
            (false, false) => 16,
        };
        let prefetch = Prefetch {
            distance: number("AllocatePrefetchDistance"),
            step: number("AllocatePrefetchStepSize"),
            lines: number("AllocatePrefetchLines").max(number("AllocateInstancePrefetchLines")),
        };
        Ok(Jvm { jdk: jdk.clone(), collector, extra: extra.to_vec(), header_bytes, prefetch })
    }

    /// The name in rows: `25-parallel`.
    pub fn name(&self) -> String {
        name(&self.jdk, self.collector)
    }

    /// Whether compiled code allocates in line from a pointer that threads share (`-UseTLAB`). True
    /// up to release 19. Since then each such allocation is a call into the VM (JDK-8290706).
    pub fn bumps_without_buffers(&self) -> bool {
        self.jdk.feature < 20
    }
}

fn name(jdk: &Jdk, collector: Collector) -> String {
    format!("{}-{collector}", jdk.feature)
}

/// The value in a line `bool UseTLAB = true {product} {default}`.
fn value<'a>(flags: &'a str, name: &str) -> Option<&'a str> {
    flags.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        (left.split_whitespace().nth(1)? == name).then(|| right.split_whitespace().next())?
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::fake_jdk;
    use super::*;

    const FLAGS: &str = "[Global flags]
     bool UseCompressedClassPointers               = true                           {product lp64_product} {default}
      int AllocatePrefetchDistance                 = 192                                    {product} {default}
     intx AllocatePrefetchStepSize                 = 64                                     {product} {default}
     intx AllocatePrefetchLines                    = 4                                      {product} {default}
     intx AllocateInstancePrefetchLines            = 1                                      {product} {default}
     bool UseCompactObjectHeaders                  := true                                 {product} {command line}
    ccstr AllocateHeapAt                           =                                        {product} {default}
";

    fn asked(behaviour: &str) -> Result<Jvm, String> {
        asked_until(behaviour, &|| false)
    }

    fn asked_until(behaviour: &str, stop: &dyn Fn() -> bool) -> Result<Jvm, String> {
        let folder = tempfile::tempdir().unwrap();
        let home =
            fake_jdk(folder.path(), "25.0.3", &format!("case \"$*\" in *UseParallelGC*) {behaviour};; esac"));
        let jdk = Jdk::at(&home).unwrap();
        Jvm::ask(&jdk, "parallel".parse().unwrap(), &["-Xss1m".into()], stop)
    }

    #[test]
    fn flags_are_read_by_name() {
        assert_eq!(value(FLAGS, "AllocatePrefetchDistance"), Some("192"));
        assert_eq!(value(FLAGS, "UseCompressedClassPointers"), Some("true"));
        assert_eq!((value(FLAGS, "AllocateHeapAt"), value(FLAGS, "UseTLAB")), (Some("{product}"), None));
    }

    #[test]
    fn a_jvm_says_what_it_is() {
        let jvm = asked(&format!("cat <<'END'\n{}END\n", FLAGS.replace(":=", "="))).unwrap();
        assert_eq!(
            (jvm.name().as_str(), jvm.header_bytes, jvm.bumps_without_buffers()),
            ("25-parallel", 8, false)
        );
        assert_eq!(jvm.prefetch, Prefetch { distance: 192, step: 64, lines: 4 });
        assert_eq!(jvm.prefetch.reserve(), 576);
        let ordinary = asked(&format!("cat <<'END'\n{}END\n", FLAGS.replace(":= true", "= false"))).unwrap();
        assert_eq!(ordinary.header_bytes, 12);
    }

    #[test]
    fn asking_can_be_interrupted() {
        let told = asked_until("exec sleep 1000", &|| true).unwrap_err();
        assert_eq!(told, "25-parallel was interrupted");
    }

    #[test]
    fn a_collector_that_is_missing_is_told_in_its_words() {
        let told = asked("echo 'Error: Option -XX:+UseParallelGC not supported' >&2; exit 1").unwrap_err();
        assert_eq!(told, "25-parallel does not run: Error: Option -XX:+UseParallelGC not supported");
    }
}
