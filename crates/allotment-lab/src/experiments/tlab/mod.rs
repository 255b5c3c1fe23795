//! The gain of a thread-local buffer over a shared pointer, and its cost compared with no
//! bookkeeping at all.
//!
//! The experiment follows "Why Java's TLABs are so important and why write contention is a
//! performance killer in multicore environments" (Sadiq Jaffer). Every mode initialises the same
//! bytes, 8 of header and zeroes for the rest, and hands the object to a sink that costs nothing.
//! The page `docs/experiments/tlab.md` says how to read the result.
//!
//! Modes with the library in a private eden recycle the eden with marks. Modes in which threads
//! share regions fill the heap and reset it ([`shared`]), or have it collected ([`collected`]).
//! Modes by hand are the limits `bare` and `memset`, and the shared pointers ([`pointer`]). Their
//! memory comes from the same place as the heap's, so that pages are alike. A ratio of a row by
//! hand to one of the library contains the cost of both the idea and the library. The verdicts
//! therefore compare like with like first, and name the kind of each row.

mod collected;
pub(super) mod eden;
mod emitted;
mod library;
mod limits;
mod malloc;
mod pointer;
mod shared;
mod verdict;
mod widest;

use super::collectors::{COLLECTOR, unresolved};
use super::prefetching::{PREFETCH, prefetches};
use super::sizes::{self, WithSize};
use super::{memory, on_jvm};
use crate::format::{Comparison, ScoreRow, number};
use crate::harness::{Axis, Baseline, Bench, Case, Charts, Experiment, JmhMode, Kind, Mode};
use crate::jvm::Workload;
use allotment::heap::HeapBuilder;
use allotment::raw::{Ahead, BySize, NoPrefetch, PerObject};
use anyhow::bail;

/// The experiment `tlab`.
#[derive(Clone, Copy, Debug)]
pub struct Tlab;

const fn mode(name: &'static str, what: &'static str) -> Mode {
    Mode { name, what, jmh_modes: &[JmhMode::Throughput] }
}

/// Modes in which the choice of prefetch makes a difference.
const BUMPING: &[&str] = &["tlab", "burst", "emitted", "stub", "called", "bare", "shared", "collected"];

/// Modes with the library's buffers and without shared memory.
const LIBRARY: &[&str] = &["tlab", "burst", "emitted", "stub"];

/// Modes in which all threads take from the same regions.
const SHARING: &[&str] = &["shared", "no-tlab", "no-tlab-emitted", "no-tlab-lock"];

/// Modes written by hand, without any part of the library: see [`pointer`] and [`limits`].
const BY_HAND: &[&str] = &["called", "bare", "memset", "cas", "fetch-add", "lock"];

/// Modes in which an allocator reuses freed memory.
const RINGS: &[&str] = &["malloc", "mimalloc", "jemalloc"];

