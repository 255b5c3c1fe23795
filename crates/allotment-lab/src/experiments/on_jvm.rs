//! The counterparts of the lab's cases on a Java virtual machine, and the flags that make both
//! alike.
//!
//! The counterparts of all experiments are in one file, since they answer one question: which flags
//! make a JVM do the same work in the same memory? The lab's modes without an equivalent on a JVM
//! (bursts, spans, policies) have no counterpart.
//!
//! Where the lab's thread-local eden is started over, a JVM has to collect. With an eden as small
//! as the lab's, a JVM would collect every few microseconds, which is not the question. So its eden
//! has at least 256 MiB. A collection of such an eden that finds nothing alive takes less than a
//! hundredth of the time.

use crate::harness::{Case, ParameterError};
use crate::jvm::Workload;
use allotment::raw::PrefetchSettings;
use std::time::Duration;

/// The smallest eden of a loop that allocates and keeps nothing, in bytes.
const LEAST_EDEN: usize = 256 << 20;

/// The counterpart of a case, if there is one. The error is a missing parameter, which is reported
/// when the case runs.
type Counterpart = Result<Option<Workload>, ParameterError>;

/// Objects of one size, all garbage at once.
fn allocation(case: &Case) -> Result<Workload, ParameterError> {
    const DIFFERS: &[&str] = &[
        "a JVM's eden is collected, of 256m at least, where ours is started over: its memory comes from beyond the \
         caches where ours does not",
    ];
    let eden = case.size("eden")?.saturating_mul(case.threads).max(LEAST_EDEN);
    let workload = Workload::new("allotment.Allocation.allocate", 0).param("size", case.text("size")?);
    Ok(workload.eden(eden).flag("-XX:+AlwaysPreTouch").differs(DIFFERS))
}

/// Disables the JVM's prefetches where the case has none; otherwise a JVM chooses its own.
fn prefetching(case: &Case, workload: Workload) -> Result<Workload, ParameterError> {
    let refused = case.text("prefetch")? == "none";
    Ok(if refused { workload.flag("-XX:AllocatePrefetchStyle=0") } else { workload })
}

/// The counterpart of the modes `tlab`, `no-tlab` and `collected` of `tlab`. The last is in a heap
/// as small as the lab's, of at least `least_heap` bytes.
pub(super) fn tlab(case: &Case, least_heap: usize) -> Counterpart {
    Ok(match case.mode.as_str() {
        "no-tlab" => Some(allocation(case)?.without_buffers()),
        "tlab" => {
            let mut workload = prefetching(case, allocation(case)?)?;
            if case.text("zeroing")? == "ahead" {
                workload = workload.flag("-XX:+ZeroTLAB");
            }
            Some(workload)
        }
        "collected" if is_collected(case)? => {
            let eden = case.size("eden")?.saturating_mul(case.threads);
            let workload = Workload::new("allotment.Allocation.allocate", eden.max(least_heap))
                .param("size", case.text("size")?)
                .flag("-XX:+AlwaysPreTouch");
            let workload = prefetching(case, workload)?;
            Some(match case.size("young")? {
                0 => workload,
                young => workload.flag(format!("-Xmn{young}")),
            })
        }
        _ => None,
    })
}

/// The counterpart of `prefetch`, without work between allocations. `instructions` are the words
/// for `AllocatePrefetchInstr`, from 0 on.
pub(super) fn prefetch(case: &Case, instructions: &[&str]) -> Counterpart {
    /// The largest distance that HotSpot takes.
    const MAX_DISTANCE: usize = 512;
    if case.size("work")? > 0 || case.size("working-set")? > 0 {
        return Ok(None);
    }
    let workload = allocation(case)?;
    if case.mode == "none" {
        return Ok(Some(workload.flag("-XX:AllocatePrefetchStyle=0")));
    }
    let (distance, step, instruction) = (case.size("distance")?, case.size("step")?, case.text("instr")?);
    let number = instructions.iter().position(|name| *name == instruction);
    let Some(number) = number.filter(|_| distance <= MAX_DISTANCE) else { return Ok(None) };
    // For 0 the number of lines depends on the size, as in the lab's emitter.
    let lines = match case.size("lines")? {
        0 => case.size("size")?.div_ceil(step.max(1)).clamp(1, PrefetchSettings::MOST_LINES),
        lines => lines,
    };
    let flags = [
        format!("-XX:AllocatePrefetchStyle={}", case.text("style")?),
        format!("-XX:AllocatePrefetchDistance={distance}"),
        format!("-XX:AllocatePrefetchLines={lines}"),
        format!("-XX:AllocateInstancePrefetchLines={lines}"),
        format!("-XX:AllocatePrefetchStepSize={step}"),
        format!("-XX:AllocatePrefetchInstr={number}"),
    ];
    Ok(Some(flags.into_iter().fold(workload, Workload::flag)))
}

