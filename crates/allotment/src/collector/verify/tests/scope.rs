//! If only live objects are checked, dead objects may hold any words, but live ones may not.

use super::*;
use crate::collector::kernel::Roots;
use crate::collector::verify::reach::Reached;
use crate::collector::verify::stopped::verify_world;
use crate::mutator::{Cause, HandleExtent, Outcome, Pin, RootHandle};
use std::sync::Arc;

/// An address at which no object begins: the object was freed, or moved.
const STALE: u64 = 0x7FFF_FFFF_FFF8;

impl World {
    fn fault_in(&self, objects: CheckedObjects) -> Option<Fault> {
        let shared = &self.heap.shared;
        let level = Level::from_number(self.heap.options().values().verify_gc_level);
        let mut roots = Roots {
            // SAFETY: no thread is attached, so none has a frame.
            slots: &mut |slots| unsafe { shared.threads.roots.visit(HandleExtent::All, slots, &[]) },
            // SAFETY: as above.
            pinned: &mut |pinned| unsafe { shared.threads.roots.visit_pinned(pinned, &[]) },
        };
        // SAFETY: as above; handles are readable.
        unsafe { verify(&shared.space, &mut roots, level, objects) }.err()
    }

    /// Whether the check of all objects finds a fault, and that of live objects.
    fn faults(&self) -> (bool, bool) {
        let found = |objects| self.fault_in(objects).is_some();
        (found(CheckedObjects::All), found(CheckedObjects::Live))
    }

    fn root(&self, object: usize) -> RootHandle {
        // SAFETY: an object of this heap.
        self.heap.attach(|mutator| unsafe { mutator.raw().new_root(object as u64) }).unwrap()
    }

    fn weak_root(&self, object: usize) -> RootHandle {
        // SAFETY: an object of this heap.
        self.heap.attach(|mutator| unsafe { mutator.raw().new_weak_root(object as u64) }).unwrap()
    }

    fn pin(&self, object: usize) -> Pin {
        let object = NonNull::new(object as *mut u8).unwrap();
        // SAFETY: an object of this heap.
        self.heap.attach(|mutator| unsafe { mutator.raw().pin(object) }).unwrap()
    }
}

/// A provider with one strong slot and one pin.
struct Own(u64, usize);
// SAFETY: the slot lives as long as the provider.
unsafe impl RootProvider for Own {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        roots.slot((&raw const self.0).cast_mut());
        roots.pinned(self.1 as u64);
    }
}

#[test]
fn a_dead_object_with_a_stale_reference_is_broken_among_all_objects_alone() {
    let world = world("");
    let [pair, vector, ephemeron, traced, run, living] = world.objects([
        (world.pair, 0),
        (world.vector, 3),
        (world.ephemeron, 0),
        (world.traced, 0),
        (world.vector, 1000),
        (world.pair, 0),
    ]);
    let _root = world.root(living);
    for slot in [
        pair + 8,
        pair + 16,
        vector + 16,
        vector + 24 + 16,
        ephemeron + 8,
        ephemeron + 16,
        traced + 16,
        run + 24 + 999 * 8,
    ] {
        for bits in [STALE, pair as u64 + 8, (run + REGION) as u64] {
            let before = poke(slot, bits);
            assert_eq!(world.faults(), (true, false), "{slot:#x}");
            poke(slot, before);
        }
    }
    assert_eq!(world.faults(), (false, false));
}

#[test]
fn a_dead_object_must_be_parsable_in_both_scopes() {
    let world = world("");
    let [pair, bytes, _] = world.objects([(world.pair, 0), (world.bytes, 100), (world.pair, 0)]);
    for (address, word) in [(pair, 3), (bytes + 8, 1 << 40)] {
        let before = poke(address, word);
        for objects in [CheckedObjects::All, CheckedObjects::Live] {
            assert!(matches!(world.fault_in(objects), Some(Fault::Walk { .. })), "{address:#x}");
        }
        poke(address, before);
    }
    assert_eq!(world.faults(), (false, false));
}

