//! A naive account of the heap: the state of each region, the owner of each word, a list of spares.
//!
//! The account makes no choices. It judges: memory that the free set handed out was available, and
//! memory that it did not find was not.

use super::*;
use proptest::sample::Index;

/// The data of a piece that its holder has.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: usize,
    end: usize,
    /// It begins with a filler's header until its holder writes over it.
    was_spare: bool,
}

pub(super) struct Oracle {
    pub(super) free: FreeSet<Arc<Memory>>,
    pub(super) memory: Arc<Memory>,
    states: Vec<State>,
    /// Per word: part of a buffer at some time since its region was committed.
    handed_out: Vec<bool>,
    pieces: Vec<Piece>,
    spares: Vec<Vec<(usize, usize)>>,
    exclusive: Vec<usize>,
    runs: Vec<Carve>,
}

impl Oracle {
    pub(super) fn new(region_bytes: usize, regions: usize, homes: usize, mode: RefillStrategy) -> Oracle {
        let (free, memory) = heap(region_bytes, regions, homes, mode);
        Oracle {
            states: vec![State::Uncommitted; regions],
            handed_out: vec![false; regions * region_bytes / WORD],
            pieces: Vec::new(),
            spares: vec![Vec::new(); homes],
            exclusive: Vec::new(),
            runs: Vec::new(),
            free,
            memory,
        }
    }

    fn region_bytes(&self) -> usize {
        self.memory.region_bytes
    }

    fn bottom(&self, index: usize) -> usize {
        BASE + index * self.region_bytes()
    }

    fn allowance(&self) -> usize {
        self.memory.allowance.load(Ordering::Relaxed)
    }

    fn refusals(&self) -> usize {
        self.memory.refusals.load(Ordering::Relaxed)
    }

    fn count(&self, state: State) -> usize {
        self.states.iter().filter(|&&each| each == state).count()
    }

    /// The address after the last owned word of the region. The free set counts as the owner of
    /// spares.
    fn top(&self, index: usize) -> usize {
        let (bottom, end) = (self.bottom(index), self.bottom(index + 1));
        let owned =
            |&word: &usize| self.memory.words(word, word + WORD)[0].load(Ordering::Relaxed) & OWNED != 0;
        (bottom..end).step_by(WORD).rev().find(owned).map_or(bottom, |word| word + WORD)
    }

    /// Whether a shared region has a hole of `min` bytes, or one can be had.
    fn has_room(&self, min: usize) -> bool {
        let hole = |index: usize| {
            self.states[index] == State::Shared && self.bottom(index + 1) - self.top(index) >= min
        };
        (0..self.states.len()).any(hole) || self.has_region()
    }

    fn has_region(&self) -> bool {
        self.count(State::Free) > 0 || self.count(State::Uncommitted) > 0 && self.allowance() > 0
    }

    /// Checks that `piece` describes its memory correctly and is no larger than needed. It has an
    /// owner from now on.
    fn hand_out(&mut self, piece: Carve, region_end: usize) {
        self.memory.check(piece);
        let word = |address: usize| (address - BASE) / WORD;
        if !self.handed_out[word(piece.start)..word(region_end)].contains(&true) {
            assert_eq!(piece.dirty, piece.start, "the memory was never handed out");
        }
        self.handed_out[word(piece.start)..word(piece.end)].fill(true);
        self.memory.claim(piece.start, piece.end);
    }

    pub(super) fn allocate(&mut self, home: usize, min: usize, desired: usize) -> bool {
        let (room, region_left) = (self.has_room(min), self.count(State::Free) > 0);
        let Some(piece) = allocate(&self.free, home, min, desired) else {
            assert!(!room, "{min} bytes were there");
            let spare = self.spares.iter().flatten().find(|(start, end)| end - start >= min);
            assert!(spare.is_none(), "{min} bytes were there in a spare");
            return false;
        };
        let (start, end) = (piece.start, piece.end);
        if let Some(home) = self.spares.iter().position(|spares| spares.contains(&(start, end))) {
            assert!(!room, "a spare is the last resort");
            self.took_spare(home, min, piece);
            return true;
        }
        let index = (start - BASE) / self.region_bytes();
        let region_end = self.bottom(index + 1);
        match self.states[index] {
            State::Uncommitted => assert!(!region_left, "a committed region was left"),
            State::Free | State::Shared => {}
            state => panic!("region {index} is {state:?}"),
        }
        assert_eq!(start, self.top(index), "a hole stays");
        let exact = end - start == desired;
        assert!(exact || min < desired && end == region_end, "{piece:x?} for {min} to {desired} bytes");
        assert!(exact || end - start >= min && end - start < desired + MIN_OBJECT_BYTES);
        self.states[index] = State::Shared;
        self.hand_out(piece, region_end);
        self.pieces.push(Piece { start, end, was_spare: false });
        true
    }