/// The counterpart of the modes `fixed` and `no-tlab` of `tlab-size`, where the heap's pages exist
/// before the shot. A JVM gives no pages back between two shots.
pub(super) fn tlab_size(case: &Case) -> Counterpart {
    /// Bytes that a buffer reserves at its end for prefetch and for a filler.
    const RESERVED: usize = 576 + 16;
    /// The default of MinTLABSize. A larger value makes other buffers larger too, without a
    /// request. JDK 17 refuses such a value.
    const MIN_TLAB: usize = 2 << 10;
    /// Bytes of a reference in the array that keeps the objects.
    const REFERENCE: usize = 4;
    const DIFFERS: &[&str] = &[
        "a JVM's array of references lies in its heap, has 4 bytes for each, and a card to mark at each store",
    ];
    let (objects, bytes) = (case.size("objects")?, case.size("size")?);
    let tlab = match case.mode.as_str() {
        "fixed" => Some(case.size("tlab")?.saturating_sub(bytes)),
        "no-tlab" => None,
        _ => return Ok(None),
    };
    if !case.switch("pretouch")? || tlab.is_some_and(|tlab| tlab <= RESERVED + bytes) {
        return Ok(None);
    }
    let all = objects.saturating_mul(case.threads).saturating_mul(bytes);
    // Bytes taken from eden per byte of objects. In f64, which is exact for the bytes of any heap.
    let lost = tlab.map_or(1.0, |tlab| tlab as f64 / (tlab - RESERVED - bytes) as f64);
    let begun = case.threads.saturating_mul(2 * tlab.unwrap_or(0)).saturating_add(16 << 20);
    let eden = ((all as f64 * lost * 1.05) as usize).saturating_add(begun);
    let arrays = objects.saturating_mul(case.threads).saturating_mul(REFERENCE);
    let heap = (eden / 8 * 10).saturating_add(arrays / 4 * 5).saturating_add(64 << 20);
    let workload = Workload::new("allotment.Refills.fill", heap)
        .param("objects", objects)
        .param("size", bytes)
        .eden(eden)
        .keeps(eden)
        .flag("-XX:+AlwaysPreTouch")
        .differs(DIFFERS);
    Ok(Some(match tlab {
        None => workload.without_buffers(),
        Some(tlab) => prefetching(case, workload)?
            .flag(format!("-XX:TLABSize={tlab}"))
            .flag(format!("-XX:MinTLABSize={}", tlab.min(MIN_TLAB)))
            .flag("-XX:-ResizeTLAB"),
    }))
}

/// Whether the case has a collector. The kind of the lab's collector means nothing for a JVM, but a
/// case without any collector is not the same work.
fn is_collected(case: &Case) -> Result<bool, ParameterError> {
    Ok(case.text("collector")? != "epsilon")
}

/// The counterpart of the mode `build` of `trees`.
pub(super) fn trees(case: &Case) -> Counterpart {
    const DIFFERS: &[&str] = &["a JVM's heap begins as large as it may become, ours grows"];
    let workload = Workload::new("allotment.Trees.build", case.size("heap")?)
        .param("depth", case.text("depth")?)
        .param("rounds", case.text("rounds")?)
        .differs(DIFFERS);
    let workload = match case.count("workers")? {
        0 => workload,
        workers => workload.flag(format!("-XX:ParallelGCThreads={workers}")),
    };
    Ok((case.mode == "build" && is_collected(case)?).then_some(workload))
}

/// The counterpart of the mode `mutate` of `graph`, in a heap of `heap` bytes.
pub(super) fn graph(case: &Case, heap: usize) -> Counterpart {
    let workload = Workload::new("allotment.Graph.mutate", heap)
        .param("live", case.text("live")?)
        .param("death", case.text("death")?)
        .param("mix", case.text("mix")?);
    Ok((case.mode == "mutate" && is_collected(case)?).then_some(workload))
}

