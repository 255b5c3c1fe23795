//! The guarantees of the table, and the methods that a builder makes from it.

mod conflicts;
mod lists;
mod properties;
mod refused;

use super::table::for_each_option;
use super::*;
use std::path::PathBuf;

/// The options that `list` gives on a command line, checked.
fn finish(list: &str) -> Result<Options, OptionError> {
    let mut set = OptionSet::new();
    set.apply_str(list, Source::CommandLine)?;
    set.finish()
}

/// The message with which `list` is refused on a command line.
fn refusal(list: &str) -> String {
    finish(list).expect_err(list).to_string()
}

#[test]
fn every_row_is_consistent() {
    for (index, info) in OPTIONS.iter().enumerate() {
        assert_eq!((info.id as usize, info.id.info().name), (index, info.name));
        assert_eq!(info.field.replace('_', ""), info.name.to_ascii_lowercase());
        assert_eq!(OptionInfo::find(info.name).unwrap().id, info.id, "{} is there twice", info.name);
        assert!(info.text.ends_with('.') && !info.text.starts_with(' '), "{}", info.text);
        assert!(info.difference.is_empty() || info.difference.ends_with('.'), "{}", info.difference);
        assert!(!info.hotspot.is_empty() || !info.difference.is_empty(), "{}: nothing on HotSpot", info.name);
        let mut set = OptionSet::new();
        set.set(info.name, &info.default_text(), Source::Builder).unwrap();
        assert_eq!(set.values(), &Options::default(), "{}", info.name);
    }
}

