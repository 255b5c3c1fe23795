//! The load: the ticks that are put, and the questions.
//!
//! Time in the store is a count of puts, not the machine's clock: a tick each microsecond, so that
//! a faster store does not keep more ticks than a slower one. The window is the time of `ticks`
//! ticks.
//!
//! A store that only grew would be another one in each iteration, so each way of putting ticks
//! removes as many:
//!
//! - Appended ticks are newer than all others. Ticks older than the window are removed, of one
//!   instrument at a time, in turn.
//! - Scattered ticks are put anywhere in the window, which stands still. A stretch of one
//!   instrument is removed anywhere. The longer it has been, the more ticks lie there, so their
//!   number is stable.

use crate::walk::Random;
use allotment_ticks::{Key, Quote, Tick};
use std::ops::Range;

/// Nanoseconds between two ticks.
const STEP: u64 = 1000;

/// Each instrument is cleared so often in a window.
const CLEARED: u64 = 32;

/// The sizes of a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickLoad {
    /// Ticks of the store.
    pub(super) ticks: u64,
    /// Instruments that they belong to.
    pub(super) instruments: u64,
    /// Ticks of a scan.
    pub(super) range: u64,
}

/// The state that threads share beside the ticks, under the lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// The time of the newest tick, in ns.
    pub(super) now: u64,
    /// Puts since the last removal.
    since: u64,
    /// Removals.
    removals: u64,
}

/// A tick to put, and what to remove then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Put {
    pub(super) tick: Tick,
    pub(super) removed: Option<Range<Key>>,
}

/// The quote of a key. It follows from the key, so that a reader sees whether it has the right one.
pub(super) fn quote(key: Key) -> Quote {
    let mixed = (key.time ^ u64::from(key.instrument) << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Quote { price: (mixed >> 20) as i64, size: mixed as u32 & 0xFFFF, flags: key.instrument & 7 }
}

impl TickLoad {
    /// Nanoseconds that the store spans.
    fn window(self) -> u64 {
        self.ticks * STEP
    }

    fn instrument(self, random: &mut Random) -> u32 {
        random.below(self.instruments as usize) as u32
    }

    /// A place in the window up to now.
    fn key(self, random: &mut Random, now: u64) -> Key {
        let age = random.draw() % self.window();
        Key::new(self.instrument(random), now.saturating_sub(age))
    }

    /// A tick that is newer than all others.
    #[inline]
    pub(super) fn append(self, clock: &mut Clock, random: &mut Random) -> Put {
        clock.now += STEP;
        let key = Key::new(self.instrument(random), clock.now);
        let removed = self.is_due(clock).then(|| {
            let instrument = (clock.removals % self.instruments) as u32;
            Key::new(instrument, 0)..Key::new(instrument, clock.now.saturating_sub(self.window()))
        });
        Put { tick: Tick { key, quote: quote(key) }, removed }
    }

    /// A tick anywhere in the window.
    #[inline]
    pub(super) fn scatter(self, clock: &mut Clock, random: &mut Random) -> Put {
        let key = self.key(random, clock.now);
        let removed = self.is_due(clock).then(|| {
            let from = self.key(random, clock.now);
            from..Key::new(from.instrument, from.time + self.span(self.every()))
        });
        Put { tick: Tick { key, quote: quote(key) }, removed }
    }

    /// Puts between two removals.
    fn every(self) -> u64 {
        (self.ticks / (self.instruments * CLEARED)).max(1)
    }

    fn is_due(self, clock: &mut Clock) -> bool {
        clock.since += 1;
        let due = clock.since >= self.every();
        if due {
            clock.since = 0;
            clock.removals += 1;
        }
        due
    }

    /// The time in which one instrument has `ticks` ticks.
    fn span(self, ticks: u64) -> u64 {
        ticks * self.instruments * STEP
    }

    /// An instrument and a time: the question for what was known then.
    #[inline]
    pub(super) fn ask(self, clock: &Clock, random: &mut Random) -> Key {
        self.key(random, clock.now)
    }

    /// A stretch of one instrument that has `range` ticks, more or less.
    #[inline]
    pub(super) fn stretch(self, clock: &Clock, random: &mut Random) -> Range<Key> {
        let (span, oldest) = (self.span(self.range), clock.now.saturating_sub(self.window()));
        let from = oldest + random.draw() % (self.window() - span).max(1);
        let instrument = self.instrument(random);
        Key::new(instrument, from)..Key::new(instrument, from + span)
    }

    /// A full window: its ticks in the order of their times, or in none.
    pub(super) fn fill(
        self,
        in_order: bool,
        mut put: impl FnMut(Tick) -> anyhow::Result<()>,
    ) -> anyhow::Result<Clock> {
        let (mut clock, mut random) = (Clock::default(), Random::new(u64::MAX >> 1));
        if !in_order {
            clock.now = self.window();
        }
        for _ in 0..self.ticks {
            let key = if in_order {
                clock.now += STEP;
                Key::new(self.instrument(&mut random), clock.now)
            } else {
                self.key(&mut random, clock.now)
            };
            put(Tick { key, quote: quote(key) })?;
        }
        Ok(clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const LOAD: TickLoad = TickLoad { ticks: 20_000, instruments: 10, range: 100 };

    /// The store keeps its size, however long it is measured.
    #[test]
    fn as_many_ticks_are_removed_as_are_put() {
        for in_order in [true, false] {
            let mut store = BTreeMap::new();
            let mut clock = LOAD
                .fill(in_order, |tick| {
                    store.insert(tick.key, tick.quote);
                    Ok(())
                })
                .unwrap();
            assert!(store.len() > 19_990, "{}", store.len());
            let mut random = Random::new(1);
            let (mut least, mut most) = (usize::MAX, 0);
            for _ in 0..5 * LOAD.ticks {
                let put = if in_order {
                    LOAD.append(&mut clock, &mut random)
                } else {
                    LOAD.scatter(&mut clock, &mut random)
                };
                assert_eq!(put.tick.quote, quote(put.tick.key));
                store.insert(put.tick.key, put.tick.quote);
                if let Some(range) = put.removed {
                    store.extract_if(range, |_, _| true).for_each(drop);
                }
                (least, most) = (least.min(store.len()), most.max(store.len()));
            }
            assert!(least > 15_000 && most < 25_000, "{in_order}: {least} to {most}");
            let scanned: usize =
                (0..200).map(|_| store.range(LOAD.stretch(&clock, &mut random)).count()).sum();
            assert!((80..125).contains(&(scanned / 200)), "{in_order}: {scanned}");
            for _ in 0..200 {
                let key = LOAD.ask(&clock, &mut random);
                assert!(u64::from(key.instrument) < LOAD.instruments && key.time <= clock.now);
            }
        }
    }
}