#[test]
fn a_live_object_with_a_stale_reference_is_broken_in_both_scopes() {
    let world = world("");
    let [holder, first, second, vector, run, traced, ephemeron] = world.objects([
        (world.pair, 0),
        (world.pair, 0),
        (world.pair, 0),
        (world.vector, 3),
        (world.vector, 1000),
        (world.traced, 0),
        (world.ephemeron, 0),
    ]);
    let at = holder as u64;
    // The way from an object to the holder: slots and their words. The last element says whether
    // it keeps the holder alive.
    let ways: [(&str, usize, &[(usize, u64)], bool); 12] = [
        ("itself", holder, &[], true),
        ("a chain", first, &[(first + 8, second as u64), (second + 16, at)], true),
        (
            "a cycle",
            first,
            &[(first + 8, second as u64), (second + 8, first as u64), (second + 16, at)],
            true,
        ),
        ("an element", vector, &[(vector + 24 + 16, at)], true),
        ("the last element of a run", run, &[(run + 24 + 999 * 8, at)], true),
        ("a chain over a run", first, &[(first + 8, run as u64), (run + 24, at)], true),
        ("a traced slot", traced, &[(traced + 16, at)], true),
        ("an ephemeron's value", ephemeron, &[(ephemeron + 16, at)], true),
        ("a word with a tag", first, &[(first + 8, at | 0xABCD << 48 | 0b110)], true),
        ("a word that is not a reference", first, &[(first + 8, at | 1)], false),
        ("a word that is not a slot", traced, &[(traced + 8, at)], false),
        ("an ephemeron's key", ephemeron, &[(ephemeron + 8, at)], false),
    ];
    for (way, start, links, alive) in ways {
        let before: Vec<_> = links.iter().map(|&(slot, word)| (slot, poke(slot, word))).collect();
        assert_eq!(world.faults(), (false, false), "{way}");
        let car = poke(holder + 16, STALE);
        assert_eq!(world.faults(), (true, false), "{way}: dead");
        let root = world.root(start);
        assert_eq!(world.faults(), (true, alive), "{way}: a handle");
        if alive {
            let Some(Fault::Reference(bad)) = world.fault_in(CheckedObjects::Live) else { panic!("{way}") };
            let slot = SlotPlace::Named("cdr".into());
            let kind = SlotKind::Strong;
            assert_eq!(bad.holder, Holder::Object { address: holder, shape: "Pair".into(), slot, kind });
            assert_eq!((bad.bits, bad.problem), (STALE, Problem::OutsideHeap));
        }
        drop(root);
        let pin = world.pin(start);
        assert_eq!(world.faults(), (true, alive), "{way}: a pin");
        drop(pin);
        let weak = world.weak_root(start);
        assert_eq!(world.faults(), (true, false), "{way}: a weak handle");
        drop(weak);
        for provider in [Own(start as u64, 0), Own(0, start)] {
            let id = world.heap.add_root_provider(Box::new(provider));
            assert_eq!(world.faults(), (true, alive), "{way}: a provider");
            world.heap.remove_root_provider(id).unwrap();
        }
        poke(holder + 16, car);
        for (slot, word) in before {
            poke(slot, word);
        }
    }
    assert_eq!(world.faults(), (false, false));
}

#[test]
fn roots_and_pins_themselves_are_checked_in_both_scopes() {
    let world = world("");
    let [pair] = world.objects([(world.pair, 0)]);
    for (provider, holder) in
        [(Own(STALE, 0), "root at"), (Own(pair as u64 + 8, 0), "root at"), (Own(0, pair + 8), "a pin holds")]
    {
        let id = world.heap.add_root_provider(Box::new(provider));
        for objects in [CheckedObjects::All, CheckedObjects::Live] {
            let text = world.fault_in(objects).unwrap().to_string();
            assert!(text.starts_with(holder), "{text}");
        }
        world.heap.remove_root_provider(id).unwrap();
    }
}

#[test]
fn weak_slots_of_live_objects_are_checked_at_the_last_level_and_never_followed() {
    for (level, strong, weak) in [(1, false, false), (2, true, false), (3, true, true)] {
        let world = world(&format!("VerifyGCLevel={level}"));
        let [ephemeron, referent] = world.objects([(world.ephemeron, 0), (world.pair, 0)]);
        let _root = world.root(ephemeron);
        let _weak = world.weak_root(referent);
        for (slot, found) in [(ephemeron + 16, strong), (ephemeron + 8, weak)] {
            let before = poke(slot, referent as u64 + 8);
            assert_eq!(world.faults(), (found, found), "{level}");
            poke(slot, before);
        }
        poke(ephemeron + 8, referent as u64);
        poke(referent + 8, STALE);
        assert_eq!(world.faults(), (strong, false), "{level}: reached over weak slots only");
        poke(ephemeron + 16, referent as u64);
        assert_eq!(world.faults(), (strong, strong), "{level}: reached over a strong slot too");
    }
}

#[test]
fn a_list_of_any_length_needs_no_deep_recursion() {
    const NODES: usize = 100_000;
    let world = world_of(1024, "Collector=epsilon");
    let nodes = world
        .heap
        .attach(|mutator| (0..NODES).map(|_| world.make(mutator, world.pair, 0)).collect::<Vec<_>>());
    let nodes = nodes.unwrap();
    for (node, next) in nodes.iter().zip(&nodes[1..]) {
        poke(node + 8, *next as u64);
    }
    let (first, last) = (nodes[0], nodes[NODES - 1]);
    let _root = world.root(first);
    for (word, found) in [(0, false), (first as u64, false), (STALE, true)] {
        poke(last + 16, word);
        assert_eq!(world.faults(), (found, found), "{word:#x}");
    }
}

