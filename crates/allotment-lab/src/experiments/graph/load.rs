//! The load of a vertex beside its leaf, and how often each load occurs: the mix of sizes.
//!
//! A mix is a word, not a share for each kind. The shares of four axes would have to sum up, and
//! graphs of two runs would seldom have the same objects. Lengths are equal in all mixes, so mixes
//! differ in one thing.

use crate::walk::Random;

/// The object that hangs on a vertex beside its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Nothing,
    Medium,
    /// An array of that many bytes.
    Bytes(usize),
    /// An array of that many references.
    Array(usize),
}

/// The number of vertices with each load, of 100 vertices; the others have no load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mix {
    medium: usize,
    bytes: usize,
    array: usize,
}

impl Mix {
    /// The words of the axis.
    pub(super) const WORDS: &[&str] = &["small", "default", "arrays"];

    /// Objects of at most 128 bytes.
    const SMALL: Mix = Mix { medium: 20, bytes: 0, array: 0 };
    /// Three fifths of the bytes are in arrays.
    pub(super) const DEFAULT: Mix = Mix { medium: 20, bytes: 8, array: 2 };
    /// Nearly all bytes are in arrays, most of them of references.
    const ARRAYS: Mix = Mix { medium: 20, bytes: 30, array: 30 };

    /// The mix of that name.
    pub(super) fn named(word: &str) -> Option<Mix> {
        match word {
            "small" => Some(Mix::SMALL),
            "default" => Some(Mix::DEFAULT),
            "arrays" => Some(Mix::ARRAYS),
            _ => None,
        }
    }

    /// The load of a random vertex.
    pub(super) fn load(self, random: &mut Random) -> Load {
        let drawn = random.below(100);
        let array = 100 - self.array;
        let bytes = array - self.bytes;
        let medium = bytes - self.medium;
        if drawn < medium {
            Load::Nothing
        } else if drawn < bytes {
            Load::Medium
        } else if drawn < array {
            Load::Bytes(random.logarithmic(64, 4096))
        } else {
            Load::Array(random.logarithmic(8, 4096))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::plan;
    use super::*;

    #[test]
    fn each_mix_has_its_shares_of_vertices_and_of_bytes() {
        // Of 100 vertices: nothing, 128 bytes, bytes, references; and the percentage of bytes in
        // arrays of either kind.
        for (word, shares, in_arrays) in [
            ("small", [80, 20, 0, 0], 0.0),
            ("default", [70, 20, 8, 2], 59.0),
            ("arrays", [20, 20, 30, 30], 94.0),
        ] {
            assert!(Mix::WORDS.contains(&word));
            let loads = plan(&mut Random::new(1), Mix::named(word).unwrap(), 32 << 20);
            let share = |is: fn(&Load) -> bool| {
                let found = loads.iter().filter(|load| is(load)).count();
                100.0 * found as f64 / loads.len() as f64
            };
            let found = [
                share(|load| *load == Load::Nothing),
                share(|load| *load == Load::Medium),
                share(|load| matches!(load, Load::Bytes(64..=4096))),
                share(|load| matches!(load, Load::Array(8..=4096))),
            ];
            for (found, share) in found.iter().zip(shares) {
                assert!((found - f64::from(share)).abs() < 1.0, "{word}: {found} for {share}");
                assert!(share > 0 || *found == 0.0, "{word}: {found} for none");
            }
            let all: usize = loads.iter().map(|load| 8 + load.bytes()).sum();
            let is_array = |load: &&Load| matches!(load, Load::Bytes(_) | Load::Array(_));
            let own = 8 + Load::Nothing.bytes();
            let arrays: usize = loads.iter().filter(is_array).map(|load| 8 + load.bytes() - own).sum();
            let found = 100.0 * arrays as f64 / all as f64;
            assert!((found - in_arrays).abs() < 2.0, "{word}: {found} % of the bytes");
        }
        assert_eq!(Mix::named("large"), None);
        assert!(Mix::WORDS.iter().all(|word| Mix::named(word).is_some()));
    }
}
