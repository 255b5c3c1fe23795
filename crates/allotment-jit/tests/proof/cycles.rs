//! Barriers on the processor while a concurrent collector works: its cycles mark and move objects
//! while a thread accesses all its slots through emitted code.
//!
//! Before each access all general and vector registers hold patterns, and afterwards all registers
//! except the result's and the scratch register must still hold them. Each word that is read is
//! compared with a model, and with the library's own barriers.

use super::kit::{Assignment, Conventions, cases, heap, host_assignment, seed, word};
use super::machine::{RegisterFile, framed, targets};
use allotment::Mutator;
use allotment::raw::{Element, Hot, PrefetchSettings, RootHandle, Shape, ShapeRef, SlotKind, reference};
use allotment_jit::{Code, CodeBuffer, CompareExchange, Emitter, FunctionId, Load, Machine, Register, Store};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::ptr;
use std::time::{Duration, Instant};

/// Slots of each table.
const SLOTS: usize = 400;
/// The number of assignments of registers. Each has a function for each access.
const ASSIGNMENTS: usize = 16;

/// An access, in registers of its own.
#[derive(Clone, Copy)]
enum Access {
    Load,
    LoadWeak,
    Store,
    CompareExchange,
}

/// The registers of an access; each has one part.
struct Parts {
    mutator: Register,
    base: Register,
    value: Register,
    expected: Register,
    scratch: Register,
    /// Of an exchange: what the slot held.
    held: Register,
}

impl Parts {
    fn of(assignment: &Assignment) -> Parts {
        // On x86-64 `rax` has its own role in an exchange.
        let rax = (Machine::HOST == Machine::X86_64).then_some(Register::RAX);
        let all: Vec<Register> = assignment.all().into_iter().filter(|one| Some(*one) != rax).collect();
        let [mutator, base, value, expected, scratch, other, ..] = all[..] else { panic!("14 registers") };
        Parts { mutator, base, value, expected, scratch, held: rax.unwrap_or(other) }
    }

    /// The registers that the access may change.
    fn changed(&self, access: Access) -> Vec<Register> {
        match access {
            Access::Load | Access::LoadWeak => vec![self.value],
            Access::Store => vec![self.scratch],
            Access::CompareExchange => vec![self.scratch, self.held],
        }
    }
}

/// Emitted accesses in registers of one assignment.
struct Accesses {
    parts: Parts,
    code: Code,
    functions: [FunctionId; 4],
}

/// Bytes from the base to the slot.
const DISPLACEMENT: i32 = 16;

impl Accesses {
    fn new(assignment: &Assignment) -> Accesses {
        let emitter = Emitter::new(Machine::HOST.processor(), PrefetchSettings::OFF).unwrap();
        let parts = Parts::of(assignment);
        let (displacement, misaligned) = (DISPLACEMENT, assignment.misaligned);
        let &Parts { mutator, base, value, expected, scratch, .. } = &parts;
        let load = Load { mutator, base, displacement, value, hook: None };
        let store = Store { mutator, base, displacement, value, scratch };
        let (new, held) = (value, parts.held);
        let exchange = CompareExchange { mutator, base, displacement, expected, new, held, scratch };
        let sequences = [
            emitter.load(&load).unwrap(),
            emitter.load_weak(&load).unwrap(),
            emitter.store(&store).unwrap(),
            emitter.compare_exchange(&exchange).unwrap(),
        ];
        let mut buffer = CodeBuffer::default();
        let functions = sequences.each_ref().map(|one| buffer.add("access", framed(&[one], misaligned)));
        let code = buffer.finish(targets(0)).unwrap();
        Accesses { parts, code, functions }
    }

    /// Makes the access to a slot, and checks that it kept all registers. Returns the result, which
    /// is undefined for a store.
    ///
    /// # Safety
    /// - The slot is one of a live object, weak for a load of a weak one. The words are references
    ///   of this span, or 0.
    unsafe fn run(&self, access: Access, mutator: &Mutator<'_>, slot: *mut u64, words: (u64, u64)) -> u64 {
        let Parts { mutator: mutator_in, base, value, expected, .. } = self.parts;
        let mut machine = RegisterFile::patterned(slot as u64 ^ words.1);
        machine.set(mutator_in, mutator.raw().hot().addr() as u64);
        machine.set(base, (slot as u64).wrapping_sub(DISPLACEMENT as u64));
        if matches!(access, Access::Store | Access::CompareExchange) {
            machine.set(expected, words.0);
            machine.set(value, words.1);
        }
        let before = machine.clone();
        // SAFETY: the caller's predicate.
        unsafe { machine.run(&self.code, self.functions[access as usize]) };
        let changed = self.parts.changed(access);
        let all = Machine::HOST.general().into_iter().chain(Machine::HOST.vectors());
        for register in all.filter(|one| !changed.contains(one)) {
            assert_eq!(before.get(register), machine.get(register), "{register:?}");
        }
        machine.get(match access {
            Access::CompareExchange => self.parts.held,
            _ => value,
        })
    }
}

