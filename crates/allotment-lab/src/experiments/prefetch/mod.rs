//! The gain from HotSpot's `AllocatePrefetch` options on this machine, in code with the settings
//! compiled in.
//!
//! The experiment follows "The JVM's mysterious AllocatePrefetch options, what do they actually
//! do?" (Sadiq Jaffer). Every case is a loop of machine code made for its settings
//! ([`super::emitted`]), in a private eden that is used over and over. Without work between
//! allocations, a prefetch can overlap only with other allocations, and the memory is otherwise
//! idle. Such a loop makes prefetch look better than it is. So the amount of work is a parameter,
//! and shows the gain of a real program.
//!
//! Modes: `none` is style 0, the baseline of all others; `ahead` has the other settings.

mod verdict;

use super::emitted::{Between, EmittedLoop, Form, MAX_INSTRUCTIONS, Work, processor};
use super::tlab::eden::{bytes_of_edens, heap_of_edens};
use super::tlab::filler::measure;
use super::{memory, on_jvm};
use crate::format::phrase::count;
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Mode};
use allotment::raw::{Element, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Shape, X86_64};
use allotment::{Heap, Mutator};
use allotment_jit::{Allocation, Emitter, Initialise, MAX_INLINE_BYTES};
use anyhow::{Context, ensure};

/// Objects of at least this size are arrays.
const ARRAY_BYTES: usize = 256;

const AHEAD: &[&str] = &["ahead"];

/// The instructions, in the order of `AllocatePrefetchInstr`.
const INSTRUCTIONS: &[&str] = &["nta", "t0", "t2", "w"];

/// The experiment `prefetch`.
pub(super) static PREFETCH: Experiment = Experiment {
    name: "prefetch",
    question: "What does a prefetch ahead of each allocation buy, by size, eden and work in between?",
    modes: &[
        Mode::rate("none", "no prefetch (AllocatePrefetchStyle=0)"),
        Mode::rate("ahead", "prefetch by style, distance, lines, step and instruction"),
    ],
    axes: &[
        Axis::new(
            "size",
            "bytes of an object, header included; from 256 on arrays of bytes",
            Kind::Size,
            &["16", "48", "64", "144", "256", "4k"],
        )
        .quick(&["16", "64", "144", "4k"]),
        Axis::new(
            "eden",
            "bytes each thread allocates before it starts over",
            Kind::Eden,
            &["half-l2", "64m"],
        )
        .quick(&["half-l2"])
        .full(&["half-l2", "2m", "8m", "64m", "256m"]),
        Axis::new("work", "dependent instructions between two allocations", Kind::Count, &["0"])
            .full(&["0", "50", "500"]),
        Axis::new(
            "working-set",
            "bytes of which a word is read between two allocations, somewhere; 0: none",
            Kind::Size,
            &["0"],
        )
        .full(&["0", "1m", "64m"]),
        Axis::new("style", "AllocatePrefetchStyle", Kind::Choice(&["1", "2", "3"]), &["1", "2", "3"])
            .quick(&["1"])
            .only_in(AHEAD),
        Axis::new(
            "distance",
            "AllocatePrefetchDistance in bytes; HotSpot's end at 512",
            Kind::Size,
            &["256"],
        )
        .full(&["64", "128", "192", "256", "384", "512", "768", "1024"])
        .only_in(AHEAD),
        Axis::new(
            "lines",
            "AllocatePrefetchLines, of objects too; 0: as the size wants",
            Kind::Count,
            &["1", "3"],
        )
        .quick(&["0"])
        .full(&["1", "2", "3", "4"])
        .only_in(AHEAD),
        Axis::new("step", "AllocatePrefetchStepSize in bytes", Kind::Size, &["64"])
            .full(&["64", "128"])
            .only_in(AHEAD),
        Axis::new(
            "instr",
            "AllocatePrefetchInstr: 0 is nta, 1 t0, 2 t2, 3 w",
            Kind::Choice(INSTRUCTIONS),
            &["w"],
        )
        .full(INSTRUCTIONS)
        .only_in(AHEAD),
    ],
    x86_64: &["none", "ahead"],
    threads: |cpus, quick| if quick || cpus == 1 { vec![1] } else { vec![1, cpus] },
    baseline: Some(("mode", "none")),
    answers: verdict::answers,
    needs: "rows of the modes none and ahead",
    verdicts: verdict::verdicts,
    check,
    on_jvm: |case| on_jvm::prefetch(case, INSTRUCTIONS),
    run,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    let (size, eden) = (case.size("size")?, case.size("eden")?);
    ensure!(
        (16..=MAX_INLINE_BYTES).contains(&size) && size.is_multiple_of(8),
        "objects of {size} bytes: multiples of 8 from 16 to {MAX_INLINE_BYTES} work"
    );
    ensure!(eden >= size * 16, "an eden of {eden} bytes holds fewer than 16 objects of {size}");
    let sets = case.size("working-set")?.saturating_mul(case.threads);
    let needed = bytes_of_edens(eden, case.threads).saturating_add(sets);
    let what = format!("edens and working sets of {}", count(case.threads, "thread"));
    memory::fits(&what, needed, "a smaller --eden, --working-set or fewer --threads")?;
    let instructions = case.size("work")?;
    ensure!(
        instructions <= MAX_INSTRUCTIONS,
        "{instructions} instructions of work: at most {MAX_INSTRUCTIONS} work"
    );
    // Another machine leaves the case out, whatever its settings.
    processor().map_or(Ok(()), |processor| emitter(case, processor).map(drop))
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (size, eden) = (case.size("size")?, case.size("eden")?);
    let heap = heap_of_edens(eden, case.threads)?;
    let working_set = case.size("working-set")?;
    let between = Between { instructions: case.size("work")?, reads: working_set > 0 };
    let allocation = allocation(&heap, size)?;
    let code = EmittedLoop::new(
        &emitter(case, processor()?)?,
        allocation,
        Initialise::PerObject,
        Form::Pasted,
        between,
    )?;
    measure(&heap, size, eden, bench, |pairs| {
        let (code, mut work) = (&code, Work::new(working_set));
        move |mutator: &mut Mutator<'_>| code.allocate(mutator, pairs, &mut work)
    })
}

