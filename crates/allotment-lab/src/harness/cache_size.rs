//! Sizes in terms of this machine's caches: `half-l2`, `l3`, `twice-l3`.
//!
//! An experiment often needs memory that stays in a cache, or memory that does not. The size in
//! bytes differs from machine to machine. Sizes are rounded down to a power of two: half of 1.25 MiB
//! rounded up would be 1 MiB.

use crate::machine::topology;

/// The beginnings of the words, and the number of halves of a cache that each means.
const SHARES: [(&str, usize); 3] = [("half-", 1), ("", 2), ("twice-", 4)];

/// The names and numbers of the levels, and the assumed bytes where the machine reports none.
const LEVELS: [(&str, u8, usize); 3] = [("l1", 1, 32 << 10), ("l2", 2, 1 << 20), ("l3", 3, 8 << 20)];

/// The bytes that a word means on this machine; `None` for any other word.
pub(super) fn of(word: &str) -> Option<usize> {
    let (level, unseen, halves) = read(word)?;
    let bytes = topology().data_caches(level).map_or(unseen, |cache| cache.bytes);
    Some(halves_of(bytes, halves))
}

/// The level, its assumed bytes, and the number of halves.
fn read(word: &str) -> Option<(u8, usize, usize)> {
    SHARES.iter().find_map(|&(prefix, halves)| {
        let cache = word.strip_prefix(prefix)?;
        let &(_, level, unseen) = LEVELS.iter().find(|(name, ..)| *name == cache)?;
        Some((level, unseen, halves))
    })
}

/// `halves` times half of `bytes`, rounded down to a power of two.
fn halves_of(bytes: usize, halves: usize) -> usize {
    1 << (bytes / 2 * halves).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_cache_is_no_more_than_that() {
        for (cache, expected) in [(512 << 10, 256 << 10), (1280 << 10, 512 << 10), (2 << 20, 1 << 20), (0, 1)]
        {
            assert_eq!(halves_of(cache, 1), expected);
        }
        assert_eq!((halves_of(32 << 20, 2), halves_of(32 << 20, 4)), (32 << 20, 64 << 20));
        assert_eq!((halves_of(48 << 20, 2), halves_of(1280 << 10, 4)), (32 << 20, 2 << 20));
    }

    #[test]
    fn words_name_a_cache_and_a_share() {
        assert_eq!(read("half-l2"), Some((2, 1 << 20, 1)));
        assert_eq!(read("l1"), Some((1, 32 << 10, 2)));
        assert_eq!(read("twice-l3"), Some((3, 8 << 20, 4)));
        for wrong in ["", "l4", "half", "third-l2", "L2", "half-half-l2"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(of("half-l2").unwrap().is_power_of_two());
        assert_eq!(of("64k"), None);
    }
}
