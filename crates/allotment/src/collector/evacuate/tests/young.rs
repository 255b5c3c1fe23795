//! A real heap that is collected young or whole, beside its model.

use super::*;
use crate::collector::full::Compaction;
use crate::collector::full::tests::graph::Graph;
use crate::collector::full::tests::model::Number;
use crate::object::{Header, size_of_object};
use crate::region::{CARD_BYTES, CardTable, StartTable, State};
use std::collections::{BTreeMap, BTreeSet};

/// A graph of which a part is old.
pub(super) struct Young {
    pub(super) graph: Graph,
    pub(super) limits: Limits,
    pub(super) set: CollectionSet,
    pub(super) ranges: OldRanges,
    pub(super) starts: StartTable,
    pub(super) survivors: ToSpace,
    pub(super) old: ToSpace,
    pub(super) queue_pool: TaskQueuePool,
}

/// The heap as it was when a collection began.
struct Before {
    addresses: BTreeMap<Number, usize>,
    ages: BTreeMap<Number, u8>,
    /// Regions of the set in which all objects stay.
    stays: BTreeSet<usize>,
    /// Cards of old objects, and the dirty ones among them.
    cards: (u64, u64),
}

impl Young {
    pub(super) fn new(
        (region_bytes, regions): (usize, usize),
        options: &str,
        workers: usize,
        limits: Limits,
    ) -> Young {
        let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
        let heap = builder.options(options).expect(options).build().expect("a heap");
        // The heap's own collector, which is never called, would keep some of them for its copies.
        heap.shared.space.free.set_capacity(regions);
        let (base, geometry) = (heap.base(), heap.geometry());
        Young {
            set: CollectionSet::new(base, geometry.region_shift, geometry.regions),
            ranges: OldRanges::default(),
            starts: StartTable::new(base, geometry.heap_bytes()).expect("a table"),
            survivors: ToSpace::new(SpaceKind::Survivors, heap.shared.space.free.homes()),
            old: ToSpace::new(SpaceKind::Old, heap.shared.space.free.homes()),
            queue_pool: TaskQueuePool::default(),
            graph: Graph::of(heap, workers, 64, 4),
            limits,
        }
    }

    /// Allocates objects of these kinds and lengths.
    pub(super) fn allocate<const COUNT: usize>(
        &mut self,
        wanted: [(usize, usize); COUNT],
    ) -> [Number; COUNT] {
        self.graph.allocate(&wanted).try_into().expect("room for all")
    }

    /// A strong root.
    pub(super) fn root(&mut self, number: Number) {
        self.graph.root(Value::Object(number, 0), SlotKind::Strong);
    }

    /// Lets a slot of `number` refer to `to`.
    pub(super) fn refer(&mut self, number: Number, slot: usize, to: Number) {
        self.graph.store(number, slot, Value::Object(to, 0));
    }

    pub(super) fn forget_roots(&mut self) {
        self.graph.roots.clear();
        self.graph.model.roots.clear();
    }

    pub(super) fn is_old(&self, number: Number) -> bool {
        self.graph.model.old.contains(&number)
    }

    pub(super) fn cards(&self) -> &CardTable {
        &self.graph.heap.shared.space.cards
    }

    /// The state of the region that an object is in.
    pub(super) fn state_at(&self, number: Number) -> State {
        let table = self.graph.heap.shared.space.free.table();
        table.get(table.index_of(self.graph.addresses[&number])).state()
    }

    /// How many regions are in that state.
    pub(super) fn regions(&self, state: State) -> usize {
        self.regions_in(state).len()
    }

    /// The regions in that state.
    pub(super) fn regions_in(&self, state: State) -> Vec<usize> {
        let table = self.graph.heap.shared.space.free.table();
        (0..table.len()).filter(|&index| table.get(index).state() == state).collect()
    }

    fn age(&self, number: Number) -> u8 {
        Header::from_bits(self.graph.model.nodes[&number].header).age()
    }

    /// Chooses the set as a collector does, and collects; nothing is compared.
    pub(super) fn evacuate(&mut self) -> EvacuationStatistics {
        self.evacuate_with(|evacuation, roots, workers| {
            // SAFETY: no thread is attached; tests write only addresses of objects to slots, and
            // dirty cards of old ones.
            unsafe { evacuation.run(roots, workers) }.expect("memory for stacks")
        })
    }

