//! The size that a thread's buffer needs before its refills no longer show.
//!
//! The experiment follows "JVM Anatomy Park: TLAB allocation" (Aleksey Shipilev): each thread
//! allocates 50 million objects of 16 bytes and keeps all of them in an array, in one shot, in a
//! heap that does not collect. The page `docs/experiments/tlab-size.md` says how to read the
//! result.
//!
//! There are two differences. A shot has a heap of its own, made before the clock runs, while the
//! original's iterations continue in one large heap. So the memory is in the same state for all
//! shots. The array exists before the shot, so the time is that of the objects alone.
//!
//! Refused: a loop over a recycled eden, as in `tlab`. It would stay in the caches, and the
//! question is about filling a heap.

mod plan;
mod shot;
mod verdict;

use super::on_jvm;
use super::prefetching::{PREFETCH, prefetches};
use super::shots::check_shots;
use super::sizes::{self, WithSize};
use crate::harness::{Axis, Bench, Case, Charts, Experiment, Kind, Mode};
use allotment::raw::{BySize, NoPrefetch};
use plan::ShotPlan;

/// Modes with objects made on the fast path, which alone prefetches.
const BUFFERED: &[&str] = &["fixed", "elastic", "adaptive"];

/// The experiment `tlab-size`.
pub(super) static TLAB_SIZE: Experiment = Experiment {
    name: "tlab-size",
    question: "How large must a thread's buffer be before its refills no longer show?",
    modes: &[
        Mode::shot("fixed", "every buffer has the size --tlab (-ResizeTLAB)"),
        Mode::shot("elastic", "buffers grow by a tenth per refill (TLABPolicy=epsilon)"),
        Mode::shot("adaptive", "buffers grow with use, within a budget (TLABPolicy=adaptive)"),
        Mode::shot("no-tlab", "no buffers: each object from a region that threads share (UseTLAB=false)"),
        Mode::shot("no-tlab-lock", "no buffers: the same under one lock (RefillStrategy=lock)"),
    ],
    axes: &[
        Axis::new("objects", "objects that each thread allocates and keeps", Kind::Count, &["50000000"])
            .quick(&["5000000"]),
        Axis::new("size", "bytes of an object, header included", Kind::Size, &["16"]),
        Axis::new(
            "pretouch",
            "whether the heap's pages are there before the shot",
            Kind::Switch,
            &["on", "off"],
        ),
        Axis::new("tlab", "bytes of a buffer", Kind::Size, &["1k", "4k", "16k", "64k", "256k", "1m", "4m"])
            .quick(&["1k", "16k", "256k", "4m"])
            .only_in(&["fixed"]),
        PREFETCH.only_in(BUFFERED),
    ],
    threads: |_, _| vec![1, 2],
    baseline: Some(("mode", "adaptive")),
    answers: verdict::answers,
    needs: "rows of mode fixed with two sizes of buffers, such as --mode fixed --tlab 1k,64k",
    verdicts: verdict::verdicts,
    charts: Charts { along: Some("tlab"), by_mode: false },
    check,
    on_jvm: on_jvm::tlab_size,
    run: sizes::by_size::<TlabSize>,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    check_shots(case, true, "each shot fills a fresh heap, so only ss measures it")?;
    sizes::check(case.size("size")?)?;
    ShotPlan::of(case)?.fits()
}

/// The measured loop, by the size of an object.
struct TlabSize;

impl WithSize for TlabSize {
    fn run_sized<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        let plan = ShotPlan::of(case)?;
        if BUFFERED.contains(&case.mode.as_str()) && prefetches(case)? {
            shot::run::<BYTES, BySize>(plan, bench)
        } else {
            shot::run::<BYTES, NoPrefetch>(plan, bench)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    fn left_out(values: &[(&str, &str)]) -> Vec<String> {
        let values = values.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect();
        let selection = Selection { values, quick: true, ..Selection::default() };
        match expand(&[&TLAB_SIZE], &selection, 2) {
            Ok((_, left_out)) => left_out.iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn what_cannot_be_measured_is_left_out_with_the_reason() {
        assert_eq!(left_out(&[("objects", "1000")]), [""; 0]);
        for (name, value, reason) in [
            ("objects", "0", "zero objects"),
            ("objects", "18446744073709551615", "more than the largest heap holds"),
            ("objects", "1000000000000", "of memory"),
            ("size", "17", "the sizes compiled in are 16, 24"),
            ("tlab", "72", "multiples of 8 from 80 (an object and 64) to 32m"),
            ("tlab", "100", "multiples of 8"),
            ("tlab", "64m", "to 32m"),
        ] {
            let all = left_out(&[("objects", "1000"), (name, value)][usize::from(name == "objects")..]);
            assert!(!all.is_empty() && all.iter().all(|text| text.contains(reason)), "{value}: {all:?}");
        }
        let small = left_out(&[("objects", "1000"), ("size", "1024"), ("tlab", "512")]);
        assert!(small[0].contains("from 1088 (an object"), "{small:?}");
    }

    #[test]
    fn other_ways_of_measuring_are_refused() {
        let selection =
            Selection { jmh_modes: vec![JmhMode::Throughput], quick: true, ..Selection::default() };
        let error = expand(&[&TLAB_SIZE], &selection, 2).unwrap_err().to_string();
        assert!(error.contains("only ss"), "{error}");
    }
}
