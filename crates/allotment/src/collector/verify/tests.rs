//! Every kind of damage is found and located.

mod scope;

use super::*;
use crate::Heap;
use crate::mutator::{Mutator, RootProvider, RootVisitor};
use crate::object::{Element, POISON, ShapeRef};
use crate::observe::VerifyError;
use std::ptr::NonNull;

const REGION: usize = 4096;

struct World {
    heap: Heap,
    pair: ShapeRef,
    /// Two words before strong references.
    vector: ShapeRef,
    ephemeron: ShapeRef,
    traced: ShapeRef,
    bytes: ShapeRef,
}

/// Visits the second word.
unsafe fn trace_second(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
    // SAFETY: objects of the shape have three words.
    slots.strong(unsafe { object.as_ptr().add(16) }.cast());
}

fn world(options: &str) -> World {
    world_of(16, options)
}

fn world_of(regions: usize, options: &str) -> World {
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    let heap = builder.options(options).expect(options).build().expect(options);
    let register = |shape| heap.register(shape).expect("a shape");
    let (strong, weak) = (SlotKind::Strong, SlotKind::Weak);
    World {
        pair: register(Shape::fixed("Pair", 24).slot("car", 8, strong).slot("cdr", 16, strong)),
        vector: register(Shape::array("Vector", 24, Element::Reference(strong)).slot("type", 16, weak)),
        ephemeron: register(Shape::fixed("Ephemeron", 24).slot("key", 8, weak).slot("value", 16, strong)),
        traced: register(Shape::fixed("Traced", 24).traced_by(trace_second)),
        bytes: register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })),
        heap,
    }
}

impl World {
    fn make(&self, mutator: &mut Mutator<'_>, shape: ShapeRef, length: usize) -> usize {
        // SAFETY: the shape is the heap's, which no thread resets while the object is used.
        unsafe { mutator.raw_mut().alloc_raw(shape, length) }.expect("room").addr().get()
    }

    /// Makes objects of these shapes and lengths.
    fn objects<const N: usize>(&self, what: [(ShapeRef, usize); N]) -> [usize; N] {
        self.heap.attach(|mutator| what.map(|(shape, length)| self.make(mutator, shape, length))).unwrap()
    }

    fn fault(&self) -> Option<Fault> {
        match self.heap.verify() {
            Ok(_) => None,
            Err(VerifyError::Broken(fault)) => Some(fault),
            Err(other) => panic!("{other}"),
        }
    }

    fn bad_reference(&self) -> BadReference {
        match self.fault() {
            Some(Fault::Reference(bad)) => *bad,
            other => panic!("{other:?}"),
        }
    }

    /// Breaks the heap by `word` at `address`, calls `look`, and repairs the heap.
    fn with(&self, address: usize, word: u64, look: impl FnOnce(&World)) {
        let before = poke(address, word);
        look(self);
        poke(address, before);
        assert_eq!(self.fault(), None);
    }
}

/// Writes a word that no program should write, and returns the word that was there.
fn poke(address: usize, word: u64) -> u64 {
    // SAFETY: a committed word of a heap of which no thread runs.
    unsafe { (address as *mut u64).replace(word) }
}

#[test]
fn good_references_of_every_kind_pass_and_are_counted() {
    let world = world("");
    let [pair, vector, ephemeron, traced, run] = world.objects([
        (world.pair, 0),
        (world.vector, 3),
        (world.ephemeron, 0),
        (world.traced, 0),
        (world.vector, 1000),
    ]);
    for (slot, word) in [
        (pair + 8, pair as u64),
        (pair + 16, vector as u64 | 0xABCD << 48 | 0b110),
        (vector + 16, ephemeron as u64),
        (vector + 24, run as u64),
        (vector + 32, 12345),
        (ephemeron + 8, pair as u64),
        (ephemeron + 16, 6),
        (traced + 8, 0x1000),
        (traced + 16, traced as u64),
        (run + 24 + 999 * 8, pair as u64),
    ] {
        poke(slot, word);
    }
    let census = world.heap.verify().unwrap();
    assert_eq!((census.all_objects(), census.objects(world.vector.id())), (5, 2));
    assert_eq!(census.regions[3], 2);
}

