//! Programs that allocate, and the two ways to run one: emitted code, and the library's own path.
//!
//! Both go through [`Program::run`], which does everything but the allocation and notes what it sees of heap and buffer after
//! each step. Two runs of one program must see the same.

use super::kit::{Assignment, CALLEE_SAVED, GENERAL, word};
use super::machine::{Machine, framed, targets};
use allotment::Heap;
use allotment::memory::{PrefetchSettings, PrefetchStyle, Processor};
use allotment::mutator::{
    Ahead, ArraySite, ByCaller, Hot, Mutator, NoPrefetch, PerObject, Reservation, Site, Zeroing,
};
use allotment::object::{Element, Header, LENGTH_OFFSET, Shape, ShapeRef, SlotKind};
use allotment::observe::HeapCensus;
use allotment::tlab::statistics::Totals;
use allotment_jit::{
    Allocation, Code, CodeBuffer, Emitter, FunctionId, Initialise, MAX_INLINE_BYTES, Register, Sequence,
    SlowCall,
};
use std::hash::{DefaultHasher, Hasher};
use std::mem::transmute;
use std::ptr::NonNull;

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
const BEYOND: usize = 1 << 47;

/// An object of a size that is a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// Of that fixed shape of the program.
    Fixed(usize),
    /// One of [`ARRAYS`], and its length.
    Array(usize, usize),
}

/// What a function allocates.
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
    pub(crate) avx2: bool,
    pub(crate) assignment: Assignment,
    /// A stub to call, where it may be one: not for several objects.
    pub(crate) stub: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Runs that function so many times, with that length where it takes one.
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
    /// Bytes of the shapes without a tail; every other one has a reference, where it has room.
    pub(crate) fixed: Vec<usize>,
    pub(crate) functions: Vec<Function>,
    pub(crate) steps: Vec<Step>,
}

/// What is seen after a step. Addresses are bytes from the heap's base, 0 stays 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    block: Option<usize>,
    /// Top, limit, limit of what is zeroed.
    buffer: [usize; 3],
    points: u64,
    /// The memory's first words, and all of it.
    words: Vec<u64>,
    hash: u64,
}

/// What is left at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) seen: Vec<Seen>,
    pub(crate) censuses: Vec<HeapCensus>,
    pub(crate) totals: Totals,
    pub(crate) used_bytes: usize,
}

/// The shapes of one heap.
#[derive(Clone)]
pub(crate) struct ShapeKit {
    fixed: Vec<ShapeRef>,
    arrays: [ShapeRef; ARRAYS.len()],
}

/// A way to allocate: a block with its headers and lengths, or `None` where there is no room.
pub(crate) trait Way {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, function: usize, length: usize) -> Option<NonNull<u8>>;
}

impl ShapeKit {
    fn new(heap: &Heap, fixed: &[usize]) -> ShapeKit {
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

    fn piece(&self, piece: Piece) -> (ShapeRef, usize) {
        match piece {
            Piece::Fixed(index) => (self.fixed[index], 0),
            Piece::Array(index, length) => (self.arrays[index], length),
        }
    }

    /// The objects of a block: where each lies in it, its shape, its length.
    fn objects(&self, what: &What, length: usize) -> Option<Vec<(usize, ShapeRef, usize)>> {
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

    fn bytes(&self, what: &What, length: usize) -> Option<usize> {
        let objects = self.objects(what, length)?;
        let (at, shape, length) = objects.last()?;
        Some(at + shape.bytes_for(*length)?)
    }
}

impl Program {
    /// The heap that it runs on. One thread allocates and collects, and nothing looks at the time.
    pub(crate) fn heap(&self) -> (Heap, ShapeKit) {
        let builder = Heap::builder().max_heap_size(10 << 18).use_transparent_huge_pages(false);
        let builder = builder.allocation_regions(1);
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
                        // SAFETY: what was allocated, of that many bytes.
                        unsafe { use_block(block, kit, what, *length, block.addr().get() - heap.base()) };
                    }
                }
            }
            Step::Interval(bytes) => mutator.set_sampling_interval(*bytes),
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
    // SAFETY: the block has so many bytes.
    let memory =
        block.map(|block| unsafe { std::slice::from_raw_parts(block.cast::<u64>().as_ptr(), bytes / 8) });
    let memory = memory.unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    memory.iter().for_each(|word| hasher.write_u64(*word));
    Seen {
        block: block.map(|block| offset(block.addr().get())),
        buffer: buffer.map(|at| offset(word(mutator.hot(), at))),
        points: mutator.sampling_points(),
        words: memory[..memory.len().min(8)].to_vec(),
        hash: hasher.finish(),
    }
}

