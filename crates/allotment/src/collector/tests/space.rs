//! Collections of a [`Space`] alone, without a heap and without threads. A collection needs a
//! space, roots and workers.

use crate::collector::evacuate::{CollectionSet, Evacuation, Limits, OldRanges, SpaceKind, ToSpace};
use crate::collector::full::{self, Compaction, SideTables};
use crate::collector::kernel::{OldTables, Pages, Roots};
use crate::collector::work::{Gang, StackLimits, TaskQueuePool, Workers};
use crate::object::{Shape, ShapeRef, SlotKind, reference};
use crate::options::Options;
use crate::platform::topology::Topology;
use crate::region::{Attempts, Geometry, Space, StartTable, State};

const GEOMETRY: Geometry = Geometry { region_shift: 12, regions: 16 };
const CELL_BYTES: usize = 24;
/// Cells of the list. As many further cells are garbage.
const CELLS: u64 = 500;

/// A list of cells, each with the next cell and a key, and a cell to which only a weak root refers.
struct List {
    space: Space,
    cell: ShapeRef,
    first: u64,
    weak: u64,
}

impl List {
    /// The list with the keys `CELLS - 1`, .., 1, 0, and garbage between its cells.
    fn new() -> List {
        let options =
            Options { allocation_regions: 1, use_transparent_huge_pages: false, ..Options::default() };
        let space = Space::new(&options, GEOMETRY, Topology::detect(), "list").expect("memory");
        let shape = Shape::fixed("Cell", CELL_BYTES).slot("next", 8, SlotKind::Strong);
        let cell = space.shapes.register(shape).expect("a shape");
        let mut list = List { space, cell, first: 0, weak: 0 };
        for key in 0..CELLS {
            list.new_cell(0, u64::MAX);
            list.first = list.new_cell(list.first, key);
        }
        list.weak = list.new_cell(0, u64::MAX);
        list
    }

    fn new_cell(&self, next: u64, key: u64) -> u64 {
        let mut attempts = Attempts::default();
        let piece = self.space.free.allocate(0, CELL_BYTES, CELL_BYTES, &mut attempts).expect("room");
        // SAFETY: the piece is this function's, at least as large as a cell.
        unsafe {
            let words = piece.start as *mut u64;
            words.write(self.cell.header().bits());
            words.add(1).write(next);
            words.add(2).write(key);
            self.space.cover_rest(piece.start + CELL_BYTES, piece.end);
        }
        piece.start as u64
    }

    fn keys(&self) -> Vec<u64> {
        let (mut keys, mut at) = (Vec::new(), self.first);
        while let Some(address) = reference(at) {
            let words = address as *const u64;
            // SAFETY: the list's cells are live.
            unsafe {
                keys.push(words.add(2).read());
                at = words.add(1).read();
            }
        }
        keys
    }

    /// Calls `collect` with the space, its two roots, and one worker.
    fn collect<R>(&mut self, collect: impl FnOnce(&Space, Roots<'_>, Workers<'_>) -> R) -> R {
        let List { space, first, weak, .. } = self;
        let roots = Roots {
            slots: &mut |slots| {
                slots.slot(first, SlotKind::Strong);
                slots.slot(weak, SlotKind::Weak);
            },
            pinned: &mut |_| (),
        };
        collect(space, roots, Workers::new(&Gang::new("test-gc", 1), 1))
    }

    fn used_regions(&self) -> Vec<State> {
        let table = self.space.free.table();
        self.space.free.in_use().map(|index| table.get(index).state()).collect()
    }

    /// Checks what any collection must leave: all cells of the list, and no dead referent of a weak
    /// root.
    fn check(&self) {
        assert!(self.keys().into_iter().eq((0..CELLS).rev()));
        assert_eq!(self.weak, 0, "only a weak root referred to it");
    }
}

#[test]
fn a_full_collection_slides_the_cells_of_a_space_together() {
    let mut list = List::new();
    let before = list.used_regions().len();
    let pages = Pages { huge: false, touched_for: 0, touching: 1 };
    let done = list.collect(|space, roots, workers| {
        let base = space.free.table().bottom(0);
        let mut tables = SideTables::new(base, GEOMETRY.heap_bytes(), pages).expect("tables");
        // SAFETY: no thread allocates; the roots and slots hold addresses of cells, or 0.
        unsafe { full::collect(space, &mut tables, roots, Compaction::Maximum, workers) }.expect("memory")
    });
    list.check();
    assert_eq!(done.used_after, CELLS as usize * CELL_BYTES);
    assert_eq!(list.used_regions().len(), done.used_after.div_ceil(GEOMETRY.region_bytes()));
    assert!(list.used_regions().len() < before);
}

#[test]
fn an_evacuation_copies_the_cells_of_a_space_to_survivors() {
    let mut list = List::new();
    let done = list.collect(|space, roots, workers| {
        let (base, heap_bytes) = (space.free.table().bottom(0), GEOMETRY.heap_bytes());
        let set = CollectionSet::new(base, GEOMETRY.region_shift, GEOMETRY.regions);
        let mut ranges = OldRanges::default();
        set.choose_young(&space.free, &mut ranges).expect("memory");
        let starts = StartTable::new(base, heap_bytes).expect("a table");
        let evacuation = Evacuation {
            space,
            set: &set,
            ranges: &ranges,
            tables: OldTables { cards: &space.cards, starts: &starts },
            survivors: &ToSpace::new(SpaceKind::Survivors, 1),
            old: &ToSpace::new(SpaceKind::Old, 1),
            queue_pool: &TaskQueuePool::default(),
            limits: Limits {
                tenuring_threshold: 15,
                survivor_bytes: heap_bytes,
                young_plab_bytes: 1024,
                old_plab_bytes: 1024,
                stack: StackLimits::for_heap(heap_bytes),
            },
        };
        // SAFETY: no thread allocates, nothing is old, and the roots and slots hold addresses of
        // cells, or 0.
        unsafe { evacuation.run(roots, workers) }.expect("memory for a stack")
    });
    list.check();
    assert_eq!((done.sum.objects, done.weak_cleared), (CELLS, 1));
    assert!(list.used_regions().iter().all(|state| *state == State::Survivor));
}
