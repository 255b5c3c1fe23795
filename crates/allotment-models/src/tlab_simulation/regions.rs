//! The simulated heap: regions that are numbers, handed out as the heap's free set hands them out.
//!
//! ```text
//! a refill:  the memory after the buffer, if nobody took it       extend
//!            a tail that another thread left on this CPU          take_spare
//!            the region in the slot of this CPU, then a free one  allocate
//!            when none is free: the rest of any region            allocate
//! ```
//!
//! Nothing lies in the memory. So a heap of 512 GiB is a table of 16,384 rows.
//!
//! Refused: the heap's own free set with memory that nobody maps. It is made for threads that race,
//! and hides what the simulator has to count: to whom each byte went.

use std::collections::BTreeSet;

/// The smallest object, in bytes: a smaller rest is of no use.
const LEAST: u64 = 16;

/// Tails that a CPU remembers, and the least that is worth it, in bytes: as the heap's `Spares`.
const SPARES: usize = 4;
const LEAST_SPARE: u64 = 1024;

/// A number that no region has.
const NONE: u32 = u32::MAX;

/// The users of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionState {
    /// Nobody yet.
    Free,
    /// All threads take memory from it.
    Shared,
    /// It holds what a collection found alive, and no thread takes memory from it.
    Live,
}

/// A region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) state: RegionState,
    /// Bytes handed out.
    pub(super) top: u64,
    /// `top` when the cycle that is under way began to mark; `u64::MAX` if the region was not in
    /// use.
    pub(super) border: u64,
    /// Bytes of objects that all threads had allocated when a thread last took or left memory here.
    pub(super) age_mark: u64,
}

impl Region {
    const FREE: Region = Region { state: RegionState::Free, top: 0, border: u64::MAX, age_mark: 0 };
}

/// A piece of a region, `[start, end)` in bytes from the region's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) region: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Piece {
    /// Its length in bytes.
    pub(super) const fn bytes(self) -> u64 {
        self.end - self.start
    }
}

/// All regions of a heap.
///
/// ```text
/// free + shared + live regions == regions of the heap
/// handed == objects + waste + held in buffers + spare tails         bytes, all ever handed out
/// ```
#[derive(Debug)]
pub(super) struct Regions {
    /// Bytes of a region.
    pub(super) size: u64,
    pub(super) table: Vec<Region>,
    /// Free regions, lowest first.
    free: BTreeSet<u32>,
    live: Vec<u32>,
    /// The region of each CPU.
    slots: Vec<u32>,
    spares: Vec<Vec<Piece>>,
    /// Regions outside the slots that may have room.
    partial: BTreeSet<u32>,
    /// Regions that may be in use.
    pub(super) capacity: usize,
    /// Bytes of objects that all threads have allocated.
    pub(super) objects: u64,
    /// Regions ever taken to be allocated in.
    pub(super) taken: u64,
    /// Bytes ever handed out, less those that came back unused.
    handed: u64,
}

impl Regions {
    /// `count` free regions of `size` bytes, for threads on `cpus` CPUs.
    pub(super) fn new(count: usize, size: u64, cpus: usize) -> Regions {
        Regions {
            size,
            table: vec![Region::FREE; count],
            free: (0..count as u32).collect(),
            live: Vec::new(),
            slots: vec![NONE; cpus],
            spares: vec![Vec::new(); cpus],
            partial: BTreeSet::new(),
            capacity: count,
            objects: 0,
            taken: 0,
            handed: 0,
        }
    }

    /// Free regions.
    pub(super) fn free(&self) -> usize {
        self.free.len()
    }

    /// Regions that hold what is alive.
    pub(super) fn live(&self) -> usize {
        self.live.len()
    }

    /// Regions that threads may still take.
    pub(super) fn left(&self) -> usize {
        let in_use = self.table.len() - self.free.len();
        self.capacity.saturating_sub(in_use).min(self.free.len())
    }

    /// Bytes in spare tails.
    pub(super) fn spared(&self) -> u64 {
        self.spares.iter().flatten().map(|piece| piece.bytes()).sum()
    }

    fn room(&self, region: u32) -> u64 {
        self.size - self.table[region as usize].top
    }

    fn take_top(&mut self, region: u32, bytes: u64) -> Piece {
        let row = &mut self.table[region as usize];
        let start = row.top;
        row.top += bytes;
        row.age_mark = self.objects;
        self.handed += bytes;
        Piece { region, start, end: row.top }
    }

    /// `desired` bytes of a region, or its rest if that is at least `min`.
    fn carve(&mut self, region: u32, min: u64, desired: u64) -> Option<Piece> {
        let room = self.room(region);
        if room < min {
            return None;
        }
        let mut bytes = desired.min(room);
        if min < desired && room - bytes < LEAST {
            bytes = room;
        }
        Some(self.take_top(region, bytes))
    }

