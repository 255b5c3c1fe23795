//! Lists of numbered nodes with a model of them, and cycles whose steps a test makes one by one.
//!
//! The heap is passive: its control thread begins no cycle. So a test decides what
//! comes between two steps of a cycle. A thread that is attached makes a step from `blocking`.

use crate::Heap;
use crate::collector::concurrent::Interrupt;
use crate::collector::shenandoah::Shenandoah;
use crate::collector::shenandoah::cycle::Stage;
use crate::collector::shenandoah::place::{Place, Work};
use crate::collector::shenandoah::scope::Scope;
use crate::collector::work::Workers;
use crate::mutator::{ArraySite, Cause, Mutator, PerObject, RootHandle, Shared};
use crate::object::{Element, Shape, ShapeRef, SlotKind, WORD, reference};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Offsets in a node: the next node, the same again as a weak slot, a number, and its complement.
pub(super) const NEXT: usize = 8;
pub(super) const TWIN: usize = 16;
const NUMBER: usize = 24;
const NODE_BYTES: usize = 40;

/// Offset of the first reference of a table. A word without a reference is before it.
pub(super) const FIRST: usize = 24;

/// Steps by hand, in which threads help, with as much garbage as possible worth a move.
pub(super) const BY_HAND: &str = "Collector=shenandoah,+ZealCycles,ShenandoahGarbageThreshold=0,\
     ShenandoahIgnoreGarbageThreshold=0,ShenandoahImmediateThreshold=100,ShenandoahEvacReserve=30,ParallelGCThreads=2";

thread_local! {
    /// The `ShenandoahGCMode` of the kits that this thread makes.
    static MODE: Cell<&'static str> = const { Cell::new("satb") };
}

/// Runs a test with heaps without generations, and with such that have them.
pub(super) fn in_both_modes(test: impl Fn()) {
    for mode in ["satb", "generational"] {
        MODE.set(mode);
        println!("{mode}");
        test();
    }
}

/// Runs a test with heaps that have generations.
pub(super) fn generational(test: impl FnOnce()) {
    MODE.set("generational");
    test();
}

/// All steps, in order.
pub(super) const STAGES: [Stage; 10] = [
    Stage::Reset,
    Stage::InitMark,
    Stage::Mark,
    Stage::FinalMark,
    Stage::Weak,
    Stage::BeginMove,
    Stage::Evacuate,
    Stage::Update,
    Stage::EndMove,
    Stage::Free,
];

/// Sets a flag when it is dropped, even if an assertion fails.
pub(super) struct Ends<'a>(pub(super) &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The place of a step among all.
fn place(step: Stage) -> usize {
    STAGES.iter().position(|other| *other == step).unwrap_or(STAGES.len())
}

/// A heap and its shapes.
pub(super) struct Kit {
    pub(super) heap: Heap,
    pub(super) node: ShapeRef,
    pub(super) table: ShapeRef,
    vector: ShapeRef,
    /// Cycles that were begun.
    begun: AtomicUsize,
}

impl Kit {
    pub(super) fn new(region_bytes: usize, regions: usize, options: &str) -> Kit {
        let builder = Heap::builder().test_geometry(region_bytes, regions).use_transparent_huge_pages(false);
        let options = format!("{options},ShenandoahGCMode={}", MODE.get());
        Kit::of(builder.options(&options).expect(&options).build().expect(&options))
    }