    pub(super) fn extend(&mut self, choice: Index, min: usize, desired: usize) {
        let count = self.pieces.len();
        if count == 0 {
            return;
        }
        let end = self.pieces[choice.index(count)].end;
        let index = (end - WORD - BASE) / self.region_bytes();
        let region_end = self.bottom(index + 1);
        let last = self.top(index) == end && region_end - end >= min;
        let expected = last && !self.free.refill_lock.is_used();
        let longer = self.free.extend(end, min, desired, &mut Attempts::default());
        assert_eq!(longer.is_some(), expected);
        let Some(piece) = longer else { return };
        assert_eq!(piece.start, end);
        let bytes = piece.end - piece.start;
        assert!(bytes == desired || min < desired && piece.end == region_end && bytes >= min);
        self.hand_out(piece, region_end);
        self.pieces.push(Piece { start: piece.start, end: piece.end, was_spare: false });
    }

    fn took_spare(&mut self, home: usize, min: usize, piece: Carve) {
        let place = self.spares[home].iter().position(|&spare| spare == (piece.start, piece.end));
        self.spares[home].swap_remove(place.expect("it was remembered there"));
        assert!(piece.end - piece.start >= min);
        self.memory.check(piece);
        self.pieces.push(Piece { start: piece.start, end: piece.end, was_spare: true });
    }

    pub(super) fn take_spare(&mut self, home: usize, min: usize) {
        match self.free.take_spare(home, min) {
            Some(piece) => self.took_spare(home, min, piece),
            None => assert!(self.spares[home].iter().all(|(start, end)| end - start < min)),
        }
    }

    /// Chooses a piece and writes its first words. Returns the piece without its tail.
    fn write_some(&mut self, choice: Index, used: usize) -> Option<(Piece, usize)> {
        let count = self.pieces.len();
        let piece = self.pieces.swap_remove((count > 0).then(|| choice.index(count))?);
        let used = used.max(usize::from(piece.was_spare));
        let tail = (piece.start + used * WORD).min(piece.end);
        self.memory.write(piece.start, tail);
        Some((piece, tail))
    }

    pub(super) fn undo(&mut self, choice: Index, used: usize) {
        let Some((piece, tail)) = self.write_some(choice, used) else { return };
        let last = tail < piece.end && self.top((piece.start - BASE) / self.region_bytes()) == piece.end;
        assert_eq!(self.free.undo(tail, piece.end), last);
        if last {
            self.memory.release(tail, piece.end);
        }
    }

    pub(super) fn give_spare(&mut self, choice: Index, used: usize, home: usize) {
        let Some((piece, tail)) = self.write_some(choice, used) else { return };
        if tail < piece.end {
            self.memory.write(tail, tail + WORD);
        }
        if self.free.give_spare(home, tail, piece.end) {
            assert!(piece.end - tail >= MIN_SPARE_BYTES);
            self.spares[home].push((tail, piece.end));
        } else {
            assert!(piece.end - tail < MIN_SPARE_BYTES || self.spares[home].len() == 4);
        }
    }

    pub(super) fn take_region(&mut self, home: usize) {
        let (room, region_left) = (self.has_region(), self.count(State::Free) > 0);
        let Some(index) = self.free.take_region(home) else {
            assert!(!room, "there was one");
            return;
        };
        assert_eq!(self.states[index], if region_left { State::Free } else { State::Uncommitted });
        self.states[index] = State::Exclusive;
        self.exclusive.push(index);
    }

    /// Chooses a region with one owner and fills `words` words of it.
    fn fill(&mut self, choice: Index, words: usize) -> Option<(usize, usize)> {
        let count = self.exclusive.len();
        let index = self.exclusive.swap_remove((count > 0).then(|| choice.index(count))?);
        let (bottom, end) = (self.bottom(index), self.bottom(index + 1));
        let region = self.free.table().get(index);
        let top = bottom + words * WORD;
        region.set_top(top);
        if words > 0 {
            self.hand_out(Carve { start: bottom, end: top, dirty: region.dirty().clamp(bottom, top) }, end);
            self.memory.write(bottom, top);
        }
        Some((index, top))
    }

    pub(super) fn share(&mut self, choice: Index, words: usize) {
        let Some((index, _)) = self.fill(choice, words) else { return };
        self.free.share_region(index);
        self.states[index] = State::Shared;
    }

    pub(super) fn give(&mut self, choice: Index, words: usize, home: usize) {
        let Some((index, top)) = self.fill(choice, words) else { return };
        self.memory.release(self.bottom(index), top);
        self.free.give_region(index, home);
        self.states[index] = State::Free;
    }

