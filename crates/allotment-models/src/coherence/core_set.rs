//! A set of cores. The bits are stored in place, since the directory has one set for every line.

/// Up to 256 cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CoreSet([u64; 4]);

impl CoreSet {
    pub(super) fn only(core: usize) -> CoreSet {
        let mut set = CoreSet::default();
        set.insert(core);
        set
    }

    pub(super) fn insert(&mut self, core: usize) {
        self.0[core / 64] |= 1 << (core % 64);
    }

    pub(super) fn remove(&mut self, core: usize) {
        self.0[core / 64] &= !(1 << (core % 64));
    }

    pub(super) fn contains(&self, core: usize) -> bool {
        self.0[core / 64] & 1 << (core % 64) != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The cores, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(index, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(changes in prop::collection::vec((0..256_usize, any::<bool>()), 0..100)) {
            let (mut set, mut expected) = (CoreSet::default(), BTreeSet::new());
            for (core, insert) in changes {
                if insert { set.insert(core); expected.insert(core); } else { set.remove(core); expected.remove(&core); }
                prop_assert_eq!(set.contains(core), insert);
            }
            prop_assert_eq!(set.is_empty(), expected.is_empty());
            prop_assert!(set.iter().eq(expected));
        }
    }
}
