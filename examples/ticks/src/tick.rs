//! Ticks: a key, which says the place in the order, and a quote.
//!
//! A tick is four words in a block. Prices are whole numbers of a unit that the program chooses, as
//! exchanges have them: a float has no exact cents.

use allotment::Plain;
use std::ops::{Bound, RangeBounds};

/// Words of a tick in a block: instrument; time; price; size and flags.
pub(crate) const TICK_WORDS: usize = 4;

/// A tick as it lies in a block.
pub(crate) type Words = [Plain<u64>; TICK_WORDS];

/// The place of a tick in the order: by instrument, then by time. A store has at most one tick of a
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The number of the instrument.
    pub instrument: u32,
    /// The time, in ns since any instant that the program chooses.
    pub time: u64,
}

/// The content of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quote {
    /// The price, in units of the instrument.
    pub price: i64,
    /// The size, in lots.
    pub size: u32,
    /// Bits whose meaning the program defines.
    pub flags: u32,
}

/// A quote at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tick {
    /// Instrument and time.
    pub key: Key,
    /// The quote at that time.
    pub quote: Quote,
}

impl Key {
    /// The least key.
    pub const MIN: Key = Key { instrument: 0, time: 0 };

    /// The key of an instrument at a time in ns.
    pub const fn new(instrument: u32, time: u64) -> Key {
        Key { instrument, time }
    }

    /// The least key above this one; `None` for the greatest key.
    fn successor(self) -> Option<Key> {
        match self.time.checked_add(1) {
            Some(time) => Some(Key { time, ..self }),
            None => Some(Key { instrument: self.instrument.checked_add(1)?, time: 0 }),
        }
    }
}

/// Two bounds in the form that searches use: from the first key on, and below the second, if there
/// is one. `None` if no key lies between them.
pub(crate) fn bounds(range: &impl RangeBounds<Key>) -> Option<(Key, Option<Key>)> {
    let from = match range.start_bound() {
        Bound::Unbounded => Key::MIN,
        Bound::Included(key) => *key,
        Bound::Excluded(key) => key.successor()?,
    };
    let below = match range.end_bound() {
        Bound::Unbounded => None,
        Bound::Included(key) => key.successor(),
        Bound::Excluded(key) => Some(*key),
    };
    below.is_none_or(|below| from < below).then_some((from, below))
}

impl Tick {
    #[inline]
    pub(crate) fn read(words: &Words) -> Tick {
        let [_, _, price, rest] = words;
        let rest = rest.get();
        let quote = Quote { price: price.get() as i64, size: (rest >> 32) as u32, flags: rest as u32 };
        Tick { key: key_of(words), quote }
    }

    #[inline]
    pub(crate) fn write(&self, words: &Words) {
        let [instrument, time, ..] = words;
        instrument.set(self.key.instrument.into());
        time.set(self.key.time);
        self.write_quote(words);
    }

    #[inline]
    pub(crate) fn write_quote(&self, words: &Words) {
        let [_, _, price, rest] = words;
        price.set(self.quote.price as u64);
        rest.set(u64::from(self.quote.size) << 32 | u64::from(self.quote.flags));
    }
}

/// The key of a tick in a block.
#[inline]
pub(crate) fn key_of(words: &Words) -> Key {
    Key { instrument: words[0].get() as u32, time: words[1].get() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Key = Key::new(u32::MAX, u64::MAX);

    #[test]
    fn bounds_hold_the_keys_of_the_range() {
        let key = |time| Key::new(3, time);
        for (found, expected) in [
            (bounds(&..), Some((Key::MIN, None))),
            (bounds(&(key(1)..key(2))), Some((key(1), Some(key(2))))),
            (bounds(&(key(1)..=key(2))), Some((key(1), Some(key(3))))),
            (bounds(&(key(u64::MAX)..=key(u64::MAX))), Some((key(u64::MAX), Some(Key::new(4, 0))))),
            (bounds(&(key(2)..key(2))), None),
            (bounds(&(key(3)..key(2))), None),
            (bounds(&(..=MAX)), Some((Key::MIN, None))),
            (bounds(&(Bound::Excluded(key(1)), Bound::Unbounded)), Some((key(2), None))),
            (bounds(&(Bound::Excluded(MAX), Bound::Unbounded)), None),
            (bounds(&..Key::MIN), None),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_tick_is_read_as_it_was_written() {
        let words: Words = Default::default();
        let quote = Quote { price: -7, size: u32::MAX, flags: 0x8000_0001 };
        let tick = Tick { key: Key::new(u32::MAX - 1, u64::MAX), quote };
        tick.write(&words);
        assert_eq!(Tick::read(&words), tick);
    }
}