#[test]
fn a_bad_reference_is_named_with_its_holder_and_what_is_wrong() {
    let world = world("");
    let [pair, other, vector, ephemeron, traced, run] = world.objects([
        (world.pair, 0),
        (world.pair, 0),
        (world.vector, 3),
        (world.ephemeron, 0),
        (world.traced, 0),
        (world.bytes, 6000),
    ]);
    let (base, table) = (world.heap.base(), world.heap.shared.space.free.table());
    let end = base + 16 * REGION;
    let region = table.index_of(pair);
    let top = table.get(region).top();
    let unused = (0..16).find(|&index| table.get(index).state() == State::Uncommitted).unwrap();
    let in_run = table.index_of(run + REGION);
    for (target, problem) in [
        (8, Problem::OutsideHeap),
        (base - 8, Problem::OutsideHeap),
        (end, Problem::OutsideHeap),
        (0x7FFF_FFFF_FFF8, Problem::OutsideHeap),
        (other + 8, Problem::NoObject { region, below: Some(other) }),
        (top, Problem::BeyondTop { region, top }),
        (table.bottom(unused), Problem::UnusedRegion { region: unused, state: State::Uncommitted }),
        (run + REGION, Problem::NoObject { region: in_run, below: Some(run) }),
        (run + 6016, Problem::BeyondTop { region: in_run, top: run + 6016 }),
    ] {
        let bits = target as u64 | 0xF00D << 48;
        world.with(pair + 16, bits, |world| {
            let slot = SlotPlace::Named("cdr".into());
            let holder = Holder::Object { address: pair, shape: "Pair".into(), slot, kind: SlotKind::Strong };
            assert_eq!(world.bad_reference(), BadReference { holder, bits, target, problem });
        });
    }
    let inside = (other + 8) as u64;
    for (slot, holder) in [
        (vector + 24 + 16, format!("`Vector` at {vector:#x}: element 2 holds")),
        (vector + 16, format!("`Vector` at {vector:#x}: weak slot `type` holds")),
        (ephemeron + 8, format!("`Ephemeron` at {ephemeron:#x}: weak slot `key` holds")),
        (traced + 16, format!("`Traced` at {traced:#x}: traced slot at {:#x} holds", traced + 16)),
    ] {
        world.with(slot, inside, |world| {
            let text = world.fault().unwrap().to_string();
            assert!(text.starts_with(&holder), "{text}");
            assert!(
                text.contains(&format!(
                    "but no object begins there: the nearest one below it is at {other:#x}"
                ))
            );
        });
    }
    world.with(traced + 8, inside, |world| assert_eq!(world.fault(), None, "it is not a slot"));
}

#[test]
fn a_reference_to_a_filler_is_one_to_no_object() {
    let world = world("");
    let pair = world.heap.attach(|mutator| {
        let pair = world.make(mutator, world.pair, 0);
        let room = mutator.make_room(64).unwrap();
        drop(room);
        world.make(mutator, world.pair, 0);
        pair
    });
    let pair = pair.unwrap();
    assert_eq!(world.heap.verify().unwrap().fillers, (1, 64));
    world.with(pair + 8, (pair + 24) as u64, |world| {
        assert!(
            matches!(world.bad_reference().problem, Problem::NoObject { below: Some(at), .. } if at == pair)
        );
    });
}

