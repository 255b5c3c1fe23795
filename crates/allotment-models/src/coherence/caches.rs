//! The caches of all cores, and the directory that orders their requests. This module decides what
//! a request does, not how long the request takes.
//!
//! Each request is executed whole, in the order of the directory: one request per line at a time.
//! On a processor a request can lose a race between its beginning and its place in that order. The
//! [engine](super::engine) models these races. It calls this module when a request's turn comes. An
//! upgrade whose copy was invalidated meanwhile is therefore served as a miss.
//!
//! Shared lines leave a cache silently, as on x86. The directory's list of sharers may therefore
//! name cores that no longer have the line.

use super::core_set::CoreSet;
use super::counters::Counters;
use super::latencies::Geometry;
use super::private_cache::{Line, PrivateCache, WORDS};
use super::protocol::{Protocol, State};
use super::tags::Tags;

/// How a core wants to use a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To read.
    Read,
    /// To write.
    Write,
}

/// The source of a line's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// The core's first cache.
    L1,
    /// The core's second cache.
    L2,
    /// The core had the data, and the other cores' copies were invalidated.
    Upgrade,
    /// The shared cache.
    L3,
    /// Another core's clean copy.
    Forward,
    /// Another core's modified copy (HITM).
    Modified,
    /// Memory.
    Memory,
}

/// The directory's knowledge of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Home {
    /// All cores that have a copy, and cores that evicted a shared copy silently.
    pub(super) sharers: CoreSet,
    /// The core that answers requests: it holds the line in state M, E, O or F.
    pub(super) owner: Option<u16>,
}

/// All caches, and the memory.
#[derive(Clone, Debug)]
pub struct Caches {
    pub(super) protocol: Protocol,
    pub(super) private: Vec<PrivateCache>,
    pub(super) homes: Vec<Home>,
    /// The data of each line in the shared cache or in memory.
    pub(super) memory: Vec<Line>,
    l3: Tags,
    /// Copies that a core lost since the last [`Caches::take_lost`].
    lost: Vec<(u16, u32)>,
    /// The event counts.
    pub counters: Counters,
}

/// The line of an address.
#[inline]
pub(super) fn line_of(address: u64) -> u32 {
    (address / 64) as u32
}

#[inline]
fn word_of(address: u64) -> usize {
    (address / 8) as usize % WORDS
}

