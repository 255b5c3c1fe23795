//! The effect of the heap's options on a program that allocates objects of many sizes, of which a
//! few live for a while.
//!
//! The other experiments measure one mechanism each. This one answers the question of a user with
//! an option at hand: does the program run faster with it? So the option list is the parameter, in
//! the form of `ALLOTMENT_OPTIONS`. The program is as ordinary as can be: arrays of words whose
//! sizes are known at run time, zeroed by the heap. Every 64th array is kept in a ring of 256 until
//! another takes its place. `allotment tune` measures with this experiment.

use super::collectors::fits;
use super::heap_use::HeapUse;
use super::memory::advised;
use super::saying::{all_against, ours, spread};
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Mode, Worker, keep};
use crate::walk::Random;
use allotment::heap::HeapBuilder;
use allotment::raw::{Element, RootHandle, Shape, ShapeRef};
use allotment::{Heap, Mutator, OutOfMemory};

/// No options.
pub(crate) const DEFAULTS: &str = "defaults";

/// Objects that live for a while.
const RING: usize = 256;

/// One object in this many is kept for a while.
const ONE_IN: usize = 64;

/// Sizes of objects, taken in turn.
const SIZES: usize = 1024;

/// The experiment `options`.
pub(crate) static OPTIONS: Experiment = Experiment {
    name: "options",
    question: "What do the heap's options do to a program that allocates objects of many sizes?",
    modes: &[Mode::rate("mixed", "objects of 16 to 144 bytes, every 64th of which lives for a while")],
    axes: &[
        Axis::new("heap", "MaxHeapSize in bytes", Kind::Size, &["256m"]),
        Axis::new(
            "set",
            "options, as ALLOTMENT_OPTIONS takes them, separated by spaces; `defaults`: none",
            Kind::Text,
            &[DEFAULTS, "TLABSize=64k", "+ZeroTLAB", "-UseTransparentHugePages"],
        )
        .quick(&[DEFAULTS, "TLABSize=64k"]),
    ],
    baseline: Some(("set", DEFAULTS)),
    answers: |rows| spread(&ours(rows), "mixed", "set", DEFAULTS).into_iter().collect(),
    needs: "a row with the defaults and one with another --set",
    verdicts: |rows| all_against(&ours(rows), "set", DEFAULTS, "threads"),
    check,
    run,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    builder(case)?.resolve()?;
    fits(case.size("heap")?)
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (heap, mut probe) = HeapUse::of(builder(case)?)?;
    let words = heap.register(Shape::array("words", 16, Element::Plain { bytes: 8 }))?;
    bench.measure_attached(&heap, &mut probe, |thread, mutator, play| {
        let mut random = Random::new(thread.index as u64 + 1);
        let lengths = (0..SIZES).map(|_| random.below(17)).collect();
        // SAFETY: null refers to nothing.
        let ring = (0..RING).map(|_| unsafe { mutator.raw().new_root(0) }).collect();
        play.play(Mixed { mutator, words, lengths, ring, place: 0, made: 0, outcome: Ok(()) })
    })
}

/// The heap of a case; the outer error is a missing parameter.
fn builder(case: &Case) -> anyhow::Result<HeapBuilder> {
    let text = case.text("set")?;
    let builder = Heap::builder().name("lab").max_heap_size(case.size("heap")?);
    Ok(builder.options(if text == DEFAULTS { "" } else { text })?)
}

struct Mixed<'m, 't> {
    mutator: &'m mut Mutator<'t>,
    words: ShapeRef,
    /// Lengths of the objects, in words.
    lengths: Vec<usize>,
    ring: Vec<RootHandle>,
    /// The place in the ring of the next kept object.
    place: usize,
    /// Objects made so far.
    made: usize,
    outcome: Result<(), OutOfMemory>,
}

impl Mixed<'_, '_> {
    fn turn(&mut self) -> Result<(), OutOfMemory> {
        for index in 0..ONE_IN {
            let length = self.lengths[(self.made + index) % SIZES];
            // SAFETY: the shape is this heap's, and objects that are used later are in a root.
            let object = unsafe { self.mutator.raw_mut().alloc_raw(self.words, length)? };
            keep(object.as_ptr());
            if index == 0 {
                // SAFETY: a live object of this heap.
                unsafe { self.ring[self.place].set(self.mutator, object.as_ptr() as u64) };
                self.place = (self.place + 1) % RING;
            }
        }
        self.made += ONE_IN;
        Ok(())
    }
}

impl Worker for Mixed<'_, '_> {
    fn batch(&mut self) -> u64 {
        if self.outcome.is_ok() {
            self.outcome = self.turn();
        }
        ONE_IN as u64
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        advised(self.outcome.clone(), "a larger --heap or fewer threads fit")
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

    fn refused(set: &str) -> String {
        let values = vec![("set".to_string(), vec![set.to_string()])];
        let selection = Selection { quick: true, values, ..Selection::default() };
        expand(&[&OPTIONS], &selection, 2).unwrap_err().to_string()
    }

    #[test]
    fn options_that_do_not_work_are_refused_in_their_own_words() {
        assert!(refused("TLABSize=lots").contains("TLABSize"), "{}", refused("TLABSize=lots"));
        assert!(refused("TLABSiez=64k").contains("TLABSize"), "{}", refused("TLABSiez=64k"));
        let conflict = refused("+ZeroTLAB ZeroWindowSize=4k");
        assert!(conflict.contains("no effect"), "{conflict}");
    }
}