/// Writes what a program writes: lengths, null references, and in all other words what is never zero.
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

/// The library's own path.
pub(crate) struct Library<'p> {
    pub(crate) program: &'p Program,
    pub(crate) kit: ShapeKit,
}

impl Way for Library<'_> {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, function: usize, length: usize) -> Option<NonNull<u8>> {
        let function = &self.program.functions[function];
        let Some(bytes) = self.kit.bytes(&function.what, length) else {
            // No array is as long, and nobody looks for memory; of a size nobody knows that.
            let What::SizeIn(index) = function.what else { return None };
            // SAFETY: there is no such object.
            return unsafe { with_header::<Ahead>(mutator, self.kit.arrays[index].header(), BEYOND) };
        };
        let by_register = !matches!(function.what, What::Constant(_));
        let fits = bytes <= MAX_INLINE_BYTES
            && word(mutator.hot(), Hot::TOP_OFFSET) + bytes <= word(mutator.hot(), Hot::LIMIT_OFFSET);
        match function.initialise {
            Initialise::ByCaller => self.block::<ByCaller>(mutator, &function.what, length, bytes),
            // Emitted code is given zeroes by the slow path for a size in a register, and zeroes all else itself.
            Initialise::PerObject if by_register && !fits => {
                self.block::<Ahead>(mutator, &function.what, length, bytes)
            }
            Initialise::PerObject => self.block::<PerObject>(mutator, &function.what, length, bytes),
            Initialise::Ahead => self.block::<Ahead>(mutator, &function.what, length, bytes),
        }
    }
}

impl Library<'_> {
    fn block<Z: Zeroing>(
        &self,
        mutator: &mut Mutator<'_>,
        what: &What,
        length: usize,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let objects = self.kit.objects(what, length)?;
        let (_, shape, _) = objects[0];
        // SAFETY: the shapes are the heap's, and `use_block` writes every word before the next safepoint.
        unsafe {
            match what {
                What::SizeIn(_) => with_header::<Z>(mutator, shape.header(), bytes),
                What::Constant(_) if objects.len() == 1 && !shape.has_tail() => match bytes {
                    16 => fixed::<16, Z>(mutator, shape),
                    24 => fixed::<24, Z>(mutator, shape),
                    48 => fixed::<48, Z>(mutator, shape),
                    144 => fixed::<144, Z>(mutator, shape),
                    _ => with_header::<Z>(mutator, shape.header(), bytes),
                },
                What::Constant(_) if objects.len() == 1 => array::<Z>(mutator, shape, objects[0].2),
                What::LengthIn(_) => array::<Z>(mutator, shape, length),
                What::Constant(_) => {
                    let block = with_header::<Z>(mutator, shape.header(), bytes)?;
                    for (at, shape, length) in objects {
                        let object = block.byte_add(at).cast::<u64>();
                        object.write(shape.header().bits());
                        if shape.has_tail() {
                            object.byte_add(LENGTH_OFFSET).write(length as u64);
                        }
                    }
                    Some(block)
                }
            }
        }
    }
}

fn room<'t>(mutator: &mut Mutator<'t>, bytes: usize) -> Option<Reservation<'t>> {
    mutator.make_room(bytes).ok()
}

