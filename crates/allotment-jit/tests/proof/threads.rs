//! Many threads on one heap run the same code, while a collector moves their objects and checks the
//! heap each time.
//!
//! Each thread has a table, which is soon old, of chains of nodes. Emitted code with its barrier
//! adds a new node at the front of a chain. A list outside of the heap records the contents of each
//! chain, and shows whether anything was lost, mixed up or overwritten.

use super::kit::{Assignment, Conventions, heap, seed};
use super::machine::{RegisterFile, framed, targets};
use allotment::Mutator;
use allotment::raw::{
    Element, Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, RootProvider, RootVisitor,
    Shape, ShapeRef, SlotKind,
};
use allotment_jit::{Allocation, Code, CodeBuffer, Emitter, FunctionId, Initialise, Machine, Store};
use std::mem::transmute;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 4;
/// Chains of a table, and the most nodes of one.
const CHAINS: usize = 200;
const NODES: usize = 6;
const ALLOCATIONS: usize = 30_000;

/// One word for each thread: its table.
struct Tables(Arc<Vec<AtomicU64>>);

// SAFETY: visits its slots and does nothing else.
unsafe impl RootProvider for Tables {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        self.0.iter().for_each(|slot| roots.slot(slot.as_ptr()));
    }
}

struct Functions {
    code: Code,
    /// A node each, in every style and policy.
    nodes: Vec<FunctionId>,
    /// Bytes of a length, with the policy's answer to whether they are zero.
    bytes: Vec<(FunctionId, bool)>,
    store: FunctionId,
    assignment: Assignment,
}

impl Functions {
    fn new(node: ShapeRef, bytes: ShapeRef, past_buffers: bool) -> Functions {
        let (assignment, mut buffer) = (Assignment::plain(Machine::HOST), CodeBuffer::default());
        let (mut nodes, mut arrays) = (Vec::new(), Vec::new());
        for style in (0..4).filter_map(PrefetchStyle::from_number) {
            let settings =
                PrefetchSettings { style, instruction: PrefetchInstruction::T0, ..PrefetchSettings::OFF };
            let emitter = Emitter::new(Processor::detect(), settings).unwrap().past_buffers(past_buffers);
            for initialise in [Initialise::ByCaller, Initialise::PerObject, Initialise::Ahead] {
                let stub = emitter.stub(Allocation::object(node).unwrap(), initialise).unwrap();
                nodes.push(buffer.add("new_node", stub));
                let array = Allocation::array_in(bytes, Machine::HOST.second_argument()).unwrap();
                let zero = initialise != Initialise::ByCaller;
                arrays.push((buffer.add("new_bytes", emitter.stub(array, initialise).unwrap()), zero));
            }
        }
        let registers = assignment.registers();
        let (mutator, base) = (registers.mutator, registers.object);
        let (value, scratch) = (assignment.input(), registers.scratch);
        let store = Store { mutator, base, displacement: 0, value, scratch };
        let store =
            Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap().store(&store).unwrap();
        let store = buffer.add("store", framed(&[&store], assignment.misaligned));
        Functions { code: buffer.finish(targets(0)).unwrap(), nodes, bytes: arrays, store, assignment }
    }

    /// Calls a stub: the new object. A safepoint.
    ///
    /// # Safety
    /// - The mutator is the calling thread's, and every reference that is used again is in a root.
    unsafe fn call(&self, stub: FunctionId, mutator: &mut Mutator<'_>, length: usize) -> *mut u64 {
        // SAFETY: a stub's signature; a stub without a length ignores it.
        let stub: unsafe extern "C" fn(*const Hot, usize) -> *mut u64 =
            unsafe { transmute(self.code.entry(stub)) };
        // SAFETY: the caller's predicates.
        let object = unsafe { stub(mutator.raw().hot(), length) };
        assert!(!object.is_null(), "there is room for all that lives");
        object
    }

    /// Stores a reference.
    ///
    /// # Safety
    /// - The slot is in a live object of this heap, and the reference refers to a live object of
    ///   this heap.
    unsafe fn store(&self, mutator: &Mutator<'_>, slot: *mut u64, reference: u64) {
        let (mut machine, registers) = (RegisterFile::patterned(3), self.assignment.registers());
        machine.set(registers.mutator, mutator.raw().hot().addr() as u64);
        machine.set(registers.object, slot.expose_provenance() as u64);
        machine.set(self.assignment.input(), reference);
        // SAFETY: the caller's predicates.
        unsafe { machine.run(&self.code, self.store) };
    }
}

/// One thread's work.
struct Work<'w> {
    functions: &'w Functions,
    table: &'w AtomicU64,
    /// Of each chain, the values of its nodes, the first one last.
    chains: Vec<Vec<u64>>,
    random: u64,
}