/// The counterpart of the modes `forced` and `queue` of `lists`, where the lab's heap has `heap`
/// bytes.
pub(super) fn lists(case: &Case, heap: usize) -> Counterpart {
    const DIFFERS: &[&str] = &[
        "a JVM's heap has twice the bytes of ours where a collection is forced: all nodes of a shot fit into its eden, and \
         none has been moved when the collection begins",
    ];
    let nodes = case.size("nodes")?;
    let workload = if case.mode == "forced" {
        let garbage = case.size("garbage")?;
        Workload::new("allotment.Lists.forced", heap.saturating_mul(2))
            .eden(heap / 10 * 8)
            .param("lists", case.text("lists")?)
            .param("garbage", garbage)
            .operations(nodes as u64)
            .differs(DIFFERS)
    } else {
        Workload::new("allotment.Lists.queue", heap)
    };
    Ok((case.mode != "shot" && is_collected(case)?).then_some(workload.param("nodes", nodes)))
}

/// The counterpart of the modes `gather` and `chase` of `cache`, where each thread walks `own`
/// bytes.
pub(super) fn cache(case: &Case, own: usize) -> Counterpart {
    /// Bytes between two places of a chase in Java: a line.
    const STRIDE: usize = 64;
    /// Bytes for everything except the walked memory.
    const BESIDE: usize = 64 << 20;
    let benchmark = match case.mode.as_str() {
        "gather" => "allotment.Cache.gather",
        "chase" if case.size("stride")? == STRIDE => "allotment.Cache.chase",
        _ => return Ok(None),
    };
    const DIFFERS: &[&str] =
        &["a JVM has huge pages whatever `pages` says where the system gives them to all \
         (/sys/kernel/mm/transparent_hugepage/enabled is `always`)"];
    let heap = own.saturating_mul(2 * case.threads).saturating_add(BESIDE);
    let workload = Workload::new(benchmark, heap).param("set", own).param("order", case.text("order")?);
    let mut workload = workload.differs(DIFFERS);
    if case.text("pages")? == "base" {
        workload.flags = vec!["-XX:-UseTransparentHugePages".into()];
    }
    Ok(Some(workload))
}

/// The counterpart of `extremem`, with the flags of the mail about JDK-8359947.
///
/// The control of the mail is the JVM as it is: a first buffer as large as the collector likes, and
/// buffers of a region at most. The policy `adaptive` is this heap's own and has no counterpart.
///
/// `options` are those of the workload, `heap` and `region` are bytes (region 0: the heap chooses), and
/// a run takes `longest` at most.
pub(super) fn extremem(
    case: &Case,
    options: &str,
    heap: usize,
    region: usize,
    longest: Duration,
) -> Counterpart {
    /// The last release with pacing. Generational Shenandoah paces in it too.
    const LAST_PACING: u32 = 25;
    /// Every release so far.
    const EVERY: u32 = u32::MAX;
    const DIFFERS: &[&str] = &[
        "references of a JVM have 4 bytes where they are compressed, and ours 8: its shop has fewer bytes in as large a \
         heap",
        "a JVM compiles while the shop is open",
    ];
    let workload = Workload::new("allotment.extremem.Extremem.shop", heap)
        .param("workload", options)
        .profiler("allotment.extremem.Figures")
        .whole(longest)
        .flag("-XX:+AlwaysPreTouch")
        .shenandoah("-XX:+UnlockExperimentalVMOptions", EVERY)
        .shenandoah("-XX:-ShenandoahPacing", LAST_PACING)
        .shenandoah("-XX:ShenandoahFullGCThreshold=1024", EVERY)
        .differs(DIFFERS);
    let workload = match region {
        0 => workload,
        region => workload.shenandoah(format!("-XX:ShenandoahRegionSize={region}"), EVERY),
    };
    let workload = match case.text("policy")? {
        "own" | "hotspot" | "shenandoah" => workload,
        "shenandoah-8359947" => workload
            .flag(format!("-XX:TLABSize={}", first_buffer(heap, region)))
            .flag("-XX:TLABAllocationWeight=35"),
        _ => return Ok(None),
    };
    Ok(is_collected(case)?.then_some(workload))
}

