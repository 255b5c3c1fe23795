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
pub(super) mod filler;
mod in_c;
mod library;
mod limits;
mod malloc;
mod pointer;
mod shared;
mod verdict;
mod widest;

use super::collectors::{COLLECTOR, resolves};
use super::compilers::{COMPILER, compiler_of};
use super::prefetching::{PREFETCH, prefetches};
use super::sizes::{self, WithSize};
use super::{memory, on_jvm};
use crate::format::number;
use crate::harness::{Axis, Bench, Case, Charts, Experiment, Kind, Mode};
use allotment::raw::{Ahead, BySize, NoPrefetch, PerObject};
use anyhow::{bail, ensure};

/// Modes in which the choice of prefetch makes a difference.
const BUMPING: &[&str] = &["tlab", "burst", "emitted", "stub", "called", "bare", "shared", "collected"];

/// Modes with the library's buffers and without shared memory.
const LIBRARY: &[&str] = &["tlab", "burst", "emitted", "stub", "c"];

/// Modes in which all threads take from the same regions.
const SHARING: &[&str] = &["shared", "no-tlab", "no-tlab-emitted", "no-tlab-lock"];

/// Modes written by hand, without any part of the library: see [`pointer`] and [`limits`].
const BY_HAND: &[&str] = &["called", "bare", "memset", "cas", "fetch-add", "lock"];

/// Modes in which an allocator reuses freed memory.
const RINGS: &[&str] = &["malloc", "mimalloc", "jemalloc"];

/// The experiment `tlab`.
pub(super) static TLAB: Experiment = Experiment {
    name: "tlab",
    question: "What does a thread-local buffer buy over a shared pointer, and what does it cost over a bare loop?",
    modes: &[
        Mode::rate("tlab", "library: each thread bumps in its own buffer"),
        Mode::rate("burst", "library: the same with top and limit in registers"),
        Mode::rate(
            "emitted",
            "library: machine code made at run time, the sequence of allotment-jit, in line",
        ),
        Mode::rate("stub", "library: the same as a function that is called for each object"),
        Mode::rate("c", "library: a loop in C, with the inlines of allotment.h (needs a C compiler)"),
        Mode::rate(
            "called",
            "by hand: `bare` as a function that is called for each object, the limit of `stub`",
        ),
        Mode::rate("bare", "by hand: a bump loop over the same memory, the limit of `tlab`"),
        Mode::rate("memset", "by hand: the same bytes zeroed at once, the limit of memory"),
        Mode::rate("shared", "library: buffers out of regions that threads share, the heap reset when full"),
        Mode::rate("collected", "library: the same, the heap collected when full"),
        Mode::rate("cas", "by hand, no buffers: compare-and-swap on one pointer for each object"),
        Mode::rate("fetch-add", "by hand, no buffers: fetch-and-add on one pointer for each object"),
        Mode::rate("lock", "by hand, no buffers: a mutex around one pointer for each object"),
        Mode::rate(
            "no-tlab",
            "library, no buffers: each object from a region that threads share (UseTLAB=false)",
        ),
        Mode::rate(
            "no-tlab-emitted",
            "library, no buffers: the same in machine code made at run time, in line",
        ),
        Mode::rate("no-tlab-lock", "library, no buffers: the same under one lock (RefillStrategy=lock)"),
        Mode::rate("malloc", "the system's malloc and free over a ring of 1,024 live objects"),
        #[cfg(feature = "peers")]
        Mode::rate("mimalloc", "mimalloc over the same ring"),
        #[cfg(feature = "peers")]
        Mode::rate("jemalloc", "jemalloc over the same ring"),
        #[cfg(feature = "peers")]
        Mode::rate("bumpalo", "bumpalo, an arena of the eden's size that is reset when full"),
    ],
    axes: &[
        Axis::new("size", "bytes of an object, header included", Kind::Size, &["16", "48", "64", "144"])
            .quick(&["16", "64"]),
        Axis::new("eden", "bytes each thread allocates before it starts over", Kind::Eden, &["half-l2"]),
        PREFETCH.only_in(BUMPING),
        Axis::new("zeroing", "who zeroes", Kind::Choice(&["per-object", "ahead"]), &["per-object"])
            .only_in(LIBRARY),
        COMPILER.only_in(&["c"]),
        Axis::new("tlab", "TLABSize in bytes; 0: the policy chooses", Kind::Size, &["0"])
            .only_in(&["shared"]),
        Axis::new("refill", "how threads take buffers", Kind::Choice(&["cas", "lock"]), &["cas"])
            .only_in(&["shared"]),
        Axis { default: &["parallel"], quick: &["parallel"], ..COLLECTOR }.only_in(&["collected"]),
        Axis::new("young", "MaxNewSize in bytes; 0: the heap chooses", Kind::Size, &["0"])
            .only_in(&["collected"]),
    ],
    x86_64: &["emitted", "stub", "no-tlab-emitted"],
    slow: &["stub", "called", "fetch-add", "no-tlab-emitted", "no-tlab-lock"],
    threads: |_, quick| if quick { vec![1, 2] } else { vec![1, 2, 4] },
    baseline: Some(("mode", "bare")),
    answers: verdict::answers,
    needs: "rows of a mode with buffers and of one without, such as --mode tlab,no-tlab",
    verdicts: verdict::verdicts,
    charts: Charts { along: Some("threads"), by_mode: false },
    check,
    on_jvm: |case| on_jvm::tlab(case, eden::MIN_HEAP),
    run: sizes::by_size::<Tlab>,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    let (size, eden) = (case.size("size")?, case.size("eden")?);
    sizes::check(size)?;
    ensure!(eden >= size * 16, "an eden of {eden} bytes holds fewer than 16 objects of {size}");
    let needed = match case.mode.as_str() {
        mode if LIBRARY.contains(&mode) => eden::bytes_of_edens(eden, case.threads),
        mode if SHARING.contains(&mode) => {
            let plan = shared::SharedPlan::of(case)?;
            resolves(plan.builder()?)?;
            plan.bytes
        }
        "collected" => {
            resolves(collected::builder(case)?)?;
            collected::heap_bytes(case)?
        }
        // The ring of these modes is the same for every eden.
        mode if RINGS.contains(&mode) => return Ok(()),
        _ => eden.saturating_mul(case.threads),
    };
    let what = format!("edens of {} on {} threads", number::size(eden as u64), case.threads);
    memory::fits(&what, needed, "a smaller --eden or fewer --threads")?;
    if case.mode == "c" { compiler_of(case).map(drop) } else { Ok(()) }
}

