//! The trees in C, with the inlines of `allotment.h`: `c/trees.c` says the same as `tree.rs`.

use crate::c::{Code, Compiler, Source};
use allotment::raw::{Hot, Shape, SlotKind};
use allotment::{Heap, Mutator, OutOfMemory};

/// The program.
const SOURCE: Source =
    Source { name: "trees.c", text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/c/trees.c")) };

/// Why a failed allocation has a reason.
const KEPT: &str = "the library keeps the reason of a failed allocation";

/// The program for the nodes of one heap.
#[derive(Clone, Copy)]
pub(super) struct InC {
    trees: unsafe extern "C" fn(*const Hot, u64, u64) -> bool,
    header: u64,
}

impl InC {
    /// Compiles the program.
    ///
    /// # Errors
    /// The compiler refuses it.
    pub(super) fn new(compiler: &Compiler, heap: &Heap) -> anyhow::Result<(Code, InC)> {
        let node = Shape::fixed("node in C", 32).slot("left", 8, SlotKind::Strong);
        let header = heap.register(node.slot("right", 16, SlotKind::Strong))?.header().bits();
        let code = Code::load(compiler, SOURCE, &[])?;
        // SAFETY: the type is that of the function in `trees.c`.
        let trees = unsafe { code.function("lab_trees")? };
        Ok((code, InC { trees, header }))
    }

    /// Makes a tree in each way, and drops both. The thread is attached by `al_attach`.
    ///
    /// # Errors
    /// The heap is full.
    pub(super) fn pair(self, mutator: &mut Mutator<'_>, depth: u64) -> Result<(), OutOfMemory> {
        // SAFETY: this thread's mutator, borrowed alone, so no reference is held over the call. The
        // header is that of the heap's shape of a node.
        let made = unsafe { (self.trees)(mutator.raw().hot(), self.header, depth) };
        if made { Ok(()) } else { Err(mutator.raw().take_out_of_memory().expect(KEPT)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::collectors::heap_of;
    use super::super::node::nodes;
    use super::*;
    use crate::c::{COMPILERS, attached};
    use allotment_ffi::CHeap;

    /// A program of C: makes a tree in each way, and returns the nodes of both.
    type Count = unsafe extern "C" fn(*const Hot, u64, u64) -> u64;

    fn compilers() -> impl Iterator<Item = Compiler> {
        COMPILERS.iter().filter_map(|name| Compiler::find(name).ok())
    }

    /// Trees of a tenth of the heap, again and again: collections come in the middle of trees.
    #[test]
    fn trees_are_whole_under_every_collector() {
        for compiler in compilers() {
            for collector in ["parallel", "mark-compact", "shenandoah", "genshen"] {
                let heap = heap_of(collector, 16 << 20).unwrap().build().unwrap();
                let (code, trees) = InC::new(&compiler, &heap).unwrap();
                // SAFETY: the type is that of the function in `trees.c`.
                let count: Count = unsafe { code.function("lab_trees_count").unwrap() };
                attached(&CHeap::new(heap.clone()), |mutator| {
                    for round in 0..60 {
                        let depth = [0, 1, 5, 14][round % 4];
                        // SAFETY: as in `pair`.
                        let found = unsafe { count(mutator.raw().hot(), trees.header, depth) };
                        assert_eq!(found, 2 * nodes(depth), "{collector}, {depth}");
                        trees.pair(mutator, depth).unwrap();
                    }
                })
                .unwrap();
                assert!(heap.collections().count > 0, "{collector}");
            }
        }
    }

    #[test]
    fn a_full_heap_is_an_error() {
        for compiler in compilers() {
            let heap = heap_of("parallel", 16 << 20).unwrap().build().unwrap();
            let (_code, trees) = InC::new(&compiler, &heap).unwrap();
            attached(&CHeap::new(heap.clone()), |mutator| {
                let full = trees.pair(mutator, 20).unwrap_err();
                assert_eq!((full.bytes(), full.heap_bytes()), (32, 16 << 20));
                trees.pair(mutator, 10).unwrap();
            })
            .unwrap();
        }
    }
}