    /// The highest run of `regions` regions in one of `states`.
    fn highest_run(&self, regions: usize, states: &[State]) -> Option<usize> {
        let fits =
            |&start: &usize| self.states[start..start + regions].iter().all(|state| states.contains(state));
        (0..=self.states.len().checked_sub(regions)?).rev().find(fits)
    }

    pub(super) fn humongous(&mut self, home: usize, bytes: usize) {
        let regions = bytes.div_ceil(self.region_bytes());
        let expected = self.highest_run(regions, &[State::Free, State::Uncommitted]);
        let refusals = self.refusals();
        let run = self.free.allocate_humongous(home, bytes);
        let refused = self.refusals() > refusals;
        // A failed claim leaves its committed regions committed.
        for (state, committed) in self.states.iter_mut().zip(&self.memory.committed) {
            if *state == State::Uncommitted && committed.load(Ordering::Relaxed) {
                *state = State::Free;
            }
        }
        let start = run.map(|run| (run.start - BASE) / self.region_bytes());
        if refused {
            assert_eq!(start, self.highest_run(regions, &[State::Free]));
        } else {
            assert_eq!(start, expected);
        }
        let (Some(run), Some(start)) = (run, start) else { return };
        assert_eq!((run.start, run.end), (self.bottom(start), self.bottom(start) + bytes));
        assert_eq!(self.free.object_end(start), run.end);
        self.states[start] = State::HumongousStart;
        self.states[start + 1..start + regions].fill(State::HumongousContinuation);
        self.hand_out(run, self.bottom(start + regions));
        self.runs.push(run);
    }

    pub(super) fn give_humongous(&mut self, choice: Index) {
        if self.runs.is_empty() {
            return;
        }
        let run = self.runs.swap_remove(choice.index(self.runs.len()));
        let start = (run.start - BASE) / self.region_bytes();
        self.memory.write(run.start, run.end);
        self.memory.release(run.start, run.end);
        self.free.give_humongous(start);
        let regions = (run.end - run.start).div_ceil(self.region_bytes());
        self.states[start..start + regions].fill(State::Free);
    }

    pub(super) fn commit_ahead(&mut self, bytes: usize) {
        let wanted = bytes.div_ceil(self.region_bytes()).min(self.states.len());
        let committed = self.states.len() - self.count(State::Uncommitted);
        let (missing, allowance) = (wanted.saturating_sub(committed), self.allowance());
        assert_eq!(self.free.commit_ahead(bytes), missing <= allowance);
        let untouched = self.states.iter_mut().filter(|state| **state == State::Uncommitted);
        untouched.take(missing.min(allowance)).for_each(|state| *state = State::Free);
    }

    pub(super) fn uncommit(&mut self) {
        let stubborn = self.memory.stubborn.load(Ordering::Relaxed);
        let regions = if stubborn { 0 } else { self.count(State::Free) };
        assert_eq!(self.free.uncommit_free(), regions * self.region_bytes());
        let words = self.region_bytes() / WORD;
        for (state, handed_out) in self.states.iter_mut().zip(self.handed_out.chunks_mut(words)) {
            if *state == State::Free && !stubborn {
                *state = State::Uncommitted;
                handed_out.fill(false);
            }
        }
    }

    pub(super) fn reset(&mut self) {
        self.memory.abandon();
        self.free.reset();
        self.states
            .iter_mut()
            .filter(|state| **state != State::Uncommitted)
            .for_each(|state| *state = State::Free);
        self.pieces.clear();
        self.spares.iter_mut().for_each(Vec::clear);
        self.exclusive.clear();
        self.runs.clear();
    }

    /// The account and the free set agree on every region.
    pub(super) fn agree(&self) {
        self.free.verify().unwrap();
        for (index, &state) in self.states.iter().enumerate() {
            assert_eq!(self.free.table().get(index).state(), state, "region {index}");
            let committed = self.memory.committed[index].load(Ordering::Relaxed);
            assert_eq!(committed, state != State::Uncommitted, "region {index}");
        }
        assert_eq!(self.free.occupancy().used_bytes, self.memory.owned_bytes());
        let used = |&index: &usize| !matches!(self.states[index], State::Uncommitted | State::Free);
        assert!(self.free.in_use().eq((0..self.states.len()).filter(used)));
        assert_eq!(self.free.committed_regions(), self.states.len() - self.count(State::Uncommitted));
        assert_eq!(self.free.commit_failures(), self.refusals());
        let remembered: usize = self.spares.iter().map(Vec::len).sum();
        assert_eq!(self.free.spares().count(), remembered);
    }
}