#[test]
fn an_object_is_given_once_however_often_it_is_reached() {
    let world = world("");
    let objects = world.objects([(world.pair, 0), (world.vector, 1000), (world.bytes, 6000)]);
    let shared = &world.heap.shared;
    let (free, level) = (&shared.space.free, Level::References);
    let verifier = Verifier { free, shapes: &shared.space.shapes, cards: &shared.space.cards, level };
    // SAFETY: no thread is attached.
    let (_, starts) = unsafe { verifier.walk() }.unwrap();
    let mut reached = Reached::new(&starts).unwrap();
    for _ in 0..1000 {
        objects.iter().for_each(|object| reached.reach(&starts, free, *object).unwrap());
    }
    let mut given: Vec<_> = std::iter::from_fn(|| reached.work.pop()).collect();
    given.sort_unstable();
    let mut expected = objects;
    expected.sort_unstable();
    assert_eq!(given, expected);
    reached.reach(&starts, free, objects[0]).unwrap();
    assert_eq!(reached.work.pop(), None, "it was given before");
}

#[test]
fn a_clean_card_is_a_fault_of_objects_in_scope() {
    let world = world("Collector=parallel");
    let root = world.heap.attach(|mutator| {
        let pair = world.make(mutator, world.pair, 0);
        // SAFETY: the object was made just now.
        let root = unsafe { mutator.raw().new_root(pair as u64) };
        assert!(mutator.collect());
        (root.get(mutator).unwrap() as usize, root)
    });
    let (old, root) = root.unwrap();
    let table = world.heap.shared.space.free.table();
    assert_eq!(table.get(table.index_of(old)).state(), State::Old);
    let [young] = world.objects([(world.pair, 0)]);
    poke(old + 8, young as u64);
    assert_eq!(world.faults(), (true, true));
    let Some(Fault::Reference(bad)) = world.fault_in(CheckedObjects::Live) else { panic!("a clean card") };
    assert_eq!(bad.problem, Problem::CleanCard { slot: old + 8 });
    drop(root);
    assert_eq!(world.faults(), (true, false));
}

/// A collector that collects nothing, and says that dead objects may hold anything.
struct Leaves;

impl Collector for Leaves {
    fn name(&self) -> &'static str {
        "leaves"
    }

    fn collect(&self, _: &mut Mutator<'_>, _: Cause, _: &mut dyn FnMut(&Mutator<'_>) -> bool) -> Outcome {
        Outcome::Never
    }

    fn keeps_dead_references(&self) -> bool {
        false
    }
}

#[test]
fn the_collector_chooses_the_scope() {
    for keeps in [true, false] {
        let mut world = world("Collector=epsilon");
        if !keeps {
            Arc::get_mut(&mut world.heap.shared).expect("no other thread has it").collector =
                Box::new(Leaves);
        }
        let [pair] = world.objects([(world.pair, 0)]);
        poke(pair + 8, STALE);
        let stopped = || {
            let level = Level::Everything;
            let outcome = world.heap.attach(|mutator| {
                mutator
                    .raw_mut()
                    .stop_the_world(|stopped| verify_world(stopped, level).is_err())
                    .expect("alone")
            });
            outcome.unwrap()
        };
        assert_eq!((world.fault().is_some(), stopped()), (keeps, keeps));
        let _root = world.root(pair);
        assert_eq!((world.fault().is_some(), stopped()), (true, true));
    }
}

/// A handle of a young object that young collections would not look at.
#[test]
fn a_handle_that_young_collections_would_miss_is_found() {
    let world = world("Collector=parallel");
    let [object] = world.objects([(world.pair, 0)]);
    for (handle, kind) in [(world.root(object), SlotKind::Strong), (world.weak_root(object), SlotKind::Weak)]
    {
        assert_eq!(world.fault(), None);
        let roots = &world.heap.shared.threads.roots;
        roots.begin_young_visit();
        assert_eq!(world.fault(), None, "a visit is under way");
        // No object is young: a lie.
        roots.end_young_visit(&|_| false);
        let bad = world.bad_reference();
        assert_eq!((bad.target, bad.problem), (object, Problem::ForgottenHandle));
        assert!(matches!(bad.holder, Holder::Root { kind: of, .. } if of == kind), "{:?}", bad.holder);
        roots.all_may_be_young();
        assert_eq!(world.fault(), None);
        drop(handle);
    }
}
