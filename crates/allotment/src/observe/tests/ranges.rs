//! Programs as C code writes them, compared with a model: an attachment without a body, a stack of
//! words that grows in place, frames in recursion, objects that a C function traces, and the calls
//! of generated code.

use super::{heap, modes, verified};
use crate::mutator::{GeneratedCalls, Mutator, RawMutator, RootRange};
use crate::object::{Shape, ShapeRef, SlotKind, SlotVisitor, reference};
use crate::{Heap, stress_seed};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::thread;

const CALLS: GeneratedCalls = GeneratedCalls::new();

/// Bytes of a node: a header, a value, and two slots.
const BYTES: usize = 32;
const VALUE: usize = 8;
const SLOTS: [usize; 2] = [16, 24];

/// Words of a stack.
const STACK: usize = 48;

/// Visits the slots from the offset in `data` to the end of a node.
///
/// # Safety
/// - As for [`TraceFn`](crate::object::TraceFn), for a node.
unsafe extern "C-unwind" fn trace(object: *mut u8, slots: *mut SlotVisitor<'_>, data: *mut c_void) {
    for offset in (data.addr()..BYTES).step_by(8) {
        // SAFETY: the visitor is valid during the call, and the offset is that of a slot.
        unsafe { (*slots).strong(object.wrapping_byte_add(offset).cast()) };
    }
}

/// A shape that data describes, and one that a function traces.
fn shapes(heap: &Heap) -> [ShapeRef; 2] {
    let described = SLOTS.iter().fold(Shape::fixed("Described", BYTES), |shape, &offset| {
        shape.slot(format!("at{offset}"), offset, SlotKind::Strong)
    });
    let data = ptr::without_provenance_mut(SLOTS[0]);
    let traced = Shape::fixed("Traced", BYTES).traced_by_c(trace, data).slots_never_change();
    [described, traced].map(|shape| heap.register(shape).expect("a shape"))
}

/// A node as the model has it.
#[derive(Clone, Copy)]
struct Node {
    value: u64,
    slots: [Option<usize>; 2],
}

/// A stack in memory that a range leads to, and the model of it.
struct Program {
    shapes: [ShapeRef; 2],
    range: Box<RootRange>,
    words: Box<[u64; STACK]>,
    nodes: Vec<Node>,
    /// The nodes on the stack, by their places in `nodes`.
    stack: Vec<usize>,
    random: u64,
}

impl Program {
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as usize % end
    }

    /// The range has the words of the stack.
    fn set_count(&mut self) {
        let count = self.stack.len();
        // SAFETY: the words live as long as the range; those below the count are references.
        unsafe { self.range.set(self.words.as_mut_ptr(), count) };
    }

    /// Pushes a node that refers to nodes of the stack.
    fn push(&mut self, mutator: &mut Mutator<'_>) {
        if self.stack.len() == STACK {
            return;
        }
        let shape = self.shapes[self.below(2)];
        let zeroed = self.below(2) == 0;
        let call = if zeroed { CALLS.allocate_object_zeroed } else { CALLS.allocate_object };
        // SAFETY: this thread's hot part; all references are in roots.
        let new = unsafe { call(mutator.raw().hot(), shape.header().bits(), BYTES) };
        assert!(!new.is_null(), "{:?}", mutator.raw().take_out_of_memory());
        let value = self.nodes.len() as u64;
        let mut node = Node { value, slots: [None; 2] };
        // SAFETY: words of a new object, the references of live ones.
        unsafe {
            assert_eq!(new.cast::<u64>().read(), shape.header().bits(), "the header is written");
            for offset in (8..BYTES).step_by(8).filter(|_| zeroed) {
                assert_eq!(new.byte_add(offset).cast::<u64>().read(), 0);
            }
            new.byte_add(VALUE).cast::<u64>().write(value);
            for (slot, offset) in SLOTS.into_iter().enumerate() {
                let place = self.below(self.stack.len() + 1);
                node.slots[slot] = self.stack.get(place).copied();
                let word = if place < self.stack.len() { self.words[place] } else { 0 };
                new.byte_add(offset).cast::<u64>().write(word);
            }
        }
        self.words[self.stack.len()] = new.addr() as u64;
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
        self.set_count();
    }

    /// Links one node of the stack to another.
    fn link(&mut self, mutator: &Mutator<'_>) {
        if self.stack.is_empty() {
            return;
        }
        let (from, to, slot) = (self.below(self.stack.len()), self.below(self.stack.len()), self.below(2));
        let place = self.words[from] as usize + SLOTS[slot];
        // SAFETY: a slot of a live object, and a reference to one.
        unsafe { mutator.raw().store(place as *mut u64, self.words[to]) };
        self.nodes[self.stack[from]].slots[slot] = Some(self.stack[to]);
    }

    /// Goes from a node of the stack along random slots, in the heap and in the model.
    fn check(&mut self, mutator: &Mutator<'_>) {
        if self.stack.is_empty() {
            return;
        }
        let place = self.below(self.stack.len());
        let (mut word, mut expected) = (self.words[place], Some(self.stack[place]));
        for _ in 0..30 {
            let (address, node) = match (reference(word), expected) {
                (Some(address), Some(node)) => (address, self.nodes[node]),
                (found, expected) => {
                    assert_eq!((found, expected), (None, None));
                    return;
                }
            };
            let slot = self.below(2);
            // SAFETY: words of a live node.
            unsafe {
                assert_eq!(((address + VALUE) as *const u64).read(), node.value);
                word = mutator.raw().load((address + SLOTS[slot]) as *const u64);
            }
            expected = node.slots[slot];
        }
    }

    /// A function with a frame of two words, which calls itself and allocates.
    fn recurse(&mut self, mutator: &mut Mutator<'_>, depth: usize) {
        if depth == 0 || self.stack.is_empty() {
            return self.push(mutator);
        }
        let place = self.below(self.stack.len());
        let mut words = [self.words[place], 0];
        let words = words.as_mut_ptr();
        let frame = RootRange::new(mutator.raw().hot().cast());
        // SAFETY: frame and words outlive the link.
        let linked = unsafe {
            frame.set(words, 2);
            mutator.raw().link_range(NonNull::from(&frame))
        };
        self.recurse(mutator, depth - 1);
        // SAFETY: both words are those of the frame.
        assert_eq!(unsafe { (words.read(), words.add(1).read()) }, (self.words[place], 0));
        drop(linked);
    }

    fn step(&mut self, mutator: &mut Mutator<'_>) {
        match self.below(16) {
            0..6 => self.push(mutator),
            6..9 => self.link(mutator),
            9..12 => self.check(mutator),
            12 => {
                self.stack.pop();
                self.set_count();
            }
            13 => {
                let depth = self.below(6);
                self.recurse(mutator, depth);
            }
            14 => mutator.blocking(thread::yield_now),
            _ if self.below(4) == 0 => {
                self.stack.clear();
                self.set_count();
            }
            _ => mutator.safepoint(),
        }
    }
}

