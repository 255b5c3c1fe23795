//! Roots in frames: words, links and ranges on one list, taken off in any order.

use super::heap;
use crate::Heap;
use crate::mutator::{LinkedRoot, Mutator, RootLink, RootRange, RootWord, World};
use crate::object::SlotVisitor;
use proptest::prelude::*;
use std::cell::Cell;
use std::ptr::NonNull;

/// A link with two roots.
#[repr(C)]
struct Pair {
    link: RootLink,
    words: [Cell<u64>; 2],
}

/// # Safety
/// - The link heads a [`Pair`].
unsafe fn visit_pair(link: *mut RootLink, slots: &mut SlotVisitor<'_>) {
    // SAFETY: the caller's predicate.
    let pair = unsafe { &*link.cast::<Pair>() };
    pair.words.iter().for_each(|word| slots.strong(word.as_ptr()));
}

/// An entry on the list, with the words that a visit finds in it.
struct Linked {
    holds: Vec<u64>,
    /// Dropped before the memory.
    _linked: LinkedRoot<'static>,
    _memory: Memory,
}

/// What an entry is made of.
enum Memory {
    Word { _word: Box<RootWord> },
    Pair { _pair: Box<Pair> },
    Range { _range: Box<RootRange>, _words: Box<[u64]> },
}

impl Linked {
    /// A word that holds `bits`, which refer to nothing.
    fn word(mutator: &Mutator<'_>, bits: u64) -> Linked {
        let memory = Box::new(RootWord::new(0));
        // SAFETY: the box outlives the link, and every `Linked` the attachment.
        let linked = unsafe { mutator.raw().link_word(NonNull::from(&*memory)) };
        // SAFETY: no reference.
        unsafe { memory.set(bits) };
        assert_eq!(memory.get(), bits);
        Linked { holds: vec![bits], _linked: linked, _memory: Memory::Word { _word: memory } }
    }

    /// A link with two words.
    fn pair(mutator: &Mutator<'_>, bits: [u64; 2]) -> Linked {
        let memory = Box::new(Pair { link: RootLink::new(visit_pair), words: bits.map(Cell::new) });
        // SAFETY: as for a word; the link is the pair's first field.
        let linked = unsafe { mutator.raw().link_root(NonNull::from(&*memory).cast()) };
        Linked { holds: bits.to_vec(), _linked: linked, _memory: Memory::Pair { _pair: memory } }
    }

    /// A range that has `count` words.
    fn range(mutator: &Mutator<'_>, bits: u64, count: usize) -> Linked {
        let mut words = vec![bits; count].into_boxed_slice();
        let memory = Box::new(RootRange::new(mutator.raw().hot().cast()));
        // SAFETY: as for a word; the words refer to nothing and live as long as the range.
        let linked = unsafe {
            let linked = mutator.raw().link_range(NonNull::from(&*memory));
            memory.set(words.as_mut_ptr(), count);
            linked
        };
        let holds = words.to_vec();
        Linked { holds, _linked: linked, _memory: Memory::Range { _range: memory, _words: words } }
    }
}

/// The words that a collector finds, innermost first.
fn found(world: &World<'_>) -> Vec<u64> {
    let mut found = Vec::new();
    // SAFETY: the slots of a stopped thread.
    world.visit_roots(&mut SlotVisitor::new(&mut |slot, _| found.push(unsafe { slot.read() })));
    found
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Word,
    Pair,
    /// With this number of words.
    Range(usize),
    /// Drops one, by its place from the inside; in a blocking region or not.
    Drop(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        2 => Just(Step::Word),
        1 => Just(Step::Pair),
        1 => (0..4_usize).prop_map(Step::Range),
        2 => (prop_oneof![Just(0), 0..8_usize], any::<bool>()).prop_map(|(place, blocking)| Step::Drop(place, blocking)),
    ];
    prop::collection::vec(one, 1..40)
}

/// Takes the steps, and checks after each as a mutator and from a blocking region.
fn run(heap: &Heap, mutator: &mut Mutator<'_>, steps: &[Step]) {
    let mut list: Vec<Linked> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        // Immediates: no word is a reference.
        let bits = index as u64 * 4 + 1;
        match *step {
            Step::Word => list.push(Linked::word(mutator, bits)),
            Step::Pair => list.push(Linked::pair(mutator, [bits, bits + 2])),
            Step::Range(count) => list.push(Linked::range(mutator, bits, count)),
            Step::Drop(place, blocking) if place < list.len() => {
                let dropped = list.remove(list.len() - 1 - place);
                if blocking { mutator.blocking(|| drop(dropped)) } else { drop(dropped) }
            }
            Step::Drop(..) => {}
        }
        let expected: Vec<u64> = list.iter().rev().flat_map(|linked| linked.holds.clone()).collect();
        assert_eq!(
            mutator.raw_mut().stop_the_world(|world| found(world)),
            Some(expected.clone()),
            "{step:?}"
        );
        assert_eq!(
            mutator.blocking(|| heap.stop_the_world(|world| found(world))),
            Ok(Some(expected)),
            "{step:?}"
        );
    }
}

proptest! {
    #[test]
    fn a_collector_finds_what_is_linked_and_nothing_else(steps in steps()) {
        let heap = heap(4096, 10, "");
        heap.attach(|mutator| run(&heap, mutator, &steps)).unwrap();
    }
}