/// The object of that size.
fn allocation(heap: &Heap, size: usize) -> anyhow::Result<Allocation> {
    if size < ARRAY_BYTES {
        return Ok(Allocation::object(heap.register(Shape::fixed("object", size))?)?);
    }
    let bytes = heap.register(Shape::array("bytes", 16, Element::Plain { bytes: 1 }))?;
    Ok(Allocation::array(bytes, size - 16)?)
}

/// The emitter of a case.
fn emitter(case: &Case, processor: X86_64) -> anyhow::Result<Emitter> {
    if case.mode == "none" {
        return Ok(Emitter::new(processor, PrefetchSettings::OFF)?);
    }
    let lines = case.size("lines")?;
    let instruction = case.text("instr")?;
    let number = INSTRUCTIONS.iter().position(|name| *name == instruction).context("an instruction")?;
    let settings = PrefetchSettings {
        style: PrefetchStyle::from_number(case.size("style")?).context("a style from 0 to 3")?,
        distance: case.size("distance")?,
        lines,
        instance_lines: lines,
        step: case.size("step")?,
        instruction: PrefetchInstruction::from_number(number).context("an instruction")?,
    };
    Ok(Emitter::beyond_hotspot(processor, settings)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand_on};
    use crate::machine::processors::ZEN;

    #[test]
    fn what_memory_does_not_hold_is_refused() {
        for name in ["eden", "working-set"] {
            let values = vec![(name.to_string(), vec!["16384t".to_string()])];
            let selection = Selection { values, quick: true, ..Selection::default() };
            let error = expand_on(&[&PREFETCH], &selection, 2, ZEN).unwrap_err().to_string();
            assert!(error.contains("need") && error.contains("of memory, and there are"), "{name}: {error}");
        }
    }
}
