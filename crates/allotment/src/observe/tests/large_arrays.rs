//! Programs of mixed large arrays that fill nearly all of the heap. Free memory is then seldom in
//! one piece and must be brought together.

use super::{COLLECTORS, heap, verified};
use crate::Heap;
use crate::mutator::{Mutator, OutOfMemory, Pin, RootHandle};
use crate::object::{Element, LENGTH_OFFSET, Shape, ShapeRef, SlotKind, reference};
use crate::stress_seed;
use std::ptr::NonNull;

const REGION: usize = 4096;
const REGIONS: usize = 240;

/// Bytes before the slots of an array; the last word of them is its number.
const FIXED: usize = 24;

/// Numbers in no order (xorshift), from a seed other than 0.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// An array that lives.
struct Array {
    root: RootHandle,
    number: u64,
    length: usize,
    /// Regions that nothing else can have.
    regions: usize,
}

/// An array of this many slots, of which the first and the last refer to itself.
fn array(
    mutator: &mut Mutator<'_>,
    shape: ShapeRef,
    number: u64,
    length: usize,
) -> Result<Array, OutOfMemory> {
    // SAFETY: the shape is the heap's, and all its slots are written.
    let root = unsafe {
        let new = mutator.raw_mut().alloc_raw(shape, length)?;
        new.byte_add(FIXED - 8).cast::<u64>().write(number);
        for slot in 0..length {
            let bits = if slot == 0 || slot == length - 1 { new.addr().get() as u64 } else { 1 };
            mutator.raw().store(new.byte_add(FIXED + slot * 8).cast().as_ptr(), bits);
        }
        mutator.raw().new_root(new.addr().get() as u64)
    };
    let regions = (FIXED + length * 8).div_ceil(REGION);
    Ok(Array { root, number, length, regions })
}

/// It is where its root says, and as it was made.
fn check(mutator: &Mutator<'_>, array: &Array) {
    let bits = array.root.get(mutator).expect("of this heap");
    let address = reference(bits).expect("it is alive");
    // SAFETY: words of a live array.
    let plain = |offset: usize| unsafe { ((address + offset) as *const u64).read() };
    assert_eq!(plain(FIXED - 8), array.number, "at {address:#x}");
    assert_eq!(plain(LENGTH_OFFSET), array.length as u64, "of array {}", array.number);
    // SAFETY: slots of it.
    let word = |offset: usize| unsafe { mutator.raw().load((address + offset) as *const u64) };
    for slot in [0, array.length - 1] {
        assert_eq!(word(FIXED + slot * 8), bits, "slot {slot} of array {}", array.number);
    }
    for slot in 1..array.length - 1 {
        assert_eq!(word(FIXED + slot * 8), 1, "slot {slot} of array {}", array.number);
    }
}

/// Makes arrays of half a region to 20 of them, and lets others go at random where more than
/// `percent` of the regions would be taken. Each time there is room enough; it need not be in one
/// piece. The runs that moved.
fn replace_at_random(heap: &Heap, seed: u64, percent: usize, steps: u64, with_pin: bool) -> usize {
    let shape = Shape::array("Array", FIXED, Element::Reference(SlotKind::Strong));
    let shape = heap.register(shape).expect("a shape");
    let mut random = Random(seed);
    let mut moved = 0;
    heap.attach(|mutator| {
        let mut alive: Vec<Array> = Vec::new();
        let (mut taken, mut seen) = (0, 0);
        let pinned: Option<(Array, Pin)> = with_pin.then(|| {
            let array = array(mutator, shape, u64::MAX >> 1, 3 * REGION / 8).expect("the heap is empty");
            taken += array.regions;
            let address = array.root.get(mutator).expect("of this heap");
            // SAFETY: a live array.
            let pin = unsafe { mutator.raw().pin(NonNull::new(address as *mut u8).expect("an address")) };
            (array, pin)
        });
        for number in 1..=steps {
            // Of each size alike, counted in regions: most are large then.
            let bytes = REGION / 2 + random.below(39 * REGION / 2);
            let length = (bytes - FIXED) / 8;
            let regions = (FIXED + length * 8).div_ceil(REGION);
            while taken + regions > REGIONS * percent / 100 {
                taken -= alive.swap_remove(random.below(alive.len())).regions;
            }
            match array(mutator, shape, number, length) {
                Ok(array) => alive.push(array),
                Err(error) => panic!("array {number}, {regions} regions, {taken} are taken: {error}"),
            }
            taken += regions;
            check(mutator, &alive[random.below(alive.len())]);
            let collections = heap.collections();
            let new = (collections.count - seen) as usize;
            seen = collections.count;
            let full = collections.recent.iter().rev().take(new).filter_map(|record| record.full());
            moved += full.map(|full| full.runs_moved).sum::<usize>();
        }
        for array in alive.iter().chain(pinned.as_ref().map(|(array, _)| array)) {
            check(mutator, array);
        }
        if let Some((array, pin)) = &pinned {
            assert_eq!(array.root.get(mutator), Some(pin.object().addr().get() as u64), "it is pinned");
        }
    })
    .expect("not attached");
    heap.verify().expect("a heap in order");
    moved
}

/// Seeds of the programs.
fn seeds() -> [u64; 2] {
    [0x9E37_79B9, 0x1234_5678].map(stress_seed::of_part)
}

/// Regression: a humongous object never moved, and such a program ran out of memory with a tenth of
/// the heap and more free.
#[test]
fn mixed_large_arrays_have_room_as_long_as_the_heap_has() {
    for seed in seeds() {
        for (collector, workers, percent) in
            COLLECTORS.into_iter().flat_map(|kind| [(kind, 1, 80), (kind, 2, 90), (kind, 3, 85)])
        {
            // Shown if the test fails.
            println!("seed {seed} {collector} workers {workers} percent {percent}");
            let options = format!("Collector={collector},ParallelGCThreads={workers}");
            let heap = heap(REGION, REGIONS, &options);
            let moved = replace_at_random(&heap, seed, percent, 400, workers == 2);
            assert!(moved > 0, "room was found without");
        }
    }
}

#[test]
fn mixed_large_arrays_under_zeal_and_the_verifier() {
    let modes = [
        "ParallelGCThreads=1,+ZealPoison",
        "ParallelGCThreads=2,+ZealMove,+ZealPoison",
        "ParallelGCThreads=3,+ZealPoison,ZealInterval=3",
        "ParallelGCThreads=3,+ZealMove,ZealQuarantine=2,+ZealProtect",
        "ParallelGCThreads=2,UncommitDelay=0,+ZealPoison",
    ];
    // Cycles beside the thread may make room before a run has to move: not in each run of it.
    let mut beside = 0;
    let collectors = COLLECTORS.into_iter().chain(["shenandoah,ShenandoahGCMode=passive"]);
    for (seed, collector) in collectors.flat_map(|kind| seeds().into_iter().map(move |seed| (seed, kind))) {
        for mode in modes {
            println!("seed {seed} {collector} {mode}");
            let heap = heap(REGION, REGIONS, &verified(&format!("Collector={collector},{mode}")));
            let moved = replace_at_random(&heap, seed, 85, 60, true);
            beside += if collector == "shenandoah" { moved } else { 0 };
            assert!(moved > 0 || collector == "shenandoah", "room was found without");
        }
    }
    assert!(beside > 0, "room was always found without");
}