/// # Safety
/// As for [`Mutator::try_alloc_with_header`].
unsafe fn with_header<Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    header: Header,
    bytes: usize,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.try_alloc_with_header::<Z, NoPrefetch>(header, bytes).or_else(|| {
            let mut room = room(mutator, bytes)?;
            mutator.alloc_in_with_header::<Z>(&mut room, header, bytes)
        })
    }
}

/// # Safety
/// As for [`Mutator::try_alloc_raw`].
unsafe fn fixed<const BYTES: usize, Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    shape: ShapeRef,
) -> Option<NonNull<u8>> {
    let site = Site::<BYTES, Z>::new(shape)?;
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.try_alloc_raw(site).or_else(|| {
            let mut room = room(mutator, BYTES)?;
            mutator.alloc_in_raw(&mut room, site)
        })
    }
}

/// # Safety
/// As for [`Mutator::try_alloc_array_raw`].
unsafe fn array<Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    shape: ShapeRef,
    length: usize,
) -> Option<NonNull<u8>> {
    let site = ArraySite::<Z>::new(shape);
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.try_alloc_array_raw(site, length).or_else(|| {
            let mut room = room(mutator, shape.bytes_for(length)?)?;
            mutator.alloc_in_array_raw(&mut room, site, length)
        })
    }
}

/// Emitted code.
pub(crate) struct Emitted<'p> {
    program: &'p Program,
    kit: ShapeKit,
    code: Code,
    functions: Vec<(FunctionId, Sequence)>,
    runs: u64,
    /// How often the fast path was taken, and how often there was no room.
    pub(crate) fast: usize,
    pub(crate) no_room: usize,
}

impl Function {
    fn is_stub(&self) -> bool {
        let several = matches!(&self.what, What::Constant(pieces) if pieces.len() > 1);
        self.stub && !several
    }

    fn emit(&self, kit: &ShapeKit) -> Sequence {
        let input = if self.is_stub() { Register::RSI } else { self.assignment.input() };
        let allocation = |piece| match kit.piece(piece) {
            (shape, length) if shape.has_tail() => Allocation::array(shape, length).unwrap(),
            (shape, _) => Allocation::object(shape).unwrap(),
        };
        let allocations: Vec<Allocation> = match &self.what {
            What::Constant(pieces) => pieces.iter().copied().map(allocation).collect(),
            What::LengthIn(index) => vec![Allocation::array_in(kit.arrays[*index], input).unwrap()],
            What::SizeIn(index) => vec![Allocation::sized_in(kit.arrays[*index].header(), input)],
        };
        let here = Processor::detect();
        let emitter =
            Emitter::new(Processor { avx2: here.avx2 && self.avx2, ..here }, self.settings).unwrap();
        if self.is_stub() {
            return emitter.stub(allocations[0], self.initialise).unwrap();
        }
        let preserve = self.assignment.preserve();
        let slow = SlowCall { preserve: &preserve, misaligned: self.assignment.misaligned };
        let (initialise, registers) = (self.initialise, self.assignment.registers());
        emitter
            .allocate(&allotment_jit::Site { allocations: &allocations, initialise, registers, slow })
            .unwrap()
    }
}