/// The counterpart of the modes `humongous`, `innocent`, `tight` and `ttsp` of `pressure`, where our
/// heap has `heap` bytes and a shot lasts `lasts`.
pub(super) fn pressure(case: &Case, heap: usize, lasts: Duration) -> Counterpart {
    /// The time for the start of a JVM, and for the nodes that live.
    const START: Duration = Duration::from_secs(60);
    const DIFFERS: &[&str] = &[
        "a JVM's heap begins as large as it may become, ours grows",
        "a JVM compiles while the threads of a case work",
    ];
    let benchmark = match case.mode.as_str() {
        "humongous" => "allotment.Pressure.humongous",
        "innocent" => "allotment.Pressure.innocent",
        "tight" => "allotment.Pressure.tight",
        "ttsp" if case.text("long")? == "make" => "allotment.Pressure.ttsp",
        _ => return Ok(None),
    };
    let workload = Workload::new(benchmark, heap)
        .param("duration", lasts.as_millis())
        .param("heap", heap)
        .profiler("allotment.PressureFigures")
        .whole(Duration::from_secs(lasts.as_secs()) + START)
        .differs(DIFFERS);
    Ok(is_collected(case)?.then_some(workload))
}

/// Bytes of the first buffer since JDK-8359947, where a region has `region` bytes. For 0 a region
/// has those that Shenandoah chooses in a heap of `heap` bytes: 2,048 regions make the heap.
fn first_buffer(heap: usize, region: usize) -> usize {
    let region = match region {
        0 => (1 << (heap / 2048).max(1).ilog2()).clamp(256 << 10, 32 << 20),
        region => region,
    };
    (region / 256).max(32 << 10)
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::first_buffer;
    use crate::harness::{Estimate, JvmCase, Selection, Settings, expand_on, jvm_cases};
    use crate::jvm::examples::jvm;
    use crate::machine::processors::ZEN;
    use std::time::Duration;

    /// The workload of the first case of a mode, as benchmark, parameters and flags.
    fn of(experiment: &str, mode: &str, values: &[(&str, &str)]) -> Option<String> {
        let values = values.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect();
        let experiments: Vec<_> = all().iter().copied().filter(|e| e.name == experiment).collect();
        let modes = vec![mode.to_string()];
        let selection = Selection { values, modes, quick: true, ..Selection::default() };
        let (cases, _) = expand_on(&experiments, &selection, 2, ZEN).unwrap();
        let workload = experiments[0].on_jvm(&cases[0])?;
        let params: Vec<String> =
            workload.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let flags = "parallel".parse::<crate::jvm::Collector>().unwrap().sizing(workload.sizes);
        Some(format!(
            "{} {} {} {}",
            workload.benchmark,
            params.join(" "),
            flags.join(" "),
            workload.flags[1..].join(" ")
        ))
    }

    #[test]
    fn each_mode_with_a_counterpart_has_its_flags() {
        let young =
            "-Xms432m -Xmx432m -Xmn320m -XX:SurvivorRatio=8 -XX:-UseAdaptiveSizePolicy -XX:+AlwaysPreTouch";
        let allocation = format!("allotment.Allocation.allocate size=16 {young}");
        let tlab = |values: &[(&str, &str)]| of("tlab", "tlab", values).unwrap();
        assert_eq!(tlab(&[]), allocation);
        assert_eq!(tlab(&[("prefetch", "none")]), format!("{allocation} -XX:AllocatePrefetchStyle=0"));
        assert_eq!(tlab(&[("prefetch", "by-size")]), allocation);
        assert_eq!(tlab(&[("zeroing", "ahead")]), format!("{allocation} -XX:+ZeroTLAB"));
        assert_eq!(of("tlab", "no-tlab", &[]).unwrap(), format!("{allocation} -XX:-UseTLAB"));
        assert!(tlab(&[("eden", "1g")]).contains("-Xmn1280m"));
        assert_eq!(of("prefetch", "none", &[]).unwrap(), format!("{allocation} -XX:AllocatePrefetchStyle=0"));
        let ahead = of("prefetch", "ahead", &[("instr", "w"), ("size", "144"), ("style", "3")]).unwrap();
        assert!(
            ahead.ends_with(
                "-XX:AllocatePrefetchStyle=3 -XX:AllocatePrefetchDistance=256 -XX:AllocatePrefetchLines=3 \
                 -XX:AllocateInstancePrefetchLines=3 -XX:AllocatePrefetchStepSize=64 -XX:AllocatePrefetchInstr=3"
            ),
            "{ahead}"
        );
        assert_eq!(
            of("trees", "build", &[]).unwrap().trim(),
            "allotment.Trees.build depth=16 rounds=25 -Xms132m -Xmx132m"
        );
        assert!(of("trees", "build", &[("workers", "2")]).unwrap().ends_with(" -XX:ParallelGCThreads=2"));
        assert_eq!(
            of("graph", "mutate", &[]).unwrap().trim(),
            "allotment.Graph.mutate live=8388608 death=10 mix=default -Xms17m -Xmx17m"
        );
        let forced = of("lists", "forced", &[]).unwrap();
        let expected = "allotment.Lists.forced lists=1 garbage=1 nodes=500000 -Xms104m -Xmx104m -Xmn50m ";
        assert!(forced.starts_with(expected), "{forced}");
        let collected = "allotment.Allocation.allocate size=16 -Xms20m -Xmx20m -XX:+AlwaysPreTouch";
        assert_eq!(of("tlab", "collected", &[]).unwrap(), collected);
        for (experiment, mode) in [("tlab", "collected"), ("tlab-size", "fixed")] {
            let without = of(experiment, mode, &[("prefetch", "none")]).unwrap();
            assert!(without.contains(" -XX:AllocatePrefetchStyle=0"), "{without}");
        }
        assert_eq!(of("tlab", "collected", &[("young", "8m")]).unwrap(), format!("{collected} -Xmn8388608"));
        let gather = of("cache", "gather", &[("set", "1m")]).unwrap();
        assert_eq!(gather.trim(), "allotment.Cache.gather set=1048576 order=shuffled -Xms70m -Xmx70m");
        let chase = of("cache", "chase", &[("set", "1m"), ("order", "sequential")]).unwrap();
        assert_eq!(chase.trim(), "allotment.Cache.chase set=1048576 order=sequential -Xms70m -Xmx70m");
        assert_eq!(
            of("lists", "queue", &[]).unwrap().trim(),
            "allotment.Lists.queue nodes=500000 -Xms39m -Xmx39m"
        );
        let [tight, ttsp] = ["tight", "ttsp"].map(|mode| of("pressure", mode, &[]).unwrap());
        let expected = "allotment.Pressure.tight duration=500 heap=268435456 -Xms260m -Xmx260m";
        assert_eq!(tight.trim(), expected);
        assert!(ttsp.starts_with("allotment.Pressure.ttsp duration=500 heap=1610612736 "), "{ttsp}");
        let shop = |values: &[(&str, &str)]| of("extremem", "shop", values).unwrap();
        let quick = shop(&[]);
        assert!(
            quick.starts_with("allotment.extremem.Extremem.shop workload=AllowAnyMatch=true "),
            "{quick}"
        );
        assert!(quick.ends_with("-Xms100m -Xmx100m -XX:+AlwaysPreTouch"), "{quick}");
        assert_eq!(shop(&[("policy", "shenandoah")]), quick, "the control is the JVM as it is");
        let small = shop(&[("policy", "shenandoah-8359947"), ("config", "loaded")]);
        assert!(small.ends_with("-XX:TLABSize=32768 -XX:TLABAllocationWeight=35"), "{small}");
        assert_eq!([first_buffer(512 << 30, 0), first_buffer(2 << 30, 16 << 20)], [128 << 10, 64 << 10]);
    }

    #[test]
    fn shenandoah_has_the_flags_of_the_mail() {
        let selection = Selection {
            values: vec![("config".into(), vec!["loaded".into()])],
            quick: true,
            ..Selection::default()
        };
        let experiments: Vec<_> = all().iter().copied().filter(|e| e.name == "extremem").collect();
        let (cases, _) = expand_on(&experiments, &selection, 2, ZEN).unwrap();
        let jvms = [jvm(25, "genshen"), jvm(27, "shenandoah"), jvm(25, "g1")];
        let (found, _) = jvm_cases(&experiments, &cases, &jvms, &Settings::default(), usize::MAX);
        let flags: Vec<String> = found.iter().map(|case| case.flags().join(" ")).collect();
        let mail = "-XX:ShenandoahFullGCThreshold=1024 -XX:ShenandoahRegionSize=4194304";
        assert!(flags[0].ends_with(&format!(" -XX:-ShenandoahPacing {mail}")), "{flags:?}");
        assert!(flags[1].ends_with(mail) && !flags[1].contains("Pacing"), "{flags:?}");
        assert!(flags[2].ends_with("-Xms2052m -Xmx2052m -XX:+UseTransparentHugePages -XX:+AlwaysPreTouch"));
    }

    #[test]
    fn a_shot_fits_into_eden_whatever_buffers_leave_unused() {
        for (tlab, objects) in [("1k", "1000"), ("1k", "5000000"), ("16k", "5000000"), ("4m", "1000")] {
            let text = of("tlab-size", "fixed", &[("tlab", tlab), ("objects", objects)]).unwrap();
            assert!(text.contains("-XX:-ResizeTLAB") && text.contains("-XX:+AlwaysPreTouch"), "{text}");
            let young: usize = text.split("-Xmn").nth(1).unwrap().split('m').next().unwrap().parse().unwrap();
            let bytes: usize =
                text.split("-XX:TLABSize=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            let objects: usize = objects.parse().unwrap();
            // Objects of a buffer, which also holds its reserve of 576 bytes, room for a filler,
            // and one object that did not fit.
            let buffers = objects.div_ceil((bytes - 592) / 16 - 1);
            assert!(young * 8 / 10 * (1 << 20) > buffers * bytes, "{text}");
        }
        assert!(of("tlab-size", "no-tlab", &[]).unwrap().ends_with("-XX:-UseTLAB"));
        assert_eq!(of("tlab-size", "no-tlab", &[("pretouch", "off")]), None);
    }

    #[test]
    fn what_has_no_counterpart_is_left_out() {
        for (experiment, mode, values) in [
            ("tlab", "bare", &[][..]),
            ("tlab", "burst", &[]),
            ("tlab", "cas", &[]),
            ("tlab", "lock", &[]),
            ("prefetch", "ahead", &[("distance", "768")]),
            ("prefetch", "none", &[("work", "50")]),
            ("prefetch", "none", &[("working-set", "1m")]),
            ("tlab-size", "adaptive", &[]),
            ("tlab-size", "fixed", &[("tlab", "512")]),
            ("cache", "window", &[]),
            ("cache", "chase", &[("stride", "128")]),
            ("trees", "spans", &[]),
            ("trees", "build", &[("collector", "epsilon"), ("heap", "1g")]),
            ("graph", "mutate", &[("collector", "epsilon")]),
            ("graph", "shot", &[]),
            ("extremem", "shop", &[("policy", "adaptive")]),
            ("extremem", "shop", &[("collector", "epsilon")]),
            ("lists", "queue", &[("collector", "epsilon")]),
            ("pressure", "giveup", &[]),
            ("pressure", "ttsp", &[("long", "fill")]),
            ("pressure", "tight", &[("collector", "epsilon")]),
            ("clock", "tsc", &[]),
        ] {
            assert_eq!(of(experiment, mode, values), None, "{experiment}.{mode} {values:?}");
        }
    }

    #[test]
    fn any_experiment_is_left_out_where_memory_is_too_small() {
        let selection = Selection { quick: true, threads: vec![1], ..Selection::default() };
        let (cases, _) = expand_on(all(), &selection, 2, ZEN).unwrap();
        let jvms = [jvm(25, "parallel")];
        let (found, told) = jvm_cases(all(), &cases, &jvms, &Settings::default(), 1 << 20);
        assert!(found.is_empty());
        for benchmark in ["tlab.tlab", "tlab-size.no-tlab", "trees.build", "lists.forced", "graph.mutate"] {
            let start = format!("{benchmark} on 25-parallel left out: its heap");
            assert!(told.iter().any(|line| line.starts_with(&start)), "{benchmark}: {told:?}");
        }
    }

    #[test]
    fn our_collectors_make_no_difference_to_a_jvm() {
        let experiments: Vec<_> = all().iter().copied().filter(|e| e.name == "trees").collect();
        let modes = vec!["build".into()];
        let selection = Selection { quick: true, modes, threads: vec![1], ..Selection::default() };
        let (cases, _) = expand_on(&experiments, &selection, 2, ZEN).unwrap();
        let (found, _) =
            jvm_cases(&experiments, &cases, &[jvm(25, "parallel")], &Settings::default(), usize::MAX);
        assert_eq!((cases.len(), found.len(), found[0].beside), (2, 1, 0));
    }

    /// A user waits for a quick run: 10 minutes for all experiments, of which the lab's own cases
    /// take about four.
    #[test]
    fn a_quick_run_of_all_beside_two_jvms_is_planned_for_eight_minutes_more_at_most() {
        let selection = Selection { quick: true, ..Selection::default() };
        let (cases, _) = expand_on(all(), &selection, 2, ZEN).unwrap();
        let settings = Settings { quick: true, ..Settings::default() };
        let jvms = [jvm(17, "parallel"), jvm(25, "parallel")];
        let (found, _) = jvm_cases(all(), &cases, &jvms, &settings, usize::MAX);
        let of = |case: &JvmCase| Estimate::of_jvm_case(case, &cases, &settings, all());
        let planned = found.iter().map(of).sum::<Estimate>();
        let all = found.len();
        assert!(all > 20 && planned.total() < Duration::from_secs(480), "{planned:?} for {all} cases");
    }
}
