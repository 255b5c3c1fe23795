//! Random programs leave the same heap, whether emitted code allocates or the library.

use super::emitted::Emitted;
use super::kit::{cases, host_assignment, initialise, settings};
use super::library::Library;
use super::program::{ARRAYS, Function, Outcome, Piece, Program, Step, What};
use allotment::raw::Hot;
use allotment_jit::MAX_INLINE_BYTES;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options under which rare events are common. Regions have 256 KiB, except in the last set.
const BUFFERS: &[&str] = &[
    "TLABDecayTime=1",
    // Listed more than once, because its emitted code has more paths.
    "-UseTLAB",
    "-UseTLAB",
    "-UseTLAB",
    "-UseTLAB,RefillStrategy=lock",
    "RefillStrategy=lock,MinTLABSize=256,TLABSize=512,TLABDecayTime=1000000000",
    "MinTLABSize=64,TLABSize=64,MaxTLABSize=512,TLABDecayTime=3",
    "MinTLABSize=128,TLABSize=512,ZeroWindowSize=64,TLABDecayTime=1000000000",
    "MinTLABSize=256,TLABSize=512,+ZeroTLAB,TLABDecayTime=1000000000",
    "MinTLABSize=8k,TLABSize=16k,ZeroWindowSize=64,TLABDecayTime=1000000000",
    "-ResizeTLAB,MinTLABSize=256,TLABSize=1k,TLABRefillWasteFraction=1",
    "TLABPolicy=hotspot,MinTLABSize=256,TLABSize=512,MaxTLABSize=1112,TLABRefillWasteFraction=1",
    "TLABPolicy=hotspot-8381834,MinTLABSize=256,TLABWasteIncrement=0",
    "TLABPolicy=shenandoah,MinTLABSize=64,ZeroWindowSize=128",
    "TLABPolicy=shenandoah-8359947,MinTLABSize=64",
    "TLABPolicy=epsilon,TLABDecayTime=2,MinTLABSize=64,TLABSize=2k,TLABElasticity=1.5",
    "MaxHeapSize=40m,RegionSize=4m,TLABSize=4m,MinTLABSize=4m,-ResizeTLAB",
];

/// One thread collects. `-CollectWhenIdle`, because another thread would check by the system's time
/// whether this one idles.
const COLLECTORS: &[&str] = &[
    "Collector=epsilon",
    "Collector=epsilon,ZealOutOfMemory=7",
    "Collector=mark-compact,ParallelGCThreads=1",
    "Collector=mark-compact,ParallelGCThreads=1,ZealInterval=3",
    "Collector=parallel,-CollectWhenIdle,ParallelGCThreads=1",
    "Collector=parallel,-CollectWhenIdle,ParallelGCThreads=1,NewSize=512k,MaxNewSize=512k",
    "Collector=parallel,-CollectWhenIdle,ParallelGCThreads=1,ZealInterval=1,NewSize=256k,MaxNewSize=256k",
    "Collector=parallel,-CollectWhenIdle,ParallelGCThreads=1,ZealInterval=5,ZealSeed=9,NewSize=768k,MaxNewSize=768k",
];

fn options() -> impl Strategy<Value = String> {
    let select = |options| prop::sample::select::<&str>(options);
    (select(BUFFERS), select(COLLECTORS)).prop_map(|(buffers, collector)| format!("{collector},{buffers}"))
}

fn fixed_bytes() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => prop::sample::select(vec![16_usize, 24, 32, 40, 48, 64, 144]),
        6 => (2..130_usize).prop_map(|words| words * 8),
        2 => (2..520_usize).prop_map(|words| words * 8),
        1 => prop::sample::select(vec![30_000_usize, 262_144, 262_152, 600_000]),
    ]
}

fn piece(fixed: usize) -> impl Strategy<Value = Piece> {
    prop_oneof![
        (0..fixed).prop_map(Piece::Fixed),
        (0..ARRAYS.len(), 0..120_usize).prop_map(|(index, length)| Piece::Array(index, length)),
    ]
}

fn what(fixed: usize) -> impl Strategy<Value = What> {
    let folded = vec(prop_oneof![(0..fixed.min(3)).prop_map(Piece::Fixed), piece(3)], 2..=4);
    prop_oneof![
        3 => piece(fixed).prop_map(|piece| What::Constant(vec![piece])),
        2 => folded.prop_map(What::Constant),
        3 => (0..ARRAYS.len()).prop_map(What::LengthIn),
        2 => (0..ARRAYS.len()).prop_map(What::SizeIn),
    ]
}

