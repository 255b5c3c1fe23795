//! Memory that is read in the order of addresses, a word of each line, and never written: a stream.
//!
//! The processor predicts the stream and keeps many lines in flight, so the stream takes all it can
//! of the caches and of the memory's bandwidth.

use super::Mapping;
use std::hint::black_box;

/// Bytes of a line.
const LINE: usize = 64;

/// A reader of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    memory: Mapping,
    lines: usize,
    position: usize,
}

impl Stream {
    /// A stream over the whole lines of `memory`, at least one. Touches the memory.
    ///
    /// # Errors
    /// The memory is smaller than a line.
    pub(crate) fn new(memory: Mapping) -> anyhow::Result<Stream> {
        let lines = memory.bytes() / LINE;
        anyhow::ensure!(lines > 0, "{} bytes hold no line", memory.bytes());
        for line in 0..lines {
            // SAFETY: within the mapping, which no other code knows of.
            unsafe { memory.base().add(line * LINE).cast::<u64>().write(line as u64) };
        }
        Ok(Stream { memory, lines, position: 0 })
    }

    /// Reads `count` lines, wrapping around at the end as often as needed, and returns `count`.
    pub(crate) fn read(&mut self, count: usize) -> u64 {
        let (mut sum, mut left) = (0_u64, count);
        while left > 0 {
            let part = left.min(self.lines - self.position);
            for line in self.position..self.position + part {
                // SAFETY: a line of the mapping, which `new` has written.
                sum = sum.wrapping_add(unsafe { self.memory.base().add(line * LINE).cast::<u64>().read() });
            }
            left -= part;
            self.position = (self.position + part) % self.lines;
        }
        black_box(sum);
        count as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pages;
    use super::*;

    #[test]
    fn a_stream_goes_round() {
        let mut stream = Stream::new(Mapping::new(10 * LINE + 8, 0, Pages::Base).unwrap()).unwrap();
        assert_eq!((stream.read(25), stream.position), (25, 5));
        assert_eq!((stream.read(5), stream.position), (5, 0));
        assert!(Stream::new(Mapping::new(LINE - 1, 0, Pages::Base).unwrap()).is_err());
    }
}
