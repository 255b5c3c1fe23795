//! Prefetches against HotSpot's definition of the styles, written down here a second time.
//!
//! `T` is the old top, `N` the new one, `W` the watermark, `D` the distance, `S` the step. Style 1
//! prefetches `N + D + i*S`. Style 2, if `N >= W`, makes `W + D` the watermark and prefetches from
//! the new watermark on, `W + i*S`. Style 3 prefetches `((T + S + D) & -S) + i*S`.

use super::interpreter::{Event, Exit, Interpreter};
use super::kit::{
    ANY, ANY_AARCH64, Assignment, Conventions, MACHINES, any_assignment, cases, initialise, settings,
};
use super::program::ARRAYS;
use allotment::Heap;
use allotment::raw::{
    Header, Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, Shape, ShapeRef, X86_64,
};
use allotment_jit::{Allocation, Emitter, Initialise, Machine, Sequence, Site, SlowCall, Target};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::LazyLock;

/// Shapes of [`ARRAYS`], of a heap from which no thread allocates.
static SHAPES: LazyLock<(Heap, [ShapeRef; ARRAYS.len()])> = LazyLock::new(|| {
    let heap = super::kit::heap("");
    let shapes = ARRAYS.map(|(bytes, element)| heap.register(Shape::array("Array", bytes, element)).unwrap());
    (heap, shapes)
});

/// The objects to allocate.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Objects in one bump: the bits of the shape's id, and words; or one of [`ARRAYS`] with a
    /// length.
    Constant(Vec<Piece>),
    Length(usize, usize),
    Size(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    Object { shape: u32, words: usize },
    Array(usize, usize),
}

/// A site, and the inputs of its run.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) what: What,
    pub(crate) initialise: Initialise,
    pub(crate) settings: PrefetchSettings,
    /// Whether the processor has AVX2.
    avx2: bool,
    pub(crate) assignment: Assignment,
    /// The old top, and how far the watermark is from the new one.
    pub(crate) top: u64,
    watermark: i64,
}

/// The address of the mutator's hot part in the interpreter's memory.
pub(crate) const HOT_PART: u64 = 0x6000_0000_0000;

impl Piece {
    fn allocation(self) -> Allocation {
        match self {
            Piece::Object { words, .. } => {
                Allocation::with_header(Header::from_bits(self.header()), words * 8).unwrap()
            }
            Piece::Array(index, length) => Allocation::array(SHAPES.1[index], length).unwrap(),
        }
    }

    fn header(self) -> u64 {
        match self {
            Piece::Object { shape, .. } => u64::from(shape) << 8,
            Piece::Array(index, _) => SHAPES.1[index].header().bits(),
        }
    }

    fn words(self) -> usize {
        match self {
            Piece::Object { words, .. } => words,
            Piece::Array(index, length) => {
                let (fixed, element) = ARRAYS[index];
                (fixed + element.bytes() * length).div_ceil(8)
            }
        }
    }
}

