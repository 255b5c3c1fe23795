//! Grouping of addresses by JMH's rules for hot regions.
//!
//! Addresses at most 32 bytes apart are one region, unless a symbol begins between them.

/// The largest distance of two neighbouring addresses of a region, in bytes.
const MARGIN: u64 = 32;

/// Code that samples fell on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// The first address that was seen.
    pub(super) first: u64,
    /// The last address that was seen.
    pub(super) last: u64,
    /// Samples in the region.
    pub(super) samples: u64,
}

/// The regions of ascending addresses, hottest first. `begins` gives the beginning of an address's
/// symbol.
pub(super) fn regions(
    addresses: impl Iterator<Item = (u64, u64)>,
    begins: impl Fn(u64) -> Option<u64>,
) -> Vec<Region> {
    let mut found: Vec<Region> = Vec::new();
    for (address, samples) in addresses {
        match found.last_mut() {
            Some(region) if address - region.last <= MARGIN && begins(address) == begins(region.first) => {
                region.last = address;
                region.samples += samples;
            }
            _ => found.push(Region { first: address, last: address, samples }),
        }
    }
    found.sort_by_key(|region| (std::cmp::Reverse(region.samples), region.first));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_near_is_one_region() {
        let seen = [(100, 1), (132, 2), (165, 4), (400, 8), (410, 1), (416, 5)];
        let begins = |address: u64| Some(if address < 416 { 0 } else { 416 });
        let region = |first, last, samples| Region { first, last, samples };
        assert_eq!(
            regions(seen.into_iter(), begins),
            [region(400, 410, 9), region(416, 416, 5), region(165, 165, 4), region(100, 132, 3)]
        );
    }

    proptest! {
        #[test]
        fn no_sample_is_lost_and_no_two_regions_touch(
            seen in prop::collection::btree_map(0u64..2000, 1u64..100, 0..100)
        ) {
            let found = regions(seen.iter().map(|(&at, &times)| (at, times)), |_| None);
            prop_assert_eq!(found.iter().map(|r| r.samples).sum::<u64>(), seen.values().sum::<u64>());
            prop_assert!(found.windows(2).all(|pair| pair[0].samples >= pair[1].samples));
            for region in &found {
                prop_assert!(seen.contains_key(&region.first) && seen.contains_key(&region.last));
                let beside = found.iter().any(|other| other != region && other.first > region.last
                    && other.first - region.last <= MARGIN);
                prop_assert!(!beside);
            }
        }
    }
}