#[test]
fn types_ranges_and_defaults() {
    const PATH: &str = "path a path without commas and blanks; none if it is empty";
    let sizes = |range: &str| format!("size {range}");
    let table: Vec<(&str, String, &str)> = vec![
        ("MaxHeapSize", sizes("0 or 2560k..32t"), "0"),
        ("InitialHeapSize", sizes("0..32t"), "0"),
        ("MaxRAMPercentage", "real 0.01..100.0".into(), "25.0"),
        ("RegionSize", sizes("0 or 256k..32m, a power of two"), "0"),
        ("AlwaysPreTouch", "switch true or false".into(), "false"),
        ("UseTransparentHugePages", "switch true or false".into(), "true"),
        ("UncommitDelay", "milliseconds 0..2147483647".into(), "300000"),
        ("GCInterval", "milliseconds 0..2147483647".into(), "0"),
        ("UseTLAB", "switch true or false".into(), "true"),
        ("ResizeTLAB", "switch true or false".into(), "true"),
        ("ZeroTLAB", "switch true or false".into(), "false"),
        ("TLABSize", sizes("0 or 64..1g, a multiple of 8"), "0"),
        ("MinTLABSize", sizes("64..32m, a multiple of 8"), "2k"),
        ("MaxTLABSize", sizes("0 or 64..32m, a multiple of 8"), "0"),
        (
            "TLABPolicy",
            "choice adaptive, hotspot, hotspot-8381834, shenandoah, shenandoah-8359947, epsilon".into(),
            "adaptive",
        ),
        ("TLABWasteTargetPercent", "count 1..100".into(), "1"),
        ("TLABRefillWasteFraction", "count 1..2147483647".into(), "64"),
        ("TLABWasteIncrement", "count 0..2147483647".into(), "4"),
        ("TLABAllocationWeight", "count 0..100".into(), "35"),
        ("TLABElasticity", "real 1.0 or more".into(), "1.1"),
        ("TLABDecayTime", "milliseconds 1..2147483647".into(), "1000"),
        ("TLABIdlePercent", "real 0.1..50.0".into(), "5.0"),
        ("ZeroWindowSize", sizes("64..1m, a multiple of 8"), "8k"),
        ("AllocatePrefetchStyle", "count 0..3".into(), "1"),
        ("AllocatePrefetchDistance", sizes("0..512"), "256"),
        ("AllocatePrefetchLines", "count 0..64".into(), "0"),
        ("AllocateInstancePrefetchLines", "count 0..64".into(), "0"),
        ("AllocatePrefetchStepSize", sizes("1..512"), "64"),
        ("AllocatePrefetchInstr", "count 0..3".into(), "3"),
        ("RefillStrategy", "choice cas, lock".into(), "cas"),
        ("AllocationRegions", "count 0..1024".into(), "0"),
        ("SafepointTimeoutDelay", "milliseconds 0..2147483647".into(), "10000"),
        ("Collector", "choice parallel, shenandoah, mark-compact, epsilon".into(), "parallel"),
        ("ParallelGCThreads", "count 0..1024".into(), "0"),
        ("MinHeapFreeRatio", "count 0..95".into(), "50"),
        ("NewSize", sizes("0 or 256k..32t"), "0"),
        ("MaxNewSize", sizes("0 or 256k..32t"), "0"),
        ("InitialTenuringThreshold", "count 0..15".into(), "7"),
        ("MaxTenuringThreshold", "count 0..15".into(), "15"),
        ("MaxGCPauseMillis", "milliseconds 0..2147483647".into(), "0"),
        ("GCTimeRatio", "count 0..2147483647".into(), "24"),
        ("UseGCOverheadLimit", "switch true or false".into(), "true"),
        ("GCTimeLimit", "count 0..100".into(), "98"),
        ("GCHeapFreeLimit", "count 0..100".into(), "2"),
        ("CollectWhenIdle", "switch true or false".into(), "true"),
        ("YoungPLABSize", sizes("1k..32m, a multiple of 8"), "256k"),
        ("OldPLABSize", sizes("1k..32m, a multiple of 8"), "64k"),
        ("ShenandoahGCMode", "choice satb, generational, passive".into(), "satb"),
        ("ConcGCThreads", "count 0..1024".into(), "0"),
        ("ShenandoahMinFreeThreshold", "count 0..100".into(), "10"),
        ("ShenandoahInitFreeThreshold", "count 0..100".into(), "70"),
        ("ShenandoahLearningSteps", "count 0..100".into(), "5"),
        ("ShenandoahAllocSpikeFactor", "count 0..100".into(), "5"),
        ("ShenandoahGuaranteedGCInterval", "milliseconds 0..2147483647".into(), "300000"),
        ("ShenandoahPacing", "switch true or false".into(), "true"),
        ("ShenandoahPacingMaxDelay", "milliseconds 0..2147483647".into(), "10"),
        ("ShenandoahPacingCycleSlack", "count 0..100".into(), "10"),
        ("ShenandoahPacingSurcharge", "real 1.0..100.0".into(), "1.1"),
        ("ShenandoahGarbageThreshold", "count 0..100".into(), "25"),
        ("ShenandoahIgnoreGarbageThreshold", "count 0..100".into(), "5"),
        ("ShenandoahImmediateThreshold", "count 0..100".into(), "70"),
        ("ShenandoahEvacReserve", "count 1..100".into(), "5"),
        ("ShenandoahEvacWaste", "real 1.0..100.0".into(), "1.2"),
        ("ShenandoahOldGarbageThreshold", "count 1..100".into(), "25"),
        ("ShenandoahExpediteMixedThreshold", "count 0..2147483647".into(), "10"),
        ("ShenandoahOldEvacPercent", "count 0..100".into(), "75"),
        ("ShenandoahOldEvacWaste", "real 1.0..100.0".into(), "1.4"),
        ("ShenandoahFullGCThreshold", "count 0..2147483647".into(), "3"),
        ("ShenandoahCriticalFreeThreshold", "count 0..100".into(), "1"),
        ("AllocationSampleInterval", sizes("0 or 16..1t"), "0"),
        ("AllocationProfile", PATH.into(), ""),
        ("AllocationSampleMemory", sizes("64k..1t"), "16m"),
        ("PrintGC", "switch true or false".into(), "false"),
        ("PrintGCDetails", "switch true or false".into(), "false"),
        ("GCLog", PATH.into(), ""),
        ("GCLogFileSize", sizes("0 or 4k..1t"), "20m"),
        ("NumberOfGCLogFiles", "count 0..1000".into(), "5"),
        ("Timeline", PATH.into(), ""),
        ("SnapshotOnOutOfMemory", PATH.into(), ""),
        ("StartAttachListener", "switch true or false".into(), "false"),
        ("VerifyBeforeGC", "switch true or false".into(), "false"),
        ("VerifyAfterGC", "switch true or false".into(), "false"),
        ("VerifyGCLevel", "count 1..3".into(), "3"),
        ("ZealInterval", "count 0..2147483647".into(), "0"),
        ("ZealSeed", "count 0..2147483647".into(), "0"),
        ("ZealOutOfMemory", "count 0..2147483647".into(), "0"),
        ("ZealMove", "switch true or false".into(), "false"),
        ("ZealEvacuationFailure", "count 0..2147483647".into(), "0"),
        ("ZealCycles", "switch true or false".into(), "false"),
        ("ZealPoison", "switch true or false".into(), "false"),
        ("ZealProtect", "switch true or false".into(), "false"),
        ("ZealQuarantine", "count 0..2147483647".into(), "0"),
    ];
    let found: Vec<_> = OPTIONS
        .iter()
        .map(|info| (info.name, format!("{} {}", info.type_name(), info.range()), info.default_text()))
        .collect();
    let found: Vec<_> =
        found.iter().map(|(name, kind, default)| (*name, kind.clone(), default.as_str())).collect();
    assert_eq!(found, table);
}

