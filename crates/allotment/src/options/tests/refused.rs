//! The combinations of options that are refused, a row each.
//!
//! `conflicts.rs` tests every row.

/// Lists, the options that their refusal names, and a part of the message.
pub(super) const REFUSED: &[(&str, &[&str], &str)] = &[
    (
        "MaxHeapSize=1g InitialHeapSize=2g",
        &["InitialHeapSize", "MaxHeapSize"],
        "InitialHeapSize=2g {command line} is greater than MaxHeapSize=1g {command line}",
    ),
    (
        "MaxHeapSize=10239k RegionSize=1m",
        &["MaxHeapSize", "RegionSize"],
        "MaxHeapSize=10239k {command line} is too small for RegionSize=1m {command line}: \
         a heap has at least 10 regions, which are 10m",
    ),
    (
        "MaxHeapSize=1g MaxRAMPercentage=50",
        &["MaxRAMPercentage", "MaxHeapSize"],
        "MaxRAMPercentage=50.0 {command line} has no effect with MaxHeapSize=1g {command line}, which is \
         fixed; leave it out, or undo it with MaxRAMPercentage=default",
    ),
    (
        "TLABSize=1k",
        &["TLABSize", "MinTLABSize"],
        "TLABSize=1k {command line} is smaller than MinTLABSize=2k {default}; raise the one",
    ),
    ("MaxTLABSize=1k", &["MaxTLABSize", "MinTLABSize"], "is smaller than MinTLABSize=2k {default}"),
    (
        "MinTLABSize=4k TLABSize=2k",
        &["TLABSize", "MinTLABSize"],
        "TLABSize=2k {command line} is smaller than MinTLABSize=4k {command line}",
    ),
    ("MinTLABSize=4k MaxTLABSize=2k", &["MaxTLABSize", "MinTLABSize"], "is smaller than MinTLABSize=4k"),
    (
        "MaxTLABSize=64k TLABSize=65544",
        &["TLABSize", "MaxTLABSize"],
        "TLABSize=65544 {command line} is greater than MaxTLABSize=64k",
    ),
    ("MaxTLABSize=2m RegionSize=1m", &["MaxTLABSize", "RegionSize"], "is greater than RegionSize=1m"),
    ("MinTLABSize=2m RegionSize=1m", &["MinTLABSize", "RegionSize"], "is greater than RegionSize=1m"),
    (
        "TLABSize=1g RegionSize=1m",
        &["TLABSize", "RegionSize"],
        "is greater than RegionSize=1m {command line}",
    ),
    (
        "YoungPLABSize=1025k RegionSize=1m",
        &["YoungPLABSize", "RegionSize"],
        "YoungPLABSize=1025k {command line} is greater than RegionSize=1m {command line}",
    ),
    ("OldPLABSize=2m RegionSize=1m", &["OldPLABSize", "RegionSize"], "is greater than RegionSize=1m"),
    (
        "TLABElasticity=1.2",
        &["TLABElasticity", "TLABPolicy"],
        "only these policies read it: epsilon; leave it out",
    ),
    (
        "TLABElasticity=1.1 TLABPolicy=hotspot",
        &["TLABElasticity", "TLABPolicy"],
        "TLABPolicy=hotspot {command line}",
    ),
    (
        "TLABDecayTime=5 TLABPolicy=hotspot-8381834",
        &["TLABDecayTime", "TLABPolicy"],
        "read it: adaptive, epsilon;",
    ),
    (
        "TLABDecayTime=5 TLABPolicy=shenandoah",
        &["TLABDecayTime", "TLABPolicy"],
        "TLABPolicy=shenandoah {command line}",
    ),
    ("TLABIdlePercent=5 TLABPolicy=epsilon", &["TLABIdlePercent", "TLABPolicy"], "read it: adaptive;"),
    ("TLABWasteTargetPercent=2", &["TLABWasteTargetPercent", "TLABPolicy"], "shenandoah-8359947, epsilon;"),
    ("TLABAllocationWeight=35", &["TLABAllocationWeight", "TLABPolicy"], "TLABPolicy=adaptive {default}"),
    (
        "-ResizeTLAB TLABDecayTime=5",
        &["TLABDecayTime", "ResizeTLAB"],
        "-ResizeTLAB {command line}, where buffers keep their size",
    ),
    ("-ResizeTLAB TLABIdlePercent=1", &["TLABIdlePercent", "ResizeTLAB"], "-ResizeTLAB {command line}"),
    (
        "-ResizeTLAB TLABPolicy=epsilon TLABElasticity=2",
        &["TLABElasticity", "ResizeTLAB"],
        "TLABElasticity=2.0 {command line}",
    ),
    (
        "TLABWasteTargetPercent=2 TLABSize=64k -ResizeTLAB TLABPolicy=hotspot",
        &["TLABWasteTargetPercent", "ResizeTLAB"],
        "-ResizeTLAB {command line}, where buffers keep the size they begin with; leave it out",
    ),
    (
        "TLABAllocationWeight=50 TLABSize=64k -ResizeTLAB TLABPolicy=shenandoah",
        &["TLABAllocationWeight", "ResizeTLAB"],
        "where buffers keep the size they begin with",
    ),
    (
        "TLABWasteTargetPercent=2 -ResizeTLAB TLABPolicy=shenandoah-8359947",
        &["TLABWasteTargetPercent", "ResizeTLAB"],
        "where buffers keep the size they begin with",
    ),
    (
        "TLABAllocationWeight=50 -ResizeTLAB TLABPolicy=shenandoah-8359947",
        &["TLABAllocationWeight", "ResizeTLAB"],
        "where buffers keep the size they begin with",
    ),
    (
        "TLABWasteTargetPercent=2 TLABSize=64k TLABPolicy=epsilon",
        &["TLABWasteTargetPercent", "TLABSize"],
        "TLABSize=64k {command line}, which no cycle changes with TLABPolicy=epsilon",
    ),
    (
        "TLABAllocationWeight=50 TLABSize=64k TLABPolicy=epsilon -ResizeTLAB",
        &["TLABAllocationWeight", "TLABSize"],
        "which no cycle changes",
    ),
    (
        "TLABDecayTime=5 TLABSize=64k MaxTLABSize=64k",
        &["TLABDecayTime", "MaxTLABSize"],
        "MaxTLABSize=64k {command line}, which is also the smallest buffer",
    ),
    (
        "TLABIdlePercent=1 MinTLABSize=64k MaxTLABSize=64k",
        &["TLABIdlePercent", "MaxTLABSize"],
        "the smallest buffer",
    ),
    (
        "TLABElasticity=2 MinTLABSize=64k MaxTLABSize=64k TLABPolicy=epsilon",
        &["TLABElasticity", "MaxTLABSize"],
        "the smallest buffer",
    ),
    (
        "TLABWasteTargetPercent=2 MinTLABSize=64k MaxTLABSize=64k TLABPolicy=hotspot",
        &["TLABWasteTargetPercent", "MaxTLABSize"],
        "the smallest buffer",
    ),
    (
        "TLABPolicy=hotspot TLABSize=64k -ResizeTLAB",
        &["TLABPolicy", "ResizeTLAB"],
        "-ResizeTLAB {command line}, where buffers keep TLABSize under every policy",
    ),
    (
        "TLABPolicy=epsilon TLABSize=64k MaxTLABSize=128k -ResizeTLAB",
        &["TLABPolicy", "ResizeTLAB"],
        "under every policy",
    ),
    (
        "+ZeroTLAB ZeroWindowSize=4k",
        &["ZeroWindowSize", "ZeroTLAB"],
        "+ZeroTLAB {command line}, which zeroes the buffer as a whole",
    ),
    (
        "AllocatePrefetchStyle=0 AllocatePrefetchInstr=1",
        &["AllocatePrefetchInstr", "AllocatePrefetchStyle"],
        "AllocatePrefetchStyle=0 {command line}, which prefetches nothing",
    ),
    (
        "AllocatePrefetchDistance=0 AllocatePrefetchStyle=2",
        &["AllocatePrefetchStyle", "AllocatePrefetchDistance"],
        "AllocatePrefetchDistance=0 {command line}, which prefetches nothing ahead",
    ),
    (
        "AllocatePrefetchLines=1 AllocateInstancePrefetchLines=1 AllocatePrefetchStepSize=128",
        &["AllocatePrefetchStepSize", "AllocatePrefetchLines"],
        "AllocatePrefetchLines=1 {command line}, where no object has a second line to step to",
    ),
    ("AllocationRegions=2 -UseTLAB", &["AllocationRegions", "UseTLAB"], "where all threads bump one pointer"),
    (
        "AllocationRegions=2 RefillStrategy=lock",
        &["AllocationRegions", "RefillStrategy"],
        "which has one region under the heap lock",
    ),
    (
        "-UseTLAB +ZeroTLAB",
        &["ZeroTLAB", "UseTLAB"],
        "+ZeroTLAB {command line} has no effect with -UseTLAB {command line}",
    ),
    (
        "NewSize=2m MaxNewSize=1m Collector=parallel",
        &["NewSize", "MaxNewSize"],
        "NewSize=2m {command line} is greater than MaxNewSize=1m {command line}",
    ),
    (
        "MaxNewSize=1g MaxHeapSize=1g Collector=parallel",
        &["MaxNewSize", "MaxHeapSize"],
        "MaxNewSize=1g {command line} leaves no room in MaxHeapSize=1g {command line} for old objects",
    ),
    (
        "NewSize=1g MaxHeapSize=1g Collector=parallel",
        &["NewSize", "MaxHeapSize"],
        "NewSize=1g {command line} leaves no room",
    ),
    (
        "InitialTenuringThreshold=3 MaxTenuringThreshold=2 Collector=parallel",
        &["InitialTenuringThreshold", "MaxTenuringThreshold"],
        "is greater than MaxTenuringThreshold=2 {command line}",
    ),
    (
        "GCTimeRatio=9 NewSize=8m MaxNewSize=8m",
        &["GCTimeRatio", "MaxNewSize"],
        "MaxNewSize=8m {command line}, which is also the smallest young generation",
    ),
    (
        "GCTimeRatio=9 MaxNewSize=1m RegionSize=1m",
        &["GCTimeRatio", "MaxNewSize"],
        "smallest young generation",
    ),
    (
        "YoungPLABSize=4k MaxTenuringThreshold=0",
        &["YoungPLABSize", "MaxTenuringThreshold"],
        "MaxTenuringThreshold=0 {command line}, so every object that survives becomes old",
    ),
    (
        "GCTimeLimit=90 -UseGCOverheadLimit",
        &["GCTimeLimit", "UseGCOverheadLimit"],
        "-UseGCOverheadLimit {command line}, so no collections are counted",
    ),
    (
        "-UseGCOverheadLimit GCHeapFreeLimit=2",
        &["GCHeapFreeLimit", "UseGCOverheadLimit"],
        "no collections are counted",
    ),
    (
        "GCHeapFreeLimit=5 GCTimeLimit=100",
        &["GCHeapFreeLimit", "GCTimeLimit"],
        "GCTimeLimit=100 {command line}, a share that collections never exceed",
    ),
    (
        "GCTimeLimit=90 GCHeapFreeLimit=0",
        &["GCTimeLimit", "GCHeapFreeLimit"],
        "GCHeapFreeLimit=0 {command line}, and every heap has that much free",
    ),
    ("-UseGCOverheadLimit Collector=epsilon", &["UseGCOverheadLimit", "Collector"], "which never collects"),
    ("GCTimeLimit=9 Collector=epsilon", &["GCTimeLimit", "Collector"], "which never collects"),
    ("GCHeapFreeLimit=9 Collector=epsilon", &["GCHeapFreeLimit", "Collector"], "which never collects"),
    (
        "MinHeapFreeRatio=40 InitialHeapSize=1g MaxHeapSize=1g",
        &["MinHeapFreeRatio", "InitialHeapSize"],
        "InitialHeapSize=1g {command line}, which is all of MaxHeapSize and is kept",
    ),
    (
        "UncommitDelay=9 InitialHeapSize=10m MaxHeapSize=10m",
        &["UncommitDelay", "InitialHeapSize"],
        "which is all of MaxHeapSize",
    ),
    (
        "UncommitDelay=9 InitialHeapSize=10241k MaxHeapSize=10500k RegionSize=1m",
        &["UncommitDelay", "InitialHeapSize"],
        "which is all of MaxHeapSize",
    ),
    (
        "MinHeapFreeRatio=40 MaxHeapSize=64m Collector=mark-compact",
        &["MinHeapFreeRatio", "MaxHeapSize"],
        "MaxHeapSize=64m {command line}, and 64m may be in use in any case",
    ),
    (
        "-PrintGC +PrintGCDetails",
        &["PrintGC", "PrintGCDetails"],
        "-PrintGC {command line} has no effect with +PrintGCDetails {command line}, which prints the line",
    ),
    ("NewSize=1m Collector=mark-compact", &["NewSize", "Collector"], "only Collector=parallel reads it"),
    (
        "MaxNewSize=1m Collector=mark-compact",
        &["MaxNewSize", "Collector"],
        "only Collector=parallel reads it",
    ),
    (
        "InitialTenuringThreshold=1 Collector=mark-compact",
        &["InitialTenuringThreshold", "Collector"],
        "which has no generations",
    ),
    (
        "MaxTenuringThreshold=1 Collector=mark-compact",
        &["MaxTenuringThreshold", "Collector"],
        "which has no generations",
    ),
    (
        "MaxGCPauseMillis=9 Collector=mark-compact",
        &["MaxGCPauseMillis", "Collector"],
        "only Collector=parallel reads it",
    ),
    (
        "YoungPLABSize=64k Collector=mark-compact",
        &["YoungPLABSize", "Collector"],
        "only Collector=parallel reads it",
    ),
    ("OldPLABSize=64k Collector=epsilon", &["OldPLABSize", "Collector"], "only Collector=parallel reads it"),
    ("+PrintGCDetails Collector=epsilon", &["PrintGCDetails", "Collector"], "which never collects"),
    ("GCLog=gc.log Collector=epsilon", &["GCLog", "Collector"], "which never collects"),
    (
        "GCLog=gc.log -PrintGC",
        &["GCLog", "PrintGC"],
        "GCLog=gc.log {command line} has no effect with -PrintGC {command line}, which leaves no lines to write",
    ),
    (
        "GCLogFileSize=1m",
        &["GCLogFileSize", "GCLog"],
        "GCLogFileSize=1m {command line} has no effect with GCLog= {default}, so there is no file",
    ),
    ("+PrintGC NumberOfGCLogFiles=1", &["NumberOfGCLogFiles", "GCLog"], "so there is no file"),
    (
        "GCLog=gc.log GCLogFileSize=1m NumberOfGCLogFiles=0",
        &["GCLogFileSize", "NumberOfGCLogFiles"],
        "NumberOfGCLogFiles=0 {command line}, so the log is never renamed",
    ),
    ("Timeline=t.json Collector=epsilon", &["Timeline", "Collector"], "which never collects"),
    (
        "GCTimeRatio=9 Collector=mark-compact",
        &["GCTimeRatio", "Collector"],
        "only Collector=parallel reads it",
    ),
    (
        "-CollectWhenIdle Collector=mark-compact",
        &["CollectWhenIdle", "Collector"],
        "only Collector=parallel reads it",
    ),
    (
        "ShenandoahGCMode=satb",
        &["ShenandoahGCMode", "Collector"],
        "ShenandoahGCMode=satb {command line} has no effect with Collector=parallel {default}, which has no concurrent",
    ),
    (
        "ShenandoahEvacWaste=2 Collector=mark-compact",
        &["ShenandoahEvacWaste", "Collector"],
        "no concurrent cycles",
    ),
    ("ConcGCThreads=2 Collector=parallel", &["ConcGCThreads", "Collector"], "no concurrent cycles"),
    ("ConcGCThreads=2 Collector=epsilon", &["ConcGCThreads", "Collector"], "no concurrent cycles"),
    (
        "ConcGCThreads=2 ShenandoahGCMode=passive Collector=shenandoah",
        &["ConcGCThreads", "ShenandoahGCMode"],
        "ShenandoahGCMode=passive {command line}, so every cycle runs in a stop",
    ),
    (
        "ShenandoahGuaranteedGCInterval=0 ShenandoahGCMode=passive Collector=shenandoah",
        &["ShenandoahGuaranteedGCInterval", "ShenandoahGCMode"],
        "runs in a stop",
    ),
    (
        "ShenandoahInitFreeThreshold=60 ShenandoahLearningSteps=0 Collector=shenandoah",
        &["ShenandoahInitFreeThreshold", "ShenandoahLearningSteps"],
        "ShenandoahLearningSteps=0 {command line}, so no cycle is for learning",
    ),
    (
        "ShenandoahPacingSurcharge=2 -ShenandoahPacing Collector=shenandoah",
        &["ShenandoahPacingSurcharge", "ShenandoahPacing"],
        "-ShenandoahPacing {command line}, so no thread pays",
    ),
    (
        "ConcGCThreads=3 ParallelGCThreads=2 Collector=shenandoah",
        &["ConcGCThreads", "ParallelGCThreads"],
        "is greater than ParallelGCThreads=2 {command line}",
    ),
    (
        "ShenandoahGarbageThreshold=4 Collector=shenandoah",
        &["ShenandoahGarbageThreshold", "ShenandoahIgnoreGarbageThreshold"],
        "is smaller than ShenandoahIgnoreGarbageThreshold=5 {default}; raise the one or lower the other",
    ),
    ("GCTimeRatio=9 Collector=shenandoah", &["GCTimeRatio", "Collector"], "only Collector=parallel reads it"),
    (
        "MaxTenuringThreshold=1 Collector=shenandoah",
        &["MaxTenuringThreshold", "ShenandoahGCMode"],
        "has no effect with ShenandoahGCMode=satb {default}, which has no generations",
    ),
    (
        "InitialTenuringThreshold=1 Collector=shenandoah ShenandoahGCMode=passive",
        &["InitialTenuringThreshold", "ShenandoahGCMode"],
        "ShenandoahGCMode=passive {command line}, which has no generations",
    ),
    (
        "MaxGCPauseMillis=9 Collector=shenandoah ShenandoahGCMode=generational",
        &["MaxGCPauseMillis", "Collector"],
        "only Collector=parallel reads it",
    ),
    (
        "ShenandoahOldGarbageThreshold=9 Collector=shenandoah",
        &["ShenandoahOldGarbageThreshold", "ShenandoahGCMode"],
        "which has no generations",
    ),
    (
        "ShenandoahExpediteMixedThreshold=9 Collector=shenandoah",
        &["ShenandoahExpediteMixedThreshold", "ShenandoahGCMode"],
        "which has no generations",
    ),
    (
        "ShenandoahOldEvacPercent=9 Collector=shenandoah",
        &["ShenandoahOldEvacPercent", "ShenandoahGCMode"],
        "which has no generations",
    ),
    (
        "ShenandoahOldEvacWaste=2 Collector=parallel",
        &["ShenandoahOldEvacWaste", "Collector"],
        "which has no concurrent cycles",
    ),
    ("+PrintGC Collector=epsilon", &["PrintGC", "Collector"], "which never collects"),
    ("+VerifyBeforeGC Collector=epsilon", &["VerifyBeforeGC", "Collector"], "which never collects"),
    ("+VerifyAfterGC Collector=epsilon", &["VerifyAfterGC", "Collector"], "which never collects"),
    ("ZealInterval=1 Collector=epsilon", &["ZealInterval", "Collector"], "which never collects"),
    ("ZealSeed=1 Collector=epsilon", &["ZealSeed", "Collector"], "which never collects"),
    ("+ZealMove Collector=epsilon", &["ZealMove", "Collector"], "which never collects"),
    ("+ZealPoison Collector=epsilon", &["ZealPoison", "Collector"], "which never collects"),
    ("+ZealProtect Collector=epsilon", &["ZealProtect", "Collector"], "which never collects"),
    ("ZealQuarantine=1 Collector=epsilon", &["ZealQuarantine", "Collector"], "which never collects"),
    (
        "ZealSeed=7",
        &["ZealSeed", "ZealInterval"],
        "ZealSeed=7 {command line} has no effect with ZealInterval=0 {default}, which leaves no distances to choose",
    ),
    ("ZealSeed=7 ZealInterval=1", &["ZealSeed", "ZealInterval"], "which leaves no distances to choose"),
];
