//! The live objects of a stopped heap, by address, and the number of each.
//!
//! ```text
//! by region:  | a bit per word: an object that is live begins here | objects below, by 64 words |
//! number of an object = objects in regions below + objects below in its region
//! ```
//!
//! A snapshot names objects by dense numbers. A table from addresses to numbers would need a word
//! for each object. The bits and their sums need 12 bytes for each 512 of the heap, 2.4 %, and only
//! in regions that have live objects. The table is the snapshot's own: no collector's marks are
//! touched, and a heap of any collector has one.

use super::SnapshotError;
use crate::object::WORD;

/// The room that a list begins with, in items.
const LEAST: usize = if cfg!(test) { 4 } else { 1024 };

/// Bytes of heap that a word of bits describes.
const BLOCK_BYTES: usize = 64 * WORD;

/// The live objects of a heap.
pub(super) struct Index {
    base: usize,
    region_shift: u32,
    regions: Vec<Region>,
}

/// A region; without vectors while nothing in it is known to be live.
#[derive(Default)]
struct Region {
    /// Bit `n`: a live object begins at word `n`.
    bits: Vec<u64>,
    /// By word of `bits`: live objects of the region below it. Empty until the objects are
    /// numbered.
    below: Vec<u32>,
    /// Live objects in regions below.
    first: u64,
}

/// A region, a word of its bits, and a bit of the word.
struct Place {
    region: usize,
    word: usize,
    bit: u64,
}

impl Index {
    /// No objects, in a heap of `regions` regions that begins at `base`.
    pub(super) fn new(base: usize, region_shift: u32, regions: usize) -> Result<Index, SnapshotError> {
        let mut none = Vec::new();
        reserve(&mut none, regions)?;
        none.resize_with(regions, Region::default);
        Ok(Index { base, region_shift, regions: none })
    }

    /// The place of an address's bit.
    fn place(&self, address: usize) -> Place {
        let offset = address - self.base;
        let inside = offset & ((1 << self.region_shift) - 1);
        let region = offset >> self.region_shift;
        Place { region, word: inside / BLOCK_BYTES, bit: 1 << (inside / WORD % 64) }
    }

    /// Notes that the object at `address`, which is in the heap, is live. Returns whether it is
    /// news.
    pub(super) fn add(&mut self, address: usize) -> Result<bool, SnapshotError> {
        let Place { region, word, bit } = self.place(address);
        let bits = &mut self.regions[region].bits;
        if bits.is_empty() {
            *bits = zeroes((1 << self.region_shift) / BLOCK_BYTES)?;
        }
        let news = bits[word] & bit == 0;
        bits[word] |= bit;
        Ok(news)
    }

    /// Whether an object that is live begins at `address`, which is in the heap.
    pub(super) fn contains(&self, address: usize) -> bool {
        let Place { region, word, bit } = self.place(address);
        self.regions[region].bits.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Numbers the objects. Returns how many there are.
    pub(super) fn number(&mut self) -> Result<u64, SnapshotError> {
        let mut first = 0;
        for region in &mut self.regions {
            region.first = first;
            reserve(&mut region.below, region.bits.len())?;
            let mut below = 0;
            for bits in &region.bits {
                region.below.push(below);
                below += bits.count_ones();
            }
            first += u64::from(below);
        }
        Ok(first)
    }

    /// The number of the object at `address`, if it is live: in order of addresses, from 0. After
    /// [`number`](Self::number).
    pub(super) fn number_of(&self, address: usize) -> Option<u64> {
        let Place { region, word, bit } = self.place(address);
        let region = &self.regions[region];
        let bits = *region.bits.get(word)?;
        let below = || u64::from(region.below[word] + (bits & (bit - 1)).count_ones());
        (bits & bit != 0).then(|| region.first + below())
    }

    /// The addresses of live objects from `from` on, in order.
    pub(super) fn addresses_from(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let Place { region: first, word, bit } = self.place(from.max(self.base));
        self.regions.iter().enumerate().skip(first).flat_map(move |(index, region)| {
            let bottom = self.base + (index << self.region_shift);
            let (word, bit) = if index == first { (word, bit) } else { (0, 1) };
            region.bits.iter().enumerate().skip(word).flat_map(move |(block, bits)| {
                let bits = if block == word { bits & !(bit - 1) } else { *bits };
                ones(bits).map(move |bit| bottom + block * BLOCK_BYTES + bit * WORD)
            })
        })
    }

    /// The addresses of all live objects, in order.
    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        self.addresses_from(self.base)
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        let region = |region: &Region| region.bits.capacity() * 8 + region.below.capacity() * 4;
        self.regions.capacity() * size_of::<Region>() + self.regions.iter().map(region).sum::<usize>()
    }
}

/// The numbers of the bits that are set, ascending.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}

/// Makes room in `list` for `count` more entries.
pub(super) fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<(), SnapshotError> {
    list.try_reserve_exact(count).map_err(|_| SnapshotError::NoMemory { bytes: count * size_of::<T>() })
}

/// Adds an item. A list without room becomes twice as long as it is.
pub(super) fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), SnapshotError> {
    if list.len() == list.capacity() {
        let more = list.len().max(LEAST);
        reserve(list, more)?;
    }
    list.push(item);
    Ok(())
}

/// A list of `count` zeroes.
pub(super) fn zeroes<T: Default + Clone>(count: usize) -> Result<Vec<T>, SnapshotError> {
    let mut list = Vec::new();
    reserve(&mut list, count)?;
    list.resize(count, T::default());
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn numbers_are_ranks_among_the_addresses(
            words in prop::collection::btree_set(0usize..4 * 512, 0..300), from in 0usize..4 * 512,
        ) {
            const BASE: usize = 1 << 20;
            let mut index = Index::new(BASE, 12, 4).unwrap();
            let addresses: BTreeSet<usize> = words.iter().map(|word| BASE + word * WORD).collect();
            for address in &addresses {
                prop_assert!(index.add(*address).unwrap());
                prop_assert!(!index.add(*address).unwrap());
            }
            prop_assert_eq!(index.number().unwrap(), addresses.len() as u64);
            for address in (BASE..BASE + 4 * 4096).step_by(WORD) {
                let rank = addresses.range(..address).count() as u64;
                let expected = addresses.contains(&address).then_some(rank);
                prop_assert_eq!(index.number_of(address), expected);
                prop_assert_eq!(index.contains(address), expected.is_some());
            }
            let from = BASE + from * WORD;
            prop_assert_eq!(
                index.addresses_from(from).collect::<Vec<_>>(),
                addresses.range(from..).copied().collect::<Vec<_>>()
            );
        }
    }
}
