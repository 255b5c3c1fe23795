//! Programs that allocate. There are two ways to run one: [`emitted`](super::emitted) code, and the
//! [`library`](super::library).
//!
//! Both go through [`Program::run`], which does everything except the allocation and records the
//! heap and the buffer after each step. Two runs of one program must see the same.

use super::kit::{Assignment, word};
use allotment::raw::{Element, Hot, PrefetchSettings, Shape, ShapeRef, SlotKind};
use allotment::stats::{TlabTotals, VerifySummary};
use allotment::{Heap, Mutator};
use allotment_jit::Initialise;
use std::hash::{DefaultHasher, Hasher};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Fixed part and element of the shapes with a tail.
pub(crate) const ARRAYS: [(usize, Element); 6] = [
    (16, Element::Plain { bytes: 1 }),
    (18, Element::Plain { bytes: 2 }),
    (20, Element::Plain { bytes: 4 }),
    (24, Element::Plain { bytes: 8 }),
    (37, Element::Plain { bytes: 1 }),
    (16, Element::Reference(SlotKind::Strong)),
];

/// Bytes that no heap has.
pub(crate) const BEYOND: usize = 1 << 47;

/// An object of a size that is a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// Of that fixed shape of the program.
    Fixed(usize),
    /// One of [`ARRAYS`], and its length.
    Array(usize, usize),
}

/// The objects that a function allocates.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// These, in one bump where there are several.
    Constant(Vec<Piece>),
    /// One of [`ARRAYS`], its length in a register.
    LengthIn(usize),
    /// One of [`ARRAYS`], its size in bytes in a register; the caller writes the length.
    SizeIn(usize),
}

/// A function that allocates.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) what: What,
    pub(crate) initialise: Initialise,
    pub(crate) settings: PrefetchSettings,
    /// Whether it uses what only some processors have.
    pub(crate) features: bool,
    pub(crate) assignment: Assignment,
    /// Whether to call a stub, which is possible for a single object.
    pub(crate) stub: bool,
    /// Whether it goes past buffers in line, where a thread has none.
    pub(crate) past_buffers: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Runs that function a number of times, with that length if it takes one.
    Allocate {
        function: usize,
        length: usize,
        times: usize,
    },
    /// A sampling interval.
    Interval(usize),
    Request,
    Safepoint,
    Collect,
    /// Detaches and attaches.
    Reattach,
    /// Detaches, forgets every object, and attaches.
    Reset,
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) options: String,
    /// Bytes of the shapes without a tail; every second one has a reference, if it has room.
    pub(crate) fixed: Vec<usize>,
    pub(crate) functions: Vec<Function>,
    pub(crate) steps: Vec<Step>,
}

/// The observations after a step. Addresses are bytes from the heap's base; 0 stays 0.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    block: Option<usize>,
    /// Top, limit, limit of the zeroed memory.
    buffer: [usize; 3],
    points: u64,
    /// The first words, and all words, of the memory.
    words: Vec<u64>,
    hash: u64,
}

/// The state at the end.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) seen: Vec<Seen>,
    pub(crate) censuses: Vec<VerifySummary>,
    pub(crate) totals: TlabTotals,
    pub(crate) used_bytes: usize,
}

/// The shapes of one heap.
#[derive(Clone)]
pub(crate) struct ShapeKit {
    fixed: Vec<ShapeRef>,
    pub(crate) arrays: [ShapeRef; ARRAYS.len()],
}

/// A way to allocate: a block with its headers and lengths, or `None` where there is no room.
pub(crate) trait Way {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, function: usize, length: usize) -> Option<NonNull<u8>>;
}

impl ShapeKit {
    pub(crate) fn new(heap: &Heap, fixed: &[usize]) -> ShapeKit {
        let shape = |(index, bytes): (usize, &usize)| {
            let shape = Shape::fixed(format!("Fixed{index}"), *bytes);
            let has_slot = index % 2 == 1 && *bytes >= 24;
            if has_slot { shape.slot("next", 16, SlotKind::Strong) } else { shape }
        };
        ShapeKit {
            fixed: fixed.iter().enumerate().map(|one| heap.register(shape(one)).unwrap()).collect(),
            arrays: ARRAYS.map(|(fixed, element)| {
                heap.register(Shape::array(format!("Array{fixed}{element:?}"), fixed, element)).unwrap()
            }),
        }
    }

    pub(crate) fn piece(&self, piece: Piece) -> (ShapeRef, usize) {
        match piece {
            Piece::Fixed(index) => (self.fixed[index], 0),
            Piece::Array(index, length) => (self.arrays[index], length),
        }
    }

    /// The objects of a block: where each lies in it, its shape, its length.
    pub(crate) fn objects(&self, what: &What, length: usize) -> Option<Vec<(usize, ShapeRef, usize)>> {
        let pieces = match what {
            What::Constant(pieces) => pieces.clone(),
            What::LengthIn(index) | What::SizeIn(index) => vec![Piece::Array(*index, length)],
        };
        let mut at = 0;
        let mut object = |piece| {
            let (shape, length) = self.piece(piece);
            let start = at;
            at += shape.bytes_for(length)?;
            Some((start, shape, length))
        };
        pieces.into_iter().map(&mut object).collect()
    }