/// A fuzzer that does not know a word hardly finds it.
#[test]
fn the_fuzzer_knows_every_option_and_every_choice() {
    let known: Vec<_> = include_str!("../../../../../fuzz/dictionaries/options").lines().collect();
    let names: Vec<_> = OPTIONS.iter().map(|info| format!("\"{}=\"", info.name)).collect();
    let choices = OPTIONS.iter().filter(|info| info.type_name() == "choice").flat_map(|info| {
        let range = info.range().to_string();
        range.split(", ").map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>()
    });
    for word in names.iter().cloned().chain(choices) {
        assert!(known.contains(&&*word), "fuzz/dictionaries/options lacks {word}");
    }
    let gone = known.iter().filter(|word| word.ends_with("=\"") && !names.iter().any(|name| name == *word));
    assert_eq!(gone.count(), 0, "a word of fuzz/dictionaries/options is not an option");
}

#[test]
fn the_defaults_can_work_together() {
    assert_eq!(OptionSet::new().finish(), Ok(Options::default()));
}

#[test]
fn the_manual_has_every_option_within_100_columns() {
    let mut set = OptionSet::new();
    set.apply_str("MaxHeapSize=3m,TLABPolicy=shenandoah-8359947", Source::CommandLine).unwrap();
    set.always_pre_touch(true);
    let mut chosen = set.finish().unwrap();
    chosen.region_size = 256 << 10;
    set.resolve(&chosen);
    let manual = manual(&set);
    for row in set.rows() {
        let line = format!("\n{} = {} {{{}}}\n    {}\n", row.info.name, row.value, row.origin, row.info.text);
        assert!(manual.contains(&line), "{line} is not in\n{manual}");
        assert!(manual.contains(row.info.difference));
    }
    for line in [
        "MaxHeapSize = 3m {command line}",
        "AlwaysPreTouch = true {builder}",
        "RegionSize = 256k {ergonomic}",
        "UseTLAB = true {default}",
    ] {
        assert!(manual.lines().any(|found| found == line), "{line} is not in\n{manual}");
    }
    let longest = manual.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(longest.chars().count() <= 100, "{longest}");
    // A paragraph per option, after the two of the preface.
    assert_eq!(manual.split("\n\n").count(), 3 + OPTIONS.len(), "{manual}");
}

/// Stands for the heap's builder, which has a method per option from the same rows.
#[derive(Default)]
struct Builder {
    options: OptionSet,
}

macro_rules! methods {
    ($($(#[doc = $text:literal])+
        $name:ident, $field:ident: $type:ty = $default:expr, $limits:expr,
        [$($hotspot:literal),*] $difference:literal;)+) => {
        impl Builder {
            $($(#[doc = $text])+
            fn $field(mut self, value: $type) -> Self {
                self.options.$field(value);
                self
            })+
        }

        /// Calls every method, with the values of `other` that are not the defaults.
        #[allow(clippy::clone_on_copy)]
        fn call_all(builder: Builder, other: &Options) -> Builder {
            builder$(.$field(Clone::clone(&other.$field)))+
        }
    };
}
for_each_option!(methods);

#[test]
fn a_builder_has_a_method_for_every_option() {
    let other =
        finish("TLABPolicy=epsilon,MaxHeapSize=1g,TLABElasticity=1.5,TLABSize=4k,+AlwaysPreTouch").unwrap();
    let built = call_all(Builder::default(), &other);
    assert_eq!(built.options.values(), &other);
    assert!(built.options.rows().all(|row| row.origin == Origin::Given(Source::Builder)));
    let checked =
        Builder::default().max_heap_size(1 << 30).tlab_size(48 << 10).resize_tlab(false).options.finish();
    assert_eq!(checked, finish("MaxHeapSize=1g,TLABSize=48k,-ResizeTLAB"));
}

#[test]
fn a_typed_value_outside_its_limits_is_refused_at_the_end() {
    let mut set = OptionSet::new();
    set.tlab_idle_percent(f64::NAN).tlab_size(64 << 10);
    let error = set.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "TLABIdlePercent=NaN {builder}: not a finite number; TLABIdlePercent takes 0.1..50.0"
    );
    set.set("TLABIdlePercent", "7.5", Source::Environment).unwrap();
    assert_eq!(set.finish().unwrap().tlab_idle_percent, 7.5);
}
