//! A thread's access to the store, and to the map that it is compared with: the standard library's
//! B-tree map.
//!
//! Both are shared by the same lock, which also holds the clock. A thread that puts a tick may hold
//! the lock over a safepoint, where it waits for all other threads of the heap. So a thread waits
//! for the lock in a blocking region. It tries first, and a free lock costs no more than the map's.

use super::load::{Clock, Put, quote};
use allotment::{Local, Mutator, OutOfMemory};
use allotment_ticks::{Key, Quote, Store, TICK_BYTES, Tick};
use anyhow::bail;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{
    LockResult, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult,
};

/// The result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    pub(super) ticks: u64,
    /// The sum of the prices.
    pub(super) sum: i64,
}

impl Scan {
    /// With one more tick.
    #[inline]
    fn and(self, quote: &Quote) -> Scan {
        Scan { ticks: self.ticks + 1, sum: self.sum.wrapping_add(quote.price) }
    }
}

/// A thread's access.
pub(super) trait Access {
    /// Puts the drawn tick, and removes the drawn range.
    fn put(&mut self, draw: impl FnOnce(&mut Clock) -> Put) -> Result<(), OutOfMemory>;

    /// The newest tick of the instrument up to the drawn time.
    fn at_or_before(&mut self, draw: impl FnOnce(&Clock) -> Key) -> (Key, Option<Tick>);

    /// Sums up the drawn range.
    fn scan(&mut self, draw: impl FnOnce(&Clock) -> Range<Key>) -> Scan;

    /// Checks all of the store. Returns the share of its leaves that holds ticks, in percent, if it
    /// is known.
    ///
    /// # Errors
    /// The first fault found.
    fn check(&mut self) -> anyhow::Result<Option<f64>>;

    /// Calls `wait`, as a thread that waits for others.
    fn idle(&mut self, wait: &mut dyn FnMut()) {
        wait();
    }
}

/// The store in the heap.
pub(super) struct InHeap<'a, 'm, 't> {
    pub(super) mutator: &'m mut Mutator<'t>,
    pub(super) store: Local<'a, Store>,
    pub(super) lock: &'a RwLock<Clock>,
}

impl<'a> InHeap<'a, '_, '_> {
    #[inline]
    fn read(&mut self) -> RwLockReadGuard<'a, Clock> {
        let lock = self.lock;
        taken(self.mutator, lock.try_read(), || lock.read())
    }

    #[inline]
    fn write(&mut self) -> RwLockWriteGuard<'a, Clock> {
        let lock = self.lock;
        taken(self.mutator, lock.try_write(), || lock.write())
    }
}

/// The guard of a lock that was tried. If the lock was not free, calls `wait` in a blocking region.
#[inline(always)]
fn taken<G>(mutator: &mut Mutator<'_>, tried: TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> G {
    match tried {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => mutator.blocking(|| wait().unwrap_or_else(PoisonError::into_inner)),
    }
}

impl Access for InHeap<'_, '_, '_> {
    #[inline]
    fn put(&mut self, draw: impl FnOnce(&mut Clock) -> Put) -> Result<(), OutOfMemory> {
        let mut clock = self.write();
        let Put { tick, removed } = draw(&mut clock);
        Store::put(self.mutator, self.store, tick)?;
        if let Some(range) = removed {
            Store::remove(self.mutator, self.store, range);
        }
        Ok(())
    }

    #[inline]
    fn at_or_before(&mut self, draw: impl FnOnce(&Clock) -> Key) -> (Key, Option<Tick>) {
        let clock = self.read();
        let key = draw(&clock);
        (key, self.store.get(self.mutator).at_or_before(self.mutator, key))
    }

    #[inline]
    fn scan(&mut self, draw: impl FnOnce(&Clock) -> Range<Key>) -> Scan {
        let clock = self.read();
        let ticks = self.store.get(self.mutator).range(self.mutator, draw(&clock));
        ticks.fold(Scan::default(), |scan, tick| scan.and(&tick.quote))
    }

    fn check(&mut self) -> anyhow::Result<Option<f64>> {
        let _clock = self.read();
        let store = self.store.get(self.mutator);
        let extent = match store.verify(self.mutator) {
            Ok(extent) => extent,
            Err(what) => bail!("the store is broken: {what}"),
        };
        see_quotes(store.range(self.mutator, ..).map(|tick| (tick.key, tick.quote)))?;
        Ok(Some(extent.ticks as f64 / extent.room as f64 * 100.0))
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}

/// The map, and the clock.
pub(super) type Map = RwLock<(Clock, BTreeMap<Key, Quote>)>;

/// The map of the standard library.
pub(super) struct InMap<'a>(pub(super) &'a Map);