impl Experiment for Tlab {
    fn name(&self) -> &'static str {
        "tlab"
    }

    fn question(&self) -> &'static str {
        "What does a thread-local buffer buy over a shared pointer, and what does it cost over a bare loop?"
    }

    fn modes(&self) -> &'static [Mode] {
        const MODES: &[Mode] = &[
            mode("tlab", "library: each thread bumps in its own buffer"),
            mode("burst", "library: the same with top and limit in registers"),
            mode("emitted", "library: machine code made at run time, the sequence of allotment-jit, in line"),
            mode("stub", "library: the same as a function that is called for each object"),
            mode(
                "called",
                "by hand: `bare` as a function that is called for each object, the limit of `stub`",
            ),
            mode("bare", "by hand: a bump loop over the same memory, the limit of `tlab`"),
            mode("memset", "by hand: the same bytes zeroed at once, the limit of memory"),
            mode("shared", "library: buffers out of regions that threads share, the heap reset when full"),
            mode("collected", "library: the same, the heap collected when full"),
            mode("cas", "by hand, no buffers: compare-and-swap on one pointer for each object"),
            mode("fetch-add", "by hand, no buffers: fetch-and-add on one pointer for each object"),
            mode("lock", "by hand, no buffers: a mutex around one pointer for each object"),
            mode(
                "no-tlab",
                "library, no buffers: each object from a region that threads share (UseTLAB=false)",
            ),
            mode(
                "no-tlab-emitted",
                "library, no buffers: the same in machine code made at run time, in line",
            ),
            mode("no-tlab-lock", "library, no buffers: the same under one lock (RefillStrategy=lock)"),
            mode("malloc", "the system's malloc and free over a ring of 1,024 live objects"),
            #[cfg(feature = "peers")]
            mode("mimalloc", "mimalloc over the same ring"),
            #[cfg(feature = "peers")]
            mode("jemalloc", "jemalloc over the same ring"),
            #[cfg(feature = "peers")]
            mode("bumpalo", "bumpalo, an arena of the eden's size that is reset when full"),
        ];
        MODES
    }

    fn axes(&self) -> &'static [Axis] {
        const AXES: &[Axis] = &[
            Axis::new("size", "bytes of an object, header included", Kind::Size, &["16", "48", "64", "144"])
                .quick(&["16", "64"]),
            Axis::new("eden", "bytes each thread allocates before it starts over", Kind::Eden, &["half-l2"]),
            PREFETCH.only_in(BUMPING),
            Axis::new("zeroing", "who zeroes", Kind::Choice(&["per-object", "ahead"]), &["per-object"])
                .only_in(LIBRARY),
            Axis::new("tlab", "TLABSize in bytes; 0: the policy chooses", Kind::Size, &["0"])
                .only_in(&["shared"]),
            Axis::new("refill", "how threads take buffers", Kind::Choice(&["cas", "lock"]), &["cas"])
                .only_in(&["shared"]),
            Axis { default: &["parallel"], quick: &["parallel"], ..COLLECTOR }.only_in(&["collected"]),
            Axis::new("young", "MaxNewSize in bytes; 0: the heap chooses", Kind::Size, &["0"])
                .only_in(&["collected"]),
        ];
        AXES
    }

    fn is_quick(&self, mode: &Mode) -> bool {
        !["stub", "called", "fetch-add", "no-tlab-emitted", "no-tlab-lock"].contains(&mode.name)
    }

    fn threads(&self, _cpus: usize, quick: bool) -> Vec<usize> {
        if quick { vec![1, 2] } else { vec![1, 2, 4] }
    }

    fn baseline(&self) -> Option<Baseline> {
        Some(Baseline::mode("bare"))
    }

    fn answers(&self, rows: &[ScoreRow]) -> Vec<String> {
        verdict::answers(rows)
    }

    fn needs(&self) -> &'static str {
        "rows of a mode with buffers and of one without, such as --mode tlab,no-tlab"
    }

    fn verdicts(&self, rows: &[ScoreRow], _comparison: &Comparison) -> Vec<String> {
        verdict::verdicts(rows)
    }

    fn charts(&self) -> Charts {
        Charts { along: Some("threads"), ..Charts::default() }
    }

    fn nonsense(&self, case: &Case) -> Option<String> {
        let (size, eden) = (case.size("size").ok()?, case.size("eden").ok()?);
        if let Some(why) = sizes::nonsense(size) {
            return Some(why);
        }
        if eden < size * 16 {
            return Some(format!("an eden of {eden} bytes holds fewer than 16 objects of {size}"));
        }
        fits(case, eden).err()
    }

    fn on_jvm(&self, case: &Case) -> Option<Workload> {
        // A missing parameter is reported when the case runs.
        on_jvm::tlab(case, eden::MIN_HEAP).unwrap_or(None)
    }

    fn run(&self, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        sizes::by_size::<Tlab>(case, bench)
    }
}

/// Checks that the heap of a case takes its options, and fits into this machine's memory.
fn fits(case: &Case, eden: usize) -> Result<(), String> {
    let needed = match case.mode.as_str() {
        mode if LIBRARY.contains(&mode) => eden::bytes_of_edens(eden, case.threads),
        mode if SHARING.contains(&mode) => {
            let plan = shared::HeapPlan::of(case)?;
            resolves(plan.builder().map_err(|error| error.to_string())?)?;
            plan.bytes
        }
        "collected" => {
            resolves(collected::builder(case).map_err(|error| error.to_string())?)?;
            collected::heap_bytes(case).map_err(|error| error.to_string())?
        }
        // The ring of these modes is the same for every eden.
        mode if RINGS.contains(&mode) => return Ok(()),
        _ => eden.saturating_mul(case.threads),
    };
    let what = format!("edens of {} on {} threads", number::size(eden as u64), case.threads);
    memory::fits(&what, needed, "a smaller --eden or fewer --threads")
}