/// The measured loops, by the size of an object.
struct Tlab;

impl WithSize for Tlab {
    fn run_sized<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        let ahead = || anyhow::Ok(case.text("zeroing")? == "ahead");
        match case.mode.as_str() {
            "tlab" | "burst" => match (prefetches(case)?, ahead()?) {
                (true, false) => library::run::<BYTES, PerObject, BySize>(case, bench),
                (false, false) => library::run::<BYTES, PerObject, NoPrefetch>(case, bench),
                (true, true) => library::run::<BYTES, Ahead, BySize>(case, bench),
                (false, true) => library::run::<BYTES, Ahead, NoPrefetch>(case, bench),
            },
            "emitted" | "stub" => emitted::run(case, bench),
            "c" => in_c::run(case, bench),
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
            "malloc" => malloc::ring::<BYTES, _>(&std::alloc::System, bench),
            #[cfg(feature = "peers")]
            "mimalloc" => malloc::ring::<BYTES, _>(&mimalloc::MiMalloc, bench),
            #[cfg(feature = "peers")]
            "jemalloc" => malloc::ring::<BYTES, _>(&tikv_jemallocator::Jemalloc, bench),
            #[cfg(feature = "peers")]
            "bumpalo" => malloc::arena::<BYTES>(case, bench),
            other => bail!("there is no mode `{other}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand_on};
    use crate::machine::processors::{NEOVERSE, ZEN};

    fn refused(mode: &str, name: &str, value: &str) -> String {
        let values = vec![(name.to_string(), vec![value.to_string()])];
        let selection = Selection {
            modes: vec![mode.into()],
            values,
            threads: vec![2],
            quick: true,
            ..Selection::default()
        };
        expand_on(&[&TLAB], &selection, 2, ZEN).unwrap_err().to_string()
    }

    #[test]
    fn the_modes_of_machine_code_are_left_out_on_another_machine() {
        let left_out = |selection: Selection, processor| {
            let (cases, left_out) = expand_on(&[&TLAB], &selection, 2, processor).unwrap();
            assert!(cases.iter().any(|case| case.mode == "tlab"));
            // Another machine may have no C compiler.
            let of_machine = left_out.iter().filter(|one| one.is_for_another_machine());
            of_machine.map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(left_out(Selection::default(), ZEN), [""; 0]);
        let modes = ["emitted", "stub", "no-tlab-emitted"];
        let why = "left out: its loop of machine code needs x86-64, and this machine is AArch64";
        assert_eq!(left_out(Selection::default(), NEOVERSE), modes.map(|mode| format!("tlab.{mode} {why}")));
        let quick = Selection { quick: true, ..Selection::default() };
        assert_eq!(left_out(quick, NEOVERSE), [format!("tlab.emitted {why}")]);
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
        for mode in TLAB.modes.iter().map(|mode| mode.name).filter(|mode| !RINGS.contains(mode)) {
            for eden in ["16384t", "16777215t"] {
                let error = refused(mode, "eden", eden);
                let expected = error.contains(&format!("edens of {eden} on 2 threads need"))
                    && error.contains("a smaller --eden or fewer --threads fit");
                assert!(expected || error.contains("MaxHeapSize"), "{mode} {eden}: {error}");
            }
        }
    }
}
