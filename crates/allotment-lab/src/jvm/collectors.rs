//! The JVM's collectors: their names here, and the flags that choose and size them.
//!
//! A collector may be followed by `-compact`, which is the same collector with object headers of 8
//! bytes (JEP 519). Rows are distinguished by this pair.
//!
//! Refused: a separate flag for headers. It would have to name the collectors that it applies to.

use std::fmt;
use std::str::FromStr;

/// A collector of HotSpot, without the variants of object headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HotspotCollector {
    Serial,
    Parallel,
    G1,
    Z,
    Shenandoah,
    GenerationalShenandoah,
    Epsilon,
}

const COLLECTORS: [(&str, HotspotCollector); 7] = [
    ("parallel", HotspotCollector::Parallel),
    ("g1", HotspotCollector::G1),
    ("serial", HotspotCollector::Serial),
    ("z", HotspotCollector::Z),
    ("shenandoah", HotspotCollector::Shenandoah),
    ("genshen", HotspotCollector::GenerationalShenandoah),
    ("epsilon", HotspotCollector::Epsilon),
];

/// The suffix of a collector with compact headers.
const COMPACT: &str = "-compact";

/// A collector of a JVM, with ordinary or compact object headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collector {
    kind: HotspotCollector,
    compact: bool,
}

/// There is no such collector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a collector of a JVM: parallel, g1, serial, z, shenandoah, genshen, epsilon, or one of these and -compact"
)]
pub struct CollectorError(String);

impl FromStr for Collector {
    type Err = CollectorError;

    fn from_str(text: &str) -> Result<Collector, CollectorError> {
        let (name, compact) = text.strip_suffix(COMPACT).map_or((text, false), |name| (name, true));
        let found = COLLECTORS.iter().find(|(known, _)| *known == name);
        found.map(|&(_, kind)| Collector { kind, compact }).ok_or_else(|| CollectorError(text.into()))
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = COLLECTORS.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}{}", if self.compact { COMPACT } else { "" })
    }
}

/// Bytes of a JVM's heap that JMH and the benchmarks' own classes keep alive.
///
/// Measured as the old generation after full collections (`-gc true`) of `Allocation.allocate`, which
/// keeps nothing, with Parallel in a heap of 64 MiB: at most 2,943 KiB in JDK 17.0.19 and 3,680 KiB
/// in JDK 25.0.3, with one thread or two. Rounded up to whole MiB. A heap that is sized by what the
/// workload keeps alive has no room for it: `graph` with 8 MiB in a heap of 13 MiB ended with `GC
/// overhead limit exceeded`.
const JMH_BYTES: usize = 4 << 20;

/// The remark on the larger heaps of JVMs, for readers who compare figures.
pub fn larger_heaps() -> String {
    format!(
        "a JVM's heap is {}m larger than ours, for JMH's own objects, which live there too",
        JMH_BYTES >> 20
    )
}

/// The heap that a workload needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The full size, from the beginning, as for the lab's heaps. The JVM's heap is `JMH_BYTES`
    /// larger.
    pub heap: usize,
    /// Bytes allocated between two young collections; `None` if the JVM decides.
    pub eden: Option<usize>,
}

impl Sizes {
    /// Bytes of the whole heap of a JVM.
    pub fn heap_bytes(&self) -> usize {
        self.heap_mebibytes().saturating_mul(1 << 20)
    }

    /// The heap leaves as much for the old generation as HotSpot insists on beside the young one.
    fn heap_mebibytes(&self) -> usize {
        let young = self.young_mebibytes();
        mebibytes(self.heap.saturating_add(JMH_BYTES)).max(young.map_or(0, |young| young + young / 4 + 32))
    }

    /// Eden is eight tenths of the young generation, as in HotSpot's own default.
    fn young_mebibytes(&self) -> Option<usize> {
        self.eden.map(|eden| mebibytes((eden / 8).saturating_mul(10)))
    }
}

impl Collector {
    /// The collector that is measured unless the user asks for another.
    pub const USUAL: Collector = Collector { kind: HotspotCollector::Parallel, compact: false };

    /// The flags that choose the collector, for a JVM of that feature release.
    pub fn flags(&self, feature: u32) -> Vec<String> {
        let mut flags: Vec<&str> = match self.kind {
            HotspotCollector::Serial => vec!["-XX:+UseSerialGC"],
            HotspotCollector::Parallel => vec!["-XX:+UseParallelGC"],
            HotspotCollector::G1 => vec!["-XX:+UseG1GC"],
            // Generations came with 21 as an option (JEP 439), and are the only mode from 23 on
            // (JEP 474).
            HotspotCollector::Z if (21..23).contains(&feature) => vec!["-XX:+UseZGC", "-XX:+ZGenerational"],
            HotspotCollector::Z => vec!["-XX:+UseZGC"],
            HotspotCollector::Shenandoah => vec!["-XX:+UseShenandoahGC"],
            // An experiment in 24 (JEP 404), a product from 25 on (JEP 521).
            HotspotCollector::GenerationalShenandoah => vec![
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:+UseShenandoahGC",
                "-XX:ShenandoahGCMode=generational",
            ],
            HotspotCollector::Epsilon => vec!["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"],
        };
        if self.compact {
            // An experiment in 24 (JEP 450), a product from 25 on (JEP 519).
            flags.extend(["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"]);
        }
        flags.into_iter().map(String::from).collect()
    }

