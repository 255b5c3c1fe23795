//! The options on display are the options in force: by table, by every combination of sizes, by
//! random lists.

use super::choose::{Chosen, Platform, choose};
use super::{BuildError, Heap};
use crate::options::{OPTIONS, OptionId, OptionInfo, OptionSet, Origin, Source, TlabPolicy};
use crate::platform::Processor;
use crate::platform::topology::Topology;
use crate::tlab::sizing::{Config, Settings};
use proptest::prelude::*;

/// Two CPUs.
fn platform() -> Platform {
    Platform { cpus: 2, workers: 2, processor: Processor::detect(), huge_pages: true }
}

fn given(list: &str) -> OptionSet {
    let mut set = OptionSet::new();
    set.apply_str(list, Source::CommandLine).expect(list);
    set
}

fn chosen(list: &str) -> Result<Chosen, BuildError> {
    choose(&given(list), None, &platform())
}

fn refusal(list: &str) -> String {
    chosen(list).map(|chosen| chosen.set).expect_err(list).to_string()
}

/// The value and the origin that are shown, as in `16k {ergonomic}`.
fn shown(set: &OptionSet, name: &str) -> String {
    let row = set.rows().find(|row| row.info.name == name).expect("an option");
    format!("{} {{{}}}", row.value, row.origin)
}

#[test]
fn what_is_shown_is_in_force() {
    for (list, name, expected) in [
        ("", "ParallelGCThreads", "2 {ergonomic}"),
        ("ParallelGCThreads=0", "ParallelGCThreads", "2 {ergonomic}"),
        ("ParallelGCThreads=7", "ParallelGCThreads", "7 {command line}"),
        ("Collector=epsilon", "ParallelGCThreads", "0 {default}"),
        ("", "ConcGCThreads", "0 {default}"),
        ("Collector=shenandoah", "ConcGCThreads", "1 {ergonomic}"),
        ("Collector=shenandoah,ConcGCThreads=0,ParallelGCThreads=9", "ConcGCThreads", "3 {ergonomic}"),
        ("Collector=shenandoah,ConcGCThreads=2", "ConcGCThreads", "2 {command line}"),
        ("Collector=shenandoah,ShenandoahGCMode=passive", "ConcGCThreads", "0 {default}"),
        ("Collector=shenandoah", "ParallelGCThreads", "2 {ergonomic}"),
        ("", "AllocationRegions", "2 {ergonomic}"),
        ("AllocationRegions=0", "AllocationRegions", "2 {ergonomic}"),
        ("AllocationRegions=1", "AllocationRegions", "1 {command line}"),
        ("RefillStrategy=lock", "AllocationRegions", "1 {ergonomic}"),
        ("-UseTLAB", "AllocationRegions", "1 {ergonomic}"),
        ("MaxHeapSize=10241k,RegionSize=1m", "MaxHeapSize", "11m {ergonomic}"),
        ("MaxHeapSize=64m", "RegionSize", "256k {ergonomic}"),
        ("", "TLABSize", "16k {ergonomic}"),
        ("TLABSize=0", "TLABSize", "16k {ergonomic}"),
        ("TLABSize=24k", "TLABSize", "24k {command line}"),
        ("MaxTLABSize=8k", "TLABSize", "8k {ergonomic}"),
        ("MinTLABSize=64k", "TLABSize", "64k {ergonomic}"),
        ("-UseTLAB", "TLABSize", "0 {default}"),
        // A formula for each thread, not a size.
        ("TLABPolicy=hotspot", "TLABSize", "0 {default}"),
        ("TLABPolicy=shenandoah-8359947,MaxHeapSize=64g", "TLABSize", "128k {ergonomic}"),
        ("MaxHeapSize=64m", "MaxTLABSize", "256k {ergonomic}"),
        ("MaxHeapSize=64m,MaxTLABSize=0", "MaxTLABSize", "256k {ergonomic}"),
        ("MaxHeapSize=64m,MaxTLABSize=64k", "MaxTLABSize", "64k {command line}"),
        ("TLABPolicy=shenandoah-8359947,MaxHeapSize=64g", "MaxTLABSize", "1m {ergonomic}"),
        ("TLABPolicy=shenandoah-8359947,MaxHeapSize=64g,MinTLABSize=2m", "MaxTLABSize", "2m {ergonomic}"),
        (
            "TLABPolicy=shenandoah-8359947,MaxHeapSize=64g,MaxTLABSize=16m,TLABSize=16m",
            "TLABSize",
            "16m {command line}",
        ),
        ("TLABPolicy=epsilon,MaxHeapSize=64g", "MaxTLABSize", "4m {ergonomic}"),
        ("-UseTLAB", "MaxTLABSize", "0 {default}"),
        ("", "MinTLABSize", "2k {default}"),
        ("TLABPolicy=shenandoah", "TLABAllocationWeight", "90 {ergonomic}"),
        ("TLABPolicy=shenandoah,TLABAllocationWeight=35", "TLABAllocationWeight", "35 {command line}"),
        ("TLABPolicy=hotspot", "TLABAllocationWeight", "35 {default}"),
        ("MaxTenuringThreshold=2", "InitialTenuringThreshold", "2 {ergonomic}"),
        ("MaxTenuringThreshold=9", "InitialTenuringThreshold", "7 {default}"),
        ("MaxHeapSize=64m", "YoungPLABSize", "256k {default}"),
        ("", "UseTransparentHugePages", "true {default}"),
    ] {
        let chosen = chosen(list).expect(list);
        assert_eq!(shown(&chosen.set, name), expected, "{name} of {list:?}");
    }
}