impl Work<'_> {
    fn next(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.random >> 33) as usize % below
    }

    /// The slot of a chain, in the table at its current address.
    fn slot(&self, chain: usize) -> *mut u64 {
        let table = ptr::with_exposed_provenance_mut::<u64>(self.table.load(Ordering::Relaxed) as usize);
        // SAFETY: the table has that many slots, after header and length.
        unsafe { table.add(2 + chain) }
    }

    /// Whether the chain has the nodes that it should.
    fn check(&self, mutator: &Mutator<'_>, chain: usize) {
        // SAFETY: slots of live objects: the table's, and the first word of a node after its
        // header.
        let mut at = unsafe { mutator.raw().load(self.slot(chain)) };
        for value in self.chains[chain].iter().rev() {
            assert_ne!(at, 0, "a node is missing");
            let node = ptr::with_exposed_provenance::<u64>(at as usize);
            // SAFETY: a node has three words.
            unsafe {
                assert_eq!(node.add(2).read(), *value);
                at = mutator.raw().load(node.add(1));
            }
        }
        assert_eq!(at, 0, "the chain ends");
    }

    fn step(&mut self, mutator: &mut Mutator<'_>, stamp: u64) {
        let chain = self.next(CHAINS);
        self.check(mutator, chain);
        let stub = self.functions.nodes[self.next(self.functions.nodes.len())];
        let keeps = self.chains[chain].len() < NODES;
        // SAFETY: only the table is used again, and it is in a root. The node's words are all
        // written.
        unsafe {
            let node = self.functions.call(stub, mutator, 0);
            let next = if keeps { mutator.raw().load(self.slot(chain)) } else { 0 };
            node.add(1).write(next);
            node.add(2).write(stamp);
            self.functions.store(mutator, self.slot(chain), node.expose_provenance() as u64);
        }
        if !keeps {
            self.chains[chain].clear();
        }
        self.chains[chain].push(stamp);

        let (stub, zero) = self.functions.bytes[self.next(self.functions.bytes.len())];
        let length = if stamp.is_multiple_of(512) { self.next(100_000) } else { self.next(300) };
        // SAFETY: as above; the array is garbage at once.
        let array = unsafe {
            let array = self.functions.call(stub, mutator, length);
            assert_eq!(array.add(1).read(), length as u64);
            std::slice::from_raw_parts_mut(array.add(2).cast::<u8>(), length)
        };
        assert!(!zero || array.iter().all(|byte| *byte == 0));
        array.fill(0xC7);
    }
}

#[test]
fn threads_and_collections() {
    work_and_collect(HEAP, false, ALLOCATIONS);
}

/// Without buffers: all threads bump in shared regions, which collections take away and give to
/// others.
#[test]
fn threads_without_buffers_and_collections() {
    work_and_collect(&format!("{HEAP},-UseTLAB"), true, ALLOCATIONS);
}

/// Cycles run while the threads do; they see the store's barrier and the new nodes' plain stores.
#[test]
fn threads_and_cycles_beside_them() {
    let concurrent = "Collector=shenandoah,ZealInterval=300,ZealSeed=1,+ZealMove,+VerifyAfterGC,+ZealPoison";
    work_and_collect(concurrent, false, ALLOCATIONS / 4);
    work_and_collect(&format!("{concurrent},-UseTLAB"), true, ALLOCATIONS / 4);
}

const HEAP: &str =
    "Collector=parallel,+VerifyAfterGC,NewSize=512k,MaxNewSize=512k,ParallelGCThreads=2,+ZealPoison";

fn work_and_collect(options: &str, past_buffers: bool, allocations: usize) {
    let heap = heap(options);
    let node = heap.register(Shape::fixed("Node", 24).slot("next", 8, SlotKind::Strong)).unwrap();
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).unwrap();
    let table = heap.register(Shape::array("Table", 16, Element::Reference(SlotKind::Strong))).unwrap();
    let functions = Functions::new(node, bytes, past_buffers);
    let tables: Arc<Vec<AtomicU64>> = Arc::new((0..THREADS).map(|_| AtomicU64::new(0)).collect());
    let provider = heap.add_root_provider(Box::new(Tables(tables.clone())));
    std::thread::scope(|scope| {
        for (thread, slot) in tables.iter().enumerate() {
            let (functions, heap) = (&functions, &heap);
            scope.spawn(move || {
                heap.attach(|mutator| {
                    // SAFETY: the shape is the heap's, and a provider finds the slot.
                    let object = unsafe { mutator.raw_mut().alloc_raw(table, CHAINS).unwrap() };
                    slot.store(object.expose_provenance().get() as u64, Ordering::Relaxed);
                    let chains = vec![Vec::new(); CHAINS];
                    let mut work = Work { functions, table: slot, chains, random: seed(thread as u64) };
                    (0..allocations as u64).for_each(|stamp| work.step(mutator, stamp << 8 | thread as u64));
                    (0..CHAINS).for_each(|chain| work.check(mutator, chain));
                })
                .unwrap();
            });
        }
    });
    assert!(heap.collections().count > 10, "{:?}", heap.collections());
    heap.verify().unwrap();
    tables.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
    heap.remove_root_provider(provider);
}