    /// The flags that set the heap's size, in MiB. Eden is sized, and keeps its size, where a
    /// collector has an eden.
    pub fn sizing(&self, sizes: Sizes) -> Vec<String> {
        let (heap, young) = (sizes.heap_mebibytes(), sizes.young_mebibytes());
        let mut flags = vec![format!("-Xms{heap}m"), format!("-Xmx{heap}m")];
        match (self.kind, young) {
            (HotspotCollector::Serial, Some(young)) => {
                flags.extend([format!("-Xmn{young}m"), "-XX:SurvivorRatio=8".into()]);
            }
            (HotspotCollector::Parallel, Some(young)) => {
                let fixed = ["-XX:SurvivorRatio=8", "-XX:-UseAdaptiveSizePolicy"].map(String::from);
                flags.push(format!("-Xmn{young}m"));
                flags.extend(fixed);
            }
            (HotspotCollector::G1, Some(young)) => flags.push(format!("-Xmn{young}m")),
            _ => {}
        }
        flags
    }

    /// The flags of `flags` that it has in a JVM of that feature release. Each flag is for
    /// Shenandoah, and comes with the last release that has it.
    pub fn of_shenandoah(&self, flags: &[(String, u32)], feature: u32) -> Vec<String> {
        if !matches!(self.kind, HotspotCollector::Shenandoah | HotspotCollector::GenerationalShenandoah) {
            return Vec::new();
        }
        flags.iter().filter(|(_, last)| feature <= *last).map(|(flag, _)| flag.clone()).collect()
    }

    /// Whether it ever frees anything.
    pub fn collects(&self) -> bool {
        self.kind != HotspotCollector::Epsilon
    }
}

/// Rounded up: HotSpot's own rounding depends on the collector.
fn mebibytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (name, _) in COLLECTORS {
            for text in [name.to_string(), format!("{name}-compact")] {
                assert_eq!(text.parse::<Collector>().unwrap().to_string(), text);
            }
        }
        for wrong in ["", "Parallel", "cms", "-compact", "parallel-", "compact"] {
            let error = wrong.parse::<Collector>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{wrong}` is not a collector")), "{error}");
        }
    }

    #[test]
    fn flags_follow_the_release() {
        let flags = |name: &str, feature| name.parse::<Collector>().unwrap().flags(feature).join(" ");
        assert_eq!(flags("parallel", 17), "-XX:+UseParallelGC");
        assert_eq!(flags("z", 17), "-XX:+UseZGC");
        assert_eq!(flags("z", 21), "-XX:+UseZGC -XX:+ZGenerational");
        assert_eq!(flags("z", 25), "-XX:+UseZGC");
        assert!(flags("genshen", 25).ends_with("-XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational"));
        assert!(flags("g1-compact", 25).ends_with("-XX:+UseCompactObjectHeaders"));
        assert!(flags("epsilon", 25).starts_with("-XX:+UnlockExperimentalVMOptions"));
    }

    #[test]
    fn eden_is_eight_tenths_of_the_young_generation() {
        let sizing = |name: &str, heap, eden| {
            name.parse::<Collector>().unwrap().sizing(Sizes { heap, eden }).join(" ")
        };
        let mib = |n: usize| n << 20;
        assert_eq!(sizing("parallel", mib(12), None), "-Xms16m -Xmx16m");
        let fixed = sizing("parallel", mib(1), Some(mib(64)));
        assert_eq!(fixed, "-Xms132m -Xmx132m -Xmn80m -XX:SurvivorRatio=8 -XX:-UseAdaptiveSizePolicy");
        assert!(sizing("serial", mib(1), Some(mib(64))).ends_with("-Xmn80m -XX:SurvivorRatio=8"));
        assert!(sizing("g1", mib(1), Some(mib(64))).ends_with("-Xmn80m"));
        assert!(!sizing("z", mib(1), Some(mib(64))).contains("-Xmn"));
        assert_eq!(sizing("serial", mib(1) + 1, None), "-Xms6m -Xmx6m");
        let bytes = |heap, eden| Sizes { heap, eden }.heap_bytes();
        assert_eq!((bytes(mib(1) + 1, None), bytes(mib(1), Some(mib(64)))), (mib(6), mib(132)));
        assert_eq!(bytes(usize::MAX, Some(usize::MAX)), usize::MAX);
    }

    #[test]
    fn flags_of_shenandoah_are_for_it_alone_and_end_with_a_release() {
        let flags =
            [("-XX:ShenandoahRegionSize=4m".to_string(), u32::MAX), ("-XX:-ShenandoahPacing".into(), 25)];
        let of =
            |name: &str, feature| name.parse::<Collector>().unwrap().of_shenandoah(&flags, feature).join(" ");
        assert_eq!(of("genshen", 25), "-XX:ShenandoahRegionSize=4m -XX:-ShenandoahPacing");
        assert_eq!(of("shenandoah-compact", 27), "-XX:ShenandoahRegionSize=4m");
        assert_eq!(of("g1", 25), "");
    }

    #[test]
    fn only_epsilon_never_collects() {
        assert!("g1".parse::<Collector>().unwrap().collects());
        assert!(!"epsilon".parse::<Collector>().unwrap().collects());
    }
}