/// Regression: these were accepted and shown, and other values were in force.
#[test]
fn a_value_that_cannot_be_in_force_is_refused() {
    for (list, expected) in [
        (
            "MaxHeapSize=64m,TLABSize=1g",
            "TLABSize=1g {command line} is greater than RegionSize=256k {ergonomic}; lower the one or raise the other",
        ),
        (
            "MaxHeapSize=64m,MinTLABSize=32m,MaxTLABSize=32m",
            "MinTLABSize=32m {command line} is greater than RegionSize=256k {ergonomic}",
        ),
        (
            "MaxHeapSize=64m,MaxTLABSize=32m",
            "MaxTLABSize=32m {command line} is greater than RegionSize=256k {ergonomic}",
        ),
        (
            "TLABPolicy=shenandoah-8359947,MaxHeapSize=64g,TLABSize=16m",
            "TLABSize=16m {command line} is greater than MaxTLABSize=1m {ergonomic}",
        ),
        (
            "TLABPolicy=epsilon,MaxHeapSize=64g,TLABSize=8m",
            "TLABSize=8m {command line} is greater than MaxTLABSize=4m {ergonomic}",
        ),
        ("MaxHeapSize=64m,YoungPLABSize=512k", "is greater than RegionSize=256k {ergonomic}"),
        ("MaxHeapSize=64m,OldPLABSize=1m", "is greater than RegionSize=256k {ergonomic}"),
        ("MaxRAMPercentage=50,MaxNewSize=32t", "leaves no room in MaxHeapSize="),
        ("MaxHeapSize=64m,MinTLABSize=256k,TLABDecayTime=5", "no effect with MaxTLABSize=256k {ergonomic}"),
        (
            "MaxHeapSize=64m,MaxTLABSize=16k,TLABIdlePercent=1",
            "no effect with MaxTLABSize=16k {command line}",
        ),
        ("MaxHeapSize=64m,MaxNewSize=256k,GCTimeRatio=9", "no effect with MaxNewSize=256k {command line}"),
        (
            "Collector=shenandoah,ConcGCThreads=3",
            "ConcGCThreads=3 {command line} is greater than ParallelGCThreads=2 {ergonomic}",
        ),
        (
            "MaxHeapSize=16700k,InitialHeapSize=16650k,UncommitDelay=9",
            "no effect with InitialHeapSize=16650k",
        ),
    ] {
        let text = refusal(list);
        assert!(text.contains(expected), "{list}: {text}");
    }
}

#[test]
fn more_regions_than_cpus_are_refused_with_their_number() {
    assert_eq!(shown(&chosen("AllocationRegions=2").unwrap().set, "AllocationRegions"), "2 {command line}");
    assert_eq!(
        refusal("AllocationRegions=3"),
        "AllocationRegions=3 {command line}: there is one for each CPU, and this process has 2; AllocationRegions takes \
         0..2 here"
    );
}

/// Regression: with the defaults no heap could be made where the kernel has no huge pages.
#[test]
fn without_huge_pages_only_who_asked_for_them_gets_no_heap() {
    let none = Platform { huge_pages: false, ..platform() };
    let here = |list: &str| choose(&given(list), None, &none).map(|chosen| chosen.set);
    assert_eq!(shown(&here("").unwrap(), "UseTransparentHugePages"), "false {ergonomic}");
    let off = here("-UseTransparentHugePages").unwrap();
    assert_eq!(shown(&off, "UseTransparentHugePages"), "false {command line}");
    let text = here("+UseTransparentHugePages").unwrap_err().to_string();
    assert!(
        text.starts_with("UseTransparentHugePages=true {command line}: this kernel has no such pages"),
        "{text}"
    );
    assert!(text.ends_with("UseTransparentHugePages takes false here"), "{text}");
}

/// The sizing of a heap to which all that is shown was given.
fn sizing_as_shown(set: &OptionSet) -> Config {
    let values = set.values();
    Config::new(&Settings {
        policy: values.tlab_policy,
        region_size: values.region_size,
        capacity: values.max_heap_size,
        tlab_size: values.tlab_size,
        min_tlab_size: values.min_tlab_size,
        max_tlab_size: values.max_tlab_size,
        resize: values.resize_tlab,
        waste_target_percent: values.tlab_waste_target_percent,
        refill_waste_fraction: values.tlab_refill_waste_fraction,
        waste_increment: values.tlab_waste_increment,
        allocation_weight: Some(values.tlab_allocation_weight as u8),
        elasticity: values.tlab_elasticity,
        decay_ms: values.tlab_decay_time,
    })
}