impl Case {
    fn pieces(&self) -> Vec<Piece> {
        match &self.what {
            What::Constant(pieces) => pieces.clone(),
            What::Length(index, length) => vec![Piece::Array(*index, *length)],
            What::Size(words) => vec![Piece::Object { shape: 7, words: *words }],
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pieces().into_iter().map(|piece| piece.words() * 8).sum()
    }

    /// The value of the register for a size or length.
    pub(crate) fn argument(&self) -> Option<u64> {
        match self.what {
            What::Constant(_) => None,
            What::Length(_, length) => Some(length as u64),
            What::Size(words) => Some(words as u64 * 8),
        }
    }

    pub(crate) fn sequence(&self) -> Sequence {
        let input = self.assignment.input();
        let allocations: Vec<Allocation> = match &self.what {
            What::Constant(pieces) => pieces.iter().map(|piece| piece.allocation()).collect(),
            What::Length(index, _) => vec![Allocation::array_in(SHAPES.1[*index], input).unwrap()],
            What::Size(_) => vec![Allocation::sized_in(Header::from_bits(7 << 8), input)],
        };
        let processor: Processor = match self.assignment.machine {
            Machine::X86_64 => X86_64 { avx2: self.avx2, ..ANY }.into(),
            _ => ANY_AARCH64.into(),
        };
        let emitter = Emitter::new(processor, self.settings);
        let emitter = emitter.or_else(|_| Emitter::beyond_hotspot(processor, self.settings)).unwrap();
        let preserve = self.assignment.preserve();
        let site = Site {
            allocations: &allocations,
            initialise: self.initialise,
            registers: self.assignment.registers(),
            slow: SlowCall { preserve: &preserve, misaligned: self.assignment.misaligned },
        };
        emitter.allocate(&site).unwrap()
    }

    /// The interpreter before the sequence, with a buffer that has `room` bytes.
    pub(crate) fn machine(&self, sequence: &Sequence, room: u64) -> Interpreter {
        let mut machine = Interpreter::new(sequence);
        if self.assignment.misaligned {
            machine.set(self.assignment.machine.stack_pointer(), Interpreter::STACK_AT - 8);
        }
        machine.set(self.assignment.registers().mutator, HOT_PART);
        if let Some(argument) = self.argument() {
            machine.set(self.assignment.input(), argument);
        }
        let new_top = self.top + self.bytes() as u64;
        for (offset, value) in [
            (Hot::TOP_OFFSET, self.top),
            (Hot::LIMIT_OFFSET, self.top + room),
            (Hot::ZEROED_LIMIT_OFFSET, self.top + room),
            (Hot::WATERMARK_OFFSET, new_top.wrapping_add_signed(self.watermark)),
        ] {
            machine.memory.insert(HOT_PART + offset as u64, value);
        }
        machine
    }

    /// Whether the objects at `object` are as they must be.
    pub(crate) fn check_objects(&self, machine: &Interpreter, object: u64) {
        let mut at = object;
        for piece in self.pieces() {
            for word in 0..piece.words() as u64 {
                let expected = match (word, piece, &self.what) {
                    (0, ..) => piece.header(),
                    (1, Piece::Array(_, length), _) => length as u64,
                    _ if self.initialise == Initialise::PerObject => 0,
                    _ => Interpreter::GARBAGE,
                };
                assert_eq!(machine.word(at + 8 * word), expected, "word {word} of {piece:?}");
            }
            at += piece.words() as u64 * 8;
        }
        assert_eq!(machine.word(at), Interpreter::GARBAGE, "nothing is written after it");
        assert_eq!(machine.word(object - 8), Interpreter::GARBAGE, "nothing is written before it");
    }

    /// The addresses of the style, and the new watermark.
    fn expected(&self, top: u64, watermark: u64) -> (Vec<(PrefetchInstruction, u64)>, u64) {
        let PrefetchSettings { style, distance, lines, instance_lines, step, instruction } = self.settings;
        let has_length = self.pieces().iter().any(|piece| matches!(piece, Piece::Array(..)));
        let has_length = has_length && !matches!(self.what, What::Size(_));
        let known = matches!(self.what, What::Constant(_));
        let lines = match if has_length { lines } else { instance_lines } {
            0 if known => self.bytes().div_ceil(self.settings.step.max(1)).min(3),
            0 => 1,
            lines => lines,
        };
        let (distance, step) = (distance as u64, step as u64);
        let new_top = top + self.bytes() as u64;
        let (first, watermark) = match style {
            _ if distance == 0 => (None, watermark),
            PrefetchStyle::None => (None, watermark),
            PrefetchStyle::Always => (Some(new_top + distance), watermark),
            PrefetchStyle::Watermark if new_top >= watermark => {
                (Some(watermark + distance), watermark + distance)
            }
            PrefetchStyle::Watermark => (None, watermark),
            PrefetchStyle::Lines => (Some((top + step + distance) / step * step), watermark),
        };
        let address = |line: usize| Some((instruction, first? + line as u64 * step));
        ((0..lines).filter_map(address).collect(), watermark)
    }
}

fn piece() -> impl Strategy<Value = Piece> {
    // The shape's id has 24 bits: a header may or may not be a number of 31 bits.
    let shape = prop_oneof![1..1000_u32, 1..1_u32 << 24];
    prop_oneof![
        3 => (shape, 2..90_usize).prop_map(|(shape, words)| Piece::Object { shape, words }),
        2 => (0..ARRAYS.len(), 0..90_usize).prop_map(|(index, length)| Piece::Array(index, length)),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        4 => vec(piece(), 1).prop_map(What::Constant),
        2 => vec(piece(), 2..5).prop_map(What::Constant),
        2 => (0..ARRAYS.len(), 0..90_usize).prop_map(|(index, length)| What::Length(index, length)),
        1 => (2..90_usize).prop_map(What::Size),
    ]
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    let rest = (any::<bool>(), any_assignment(), 1000..1_u64 << 40, -700..700_i64);
    (what(), initialise(), settings(), rest).prop_map(
        |(what, initialise, settings, (avx2, assignment, top, watermark))| Case {
            what,
            initialise,
            settings,
            avx2,
            assignment,
            top: top * 8,
            watermark,
        },
    )
}

/// Replaces functions that must not be called.
pub(crate) fn not_called(_: &mut Interpreter, target: Target) {
    panic!("{target:?} was called");
}

/// Runs the fast path. Checks the prefetches, the watermark, the top and the objects.
fn check(case: &Case) {
    let sequence = case.sequence();
    let mut machine = case.machine(&sequence, case.bytes() as u64);
    let (top, watermark) = (HOT_PART + Hot::TOP_OFFSET as u64, HOT_PART + Hot::WATERMARK_OFFSET as u64);
    let (expected, raised) = case.expected(case.top, machine.word(watermark));
    assert_eq!(machine.run(&mut not_called), Exit::FellThrough);
    assert_eq!(machine.prefetches(), expected);
    assert_eq!(machine.word(watermark), raised);
    assert_eq!(machine.get(case.assignment.registers().object), case.top);
    assert_eq!(machine.word(top), case.top + case.bytes() as u64);
    case.check_objects(&machine, case.top);
    // After the check of the room, before the store of the top, as in HotSpot.
    let stored = machine.events.iter().position(|event| *event == Event::Store(top)).unwrap();
    assert!(!machine.events[stored..].iter().any(|event| matches!(event, Event::Prefetch(..))));
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn addresses_lines_instruction_and_watermark_are_the_styles(case in case()) {
        check(&case);
    }

    /// Distances and steps that HotSpot does not have.
    #[test]
    fn beyond_hotspots_ranges_the_styles_are_the_same(
        mut case in case(), distance in 0..=1_usize << 20, shift in 3..=20_u32, less in 0..8_usize,
    ) {
        let less = if case.settings.style == PrefetchStyle::Lines { 0 } else { less };
        (case.settings.distance, case.settings.step) = (distance, (1 << shift) - less);
        check(&case);
    }

    #[test]
    fn a_slow_path_prefetches_nothing(case in case()) {
        let sequence = case.sequence();
        let mut machine = case.machine(&sequence, case.bytes() as u64 - 8);
        let exit = machine.run(&mut |machine, _| {
            machine.trash();
            machine.set(case.assignment.machine.result(), 0x5000_0000);
        });
        prop_assert_eq!(exit, Exit::FellThrough);
        prop_assert_eq!(machine.prefetches(), vec![]);
    }
}

/// A thread's allocations through one sequence, buffer after buffer; the calls act as the heap
/// would.
fn over_buffers(case: &Case, buffer: u64, allocations: usize) {
    let sequence = case.sequence();
    let bytes = case.bytes() as u64;
    let at = |offset: usize| HOT_PART + offset as u64;
    let mut machine = case.machine(&sequence, 0);
    let (mut top, mut end, mut watermark) = (case.top, case.top, 0);
    let mut expected = Vec::new();
    let mut next_buffer = case.top + (1 << 20);
    for _ in 0..allocations {
        machine.set(case.assignment.registers().mutator, HOT_PART);
        if let Some(argument) = case.argument() {
            machine.set(case.assignment.input(), argument);
        }
        let start = next_buffer;
        machine.run(&mut |machine, _| {
            machine.trash();
            for (offset, value) in [
                (Hot::TOP_OFFSET, start + bytes),
                (Hot::LIMIT_OFFSET, start + buffer),
                (Hot::ZEROED_LIMIT_OFFSET, start + buffer),
                (Hot::WATERMARK_OFFSET, start),
            ] {
                machine.memory.insert(at(offset), value);
            }
            machine.set(case.assignment.machine.result(), start);
        });
        if top + bytes > end {
            (top, end, watermark) = (start + bytes, start + buffer, start);
            next_buffer += buffer + 4096;
        } else {
            let (lines, raised) = case.expected(top, watermark);
            expected.extend(lines);
            (top, watermark) = (top + bytes, raised);
        }
        assert_eq!(machine.word(at(Hot::TOP_OFFSET)), top);
        assert_eq!(machine.word(at(Hot::WATERMARK_OFFSET)), watermark);
        machine.memory.retain(|address, _| *address >= HOT_PART);
    }
    assert_eq!(machine.prefetches(), expected);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_watermark_over_buffers(mut case in case(), buffer in 800..10_000_u64) {
        case.settings.style = PrefetchStyle::Watermark;
        over_buffers(&case, buffer * 8, 2000);
    }
}

#[test]
fn a_burst_of_lines_each_time_the_top_comes_to_the_watermark() {
    MACHINES.into_iter().for_each(burst);
}

fn burst(machine: Machine) {
    // 16 bytes each, 256 ahead, 4 lines of 64: the watermark goes before the top in steps of 256.
    let case = Case {
        what: What::Constant(vec![Piece::Object { shape: 9, words: 2 }]),
        settings: PrefetchSettings {
            style: PrefetchStyle::Watermark,
            distance: 256,
            lines: 1,
            instance_lines: 4,
            step: 64,
            instruction: PrefetchInstruction::T0,
        },
        initialise: Initialise::ByCaller,
        top: 1 << 30,
        watermark: -16,
        avx2: false,
        assignment: Assignment::plain(machine),
    };
    let sequence = case.sequence();
    let mut machine = case.machine(&sequence, 1 << 16);
    machine.memory.insert(HOT_PART + Hot::WATERMARK_OFFSET as u64, 1 << 30);
    for _ in 0..64 {
        machine.set(case.assignment.registers().mutator, HOT_PART);
        machine.run(&mut not_called);
    }
    let lines: Vec<u64> = machine.prefetches().iter().map(|(_, address)| address - (1 << 30)).collect();
    // At the first object, and where the top reaches 256, 512 and so on, that included.
    let expected: Vec<u64> = [256, 512, 768, 1024, 1280]
        .into_iter()
        .flat_map(|from| (0..4).map(move |line| from + 64 * line))
        .collect();
    assert_eq!(lines, expected);
}