    /// Calls `run` with the parts of an evacuation.
    pub(super) fn evacuate_with<R>(
        &mut self,
        run: impl FnOnce(&Evacuation<'_>, Roots<'_>, Workers<'_>) -> R,
    ) -> R {
        let Young { graph, limits, set, ranges, starts, survivors, old, queue_pool } = self;
        let shared = graph.heap.shared.clone();
        let table = shared.space.free.table();
        let pins: Vec<usize> = graph.model.pins.iter().map(|number| graph.addresses[number]).collect();
        let _detached = shared.threads.registry.detached().expect("no thread is attached");
        shared.space.free.age_quarantine();
        set.choose_young(&shared.space.free, ranges).expect("memory for a list");
        for &address in &pins {
            let index = table.index_of(address);
            if set.role(index).is_in_set() {
                set.set(index, Role::STAYS);
            }
        }
        let evacuation = Evacuation {
            space: &shared.space,
            set,
            ranges,
            tables: OldTables { cards: &shared.space.cards, starts },
            survivors,
            old,
            queue_pool,
            limits: *limits,
        };
        let slots = &mut graph.roots;
        let roots = Roots {
            slots: &mut |visitor| slots.iter_mut().for_each(|(slot, kind)| visitor.slot(slot, *kind)),
            pinned: &mut |pin| pins.iter().copied().for_each(pin),
        };
        run(&evacuation, roots, graph.tools.workers())
    }

    /// Runs a young collection on both, and compares all that can be compared.
    pub(super) fn collect(&mut self) -> EvacuationStatistics {
        let before = self.before();
        let statistics = self.evacuate();
        assert_eq!(statistics.weak_cleared, self.graph.model.collect_young());

        let shared = self.graph.heap.shared.clone();
        let (table, was_old) = (shared.space.free.table(), self.graph.model.old.clone());
        let is_old = |address: usize| {
            let index = table.index_of(address);
            match table.get(index).state() {
                State::Old => true,
                State::HumongousStart => table.get(index).is_tenured(),
                State::HumongousContinuation => table.get(index - table.get(index).run()).is_tenured(),
                State::Survivor => false,
                state => panic!("an object in a region that is {state:?} after a collection"),
            }
        };
        let unmoved = was_old.union(&self.graph.model.pins).copied().collect();
        self.graph.find_all(&unmoved, |number, address, header| {
            let header = Header::from_bits(header);
            let aged = (header.age() + 1).min(15);
            match was_old.contains(&number) {
                true => header.bits(),
                false => header.with_age(if is_old(address) { 0 } else { aged }).bits(),
            }
        });
        self.graph.model.old = self
            .graph
            .addresses
            .iter()
            .filter(|(_, address)| is_old(**address))
            .map(|(number, _)| *number)
            .collect();
        for number in was_old.union(&self.graph.model.pins) {
            assert_eq!(
                self.graph.addresses[number], before.addresses[number],
                "object {number} must not move"
            );
        }
        self.check_statistics(&before, &was_old, &statistics);
        assert_eq!(self.regions(State::Shared), 0, "eden is empty");
        self.check_heap();
        statistics
    }

    /// A full collection of both, after which everything is old.
    pub(super) fn collect_full(&mut self, compaction: Compaction) {
        let Young { graph, starts, old, .. } = self;
        graph.collect_then(compaction, |heap, tools| {
            let shared = &heap.shared;
            let space = &shared.space;
            let tables = OldTables { cards: &shared.space.cards, starts };
            let _detached = shared.threads.registry.detached().expect("no thread is attached");
            // SAFETY: no thread is attached, and after a full collection every region is parsable.
            unsafe { adopt_all(space, &tables, old, Workers::new(&tools.gang, tools.workers)) };
        });
        let shared = self.graph.heap.shared.clone();
        self.graph.model.old = self.graph.model.nodes.keys().copied().collect();
        let table = shared.space.free.table();
        for index in self.regions_in(State::Old) {
            let (bottom, top) = (table.bottom(index), table.get(index).top());
            assert_eq!(self.cards().next_dirty(bottom, top), top, "nothing old refers to something young");
        }
        assert_eq!(self.regions(State::Shared) + self.regions(State::Survivor), 0);
        self.check_heap();
    }

    fn before(&self) -> Before {
        let table = self.graph.heap.shared.space.free.table();
        let (mut in_set, mut cards) = (BTreeSet::new(), (0, 0));
        let mut stays: BTreeSet<usize> = BTreeSet::new();
        for index in 0..table.len() {
            let region = table.get(index);
            let mut of_old = |end: usize| {
                let all = (table.bottom(index)..end).step_by(CARD_BYTES);
                cards.0 += all.len() as u64;
                cards.1 += all.filter(|&card| self.cards().is_dirty(card)).count() as u64;
            };
            match region.state() {
                State::Shared | State::Survivor => drop(in_set.insert(index)),
                State::HumongousStart if !region.is_tenured() => {
                    in_set.extend(index..index + region.run());
                    stays.extend(index..index + region.run());
                }
                State::Old | State::HumongousStart => {
                    of_old(self.graph.heap.shared.space.free.object_end(index))
                }
                _ => {}
            }
        }
        let pinned = self.graph.model.pins.iter().map(|number| table.index_of(self.graph.addresses[number]));
        stays.extend(pinned.filter(|index| in_set.contains(index)));
        let ages = self.graph.model.nodes.keys().map(|&number| (number, self.age(number))).collect();
        Before { addresses: self.graph.addresses.clone(), ages, stays, cards }
    }

    fn check_statistics(
        &self,
        before: &Before,
        was_old: &BTreeSet<Number>,
        statistics: &EvacuationStatistics,
    ) {
        let table = self.graph.heap.shared.space.free.table();
        let mut expected = WorkerStatistics {
            wasted_bytes: statistics.sum.wasted_bytes,
            steals: statistics.sum.steals,
            cards_scanned: before.cards.0,
            cards_dirty: before.cards.1,
            ..WorkerStatistics::default()
        };
        for &number in self.graph.model.nodes.keys().filter(|number| !was_old.contains(number)) {
            let (bytes, from) = (self.graph.bytes(number) as u64, before.addresses[&number]);
            let (moved, stays) =
                (self.graph.addresses[&number] != from, before.stays.contains(&table.index_of(from)));
            match (moved, self.is_old(number)) {
                (true, true) => expected.promoted_bytes += bytes,
                (true, false) => {
                    let age = before.ages[&number];
                    assert!(age < self.limits.tenuring_threshold, "object {number} of age {age} is not old");
                    expected.survived[usize::from(self.age(number))] += bytes;
                }
                (false, true) => {
                    expected.kept_objects += 1;
                    expected.kept_bytes += bytes;
                    expected.stayed_bytes += if stays { bytes } else { 0 };
                }
                (false, false) => panic!("object {number} neither moved nor became old"),
            }
            assert!(!(moved && stays), "object {number} is pinned with its region, or humongous");
            expected.objects += u64::from(moved);
        }
        assert_eq!(statistics.sum, expected);
        assert_eq!(statistics.worker_objects.iter().sum::<u64>(), expected.objects);
        assert_eq!(statistics.worker_objects.len(), self.graph.tools.workers, "an entry for each worker");
    }

    /// Checks the heap by the verifier. Also checks what the verifier does not know: the starts of
    /// objects, and that pieces are whole cards.
    fn check_heap(&self) {
        let census = self.graph.heap.verify().expect("a sound heap");
        assert_eq!(census.all_objects(), self.graph.model.nodes.len() as u64, "only live objects are left");
        let free = &self.graph.heap.shared.space.free;
        let table = free.table();
        let old_regions = self.regions_in(State::Old);
        for &index in &old_regions {
            assert!(table.get(index).top().is_multiple_of(CARD_BYTES), "others take whole cards");
        }
        self.old.verify(free, &old_regions);
        for number in &self.graph.model.old {
            let address = self.graph.addresses[number];
            let index = table.index_of(address);
            let start = match table.get(index).state() {
                State::HumongousContinuation => index - table.get(index).run(),
                _ => index,
            };
            let (bytes, shapes) = (self.graph.bytes(*number), &self.graph.heap.shared.space.shapes);
            let size_of = |at: usize| {
                // SAFETY: the verifier has walked the region; the caller has found a header.
                unsafe {
                    match Header::from_bits((at as *const u64).read()).kind() {
                        crate::object::Kind::Filler(bytes) => bytes,
                        crate::object::Kind::Object(id) => {
                            size_of_object(at, shapes.get(id).expect("a shape"))
                        }
                        kind => panic!("{at:#x}: {kind:?}"),
                    }
                }
            };
            for inside in [address, address + bytes / 2, address + bytes - 1] {
                assert_eq!(self.starts.object_at(inside, table.bottom(start), size_of), address);
            }
        }
    }
}