    pub(crate) fn bytes(&self, what: &What, length: usize) -> Option<usize> {
        let objects = self.objects(what, length)?;
        let (at, shape, length) = objects.last()?;
        Some(at + shape.bytes_for(*length)?)
    }
}

impl Program {
    /// The heap that it runs on. One thread allocates and collects, by a clock of the heap's own.
    pub(crate) fn heap(&self) -> (Heap, ShapeKit) {
        let builder = Heap::builder().max_heap_size(10 << 18).use_transparent_huge_pages(false);
        // Decisions read the time, which advances with each reading. So both ways see the same
        // times if they read equally often.
        let reads = AtomicU64::new(0);
        let clock = move || Duration::from_micros(700 * reads.fetch_add(1, Ordering::Relaxed));
        let builder = builder.allocation_regions(1).clock(clock);
        let heap = builder.options(&self.options).expect(&self.options).build().expect(&self.options);
        let kit = ShapeKit::new(&heap, &self.fixed);
        (heap, kit)
    }

    /// Runs all steps.
    pub(crate) fn run(&self, heap: &Heap, kit: &ShapeKit, way: &mut dyn Way) -> Outcome {
        let (mut seen, mut censuses, mut rest) = (Vec::new(), Vec::new(), &self.steps[..]);
        loop {
            let end = rest.iter().position(|step| matches!(step, Step::Reattach | Step::Reset));
            let (now, later) = rest.split_at(end.unwrap_or(rest.len()));
            heap.attach(|mutator| {
                now.iter().for_each(|step| self.step(step, mutator, heap, kit, way, &mut seen))
            })
            .unwrap();
            censuses.push(heap.verify().unwrap());
            let Some((step, later)) = later.split_first() else { break };
            if matches!(step, Step::Reset) {
                heap.reset().unwrap();
            }
            rest = later;
        }
        Outcome { seen, censuses, totals: heap.tlab_totals(), used_bytes: heap.memory().used_bytes }
    }

    fn step(
        &self,
        step: &Step,
        mutator: &mut Mutator<'_>,
        heap: &Heap,
        kit: &ShapeKit,
        way: &mut dyn Way,
        seen: &mut Vec<Seen>,
    ) {
        match step {
            Step::Allocate { function, length, times } => {
                for _ in 0..*times {
                    let what = &self.functions[*function].what;
                    let block = way.allocate(mutator, *function, *length);
                    let bytes = kit.bytes(what, *length).unwrap_or(0);
                    seen.push(see(mutator, heap, block, bytes));
                    if let Some(block) = block {
                        // SAFETY: the allocated block, of that many bytes.
                        unsafe { use_block(block, kit, what, *length, block.addr().get() - heap.base()) };
                    }
                }
            }
            Step::Interval(bytes) => {
                heap.set_allocation_sample_interval(*bytes);
                mutator.safepoint();
            }
            Step::Request => heap.request_safepoint(),
            Step::Safepoint => mutator.safepoint(),
            Step::Collect => {
                mutator.collect();
            }
            Step::Reattach | Step::Reset => unreachable!("the steps were split there"),
        }
        if !matches!(step, Step::Allocate { .. }) {
            seen.push(see(mutator, heap, None, 0));
        }
    }
}

fn see(mutator: &Mutator<'_>, heap: &Heap, block: Option<NonNull<u8>>, bytes: usize) -> Seen {
    let offset = |address: usize| if address == 0 { 0 } else { address.wrapping_sub(heap.base()) };
    let buffer = [Hot::TOP_OFFSET, Hot::LIMIT_OFFSET, Hot::ZEROED_LIMIT_OFFSET];
    // SAFETY: the block has that many bytes.
    let memory =
        block.map(|block| unsafe { std::slice::from_raw_parts(block.cast::<u64>().as_ptr(), bytes / 8) });
    let memory = memory.unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    memory.iter().for_each(|word| hasher.write_u64(*word));
    Seen {
        block: block.map(|block| offset(block.addr().get())),
        buffer: buffer.map(|at| offset(word(mutator.raw().hot(), at))),
        points: mutator.sampling_points(),
        words: memory[..memory.len().min(8)].to_vec(),
        hash: hasher.finish(),
    }
}

/// Writes the contents that a program writes: lengths, null references, and in all other words a
/// value that is never zero.
///
/// # Safety
/// - The block was just allocated for these objects.
unsafe fn use_block(block: NonNull<u8>, kit: &ShapeKit, what: &What, length: usize, stamp: usize) {
    for (at, shape, length) in kit.objects(what, length).unwrap() {
        let words = shape.bytes_for(length).unwrap() / 8;
        // SAFETY: the object lies in the block.
        let object =
            unsafe { std::slice::from_raw_parts_mut(block.byte_add(at).cast::<u64>().as_ptr(), words) };
        let references = shape.has_tail() && shape.header() == kit.arrays[5].header();
        for (index, word) in object.iter_mut().enumerate().skip(1) {
            *word = match index {
                1 if shape.has_tail() => length as u64,
                // Where every other fixed shape has its reference.
                2 if !shape.has_tail() => 0,
                _ if references => 0,
                _ => 1 << 63 | (stamp as u64) << 24 | index as u64,
            };
        }
    }
}