impl Access for InMap<'_> {
    #[inline]
    fn put(&mut self, draw: impl FnOnce(&mut Clock) -> Put) -> Result<(), OutOfMemory> {
        let (clock, map) = &mut *self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Put { tick, removed } = draw(clock);
        map.insert(tick.key, tick.quote);
        if let Some(range) = removed {
            map.extract_if(range, |_, _| true).for_each(drop);
        }
        Ok(())
    }

    #[inline]
    fn at_or_before(&mut self, draw: impl FnOnce(&Clock) -> Key) -> (Key, Option<Tick>) {
        let (clock, map) = &*self.0.read().unwrap_or_else(PoisonError::into_inner);
        let key = draw(clock);
        let found = map.range(..=key).next_back().filter(|(found, _)| found.instrument == key.instrument);
        (key, found.map(|(key, quote)| Tick { key: *key, quote: *quote }))
    }

    #[inline]
    fn scan(&mut self, draw: impl FnOnce(&Clock) -> Range<Key>) -> Scan {
        let (clock, map) = &*self.0.read().unwrap_or_else(PoisonError::into_inner);
        map.range(draw(clock)).fold(Scan::default(), |scan, (_, quote)| scan.and(quote))
    }

    fn check(&mut self) -> anyhow::Result<Option<f64>> {
        let (_, map) = &*self.0.read().unwrap_or_else(PoisonError::into_inner);
        see_quotes(map.iter().map(|(key, quote)| (*key, *quote)))?;
        Ok(None)
    }
}

/// Whether each key has its own quote.
fn see_quotes(mut ticks: impl Iterator<Item = (Key, Quote)>) -> anyhow::Result<()> {
    match ticks.find(|(key, found)| *found != quote(*key)) {
        Some((key, found)) => bail!("{key:?} has the quote of another: {found:?}"),
        None => Ok(()),
    }
}

// A tick is as large in the map as in the store.
const _: () = assert!(size_of::<Key>() + size_of::<Quote>() == TICK_BYTES);

#[cfg(test)]
mod tests {
    use super::super::load::TickLoad;
    use super::*;
    use crate::walk::Random;
    use allotment::{Heap, Root, root};

    const LOAD: TickLoad = TickLoad { ticks: 3000, instruments: 7, range: 50 };

    /// Appends, asks and scans; returns all answers.
    fn exercise(access: &mut impl Access, seed: u64) -> Vec<(Option<Tick>, Scan)> {
        let mut random = Random::new(seed);
        let mut answers = Vec::new();
        for turn in 0..6000 {
            let put = |clock: &mut Clock| {
                if turn % 2 == 0 { LOAD.append(clock, &mut random) } else { LOAD.scatter(clock, &mut random) }
            };
            access.put(put).unwrap();
            let (_, found) = access.at_or_before(|clock| LOAD.ask(clock, &mut random));
            let scan = if turn % 16 == 0 {
                access.scan(|clock| LOAD.stretch(clock, &mut random))
            } else {
                Scan::default()
            };
            answers.push((found, scan));
        }
        access.check().unwrap();
        answers
    }

    fn heap(collector: &str) -> Heap {
        let options = format!("Collector={collector},ZealInterval=20,+ZealMove,+ZealPoison");
        Heap::builder().max_heap_size(16 << 20).options(&options).unwrap().build().unwrap()
    }

    #[test]
    fn the_store_and_the_map_give_the_same_answers() {
        let map = Map::default();
        let expected = exercise(&mut InMap(&map), 1);
        assert!(expected.iter().filter(|(found, _)| found.is_some()).count() > 5000);
        assert!(expected.iter().map(|(_, scan)| scan.ticks).sum::<u64>() > 5000);
        for collector in ["parallel", "mark-compact", "shenandoah"] {
            let lock = RwLock::default();
            let answers = heap(collector).attach(|mutator| {
                root!(mutator, store = Store::make(mutator, 256).unwrap());
                exercise(&mut InHeap { mutator, store, lock: &lock }, 1)
            });
            assert!(answers.unwrap() == expected, "{collector}");
            assert_eq!(*lock.read().unwrap(), map.read().unwrap().0);
        }
    }

    /// A thread that waits for the lock holds up no collection of the thread that has it.
    #[test]
    fn threads_share_a_store() {
        for collector in ["parallel", "mark-compact", "shenandoah"] {
            let heap = heap(collector);
            let store = heap.attach(|mutator| {
                root!(mutator, store = Store::make(mutator, 256).unwrap());
                Root::new(mutator, store.get(mutator))
            });
            let (store, lock) = (store.unwrap(), RwLock::default());
            std::thread::scope(|scope| {
                for seed in 0..3 {
                    let (heap, store, lock) = (&heap, &store, &lock);
                    scope.spawn(move || {
                        heap.attach(|mutator| {
                            root!(mutator, store = store.get(mutator));
                            exercise(&mut InHeap { mutator, store, lock }, seed);
                        })
                        .unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn a_wrong_quote_is_found() {
        let map = Map::default();
        exercise(&mut InMap(&map), 2);
        let mut key = Key::MIN;
        if let Some((first, quote)) = map.write().unwrap().1.iter_mut().next() {
            (key, quote.size) = (*first, quote.size ^ 1);
        }
        let error = InMap(&map).check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{key:?} has the quote of another")), "{error}");
    }
}