impl<'p> Emitted<'p> {
    pub(crate) fn new(program: &'p Program, kit: ShapeKit) -> Emitted<'p> {
        let mut buffer = CodeBuffer::default();
        let mut functions = Vec::new();
        for (index, function) in program.functions.iter().enumerate() {
            let sequence = function.emit(&kit);
            let whole = match function.is_stub() {
                true => sequence.clone(),
                false => framed(&[&sequence], function.assignment.misaligned),
            };
            functions.push((buffer.add(format!("allocate{index}"), whole), sequence));
        }
        let code = buffer.finish(targets(0)).unwrap();
        Emitted { program, kit, code, functions, runs: 0, fast: 0, no_room: 0 }
    }

    /// What the function is given in its register.
    fn argument(&self, what: &What, length: usize) -> usize {
        match what {
            What::Constant(_) => 0,
            What::LengthIn(_) => length,
            What::SizeIn(_) => self.kit.bytes(what, length).unwrap_or(BEYOND),
        }
    }

    fn stub(&self, hot: *const Hot, id: FunctionId, argument: usize) -> usize {
        // SAFETY: a stub has this signature, or one argument less, which nothing notices.
        let stub: unsafe extern "C" fn(*const Hot, usize) -> *mut u8 =
            unsafe { transmute(self.code.entry(id)) };
        // SAFETY: this thread's hot part; no reference is held.
        unsafe { stub(hot, argument) }.addr()
    }

    fn pasted(
        &mut self,
        hot: *const Hot,
        function: &Function,
        index: usize,
        argument: usize,
        fast: bool,
    ) -> usize {
        let (id, sequence) = &self.functions[index];
        self.runs += 1;
        let mut before = Machine::patterned(self.runs);
        let (registers, input) = (function.assignment.registers(), function.assignment.input());
        before.set(registers.mutator, hot.addr() as u64);
        if !matches!(function.what, What::Constant(_)) {
            before.set(input, argument as u64);
        }
        let mut after = before.clone();
        // SAFETY: the function is framed; its inputs are this thread's hot part and the argument; no reference is held.
        unsafe { after.run(&self.code, *id) };
        let object = after.get(registers.object);
        assert_eq!(after.no_room(), object == 0);
        let vectors = (0..16).map(|number| Register::XMM0 + number);
        let preserve = function.assignment.preserve();
        for register in GENERAL.into_iter().chain(vectors).filter(|register| *register != registers.object) {
            let promised = if fast {
                !sequence.clobbers().contains(&register)
            } else {
                register == registers.mutator
                    || (register == input && !matches!(function.what, What::Constant(_)))
                    || preserve.contains(&register)
                    || (CALLEE_SAVED.contains(&register) && !sequence.clobbers().contains(&register))
            };
            assert!(
                !promised || before.get(register) == after.get(register),
                "{register:?} has changed; fast: {fast}, clobbers: {:?}",
                sequence.clobbers()
            );
        }
        object as usize
    }
}

impl Way for Emitted<'_> {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, index: usize, length: usize) -> Option<NonNull<u8>> {
        let function = &self.program.functions[index];
        let (hot, argument) = (mutator.hot(), self.argument(&function.what, length));
        let bytes = self.kit.bytes(&function.what, length).unwrap_or(usize::MAX);
        let limit = match function.initialise {
            Initialise::Ahead => Hot::ZEROED_LIMIT_OFFSET,
            _ => Hot::LIMIT_OFFSET,
        };
        let top = word(hot, Hot::TOP_OFFSET).saturating_add(bytes);
        let fast = bytes <= MAX_INLINE_BYTES && top <= word(hot, limit);
        let watermark = word(hot, Hot::WATERMARK_OFFSET);
        let object = match function.is_stub() {
            true => self.stub(hot, self.functions[index].0, argument),
            false => self.pasted(hot, function, index, argument, fast),
        };
        self.check_watermark(function, hot, watermark, fast.then_some(top), object);
        (self.fast, self.no_room) = (self.fast + usize::from(fast), self.no_room + usize::from(object == 0));
        NonNull::new(std::ptr::with_exposed_provenance_mut(object))
    }
}

impl Emitted<'_> {
    /// On the fast path the watermark is as style 2 says; on the slow one it is where a new buffer begins, or as it was.
    fn check_watermark(
        &self,
        function: &Function,
        hot: *const Hot,
        before: usize,
        top: Option<usize>,
        object: usize,
    ) {
        let after = word(hot, Hot::WATERMARK_OFFSET);
        let settings = function.settings.normalized();
        match top {
            Some(top) if settings.style == PrefetchStyle::Watermark && top >= before => {
                assert_eq!(after, before + settings.distance);
            }
            Some(_) => assert_eq!(after, before),
            None => assert!(after == before || after == object, "{after:#x} {before:#x} {object:#x}"),
        }
    }
}
