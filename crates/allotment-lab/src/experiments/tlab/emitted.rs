//! The allocation of mode `tlab` as machine code made at run time, in a private eden.

use super::super::emitted::{Between, EmittedLoop, Form, Work, processor};
use super::super::prefetching::prefetches;
use super::eden::heap_of_edens;
use super::filler::measure;
use crate::harness::{Bench, Case};
use allotment::Mutator;
use allotment::raw::{PrefetchInstruction, PrefetchSettings, PrefetchStyle, Shape};
use allotment_jit::{Allocation, Emitter, Initialise};

/// [`BySize`](allotment::raw::BySize) in HotSpot's settings.
const BY_SIZE: PrefetchSettings = PrefetchSettings {
    style: PrefetchStyle::Always,
    distance: 256,
    lines: 0,
    instance_lines: 0,
    step: 64,
    instruction: PrefetchInstruction::Write,
};

/// Modes `emitted` and `stub`.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (size, eden) = (case.size("size")?, case.size("eden")?);
    let heap = heap_of_edens(eden, case.threads)?;
    let settings = if prefetches(case)? { BY_SIZE } else { PrefetchSettings::OFF };
    let emitter = Emitter::new(processor()?, settings)?;
    let initialise = if case.text("zeroing")? == "ahead" { Initialise::Ahead } else { Initialise::PerObject };
    let form = if case.mode == "stub" { Form::Stub } else { Form::Pasted };
    let object = Allocation::object(heap.register(Shape::fixed("object", size))?)?;
    let code = EmittedLoop::new(&emitter, object, initialise, form, Between::default())?;
    measure(&heap, size, eden, bench, |pairs| {
        let (code, mut work) = (&code, Work::new(0));
        move |mutator: &mut Mutator<'_>| code.allocate(mutator, pairs, &mut work)
    })
}
