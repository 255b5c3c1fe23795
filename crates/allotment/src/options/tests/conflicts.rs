//! Every combination that is refused, and its nearest neighbours that are not.

use super::refused::REFUSED;
use super::*;

#[test]
fn refused_combinations() {
    for (list, names, part) in REFUSED {
        match finish(list) {
            Err(OptionError::Conflict { options, message }) => {
                assert_eq!(options, *names, "{list}");
                assert!(message.contains(part), "{list}: {message}");
            }
            other => panic!("{list}: {other:?}"),
        }
    }
}

/// The remedy in a refusal must help, if need be after a second step.
#[test]
fn a_value_without_effect_can_be_left_out() {
    let mut seen = 0;
    for (list, ..) in REFUSED.iter().filter(|(list, ..)| refusal(list).contains("leave it out")) {
        let mut list = list.to_string();
        for _ in 0..2 {
            if let Err(OptionError::Conflict { options, .. }) = finish(&list) {
                list = format!("{list} {}=default", options[0]);
            }
        }
        assert!(finish(&list).is_ok(), "{list}: {:?}", finish(&list));
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn without_buffers_no_option_of_buffers_is_taken() {
    for info in OPTIONS {
        let default = info.default_text();
        let of_buffers = (info.name.contains("TLAB") && info.name != "UseTLAB")
            || info.name == "ZeroWindowSize"
            || info.name.contains("Prefetch");
        let value = if info.name == "UseTLAB" { "false" } else { &default };
        let of_cycles = info.name.starts_with("Shenandoah")
            || matches!(info.name, "ConcGCThreads" | "ZealEvacuationFailure" | "ZealCycles");
        let needed = match info.name {
            "GCLogFileSize" | "NumberOfGCLogFiles" => "GCLog=gc.log ",
            _ if of_cycles => "Collector=shenandoah ShenandoahGCMode=generational ",
            _ => "",
        };
        let list = format!("{needed}-UseTLAB {}={value}", info.name);
        match finish(&list) {
            Err(OptionError::Conflict { options, message }) => {
                assert!(of_buffers, "{message}");
                assert_eq!(options, [info.name, "UseTLAB"]);
                assert!(
                    message.contains("-UseTLAB {command line}, where no thread has a buffer"),
                    "{message}"
                );
            }
            Err(error) => panic!("{list}: {error}"),
            Ok(_) => assert!(!of_buffers, "{list}"),
        }
    }
}

#[test]
fn neighbours_of_refused_combinations_are_taken() {
    for list in [
        "MaxHeapSize=1g InitialHeapSize=1g",
        "InitialHeapSize=1g",
        "MaxHeapSize=10m RegionSize=1m",
        "MaxHeapSize=3m",
        "RegionSize=32m",
        "MaxHeapSize=0 MaxRAMPercentage=50",
        "MinTLABSize=8k TLABSize=8k",
        "TLABSize=2k TLABPolicy=hotspot",
        "MinTLABSize=4k MaxTLABSize=4k TLABSize=4k",
        "MinTLABSize=1m MaxTLABSize=1m RegionSize=1m",
        "TLABSize=1m RegionSize=1m",
        "YoungPLABSize=1m OldPLABSize=1m RegionSize=1m",
        "TLABElasticity=1 TLABDecayTime=5 TLABPolicy=epsilon",
        "TLABDecayTime=5 TLABIdlePercent=1 TLABPolicy=adaptive",
        "TLABWasteTargetPercent=2 TLABAllocationWeight=90 TLABPolicy=shenandoah",
        "TLABRefillWasteFraction=1 TLABWasteIncrement=0",
        "-ResizeTLAB TLABSize=64k",
        "-ZeroTLAB ZeroWindowSize=4k",
        "AllocatePrefetchDistance=512 AllocatePrefetchStepSize=48",
        "AllocatePrefetchStyle=3 AllocatePrefetchLines=0",
        "AllocationRegions=1 -UseTLAB",
        "AllocationRegions=1 RefillStrategy=lock",
        "AllocationRegions=2 RefillStrategy=cas",
        "-UseTLAB RefillStrategy=lock",
        "NewSize=1m MaxNewSize=1m MaxHeapSize=1g Collector=parallel",
        "NewSize=1m Collector=parallel",
        "MaxNewSize=1048575k MaxHeapSize=1g Collector=parallel",
        "MaxTenuringThreshold=0 Collector=parallel",
        "InitialTenuringThreshold=2 MaxTenuringThreshold=2 Collector=parallel",
        "Collector=epsilon VerifyGCLevel=2",
        "ZealInterval=2 ZealSeed=7",
        "TLABWasteTargetPercent=2 TLABAllocationWeight=50 -ResizeTLAB TLABPolicy=hotspot",
        "TLABWasteTargetPercent=2 TLABAllocationWeight=50 TLABSize=64k TLABPolicy=hotspot",
        "TLABWasteTargetPercent=2 TLABAllocationWeight=50 TLABPolicy=epsilon",
        "TLABWasteTargetPercent=2 TLABAllocationWeight=50 TLABPolicy=shenandoah-8359947",
        "TLABDecayTime=5 TLABIdlePercent=1 MinTLABSize=64k TLABSize=64k MaxTLABSize=128k",
        "TLABElasticity=2 TLABSize=64k MaxTLABSize=64k TLABPolicy=epsilon",
        "TLABPolicy=hotspot -ResizeTLAB",
        "TLABPolicy=epsilon TLABSize=64k -ResizeTLAB",
        "TLABPolicy=shenandoah-8359947 TLABSize=64k -ResizeTLAB",
        "MinTLABSize=64k MaxTLABSize=64k TLABSize=64k -ResizeTLAB",
        "AllocatePrefetchLines=1 AllocatePrefetchStepSize=128",
        "AllocatePrefetchLines=1 AllocateInstancePrefetchLines=1 AllocatePrefetchStepSize=128 AllocatePrefetchStyle=3",
        "GCTimeRatio=9 NewSize=8m MaxNewSize=9m",
        "GCTimeLimit=99 GCHeapFreeLimit=1 Collector=mark-compact",
        "+UseGCOverheadLimit GCTimeLimit=0 GCHeapFreeLimit=100",
        "-UseGCOverheadLimit",
        "GCTimeLimit=100",
        "GCHeapFreeLimit=0",
        "YoungPLABSize=4k MaxTenuringThreshold=1",
        "MaxTenuringThreshold=0 InitialTenuringThreshold=0 OldPLABSize=4k",
        "MinHeapFreeRatio=40 UncommitDelay=9 InitialHeapSize=10m MaxHeapSize=11m RegionSize=1m",
        "MinHeapFreeRatio=40 MaxHeapSize=65m",
        "MinHeapFreeRatio=40 MaxHeapSize=64m InitialHeapSize=1m",
        "UncommitDelay=9 MaxHeapSize=64m",
        "GCInterval=9 InitialHeapSize=64m MaxHeapSize=64m",
        "ConcGCThreads=2 ParallelGCThreads=2 Collector=shenandoah",
        "ConcGCThreads=2 ParallelGCThreads=0 Collector=shenandoah",
        "ShenandoahGCMode=passive ShenandoahEvacReserve=9 ShenandoahMinFreeThreshold=9 Collector=shenandoah",
        "ShenandoahInitFreeThreshold=60 ShenandoahLearningSteps=1 Collector=shenandoah",
        "+ShenandoahPacing ShenandoahPacingMaxDelay=0 ShenandoahPacingSurcharge=2 Collector=shenandoah",
        "-ShenandoahPacing +ZealCycles Collector=shenandoah",
        "ShenandoahGarbageThreshold=5 Collector=shenandoah",
        "ShenandoahGarbageThreshold=0 ShenandoahIgnoreGarbageThreshold=0 Collector=shenandoah",
        "ShenandoahIgnoreGarbageThreshold=50 Collector=shenandoah",
        "MaxTenuringThreshold=2 InitialTenuringThreshold=1 Collector=shenandoah ShenandoahGCMode=generational",
        "ShenandoahOldGarbageThreshold=9 ShenandoahExpediteMixedThreshold=9 ShenandoahOldEvacPercent=9 \
         ShenandoahOldEvacWaste=2 Collector=shenandoah ShenandoahGCMode=generational",
        "+PrintGC -PrintGCDetails",
        "GCLog=gc.log",
        "GCLog=gc.log +PrintGC GCLogFileSize=4k NumberOfGCLogFiles=1",
        "GCLog=gc.log +PrintGCDetails",
        "GCLog=gc.log GCLogFileSize=0 NumberOfGCLogFiles=2",
        "GCLog=gc.log NumberOfGCLogFiles=0",
        "+ZealMove +ZealPoison +ZealProtect ZealQuarantine=2 +VerifyAfterGC",
    ] {
        assert!(finish(list).is_ok(), "{list}: {:?}", finish(list));
    }
}

/// For each option that not every collector reads: which read it, of parallel, generational, satb
/// and passive Shenandoah, mark-compact and epsilon.
#[test]
fn each_collector_takes_the_options_that_it_reads() {
    const HEAPS: [&str; 6] = [
        "Collector=parallel",
        "Collector=shenandoah ShenandoahGCMode=generational",
        "Collector=shenandoah ShenandoahGCMode=satb",
        "Collector=shenandoah ShenandoahGCMode=passive",
        "Collector=mark-compact",
        "Collector=epsilon",
    ];
    for (item, takes) in [
        ("NewSize=1m", "yes no no no no no"),
        ("MaxNewSize=1m", "yes no no no no no"),
        ("MaxGCPauseMillis=9", "yes no no no no no"),
        ("GCTimeRatio=9", "yes no no no no no"),
        ("-CollectWhenIdle", "yes no no no no no"),
        ("YoungPLABSize=4k", "yes no no no no no"),
        ("OldPLABSize=4k", "yes no no no no no"),
        ("InitialTenuringThreshold=1", "yes yes no no no no"),
        ("MaxTenuringThreshold=9", "yes yes no no no no"),
        ("ConcGCThreads=1", "no yes yes no no no"),
        ("ShenandoahGuaranteedGCInterval=9", "no yes yes no no no"),
        ("-ShenandoahPacing", "no yes yes no no no"),
        ("ShenandoahPacingMaxDelay=9", "no yes yes no no no"),
        ("ShenandoahPacingCycleSlack=9", "no yes yes no no no"),
        ("ShenandoahPacingSurcharge=2", "no yes yes no no no"),
        ("+ZealCycles", "no yes yes no no no"),
        ("ShenandoahMinFreeThreshold=9", "no yes yes yes no no"),
        ("ShenandoahEvacReserve=9", "no yes yes yes no no"),
        ("ShenandoahOldGarbageThreshold=9", "no yes no no no no"),
        ("ShenandoahExpediteMixedThreshold=9", "no yes no no no no"),
        ("ShenandoahOldEvacPercent=9", "no yes no no no no"),
        ("ShenandoahOldEvacWaste=2", "no yes no no no no"),
        ("ParallelGCThreads=1", "yes yes yes yes yes no"),
        ("MinHeapFreeRatio=40", "yes yes yes yes yes no"),
        ("UncommitDelay=9", "yes yes yes yes yes no"),
        ("GCInterval=9", "yes yes yes yes yes no"),
        ("+VerifyAfterGC", "yes yes yes yes yes no"),
    ] {
        for (heap, takes) in HEAPS.iter().zip(takes.split(' ')) {
            let result = finish(&format!("{heap} {item}"));
            assert_eq!(result.is_ok(), takes == "yes", "{heap} {item}: {result:?}");
        }
    }
}

#[test]
fn a_conflict_between_sources_names_both() {
    let mut set = OptionSet::new();
    set.tlab_size(64 << 10);
    set.apply_str("-UseTLAB", Source::Environment).unwrap();
    assert_eq!(
        set.finish().unwrap_err().to_string(),
        "TLABSize=64k {builder} has no effect with -UseTLAB {environment}, where no thread has a buffer; \
         leave it out, or undo it with TLABSize=default"
    );
}