fn function(fixed: usize) -> impl Strategy<Value = Function> {
    let flags = (any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.8));
    (what(fixed), initialise(), settings(), host_assignment(), flags).prop_map(
        |(what, initialise, settings, assignment, (features, stub, past_buffers))| Function {
            what,
            initialise,
            settings,
            features,
            assignment,
            stub,
            past_buffers,
        },
    )
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        20 => 0..150_usize,
        6 => 0..4_000_usize,
        2 => 10_000..300_000_usize,
        // Sizes just below and just above the inline limit, for elements of 1 and of 8 bytes.
        1 => MAX_INLINE_BYTES - 48..MAX_INLINE_BYTES + 16,
        1 => MAX_INLINE_BYTES / 8 - 6..MAX_INLINE_BYTES / 8 + 2,
        1 => prop::sample::select(vec![1 << 32, 1 << 45, 1 << 60, usize::MAX / 8, usize::MAX - 7, usize::MAX]),
    ]
}

fn step(functions: usize) -> impl Strategy<Value = Step> {
    let times = prop_oneof![3 => Just(1_usize), 2 => 1..20_usize, 1 => 50..200_usize];
    prop_oneof![
        20 => (0..functions, length(), times).prop_map(|(function, length, times)| {
            let times = if length > 9_000 { times.min(4) } else { times };
            Step::Allocate { function, length, times }
        }),
        2 => prop_oneof![Just(0_usize), 1..50_usize, 100..20_000_usize].prop_map(Step::Interval),
        2 => Just(Step::Request),
        1 => Just(Step::Safepoint),
        1 => Just(Step::Collect),
        1 => Just(Step::Reattach),
        1 => Just(Step::Reset),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    let shapes = vec(fixed_bytes(), 3..8);
    let parts = shapes.prop_flat_map(|fixed| {
        let functions = vec(function(fixed.len()), 1..9);
        (Just(fixed), functions)
    });
    (options(), parts).prop_flat_map(|(options, (fixed, functions))| {
        let steps = vec(step(functions.len()), 1..60);
        (Just(options), Just(fixed), Just(functions), steps).prop_map(|(options, fixed, functions, steps)| {
            Program { options, fixed, functions, steps }.inline()
        })
    })
}

impl Program {
    /// The program without objects that make a bump too large to be in line.
    fn inline(mut self) -> Program {
        let fixed = &self.fixed;
        let small = |piece: &Piece| !matches!(piece, Piece::Fixed(index) if fixed[*index] > 100_000);
        for function in &mut self.functions {
            if let What::Constant(pieces) = &mut function.what
                && pieces.len() > 1
            {
                pieces.retain(small);
                pieces.push(Piece::Array(0, 5));
            }
        }
        self
    }
}

/// Of all programs: allocations, those on the fast path, those past buffers in line, those that
/// failed.
static TAKEN: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

/// Runs the program in both ways. Returns the observations of each.
fn both(program: &Program) -> [Outcome; 2] {
    let (heap, kit) = program.heap();
    let mut way = Emitted::new(program, kit.clone());
    let emitted = program.run(&heap, &kit, &mut way);
    for (taken, now) in TAKEN.iter().zip([emitted.seen.len(), way.fast, way.past, way.no_room]) {
        taken.fetch_add(now, Ordering::Relaxed);
    }
    let (heap, kit) = program.heap();
    let library = program.run(&heap, &kit, &mut Library { program, kit: kit.clone() });
    [emitted, library]
}

fn compare(program: &Program) {
    let [emitted, library] = both(program);
    for (index, (emitted, library)) in emitted.seen.iter().zip(&library.seen).enumerate() {
        assert_eq!(emitted, library, "step {index}, emitted and library");
    }
    assert_eq!((emitted.censuses, emitted.totals), (library.censuses, library.totals));
    assert_eq!(emitted.used_bytes, library.used_bytes);
    assert_eq!(emitted.seen.len(), library.seen.len());
}

#[test]
fn emitted_code_and_the_library_leave_the_same_heap() {
    proptest!(cases(500), |(program in program())| {
        compare(&program);
    });
    // The programs prove nothing if they only take one path. A few of them may do so.
    let [all, fast, past, no_room] = TAKEN.each_ref().map(|taken| taken.load(Ordering::Relaxed));
    let takes_all = fast > all / 10 && fast < all && past > all / 100 && no_room > 0;
    assert!(
        takes_all || cases(500).cases < 500,
        "{fast} of {all} fast, {past} past buffers, {no_room} without room"
    );
}

/// The layout that the tests read.
#[test]
fn the_layout_is_the_one_of_this_version() {
    assert_eq!(Hot::VERSION, 6);
}