    pub(super) fn of(heap: Heap) -> Kit {
        let register = |shape| heap.register(shape).expect("a shape");
        let slots = Shape::fixed("Node", NODE_BYTES).slot("next", NEXT, SlotKind::Strong).slot(
            "twin",
            TWIN,
            SlotKind::Weak,
        );
        let node = register(slots);
        let table = register(Shape::array("Table", FIRST, Element::Reference(SlotKind::Strong)));
        let vector = register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 }));
        let kit = Kit { heap, node, table, vector, begun: AtomicUsize::new(0) };
        kit.collector().passive.store(true, Ordering::Relaxed);
        kit
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.heap.shared
    }

    pub(super) fn collector(&self) -> &Shenandoah {
        let concurrent = self.shared().collector.concurrent().expect("a concurrent collector");
        assert_eq!(self.heap.collector(), "shenandoah");
        // SAFETY: the only concurrent collector there is, whose box the heap keeps.
        unsafe { &*std::ptr::from_ref(concurrent).cast::<Shenandoah>() }
    }

    /// The next step of the cycle.
    pub(super) fn stage(&self) -> Stage {
        self.collector().lock().stage()
    }

    /// Makes the next step beside mutators, or begins a cycle.
    fn advance(&self) {
        let (collector, shared) = (self.collector(), self.shared());
        let cycle = &mut *collector.lock_unhalted();
        if cycle.is_idle() {
            let turn = self.begun.fetch_add(1, Ordering::Relaxed);
            let has_generations = collector.engine.old.is_some();
            // Old objects are marked over three cycles, moved in the next, and then in one.
            let scope = match turn % 6 {
                _ if !has_generations => Scope::Global,
                1 => Scope::YoungBeginsOld,
                3 if collector.engine.marks_old() => Scope::YoungEndsOld,
                5 => Scope::Global,
                _ => Scope::Young,
            };
            collector.begin_cycle(cycle, shared, Cause::Requested, scope);
            if turn.is_multiple_of(2) && collector.engine.marks_old() {
                collector.engine.mark_old(shared, Workers::new(&collector.workers, 1));
            }
        } else if !cycle.stage().is_pause() {
            collector.step_beside(cycle, shared);
        }
    }

    /// Makes the next step with workers that are interrupted, as far as they come. Not a step that
    /// needs a stop.
    pub(super) fn interrupted(&self) {
        let (collector, shared, interrupt) = (self.collector(), self.shared(), Interrupt::default());
        interrupt.set(true);
        let cycle = &mut *collector.lock_unhalted();
        let workers = Workers::new(&collector.workers, 1);
        let work = Work { shared, workers, interrupt: &interrupt, world: None };
        cycle.advance(&collector.engine, Place::Work(work));
        if cycle.is_idle() {
            collector.cycle_ended(cycle, shared);
        }
    }

    /// Makes the next step, or begins a cycle. On a thread that is not attached, or in `blocking`.
    pub(super) fn next(&self) {
        let stage = self.stage();
        if stage.is_pause() { self.collector().pause(stage, self.shared()) } else { self.advance() }
    }

    /// Makes steps until `step` is the next one. A cycle that moves nothing passes over some.
    pub(super) fn advance_to(&self, step: Stage) {
        for _ in 0..100 {
            let now = self.stage();
            if now == step || (now == Stage::Free && place(step) > place(Stage::BeginMove)) {
                return;
            }
            self.next();
        }
        panic!("{step:?} is never reached");
    }

    /// Cycles that were begun.
    pub(super) fn cycles(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// Makes a whole cycle.
    pub(super) fn cycle(&self) {
        self.next();
        self.end_cycle();
    }

    /// Ends the cycle beside mutators.
    pub(super) fn end_cycle(&self) {
        while self.stage() != Stage::Idle {
            self.next();
        }
    }

    /// Runs `body` while another thread makes cycles, one after the other; returns how many ended.
    pub(super) fn beside_cycles(&self, body: impl FnOnce()) -> u64 {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let driver = scope.spawn(|| {
                let cycles = || self.shared().threads.full_collections.load(Ordering::Relaxed);
                let before = cycles();
                while !done.load(Ordering::Relaxed) || cycles() == before {
                    self.next();
                }
                self.end_cycle();
                cycles() - before
            });
            let ends = Ends(&done);
            body();
            drop(ends);
            driver.join().expect("cycles")
        })
    }

    /// The rules about borders hold for all regions: no top is below a border, while one counts.
    pub(super) fn check_borders(&self) {
        let (step, table) = (self.stage(), self.shared().space.free.table());
        for index in self.shared().space.free.in_use() {
            let (top, start) = (table.get(index).top(), table.mark_start(index));
            if (place(Stage::Mark)..=place(Stage::BeginMove)).contains(&place(step)) {
                assert!(top >= start, "{step:?}: region {index} ends at {top:#x}, below {start:#x}");
            }
            let watermark = table.watermark(index);
            if (place(Stage::Evacuate)..=place(Stage::EndMove)).contains(&place(step)) {
                assert!(top >= watermark, "{step:?}: region {index} ends at {top:#x}, below {watermark:#x}");
            }
        }
    }

    /// A node without contents. `None`: there is no memory.
    pub(super) fn node(&self, mutator: &mut Mutator<'_>) -> Option<u64> {
        // SAFETY: the shape is this heap's.
        let node = unsafe { mutator.raw_mut().alloc_raw(self.node, 0) }.ok()?;
        Some(node.addr().get() as u64)
    }

    /// A node in reserved memory, after `between`. `None`: the reservation has lapsed.
    pub(super) fn reserved_node(&self, mutator: &mut Mutator<'_>, between: impl FnOnce()) -> Option<u64> {
        let mut room = mutator.make_room(2 * NODE_BYTES).ok()?;
        mutator.blocking(between);
        // SAFETY: the shape is this heap's.
        let node =
            unsafe { mutator.raw().alloc_in_array_raw(&mut room, ArraySite::<PerObject>::new(self.node), 0) };
        node.map(|node| node.addr().get() as u64)
    }

    /// Allocates garbage of about this number of bytes.
    pub(super) fn waste(&self, mutator: &mut Mutator<'_>, bytes: usize) {
        // SAFETY: as above.
        let _ = unsafe { mutator.raw_mut().alloc_raw(self.vector, bytes) };
    }
}