/// The accesses that a run has seen.
#[derive(Debug, Default)]
struct Seen {
    /// Accesses while the bit was set.
    marking: usize,
    weak: usize,
    forwarding: usize,
    /// Loads whose result was another word than the slot's.
    moved: usize,
    /// Weak slots whose referent had died.
    cleared: usize,
}

impl Seen {
    fn is_enough(&self) -> bool {
        let &Seen { marking, weak, forwarding, moved, cleared } = self;
        marking.min(weak).min(forwarding) > 300 && moved.min(cleared) > 100
    }
}

/// A table of strong slots, a table of weak ones, and the numbers in the nodes that the strong
/// slots refer to: 0 for none.
struct Work {
    node: ShapeRef,
    strong: RootHandle,
    weak: RootHandle,
    numbers: Vec<u64>,
    /// The numbers in the nodes that were stored to the weak slots; 0 after a load that gave null.
    referents: Vec<u64>,
    accesses: Vec<Accesses>,
    random: u64,
    seen: Seen,
}

/// The first word after a node's header.
///
/// # Safety
/// - A live node is there, in this span.
unsafe fn number(node: u64) -> u64 {
    // SAFETY: the caller's predicate.
    unsafe { ptr::with_exposed_provenance::<u64>(node as usize).add(1).read() }
}

fn slot(table: &RootHandle, mutator: &Mutator<'_>, index: usize) -> *mut u64 {
    let table = reference(table.get(mutator).unwrap()).unwrap();
    // After header and length.
    ptr::with_exposed_provenance_mut::<u64>(table).wrapping_add(2 + index)
}

impl Work {
    fn next(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as usize % below
    }

    fn step(&mut self, mutator: &mut Mutator<'_>, stamp: u64) {
        let (index, accesses) = (self.next(SLOTS), self.next(self.accesses.len()));
        let stamped = stamp * SLOTS as u64 + index as u64;
        // SAFETY: a safepoint, over which no reference is held but in roots; a new node of two
        // words and more.
        let new = unsafe {
            let new = mutator.raw_mut().alloc_raw(self.node, 0).unwrap().cast::<u64>();
            new.add(1).write(stamped);
            new.expose_provenance().get() as u64
        };
        let accesses = &self.accesses[accesses];
        let bits = word(mutator.raw().hot(), Hot::BARRIERS_OFFSET) as u32;
        self.seen.marking += usize::from(bits & Hot::MARKING != 0);
        self.seen.weak += usize::from(bits & Hot::WEAK != 0);
        self.seen.forwarding += usize::from(bits & Hot::FORWARDING != 0);
        let (strong, weak) = (slot(&self.strong, mutator, index), slot(&self.weak, mutator, index));
        // SAFETY: slots of the tables, which are live, and references that this span loaded.
        unsafe {
            let raw = strong.read();
            let loaded = accesses.run(Access::Load, mutator, strong, (0, stamp));
            assert_eq!(loaded, mutator.raw().load(strong));
            assert_eq!(loaded != 0, self.numbers[index] != 0);
            if loaded != 0 {
                assert_eq!(number(loaded), self.numbers[index]);
                self.seen.moved += usize::from(raw != loaded);
            }
            let referent = accesses.run(Access::LoadWeak, mutator, weak, (0, stamp));
            assert_eq!(referent, mutator.raw().load_weak(weak));
            let given = self.referents[index];
            if referent != 0 {
                assert_eq!(number(referent), given);
            } else if given != 0 {
                assert_ne!(given, self.numbers[index], "the strong slot holds it");
                self.seen.cleared += 1;
                self.referents[index] = 0;
            }
            match stamp % 3 {
                0 => {
                    accesses.run(Access::Store, mutator, strong, (0, new));
                    accesses.run(Access::Store, mutator, weak, (0, new));
                    assert_eq!(mutator.raw().load_weak(weak), new);
                    self.referents[index] = stamped;
                }
                // From here on only the weak slot refers to the referent.
                1 => {
                    let held = accesses.run(Access::CompareExchange, mutator, strong, (loaded, new));
                    assert_eq!(held, loaded, "it succeeds");
                }
                _ => {
                    let held = accesses.run(Access::CompareExchange, mutator, strong, (new, new));
                    assert_eq!(held, loaded, "it fails");
                    assert_eq!(mutator.raw().load(strong), loaded);
                    return;
                }
            }
            assert_eq!(mutator.raw().load(strong), new);
            self.numbers[index] = stamped;
        }
    }
}

