//! The starts of objects, in which every reference is looked up.
//!
//! A region in use has a bit for each word. A run of regions has a list, because it hardly ever
//! holds more than one object. The table is outside the heap, not in headers, because the check
//! must not change the checked heap.

use super::Fault;
use super::fault::Problem;
use crate::object::WORD;
use crate::region::{FreeSet, State};

/// The objects of a heap, by address.
pub(super) struct Starts {
    /// By region; the objects of a run are at its first region.
    regions: Vec<Option<Objects>>,
}

enum Objects {
    Bits(Vec<u64>),
    /// Ascending.
    List(Vec<usize>),
}

impl Starts {
    pub(super) fn new(regions: usize) -> Result<Starts, Fault> {
        let mut none = Vec::new();
        reserve(&mut none, regions)?;
        none.resize_with(regions, || None);
        Ok(Starts { regions: none })
    }

    /// Makes room for the objects of a region in use.
    pub(super) fn open(&mut self, index: usize, state: State, region_bytes: usize) -> Result<(), Fault> {
        self.regions[index] = Some(match state {
            State::HumongousStart => Objects::List(Vec::new()),
            _ => Objects::Bits(zeroes(region_bytes / WORD)?),
        });
        Ok(())
    }

    /// Notes an object that begins `offset` bytes above the bottom of the region.
    pub(super) fn note(&mut self, index: usize, offset: usize) {
        match &mut self.regions[index] {
            Some(Objects::Bits(bits)) => bits[offset / WORD / 64] |= 1 << (offset / WORD % 64),
            Some(Objects::List(list)) => list.push(offset),
            None => {}
        }
    }

    /// The reason why no object begins at `address`; `None` if one does.
    pub(super) fn problem_with(&self, free: &FreeSet, address: usize) -> Option<Problem> {
        let table = free.table();
        if !(table.base()..table.bottom(table.len())).contains(&address) {
            return Some(Problem::OutsideHeap);
        }
        if !address.is_multiple_of(WORD) {
            return Some(Problem::Misaligned);
        }
        let region = table.index_of(address);
        let start = table.first_of_run(region);
        let Some(objects) = &self.regions[start] else {
            return Some(Problem::UnusedRegion { region, state: table.get(region).state() });
        };
        let top = free.object_end(start);
        if address >= top {
            return Some(Problem::BeyondTop { region, top });
        }
        let offset = address - table.bottom(start);
        let below = objects.at_or_below(offset);
        (below != Some(offset))
            .then(|| Problem::NoObject { region, below: below.map(|below| table.bottom(start) + below) })
    }

    /// The region of the object that begins at `address`, and the number of the object, which is
    /// unique in the region. An object must begin there: see [`problem_with`](Self::problem_with).
    pub(super) fn number_of(&self, free: &FreeSet, address: usize) -> (usize, usize) {
        let table = free.table();
        let start = table.first_of_run(table.index_of(address));
        let objects = self.regions[start].as_ref().expect("an object begins in this region");
        (start, objects.number_of(address - table.bottom(start)))
    }

    /// By region, an upper bound of the numbers of its objects.
    pub(super) fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.regions.iter().map(|objects| objects.as_ref().map_or(0, Objects::numbers))
    }
}

impl Objects {
    /// The last object that begins at `offset` or below it.
    fn at_or_below(&self, offset: usize) -> Option<usize> {
        match self {
            Objects::Bits(bits) => {
                let (word, bit) = (offset / WORD / 64, offset / WORD % 64);
                let first = bits[word] & (u64::MAX >> (63 - bit));
                let rest = bits[..word].iter().enumerate().rev();
                std::iter::once((word, &first))
                    .chain(rest)
                    .find(|(_, bits)| **bits != 0)
                    .map(|(word, bits)| (word * 64 + 63 - bits.leading_zeros() as usize) * WORD)
            }
            Objects::List(list) => list[..list.partition_point(|start| *start <= offset)].last().copied(),
        }
    }

    /// The number of the object that begins at `offset`.
    fn number_of(&self, offset: usize) -> usize {
        match self {
            Objects::Bits(_) => offset / WORD,
            Objects::List(list) => list.partition_point(|start| *start < offset),
        }
    }

    /// An upper bound of the numbers.
    fn numbers(&self) -> usize {
        match self {
            Objects::Bits(bits) => bits.len() * 64,
            Objects::List(list) => list.len(),
        }
    }
}

/// This many bits, all 0.
pub(super) fn zeroes(bits: usize) -> Result<Vec<u64>, Fault> {
    let (mut words, count) = (Vec::new(), bits.div_ceil(64));
    reserve(&mut words, count)?;
    words.resize(count, 0);
    Ok(words)
}

/// Makes room in `list` for `count` more entries.
pub(super) fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<(), Fault> {
    list.try_reserve_exact(count).map_err(|_| Fault::NoMemory { bytes: count * size_of::<T>() })
}
