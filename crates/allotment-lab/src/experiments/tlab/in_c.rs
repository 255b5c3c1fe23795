//! The allocation of mode `tlab` in C: the inlines of `allotment.h`, in a private eden.

use super::super::compilers::compiler_of;
use super::eden::heap_of_edens;
use super::filler::measure_in_c;
use super::widest::is_wide;
use crate::c::{Code, Compiler, Source};
use crate::harness::{Bench, Case};
use allotment::Mutator;
use allotment::raw::{Hot, Shape, ShapeRef};
use allotment_ffi::CHeap;

/// The loops.
const SOURCE: Source =
    Source { name: "tlab.c", text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/c/tlab.c")) };

/// A loop: allocates a number of pairs of objects with a header, and returns the number of objects
/// that fit.
type Fill = unsafe extern "C" fn(*const Hot, u64, usize) -> usize;

/// A loop for objects of one size in one heap.
#[derive(Clone, Copy)]
struct InC {
    fill: Fill,
    header: u64,
}

impl InC {
    /// Compiles the loop. `zeroed`: its memory is zeroed ahead (`al_alloc`). Otherwise it writes all
    /// fields (`al_alloc_raw`).
    fn new(compiler: &Compiler, shape: ShapeRef, zeroed: bool) -> anyhow::Result<(Code, InC)> {
        let mut flags = vec![format!("-DSIZE={}", shape.fixed_bytes())];
        // As wide as the stores of the loops in Rust.
        flags.extend(is_wide().then(|| "-mavx2".into()));
        let code = Code::load(compiler, SOURCE, &flags)?;
        let name = if zeroed { "lab_tlab_zeroed" } else { "lab_tlab" };
        // SAFETY: the type is that of both functions in `tlab.c`.
        let fill = unsafe { code.function::<Fill>(name)? };
        Ok((code, InC { fill, header: shape.header().bits() }))
    }

    /// Allocates `pairs` pairs of objects, which are not used. Returns the number of objects that
    /// fit. The thread is attached by `al_attach`.
    #[inline(always)]
    fn allocate(self, mutator: &mut Mutator<'_>, pairs: usize) -> u64 {
        // SAFETY: this thread's mutator. The header is that of the heap's shape of the loop's size.
        // No code uses the objects, nor holds a reference over the call.
        unsafe { (self.fill)(mutator.raw().hot(), self.header, pairs) as u64 }
    }
}

/// Mode `c`.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (size, eden) = (case.size("size")?, case.size("eden")?);
    let heap = heap_of_edens(eden, case.threads)?;
    let zeroed = case.text("zeroing")? == "ahead";
    let shape = heap.register(Shape::fixed("object", size))?;
    // The files of the code stay until everything is measured: a profile reads them.
    let (_code, body) = InC::new(&compiler_of(case)?, shape, zeroed)?;
    measure_in_c(&CHeap::new(heap), size, eden, bench, |pairs| {
        move |mutator: &mut Mutator<'_>| body.allocate(mutator, pairs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::{COMPILERS, attached};

    /// The heap holds as many objects as the loops counted.
    #[test]
    fn loops_allocate_as_many_objects_as_they_say() {
        for compiler in COMPILERS.iter().filter_map(|name| Compiler::find(name).ok()) {
            for (size, zeroed) in [(16, false), (64, false), (144, false), (16, true), (64, true)] {
                let heap = heap_of_edens(1 << 20, 1).unwrap();
                let shape = heap.register(Shape::fixed("object", size)).unwrap();
                let (_code, body) = InC::new(&compiler, shape, zeroed).unwrap();
                let count = |pairs| {
                    attached(&CHeap::new(heap.clone()), |mutator| body.allocate(mutator, pairs)).unwrap()
                };
                assert_eq!(count(1000), 2000);
                let rest = count(usize::MAX);
                assert!(rest > 0);
                // The pair that did not fit may have left one object.
                let found = heap.verify().unwrap().objects(shape.id()) as u64;
                assert!([2000 + rest, 2001 + rest].contains(&found), "{size} {zeroed}: {found}, {rest}");
            }
        }
    }
}