    /// Whether `bytes` directly after a piece can be taken.
    pub(super) fn can_extend(&self, piece: Piece, bytes: u64) -> bool {
        let row = self.table[piece.region as usize];
        row.state == RegionState::Shared && row.top == piece.end && self.size - row.top >= bytes
    }

    /// Takes `min` to `desired` bytes directly after a piece. Returns how many.
    pub(super) fn extend(&mut self, piece: Piece, min: u64, desired: u64) -> Option<u64> {
        if !self.can_extend(piece, min) {
            return None;
        }
        let room = self.room(piece.region);
        let bytes = if min < desired && room < desired + LEAST { room } else { desired };
        Some(self.take_top(piece.region, bytes).bytes())
    }

    /// Takes `desired` bytes for a thread on `cpu`, or the rest of a region if that is at least
    /// `min`. `None`: the heap has no such piece.
    pub(super) fn allocate(&mut self, cpu: usize, min: u64, desired: u64) -> Option<Piece> {
        loop {
            let current = self.slots[cpu];
            if current != NONE
                && let Some(piece) = self.carve(current, min, desired)
            {
                return Some(piece);
            }
            if !self.replace(cpu) {
                return self.scavenge(min, desired);
            }
        }
    }

    /// Puts a free region into the slot of `cpu`; `false`: there is none.
    fn replace(&mut self, cpu: usize) -> bool {
        if self.left() == 0 {
            return false;
        }
        let Some(region) = self.free.pop_first() else { return false };
        self.taken += 1;
        self.table[region as usize] = Region { state: RegionState::Shared, ..Region::FREE };
        let old = std::mem::replace(&mut self.slots[cpu], region);
        if old != NONE {
            self.set_aside(old);
        }
        true
    }

    fn set_aside(&mut self, region: u32) {
        if self.room(region) >= LEAST && !self.slots.contains(&region) {
            self.partial.insert(region);
        }
    }

    /// The last resort: the rest of any shared region, and then a spare.
    fn scavenge(&mut self, min: u64, desired: u64) -> Option<Piece> {
        let Regions { size, table, slots, partial, .. } = self;
        let room = |region: u32| *size - table[region as usize].top;
        partial.retain(|region| room(*region) >= LEAST);
        let shared = slots.iter().filter(|slot| **slot != NONE).chain(&*partial);
        match shared.copied().find(|region| room(*region) >= min) {
            Some(region) => self.carve(region, min, desired),
            None => (0..self.slots.len()).find_map(|cpu| self.take_spare(cpu, min)),
        }
    }

    /// A tail of at least `min` bytes that another thread left on this CPU.
    pub(super) fn take_spare(&mut self, cpu: usize, min: u64) -> Option<Piece> {
        let spares = &mut self.spares[cpu];
        let place = spares.iter().position(|piece| piece.bytes() >= min)?;
        Some(spares.swap_remove(place))
    }

    /// A thread has allocated in a region, and leaves it.
    pub(super) fn leave(&mut self, region: u32) {
        self.table[region as usize].age_mark = self.objects;
    }

    /// Takes back the unused tail `[top, end)` of a buffer. Returns whether anybody can use it.
    pub(super) fn give_back(&mut self, cpu: usize, region: u32, top: u64, end: u64) -> bool {
        if top == end {
            return true;
        }
        let row = &mut self.table[region as usize];
        if row.state == RegionState::Shared && row.top == end {
            row.top = top;
            self.handed -= end - top;
            self.set_aside(region);
            return true;
        }
        let spares = &mut self.spares[cpu];
        let remembered = end - top >= LEAST_SPARE && spares.len() < SPARES;
        if remembered {
            spares.push(Piece { region, start: top, end });
        }
        remembered
    }

    /// Forgets the spare tails. Returns their bytes, which are waste now.
    pub(super) fn forget_spares(&mut self) -> u64 {
        let bytes = self.spared();
        self.spares.iter_mut().for_each(Vec::clear);
        bytes
    }

    /// Notes how far each region is filled. Objects above that border do not concern the cycle that
    /// begins.
    pub(super) fn set_borders(&mut self) {
        for row in &mut self.table {
            row.border = if row.state == RegionState::Shared { row.top } else { u64::MAX };
        }
    }