fn run(heap: &Heap, shapes: [ShapeRef; 2], seed: u64, steps: usize) {
    let mut own = heap.attach_thread().expect("not attached");
    let mut program = Program {
        shapes,
        range: Box::new(RootRange::new(own.hot().cast())),
        words: Box::new([0; STACK]),
        nodes: Vec::new(),
        stack: Vec::new(),
        random: seed,
    };
    let range = NonNull::from(&*program.range);
    // SAFETY: the range lives until it is unlinked below, on this thread.
    own.with(|mutator| std::mem::forget(unsafe { mutator.raw().link_range(range) }));
    let hot = own.hot();
    for step in 0..steps {
        if step % 2 == 0 {
            own.with(|mutator| program.step(mutator));
        } else {
            // SAFETY: no other mutator of this thread is in use.
            unsafe { RawMutator::with_hot(hot, |mutator| program.step(mutator)) }.expect("attached");
        }
    }
    // SAFETY: linked above.
    own.with(|mutator| unsafe { mutator.raw().unlink_range(range) });
}

#[test]
fn what_ranges_lead_to_is_as_the_model_says_in_each_mode() {
    for (number, mode) in modes().into_iter().enumerate() {
        let heap = heap(8192, 60, &verified(mode));
        let shapes = shapes(&heap);
        thread::scope(|scope| {
            for part in 0..2 {
                let seed = stress_seed::of_part(2 * number as u64 + part);
                let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
                let heap = &heap;
                scope.spawn(move || run(heap, shapes, seed, 400));
            }
        });
        heap.verify().unwrap_or_else(|error| panic!("{mode}: {error}"));
    }
}

#[test]
fn null_from_a_call_has_a_reason() {
    let heap = heap(4096, 16, "Collector=parallel");
    let [node, _] = shapes(&heap);
    heap.attach(|mutator| {
        let (hot, header) = (mutator.raw().hot(), node.header().bits());
        // SAFETY: this thread's hot part; no object is made, since there is no memory.
        let bytes = |call: &dyn Fn() -> *mut u8| {
            assert!(call().is_null());
            let reason = mutator.raw().take_out_of_memory().expect("kept");
            assert!(mutator.raw().take_out_of_memory().is_none(), "it is given once");
            reason.bytes()
        };
        // SAFETY: as above.
        unsafe {
            assert_eq!(bytes(&|| (CALLS.allocate)(hot, 1 << 20)), 1 << 20);
            assert_eq!(bytes(&|| (CALLS.allocate_object)(hot, header, 1 << 20)), 1 << 20);
            assert_eq!(bytes(&|| (CALLS.allocate_object_zeroed)(hot, header, 0)), 0);
            assert_eq!(bytes(&|| (CALLS.allocate_array)(hot, usize::MAX, 8, 16)), usize::MAX);
            assert_eq!(bytes(&|| (CALLS.allocate_array_object)(hot, header, 1 << 43, 8, 16)), (1 << 46) + 16);
            assert_eq!(
                bytes(&|| (CALLS.allocate_array_object_zeroed)(hot, header, 1 << 44, 8, 16)),
                usize::MAX
            );
        }
    })
    .expect("not attached");
}