#[test]
fn roots_and_pins_are_checked_too() {
    struct Own([u64; 2], u64);
    // SAFETY: the slots live as long as the provider.
    unsafe impl RootProvider for Own {
        fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
            roots.slot((&raw const self.0[0]).cast_mut());
            roots.weak_slot((&raw const self.0[1]).cast_mut());
            roots.pinned(self.1);
        }
    }
    let world = world("");
    let [pair, other] = world.objects([(world.pair, 0), (world.pair, 0)]);
    let wrong = (other + 16) as u64;
    let text = |provider: Own| {
        let id = world.heap.add_root_provider(Box::new(provider));
        let text = world.fault().map(|fault| fault.to_string());
        world.heap.remove_root_provider(id).unwrap();
        text
    };
    let good = pair as u64;
    assert_eq!(text(Own([good, good], good)), None);
    assert!(text(Own([wrong, 0], 0)).unwrap().starts_with("root at "));
    assert!(text(Own([1, wrong], 0)).unwrap().starts_with("weak root at "));
    assert!(text(Own([0, 0], wrong)).unwrap().starts_with("a pin holds"));

    for pin in [good, wrong, wrong + 4] {
        let handle = world.heap.attach(|mutator| {
            let object = NonNull::new(pin as *mut u8).unwrap();
            // SAFETY: nothing collects; the test is about an address without an object.
            unsafe { (mutator.raw().new_weak_root(good), mutator.raw().pin(object)) }
        });
        let problem = (pin != good).then(|| world.bad_reference());
        assert_eq!(
            problem.as_ref().map(|bad| (bad.target, &bad.holder)),
            problem.as_ref().map(|_| (pin as usize, &Holder::Pin))
        );
        assert_eq!(
            matches!(problem, Some(BadReference { problem: Problem::Misaligned, .. })),
            pin == wrong + 4
        );
        drop(handle);
        assert_eq!(world.fault(), None);
    }
}

#[test]
fn levels_include_what_they_say() {
    for (level, strong, weak, memory) in
        [(1, false, false, false), (2, true, false, false), (3, true, true, true)]
    {
        let world = world(&format!("VerifyGCLevel={level}"));
        let [ephemeron] = world.objects([(world.ephemeron, 0)]);
        let beyond = ephemeron + REGION / 2;
        for (slot, found) in [(ephemeron + 16, strong), (ephemeron + 8, weak), (beyond, memory)] {
            world.with(slot, (ephemeron + 8) as u64, |world| {
                assert_eq!(world.fault().is_some(), found, "{level}")
            });
        }
        world.with(ephemeron, 3, |world| assert!(matches!(world.fault(), Some(Fault::Walk { .. }))));
    }
}

#[test]
fn a_write_to_memory_never_used_is_found() {
    let world = world("");
    let [pair] = world.objects([(world.pair, 0)]);
    let last = world.heap.base() + REGION - 8;
    assert!(pair < last);
    world.with(last, 1, |world| {
        let Some(Fault::Freed { address, region: 0, found: 1, expected: "0", .. }) = world.fault() else {
            panic!("{:?}", world.fault())
        };
        assert_eq!(address, last);
    });
}

#[test]
fn a_write_to_freed_memory_is_found() {
    let world = world("+ZealPoison");
    let [pair, _, run] = world.objects([(world.pair, 0), (world.pair, 0), (world.bytes, 6000)]);
    world.heap.reset().unwrap();
    assert_eq!(world.fault(), None);
    for (address, word) in [(pair, 0), (pair + 8, pair as u64), (pair + 16, POISON + 1), (run + 5000, 0)] {
        world.with(address, word, |world| {
            let fault = world.fault();
            assert!(matches!(fault, Some(Fault::Freed { address: at, found, .. }) if (at, found) == (address, word)));
        });
    }
    // A word in memory that is used again counts as no damage.
    assert_eq!(world.objects([(world.pair, 0)]), [pair]);
    world.with(pair + 24, 0, |world| assert_eq!(world.fault(), None));
    poke(pair + 24, POISON);
    world.with(pair + 32, 2, |world| assert!(matches!(world.fault(), Some(Fault::Freed { .. }))));
}