fn assignments() -> Vec<Accesses> {
    let mut runner = TestRunner::deterministic();
    let mut next = || host_assignment().new_tree(&mut runner).unwrap().current();
    (0..ASSIGNMENTS).map(|_| Accesses::new(&next())).collect()
}

#[test]
fn registers_and_references_survive_cycles_that_run_beside_the_code() {
    let heap = heap("Collector=shenandoah,ZealInterval=40,+ZealMove,+VerifyAfterGC");
    let node = heap.register(Shape::fixed("Node", 32)).unwrap();
    let table = |name, kind| heap.register(Shape::array(name, 16, Element::Reference(kind))).unwrap();
    let (strong, weak) = (table("Strong", SlotKind::Strong), table("Weak", SlotKind::Weak));
    heap.attach(|mutator| {
        let root = |mutator: &mut Mutator<'_>, shape| {
            // SAFETY: the shape is the heap's; a root keeps the table at once.
            unsafe {
                let table = mutator.raw_mut().alloc_raw(shape, SLOTS).unwrap();
                mutator.raw().new_root(table.expose_provenance().get() as u64)
            }
        };
        let (strong, weak) = (root(mutator, strong), root(mutator, weak));
        let (numbers, accesses) = (vec![0; SLOTS], assignments());
        let (referents, seen) = (vec![0; SLOTS], Seen::default());
        let mut work = Work { node, strong, weak, numbers, referents, accesses, random: seed(1), seen };
        let (begun, mut stamp) = (Instant::now(), 1);
        while !work.seen.is_enough() {
            work.step(mutator, stamp);
            stamp += 1;
            assert!(begun.elapsed() < Duration::from_secs(400), "{stamp} steps: {:?}", work.seen);
        }
        println!("{stamp} steps in {:?}: {:?}", begun.elapsed(), work.seen);
    })
    .unwrap();
    heap.verify().unwrap();
}

proptest! {
    #![proptest_config(cases(40))]

    /// The bits are set by hand, and no cycle is under way: nothing moves, dies or is recorded.
    #[test]
    fn any_registers_do_with_any_bits(assignment in host_assignment(), index in 0..SLOTS, bits in 0..8_u32) {
        let heap = heap("Collector=shenandoah");
        let shape = heap.register(Shape::array("Strong", 16, Element::Reference(SlotKind::Strong))).unwrap();
        heap.attach(|mutator| {
            let accesses = Accesses::new(&assignment);
            // SAFETY: the shape is the heap's, and no safepoint comes before the end. The slots are
            // the table's, and all words refer to it or to nothing.
            unsafe {
                let table = mutator.raw_mut().alloc_raw(shape, SLOTS).unwrap().as_ptr().cast::<u64>();
                let (slot, word) = (table.add(2 + index), table.expose_provenance() as u64);
                let barriers = mutator.raw().hot().byte_add(Hot::BARRIERS_OFFSET).cast_mut().cast::<u32>();
                barriers.write_volatile(bits);
                assert_eq!(accesses.run(Access::Load, mutator, slot, (0, 1)), 0);
                accesses.run(Access::Store, mutator, slot, (0, word));
                assert_eq!(accesses.run(Access::Load, mutator, slot, (0, 2)), word);
                assert_eq!(accesses.run(Access::CompareExchange, mutator, slot, (0, word)), word);
                assert_eq!(accesses.run(Access::CompareExchange, mutator, slot, (word, 0)), word);
                assert_eq!(accesses.run(Access::CompareExchange, mutator, slot, (word, 0)), 0);
                barriers.write_volatile(0);
            }
        })
        .unwrap();
        heap.verify().unwrap();
    }
}