fn resolves(heap: HeapBuilder) -> Result<(), String> {
    unresolved(heap).map_or(Ok(()), Err)
}

impl WithSize for Tlab {
    fn run_sized<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        let ahead = || Ok::<bool, anyhow::Error>(case.text("zeroing")? == "ahead");
        match case.mode.as_str() {
            "tlab" | "burst" => match (prefetches(case)?, ahead()?) {
                (true, false) => library::run::<BYTES, PerObject, BySize>(case, bench),
                (false, false) => library::run::<BYTES, PerObject, NoPrefetch>(case, bench),
                (true, true) => library::run::<BYTES, Ahead, BySize>(case, bench),
                (false, true) => library::run::<BYTES, Ahead, NoPrefetch>(case, bench),
            },
            "emitted" | "stub" => emitted::run(case, bench),
            "called" if prefetches(case)? => limits::called::<BYTES, BySize>(case, bench),
            "called" => limits::called::<BYTES, NoPrefetch>(case, bench),
            "bare" if prefetches(case)? => limits::bare::<BYTES, BySize>(case, bench),
            "bare" => limits::bare::<BYTES, NoPrefetch>(case, bench),
            "memset" => limits::memset::<BYTES>(case, bench),
            "cas" | "fetch-add" | "lock" => pointer::run::<BYTES>(case, bench),
            "shared" if prefetches(case)? => shared::run::<BYTES, BySize>(case, bench),
            // Only the fast path prefetches, and a shared pointer is not on the fast path.
            mode if SHARING.contains(&mode) => shared::run::<BYTES, NoPrefetch>(case, bench),
            "collected" if prefetches(case)? => collected::run::<BYTES, BySize>(case, bench),
            "collected" => collected::run::<BYTES, NoPrefetch>(case, bench),
            "malloc" => malloc::ring::<BYTES, _>(&std::alloc::System, case, bench),
            #[cfg(feature = "peers")]
            "mimalloc" => malloc::ring::<BYTES, _>(&mimalloc::MiMalloc, case, bench),
            #[cfg(feature = "peers")]
            "jemalloc" => malloc::ring::<BYTES, _>(&tikv_jemallocator::Jemalloc, case, bench),
            #[cfg(feature = "peers")]
            "bumpalo" => malloc::arena::<BYTES>(case, bench),
            other => bail!("there is no mode `{other}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

    fn refused(mode: &str, name: &str, value: &str) -> String {
        let values = vec![(name.to_string(), vec![value.to_string()])];
        let selection = Selection {
            modes: vec![mode.into()],
            values,
            threads: vec![2],
            quick: true,
            ..Selection::default()
        };
        expand(&[&Tlab], &selection, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (mode, name, value, reason) in [
            ("tlab", "size", "17", "the sizes compiled in are 16, 24"),
            ("tlab", "eden", "128", "fewer than 16 objects"),
            ("shared", "tlab", "3", "multiples of 8 from 80 (an object and 64) to 32m work"),
            ("shared", "tlab", "1001", "multiples of 8 from 80"),
            ("shared", "tlab", "64m", "to 32m work"),
            ("collected", "young", "18446744073709551615", "MaxNewSize"),
        ] {
            let error = refused(mode, name, value);
            assert!(error.contains(reason), "{mode} {name}={value}: {error}");
        }
    }

    #[test]
    fn edens_that_memory_does_not_hold_are_refused() {
        for mode in Tlab.modes().iter().map(|mode| mode.name).filter(|mode| !RINGS.contains(mode)) {
            for eden in ["16384t", "16777215t"] {
                let error = refused(mode, "eden", eden);
                let expected = error.contains(&format!("edens of {eden} on 2 threads need"))
                    && error.contains("a smaller --eden or fewer --threads fit");
                assert!(expected || error.contains("MaxHeapSize"), "{mode} {eden}: {error}");
            }
        }
    }
}