impl Caches {
    /// Empty caches for `cores` cores, at most 256, over `bytes` of zeroes.
    pub fn new(protocol: Protocol, cores: usize, bytes: u64, geometry: &Geometry) -> Caches {
        let lines = bytes.div_ceil(64) as usize;
        Caches {
            protocol,
            private: vec![PrivateCache::new(geometry); cores],
            homes: vec![Home::default(); lines],
            memory: vec![[0; WORDS]; lines],
            l3: Tags::new(geometry.l3_lines, 16),
            lost: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Reads a word.
    pub fn load(&mut self, core: usize, address: u64) -> (u64, Supply) {
        let supply = self.acquire(core, line_of(address), Wanted::Read);
        (self.read(core, address), supply)
    }

    /// Makes a core's copy fit for the wanted access.
    pub(super) fn acquire(&mut self, core: usize, line: u32, wanted: Wanted) -> Supply {
        if let Some((_, supply)) = self.hit(core, line, wanted) {
            return supply;
        }
        let supply = match wanted {
            Wanted::Read => self.get_shared(core, line),
            Wanted::Write => self.get_modified(core, line),
        };
        match supply {
            Supply::Upgrade => self.counters.upgrades += 1,
            Supply::Forward => self.counters.forwards += 1,
            Supply::Modified => self.counters.hitm += 1,
            Supply::Memory => self.counters.memory_reads += 1,
            Supply::L1 | Supply::L2 | Supply::L3 => {}
        }
        debug_assert_eq!(self.check_line(line), Ok(()));
        supply
    }

    /// The slot of a copy that is already fit, and the cache that holds the copy.
    #[inline]
    pub(super) fn hit(&mut self, core: usize, line: u32, wanted: Wanted) -> Option<(usize, Supply)> {
        let cache = &mut self.private[core];
        let slot = cache.find(line)?;
        if wanted == Wanted::Write && !cache.copies[slot].state.is_writable() {
            return None;
        }
        Some((slot, if cache.touch(slot, line) { Supply::L1 } else { Supply::L2 }))
    }

    /// Reads a word of a line that the core holds.
    #[inline]
    pub(super) fn read(&mut self, core: usize, address: u64) -> u64 {
        let cache = &mut self.private[core];
        let slot = cache.find(line_of(address)).expect("the line was acquired");
        cache.copies[slot].data[word_of(address)]
    }

    /// Writes a word of a line that only this core holds.
    #[inline]
    pub(super) fn write(&mut self, core: usize, address: u64, value: u64) {
        let cache = &mut self.private[core];
        let slot = cache.find(line_of(address)).expect("the line was acquired");
        debug_assert!(cache.copies[slot].state.is_writable());
        cache.copies[slot].data[word_of(address)] = value;
        if cache.copies[slot].state != State::Modified {
            self.change(core, slot, State::Modified);
        }
    }

    /// Copies that were invalidated or evicted since the last call, by core and line.
    pub(super) fn take_lost(&mut self) -> Option<(u16, u32)> {
        self.lost.pop()
    }

    /// Evicts a line from a core, if the core has it.
    pub(super) fn evict(&mut self, core: usize, line: u32) {
        let Some(slot) = self.private[core].find(line) else { return };
        let state = self.private[core].copies[slot].state;
        if state.is_dirty() {
            self.write_back(core, slot, line);
        }
        let home = &mut self.homes[line as usize];
        if state != State::Shared {
            home.sharers.remove(core);
            home.owner = None;
        }
        self.remove(core, slot, line);
        debug_assert_eq!(self.check_line(line), Ok(()));
    }

    fn change(&mut self, core: usize, slot: usize, to: State) {
        self.counters.transitions += 1;
        self.private[core].copies[slot].state = to;
    }

    fn remove(&mut self, core: usize, slot: usize, line: u32) {
        self.change(core, slot, State::Invalid);
        self.private[core].drop_line(slot);
        self.lost.push((core as u16, line));
    }

    fn write_back(&mut self, core: usize, slot: usize, line: u32) {
        self.memory[line as usize] = self.private[core].copies[slot].data;
        self.counters.write_backs += 1;
        self.l3.keep(line);
    }

    /// Supplies a line without asking any core.
    fn supply_of_home(&mut self, line: u32) -> (Supply, Line) {
        let supply = if self.l3.keep(line) { Supply::L3 } else { Supply::Memory };
        (supply, self.memory[line as usize])
    }

    fn fill(&mut self, core: usize, line: u32, state: State, data: Line) {
        if let Some(victim) = self.private[core].victim(line) {
            self.evict(core, victim);
        }
        self.counters.transitions += 1;
        self.private[core].fill(line, state, data);
    }

    /// The owner, its slot and its state.
    fn owner(&self, line: u32) -> Option<(usize, usize, State)> {
        let owner = usize::from(self.homes[line as usize].owner?);
        let slot = self.private[owner].find(line).expect("owners say when they evict");
        Some((owner, slot, self.private[owner].copies[slot].state))
    }

    /// GetS: a copy to read.
    fn get_shared(&mut self, core: usize, line: u32) -> Supply {
        let reader = if self.protocol == Protocol::Mesif { State::Forward } else { State::Shared };
        let (supply, state, data) = match self.owner(line) {
            None => {
                let (supply, data) = self.supply_of_home(line);
                let alone = self.homes[line as usize].sharers.is_empty();
                (supply, if alone { State::Exclusive } else { reader }, data)
            }
            Some((owner, slot, held)) => {
                let data = self.private[owner].copies[slot].data;
                match (held, self.protocol) {
                    (State::Modified, Protocol::Moesi) => self.change(owner, slot, State::Owned),
                    (State::Modified, _) => {
                        self.write_back(owner, slot, line);
                        self.change(owner, slot, State::Shared);
                    }
                    (State::Owned, _) => {}
                    _ => self.change(owner, slot, State::Shared),
                }
                (if held.is_dirty() { Supply::Modified } else { Supply::Forward }, reader, data)
            }
        };
        let stays = self.owner(line).filter(|&(_, _, state)| state == State::Owned);
        let home = &mut self.homes[line as usize];
        home.sharers.insert(core);
        home.owner = match stays {
            Some((owner, ..)) => Some(owner as u16),
            None => (state != State::Shared).then_some(core as u16),
        };
        self.fill(core, line, state, data);
        supply
    }

    /// GetM or Upg: the only copy.
    fn get_modified(&mut self, core: usize, line: u32) -> Supply {
        let own = self.private[core].find(line);
        let (supply, data) = match (own, self.owner(line)) {
            (Some(slot), _) => (Supply::Upgrade, self.private[core].copies[slot].data),
            (None, Some((owner, slot, held))) => {
                let supply = if held.is_dirty() { Supply::Modified } else { Supply::Forward };
                (supply, self.private[owner].copies[slot].data)
            }
            (None, None) => self.supply_of_home(line),
        };
        let mut others = self.homes[line as usize].sharers;
        others.remove(core);
        for other in others.iter() {
            self.counters.invalidations += 1;
            // A core that evicted its copy silently has none.
            if let Some(slot) = self.private[other].find(line) {
                self.remove(other, slot, line);
            }
        }
        self.homes[line as usize] = Home { sharers: CoreSet::only(core), owner: Some(core as u16) };
        match own {
            Some(slot) => {
                self.change(core, slot, State::Modified);
                self.private[core].touch(slot, line);
            }
            None => self.fill(core, line, State::Modified, data),
        }
        supply
    }
}