fn texts(set: &OptionSet) -> Vec<(&'static str, String)> {
    set.rows().map(|row| (row.info.name, row.value)).collect()
}

/// Whether a list is accepted; if so, checks the values in force.
fn is_in_force(list: &str) -> bool {
    let given = given(list);
    let Ok(chosen) = choose(&given, None, &platform()) else { return false };
    assert_eq!(sizing_as_shown(&chosen.set), chosen.sizing, "{list}");
    let values = chosen.set.values();
    // Without buffers no size of one is in force.
    if values.use_tlab {
        let shown = (values.tlab_size, values.min_tlab_size, values.max_tlab_size);
        let sizing = &chosen.sizing;
        assert_eq!(shown, (sizing.tlab_size, sizing.min_tlab_size, sizing.max_tlab_size), "{list}");
    }
    for (before, after) in given.rows().zip(chosen.set.rows()) {
        // No given value is replaced, except for values that leave the choice to the heap, and
        // whole regions.
        let kept = before.value == "0" || before.info.id == OptionId::MaxHeapSize;
        assert!(kept || before.origin == Origin::Default || before.value == after.value, "{list}: {after:?}");
    }
    // Chosen is not given.
    let again = choose(&chosen.set, None, &platform()).expect(list);
    assert_eq!(texts(&again.set), texts(&chosen.set), "{list}");
    assert_eq!(again.sizing, chosen.sizing, "{list}");
    true
}

/// Every combination of these, one of each line.
#[test]
fn sizes_of_buffers_are_in_force_as_shown_or_refused() {
    let policies: Vec<String> =
        TlabPolicy::ALL.iter().map(|policy| format!("TLABPolicy={}", policy.name())).collect();
    let (mut accepted, mut refused) = (0, 0);
    for policy in &policies {
        for heap in ["MaxHeapSize=64m", "MaxHeapSize=64g", "MaxHeapSize=64m,RegionSize=4m"] {
            for first in ["TLABSize=0", "TLABSize=4k", "TLABSize=256k", "TLABSize=16m"] {
                for most in ["MaxTLABSize=0", "MaxTLABSize=8k", "MaxTLABSize=1m"] {
                    for least in ["MinTLABSize=default", "MinTLABSize=64", "MinTLABSize=256k"] {
                        for rest in ["+ResizeTLAB", "-ResizeTLAB", "TLABAllocationWeight=50"] {
                            let list = [policy.as_str(), heap, first, most, least, rest].join(",");
                            let outcome = if is_in_force(&list) { &mut accepted } else { &mut refused };
                            *outcome += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}

/// An item for an option: its default, or a value at or near the ends of its range.
fn item() -> impl Strategy<Value = String> {
    let values = ["default", "0", "1", "2", "64", "4k", "256k", "1m", "50", "true", "false"];
    let names = TlabPolicy::NAMES.iter().map(|(name, _)| *name);
    let values: Vec<&str> =
        values.into_iter().chain(names).chain(["lock", "mark-compact", "parallel", "passive"]).collect();
    let pairs: Vec<String> = OPTIONS
        .iter()
        .flat_map(|info: &OptionInfo| values.iter().map(move |value| (info, value)))
        .filter(|(info, value)| OptionSet::new().set(info.name, value, Source::Builder).is_ok())
        .map(|(info, value)| format!("{}={value}", info.name))
        .collect();
    proptest::sample::select(pairs)
}

proptest! {
    #[test]
    fn any_accepted_list_is_in_force_as_shown(items in prop::collection::vec(item(), 0..5)) {
        is_in_force(&items.join(","));
    }
}

#[test]
fn a_heap_is_made_of_what_is_shown() {
    for list in [
        "",
        "TLABPolicy=shenandoah,RegionSize=1m",
        "TLABPolicy=shenandoah-8359947,MinTLABSize=64",
        "TLABPolicy=epsilon,MaxTLABSize=64k,TLABSize=32k,Collector=epsilon",
        "-ResizeTLAB,TLABSize=256k,Collector=mark-compact,ParallelGCThreads=3",
        "-UseTLAB,MaxTenuringThreshold=2",
        "Collector=shenandoah,ShenandoahGCMode=passive,ShenandoahEvacReserve=10",
    ] {
        let list = format!("MaxHeapSize=64m,{list}");
        let builder = || Heap::builder().options(&list).expect(&list);
        let (heap, resolved) = (builder().build().expect(&list), builder().resolve().expect(&list));
        let again = builder().resolve_on(&Topology::detect()).expect(&list);
        assert_eq!(texts(&again), texts(&resolved), "{list}");
        assert_eq!(texts(heap.options()), texts(&resolved), "{list}");
        let values = heap.options().values();
        assert_eq!(sizing_as_shown(heap.options()), heap.shared.policy.sizing, "{list}");
        assert_eq!(heap.shared.space.free.homes(), values.allocation_regions, "{list}");
        assert_eq!(heap.geometry().region_bytes(), values.region_size, "{list}");
    }
}