/// The word at an address that is not a slot.
pub(super) fn word<'a>(address: u64) -> &'a AtomicU64 {
    // SAFETY: callers ask for words of live objects.
    unsafe { AtomicU64::from_ptr(address as *mut u64) }
}

/// The slot at an offset of an object.
pub(super) fn slot(object: u64, offset: usize) -> *mut u64 {
    (object as usize + offset) as *mut u64
}

/// Numbers that look random (Marsaglia 2003).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % end.max(1)
    }
}

/// Objects of these shapes and lengths in one reservation, with a handle each.
fn in_one_room<const N: usize>(
    mutator: &mut Mutator<'_>,
    objects: [(ShapeRef, usize); N],
) -> [RootHandle; N] {
    let sizes = objects.map(|(shape, length)| shape.bytes_for(length).expect("a size"));
    let mut room = mutator.make_room(sizes.iter().sum()).expect("room for the objects");
    // SAFETY: the shapes are this heap's; the objects are alive.
    objects.map(|(shape, length)| unsafe {
        let object = mutator.raw().alloc_in_array_raw(&mut room, ArraySite::<PerObject>::new(shape), length);
        mutator.raw().new_root(object.expect("it is reserved").addr().get() as u64)
    })
}

/// Lists that begin in a table, and the numbers that must be in them, first to last.
pub(super) struct Lists {
    pub(super) table: RootHandle,
    pub(super) numbers: Vec<Vec<u64>>,
    next: u64,
}

impl Lists {
    /// This many empty lists, whose numbers begin with `first`.
    pub(super) fn new(kit: &Kit, mutator: &mut Mutator<'_>, count: usize, first: u64) -> Lists {
        // SAFETY: the shape is this heap's; the object is alive.
        let table = unsafe {
            let table = mutator.raw_mut().alloc_raw(kit.table, count).expect("room for a table");
            mutator.raw().new_root(table.addr().get() as u64)
        };
        Lists { table, numbers: vec![Vec::new(); count], next: first }
    }

    /// Empty lists whose table is in one reservation, after another object.
    pub(super) fn behind_a_node(kit: &Kit, mutator: &mut Mutator<'_>, count: usize) -> Lists {
        let [_, table] = in_one_room(mutator, [(kit.node, 0), (kit.table, count)]);
        Lists { table, numbers: vec![Vec::new(); count], next: 1 }
    }

    /// Empty lists whose table is in one reservation, before a node, which the other handle holds.
    pub(super) fn before_a_node(kit: &Kit, mutator: &mut Mutator<'_>, count: usize) -> (Lists, RootHandle) {
        let [table, node] = in_one_room(mutator, [(kit.table, count), (kit.node, 0)]);
        (Lists { table, numbers: vec![Vec::new(); count], next: 1 }, node)
    }

    fn slot(&self, mutator: &Mutator<'_>, list: usize) -> *mut u64 {
        slot(self.table.get(mutator).expect("this heap's"), FIRST + list * WORD)
    }

    /// The first node of a list, or 0. Valid until the next safepoint.
    pub(super) fn first(&self, mutator: &Mutator<'_>, list: usize) -> u64 {
        // SAFETY: a slot of the table.
        unsafe { mutator.raw().load(self.slot(mutator, list)) }
    }

    /// Adds a node at the beginning of a list; `false`: there is no memory.
    pub(super) fn push(&mut self, kit: &Kit, mutator: &mut Mutator<'_>, list: usize) -> bool {
        let Some(node) = kit.node(mutator) else { return false };
        self.link(mutator, list, node);
        true
    }

    /// Adds nodes, half of them dead at once: a cycle has something to move.
    pub(super) fn add_half_dead(&mut self, kit: &Kit, mutator: &mut Mutator<'_>, nodes: usize) {
        (0..nodes).for_each(|number| assert!(self.push(kit, mutator, number % 2)));
        self.clear(mutator, 1);
    }

