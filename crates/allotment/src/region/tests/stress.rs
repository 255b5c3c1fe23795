//! Real threads on tiny regions; a side table of one byte per word knows every owner.

use super::*;
use crate::stress_seed;
use std::thread;

const REGION: usize = 512;
const REGIONS: usize = 48;
const THREADS: u64 = 6;

/// Marsaglia's xorshift. No two runs of threads interleave alike, so a seed would repeat nothing
/// else.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % bound
    }

    /// Bytes: whole words, from `min` to `max`.
    fn bytes(&mut self, min: usize, max: usize) -> usize {
        min + self.below((max - min) / WORD + 1) * WORD
    }
}

/// A thread, and the pieces it holds.
struct Worker<'a> {
    free: &'a FreeSet<Arc<Memory>>,
    memory: &'a Memory,
    random: Random,
    home: usize,
    pieces: Vec<Carve>,
}

impl Worker<'_> {
    fn hold(&mut self, piece: Carve) {
        self.memory.claim(piece.start, piece.end);
        self.memory.check(piece);
        self.pieces.push(piece);
    }

    fn step(&mut self) {
        match self.random.below(26) {
            0..10 => self.allocate(),
            10..13 => self.undo(),
            13..16 => self.give_spare(),
            16..18 => {
                let min = self.random.bytes(16, 128);
                if let Some(piece) = self.free.take_spare(self.home, min) {
                    self.hold(piece);
                }
            }
            18..21 => self.use_region(),
            21..23 => self.use_run(),
            23..25 => self.extend(),
            _ => assert!(self.free.uncommit_free().is_multiple_of(REGION)),
        }
    }

    fn allocate(&mut self) {
        let min = self.random.bytes(16, 96);
        let desired = self.random.bytes(min, REGION / 2);
        if let Some(piece) = allocate(self.free, self.home, min, desired) {
            assert!(piece.end - piece.start >= min);
            self.hold(piece);
        }
    }

    fn extend(&mut self) {
        let Some(end) = self.pieces.last().map(|piece| piece.end) else { return };
        let min = self.random.bytes(16, 96);
        let desired = self.random.bytes(min, REGION / 2);
        if let Some(piece) = self.free.extend(end, min, desired, &mut Attempts::default()) {
            assert!(piece.start == end && piece.end - end >= min);
            self.hold(piece);
        }
    }

    /// Takes the last piece, uses some of it, and gives up the tail.
    fn let_tail_go(&mut self) -> Option<(usize, usize)> {
        let piece = self.pieces.pop()?;
        let tail = self.random.bytes(piece.start + WORD, piece.end);
        self.memory.write(piece.start, tail);
        (tail < piece.end).then(|| {
            self.memory.release(tail, piece.end);
            (tail, piece.end)
        })
    }

    fn undo(&mut self) {
        if let Some((start, end)) = self.let_tail_go()
            && !self.free.undo(start, end)
        {
            self.memory.claim(start, end);
        }
    }

    fn give_spare(&mut self) {
        if let Some((start, end)) = self.let_tail_go() {
            self.memory.write(start, start + WORD);
            if !self.free.give_spare(self.home, start, end) {
                self.memory.claim(start, end);
            }
        }
    }

    fn use_region(&mut self) {
        let Some(index) = self.free.take_region(self.home) else { return };
        let table = self.free.table();
        let (bottom, end) = (table.bottom(index), table.end(index));
        self.memory.claim(bottom, end);
        let top = self.random.bytes(bottom, end);
        self.memory.check(Carve { start: bottom, end, dirty: table.get(index).dirty() });
        table.get(index).set_top(top);
        self.memory.write(bottom, top);
        if self.random.below(4) == 0 {
            self.memory.release(top, end);
            self.free.share_region(index);
        } else {
            self.memory.release(bottom, end);
            self.free.give_region(index, self.home);
        }
    }

    fn use_run(&mut self) {
        let bytes = self.random.bytes(REGION + WORD, 6 * REGION);
        let Some(run) = self.free.allocate_humongous(self.home, bytes) else { return };
        self.memory.claim(run.start, run.end);
        self.memory.check(run);
        self.memory.write(run.start, run.end);
        self.memory.release(run.start, run.end);
        self.free.give_humongous(self.free.table().index_of(run.start));
    }
}

/// Runs a worker on each thread.
fn on_threads(free: &FreeSet<Arc<Memory>>, memory: &Memory, round: u64, body: impl Fn(Worker<'_>) + Sync) {
    let seed = stress_seed::of_part(round);
    thread::scope(|scope| {
        for number in 1..=THREADS {
            let home = number as usize % free.homes();
            let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number << 32 | 1);
            let worker = Worker { free, memory, random, home, pieces: Vec::new() };
            scope.spawn(|| body(worker));
        }
    });
}

/// Nothing was lost: the threads' pieces and the spares make up the used memory, and all other
/// memory can be taken.
fn assert_accounted(free: &FreeSet<Arc<Memory>>, memory: &Memory) {
    free.verify().unwrap();
    let spares: usize = free.spares().map(|spare| spare.end - spare.start).sum();
    assert_eq!(free.occupancy().used_bytes, memory.owned_bytes() + spares);
    while let Some(piece) = allocate(free, 0, MIN_OBJECT_BYTES, MIN_OBJECT_BYTES) {
        memory.claim(piece.start, piece.end);
    }
    let table = free.table();
    assert!((0..table.len()).all(|index| table.get(index).state() == State::Shared && !free.has_room(index)));
    free.verify().unwrap();
}

#[test]
fn no_word_has_two_owners_and_none_is_lost() {
    for mode in [RefillStrategy::Cas, RefillStrategy::Lock] {
        for homes in [1, 3] {
            let (free, memory) = heap(REGION, REGIONS, homes, mode);
            for round in 0..60 {
                on_threads(&free, &memory, round, |mut worker| (0..300).for_each(|_| worker.step()));
                assert_accounted(&free, &memory);
                memory.abandon();
                free.reset();
                free.verify().unwrap();
            }
        }
    }
}

#[test]
fn once_a_thread_finds_the_heap_full_it_is_full_for_all() {
    for mode in [RefillStrategy::Cas, RefillStrategy::Lock] {
        for homes in [1, 2, 6] {
            let (free, memory) = heap(REGION, REGIONS, homes, mode);
            for round in 0..150 {
                let full = AtomicBool::new(false);
                on_threads(&free, &memory, round, |mut worker| {
                    loop {
                        let was_full = full.load(Ordering::SeqCst);
                        let desired = worker.random.bytes(MIN_OBJECT_BYTES, REGION);
                        let Some(piece) = allocate(&free, worker.home, MIN_OBJECT_BYTES, desired) else {
                            break;
                        };
                        assert!(!was_full, "another thread was told that there is no memory");
                        worker.hold(piece);
                    }
                    full.store(true, Ordering::SeqCst);
                });
                assert_accounted(&free, &memory);
                memory.abandon();
                free.reset();
                if round % 4 == 0 {
                    free.uncommit_free();
                }
            }
        }
    }
}
