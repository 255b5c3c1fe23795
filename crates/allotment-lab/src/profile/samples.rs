//! How often each address was seen.

use std::collections::BTreeMap;

/// Addresses of next instructions, and how often each was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    addresses: BTreeMap<u64, u64>,
    /// Samples within the kernel, whose addresses have no meaning here.
    pub kernel: u64,
    /// Samples that were lost for lack of room.
    pub lost: u64,
}

impl Samples {
    /// Counts a sample at an address of the process.
    pub fn add(&mut self, address: u64) {
        *self.addresses.entry(address).or_insert(0) += 1;
    }

    /// Adds another thread's samples.
    pub fn merge(&mut self, other: &Samples) {
        for (&address, &times) in &other.addresses {
            *self.addresses.entry(address).or_insert(0) += times;
        }
        self.kernel += other.kernel;
        self.lost += other.lost;
    }

    /// All samples that were taken.
    pub fn total(&self) -> u64 {
        self.addresses.values().sum::<u64>() + self.kernel
    }

    /// Addresses in the process and how often each was seen, ascending.
    pub fn addresses(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.addresses.iter().map(|(&address, &times)| (address, times))
    }

    /// The samples at each byte of a piece of code.
    pub fn at_bytes(&self, start: usize, bytes: usize) -> Vec<u64> {
        let start = start as u64;
        let mut counts = vec![0; bytes];
        for (&address, &times) in self.addresses.range(start..start + bytes as u64) {
            counts[(address - start) as usize] = times;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_counted_where_they_are() {
        let mut samples = Samples::default();
        for address in [99, 100, 103, 103, 104, 201, 202] {
            samples.add(address);
        }
        let other = Samples { kernel: 2, lost: 1, ..samples.clone() };
        samples.merge(&other);
        assert_eq!((samples.at_bytes(100, 4), samples.at_bytes(200, 2)), (vec![2, 0, 0, 4], vec![0, 2]));
        assert_eq!((samples.total(), samples.kernel, samples.lost), (16, 2, 1));
        assert_eq!(samples.addresses().count(), 6);
    }
}