    /// Shared regions that had a border, with their numbers.
    pub(super) fn bordered(&self) -> impl Iterator<Item = (u32, Region)> + '_ {
        (0_u32..).zip(self.table.iter().copied()).filter(|(_, row)| row.border != u64::MAX)
    }

    /// All shared regions.
    pub(super) fn shared(&self) -> Vec<u32> {
        let shared = |row: &Region| row.state == RegionState::Shared;
        (0_u32..).zip(&self.table).filter(|(_, row)| shared(row)).map(|(number, _)| number).collect()
    }

    /// Keeps threads from these regions: a cycle empties them.
    pub(super) fn withdraw(&mut self, regions: &[u32]) {
        for region in regions {
            self.partial.remove(region);
            self.slots.iter_mut().filter(|slot| *slot == region).for_each(|slot| *slot = NONE);
        }
    }

    /// Frees regions that were [withdrawn](Self::withdraw).
    pub(super) fn release(&mut self, regions: &[u32]) {
        for &region in regions {
            self.table[region as usize] = Region::FREE;
            self.free.insert(region);
        }
    }

    /// Lets `bytes` of live objects have the regions they fill; as many as there are free.
    pub(super) fn set_live(&mut self, bytes: u64) {
        let wanted = bytes.div_ceil(self.size) as usize;
        while self.live.len() > wanted {
            let region = self.live.pop().expect("there are more than wanted");
            self.release(&[region]);
        }
        while self.live.len() < wanted
            && let Some(region) = self.free.pop_last()
        {
            self.table[region as usize] = Region { state: RegionState::Live, top: self.size, ..Region::FREE };
            self.live.push(region);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Regions {
        /// Bytes that were ever handed out and did not come back unused.
        pub(in super::super) fn handed(&self) -> u64 {
            self.handed
        }

        /// Checks the regions against their lists.
        ///
        /// # Errors
        /// Says what does not hold.
        pub(in super::super) fn verify(&self) -> Result<(), String> {
            let count = |state| self.table.iter().filter(|row| row.state == state).count();
            let (free, live) = (count(RegionState::Free), count(RegionState::Live));
            if (free, live) != (self.free.len(), self.live.len()) {
                return Err(format!(
                    "{free} regions are free and {live} live, and listed are {} and {}",
                    self.free(),
                    self.live()
                ));
            }
            if let Some(row) = self.table.iter().find(|row| row.top > self.size) {
                return Err(format!("a region of {} bytes has handed out {}", self.size, row.top));
            }
            let listed = self.slots.iter().filter(|slot| **slot != NONE).chain(&self.partial);
            for region in listed {
                if self.table[*region as usize].state != RegionState::Shared {
                    return Err(format!("threads take from region {region}, which is not shared"));
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_piece_grows_in_place_until_another_thread_takes_the_memory_after_it() {
        let mut regions = Regions::new(2, 1024, 2);
        let mine = regions.allocate(0, 64, 256).unwrap();
        assert_eq!((mine.start, mine.end), (0, 256));
        assert_eq!(regions.extend(mine, 64, 128), Some(128));
        let mine = Piece { end: 384, ..mine };
        let other = regions.allocate(0, 64, 64).unwrap();
        assert_eq!((other.region, other.start), (mine.region, 384));
        assert_eq!(regions.extend(mine, 64, 128), None);
        // The rest of a region is taken whole if less than an object would be left.
        assert_eq!(regions.extend(other, 64, 1024 - 448 - 8), Some(1024 - 448));
        assert_ne!(regions.allocate(1, 64, 64).unwrap().region, mine.region);
        assert_eq!(regions.handed(), 1024 + 64);
        regions.verify().unwrap();
    }

    #[test]
    fn the_last_resort_is_the_rest_of_any_region_and_then_a_spare() {
        let mut regions = Regions::new(1, 1 << 16, 2);
        let all = regions.allocate(0, 64, 1 << 16).unwrap();
        assert_eq!(regions.allocate(1, 64, 64), None);
        // The tail of the last piece goes back to the region.
        assert!(regions.give_back(0, 0, 5000, all.end));
        let next = regions.allocate(1, 64, 8192).unwrap();
        assert_eq!((next.start, next.end), (5000, 13192));
        // A tail before another piece is a spare.
        let behind = regions.allocate(1, 64, 1 << 16).unwrap();
        assert!(regions.give_back(1, 0, 7000, next.end));
        assert_eq!(regions.spared(), 13192 - 7000);
        assert!(!regions.give_back(1, 0, next.end - 8, next.end), "eight bytes are waste");
        assert_eq!(regions.allocate(0, 64, 64).map(|piece| piece.start), Some(7000));
        assert_eq!(behind.end, 1 << 16);
        regions.verify().unwrap();
    }

    #[test]
    fn the_capacity_bounds_what_is_in_use_and_live_objects_fill_regions() {
        let mut regions = Regions::new(10, 1024, 1);
        regions.set_live(2500);
        regions.capacity = 5;
        assert_eq!((regions.live(), regions.left()), (3, 2));
        for _ in 0..2 {
            assert!(regions.allocate(0, 1024, 1024).is_some());
        }
        assert_eq!(regions.allocate(0, 1024, 1024), None);
        regions.set_borders();
        let set: Vec<u32> = regions.bordered().map(|(region, _)| region).collect();
        assert_eq!(set.len(), 2);
        regions.withdraw(&set);
        regions.release(&set);
        regions.set_live(900);
        assert_eq!((regions.live(), regions.free()), (1, 9));
        regions.verify().unwrap();
    }
}
