//! `gather`: reads an array in the order of another, as the article's program does.
//!
//! Two arrays of 32-bit numbers, each half of the set, hold values and indexes of the values. The
//! indexes are read in order, which the processor predicts. The values are read where the indexes
//! point. No load waits for another, so as many misses overlap as the core has buffers. The result
//! is a throughput, not a latency.

use super::expected::{Machine, Pattern};
use super::{facts, memory};
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker, keep_value};
use crate::walk::{Mapping, Random};

/// Elements per call: enough to make the call's own cost vanish, and about ten calls in a pass over
/// the largest set.
const BLOCK: usize = 16_384;

pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let shuffled = case.text("order")? == "shuffled";
    let machine = Machine::detect();
    bench.measure(|thread| {
        let memory = memory(case, thread)?;
        let pattern = if shuffled { Pattern::Gather } else { Pattern::Stream };
        let expected = machine.hits(pattern, memory.bytes(), case.threads);
        let mut gather = Gather::new(memory, shuffled, thread.index as u64);
        gather.facts = facts(case, &gather.memory, expected)?;
        Ok(gather)
    })
}

impl Worker for Gather {
    #[inline]
    fn batch(&mut self) -> u64 {
        keep_value(u64::from(self.block()));
        BLOCK as u64
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        self.facts.clone()
    }
}

/// The two arrays, and the position of the pass.
struct Gather {
    /// Values, then as many indexes, each below `elements`.
    memory: Mapping,
    elements: usize,
    position: usize,
    facts: Vec<SecondaryValue>,
}

impl Gather {
    fn new(memory: Mapping, shuffled: bool, seed: u64) -> Gather {
        let elements = memory.bytes() / 8;
        let base = memory.base().cast::<u32>();
        for index in 0..elements {
            // SAFETY: twice `elements` numbers of four bytes are mapped, and the skew is a multiple
            // of four.
            unsafe {
                base.add(index).write(index as u32);
                base.add(elements + index).write(index as u32);
            }
        }
        if shuffled {
            // SAFETY: the second half, written above; no other code refers to it.
            let indexes = unsafe { std::slice::from_raw_parts_mut(base.add(elements), elements) };
            Random::new(seed).shuffle(indexes);
        }
        Gather { memory, elements, position: 0, facts: Vec::new() }
    }

    fn values(&self) -> *const u32 {
        self.memory.base().cast_const().cast()
    }

    /// The sum of the next [`BLOCK`] values. The pass wraps around at the end of the arrays as
    /// often as needed.
    #[inline]
    fn block(&mut self) -> u32 {
        let values = self.values();
        // SAFETY: the second half of the mapping, written by `new` and only read since then.
        let indexes = unsafe { std::slice::from_raw_parts(values.add(self.elements), self.elements) };
        let (mut sum, mut left) = (0_u32, BLOCK);
        while left > 0 {
            let part = &indexes[self.position..][..left.min(self.elements - self.position)];
            for &index in part {
                // SAFETY: the indexes are the numbers below `elements`, each once.
                sum = sum.wrapping_add(unsafe { values.add(index as usize).read() });
            }
            left -= part.len();
            self.position += part.len();
            if self.position == self.elements {
                self.position = 0;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::Pages;
    use proptest::prelude::*;

    proptest! {
        /// A number of rounds reads every value that number of times.
        #[test]
        fn a_pass_reads_every_value_once(power in 1..14_u32, shuffled: bool, seed in 0..1_u64 << 40) {
            let elements = 1_usize << power;
            let memory = Mapping::new(elements * 8, 192, Pages::Base).unwrap();
            let mut gather = Gather::new(memory, shuffled, seed);
            let rounds = (BLOCK / elements) as u32;
            let once = (0..elements as u32).sum::<u32>();
            prop_assert_eq!(gather.block(), once.wrapping_mul(rounds));
            prop_assert_eq!(gather.position, 0);
        }
    }

    #[test]
    fn a_block_ends_within_a_large_set_and_goes_on_there() {
        let elements = BLOCK + 100;
        let memory = Mapping::new(elements * 8, 0, Pages::Base).unwrap();
        let mut gather = Gather::new(memory, false, 1);
        assert_eq!(gather.block(), (0..BLOCK as u32).sum::<u32>());
        assert_eq!(gather.position, BLOCK);
        let rest = (BLOCK as u32..elements as u32).chain(0..BLOCK as u32 - 100).sum::<u32>();
        assert_eq!((gather.block(), gather.position), (rest, BLOCK - 100));
    }
}