    /// Makes a node without contents the first of a list.
    pub(super) fn link(&mut self, mutator: &Mutator<'_>, list: usize, node: u64) {
        let rest = self.first(mutator, list);
        word(node + NUMBER as u64).store(self.next, Ordering::Relaxed);
        word(node + (NUMBER + WORD) as u64).store(!self.next, Ordering::Relaxed);
        // SAFETY: slots of live objects.
        unsafe {
            mutator.raw().store(slot(node, NEXT), rest);
            mutator.raw().store(slot(node, TWIN), rest);
            mutator.raw().store(self.slot(mutator, list), node);
        }
        self.numbers[list].insert(0, self.next);
        self.next += 1;
    }

    /// Makes a node with its contents the first of a list. The caller adds its number.
    pub(super) fn adopt(&self, mutator: &Mutator<'_>, list: usize, node: u64) {
        // SAFETY: a slot of a live object.
        unsafe { mutator.raw().store(self.slot(mutator, list), node) };
    }

    /// Makes a node without contents the first of an empty list, before a list that no slot holds.
    pub(super) fn link_before(
        &mut self,
        mutator: &Mutator<'_>,
        list: usize,
        node: u64,
        rest: (u64, Vec<u64>),
    ) {
        assert!(self.numbers[list].is_empty());
        self.link(mutator, list, node);
        // SAFETY: slots of live objects.
        unsafe {
            mutator.raw().store(slot(node, NEXT), rest.0);
            mutator.raw().store(slot(node, TWIN), rest.0);
        }
        self.numbers[list].extend(rest.1);
    }

    /// Removes the first node of a list.
    pub(super) fn pop(&mut self, mutator: &Mutator<'_>, list: usize) {
        let first = self.first(mutator, list);
        if first != 0 {
            // SAFETY: slots of live objects.
            unsafe { mutator.raw().store(self.slot(mutator, list), mutator.raw().load(slot(first, NEXT))) };
            self.numbers[list].remove(0);
        }
    }

    /// Empties a list.
    pub(super) fn clear(&mut self, mutator: &Mutator<'_>, list: usize) {
        // SAFETY: a slot of a live object.
        unsafe { mutator.raw().store(self.slot(mutator, list), 0) };
        self.numbers[list].clear();
    }

    /// Two lists change places: what one of them held has no other holder for a moment.
    pub(super) fn swap(&mut self, mutator: &Mutator<'_>, one: usize, other: usize) {
        let (first, second) = (self.first(mutator, one), self.first(mutator, other));
        // SAFETY: slots of live objects.
        unsafe {
            mutator.raw().store(self.slot(mutator, one), second);
            mutator.raw().store(self.slot(mutator, other), first);
        }
        self.numbers.swap(one, other);
    }

    /// The list that begins with this node has these numbers.
    pub(super) fn check_nodes(mutator: &Mutator<'_>, first: u64, numbers: &[u64]) {
        let mut at = first;
        for (place, number) in numbers.iter().enumerate() {
            assert!(reference(at).is_some(), "node {place} of {} is {at:#x}", numbers.len());
            let found = word(at + NUMBER as u64).load(Ordering::Relaxed);
            let other = word(at + (NUMBER + WORD) as u64).load(Ordering::Relaxed);
            assert_eq!((found, !other), (*number, *number), "node {place} at {at:#x}");
            // SAFETY: slots of a live object.
            let (next, twin) =
                unsafe { (mutator.raw().load(slot(at, NEXT)), mutator.raw().load_weak(slot(at, TWIN))) };
            assert_eq!(next, twin, "a weak slot beside a strong one, in {number} at {at:#x}");
            at = next;
        }
        assert_eq!(at, 0, "after {} nodes", numbers.len());
    }

    /// Every list has its numbers.
    pub(super) fn check(&self, mutator: &Mutator<'_>) {
        for (list, numbers) in self.numbers.iter().enumerate() {
            Lists::check_nodes(mutator, self.first(mutator, list), numbers);
        }
    }

    /// Does something; forgets lists where there is no memory.
    pub(super) fn change(&mut self, kit: &Kit, mutator: &mut Mutator<'_>, random: &mut Random) {
        let (list, other) = (random.below(self.numbers.len()), random.below(self.numbers.len()));
        match random.below(16) {
            0..8 if self.numbers[list].len() < 24 => {
                if !self.push(kit, mutator, list) {
                    self.clear(mutator, other);
                }
            }
            8..10 => self.pop(mutator, list),
            10..12 => self.swap(mutator, list, other),
            12 => self.clear(mutator, list),
            13 => kit.waste(mutator, random.below(300)),
            _ => Lists::check_nodes(mutator, self.first(mutator, list), &self.numbers[list]),
        }
    }
}
