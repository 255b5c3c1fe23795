//! The worker: looks up random keys, makes missing values, and holds found values for a while.

use super::super::together::Together;
use super::cache::{Cache, Value, make};
use super::witness::Witness;
use crate::harness::{Play, SecondaryValue, Share, Thread, Worker, keep};
use crate::walk::Random;
use allotment::{Array, Gc, Local, Mutator, NewArray, NewSlots, alloc, rebind, root};
use anyhow::bail;

/// Lookups between two checks of the harness.
pub(super) const LOOKUPS: u64 = 256;

/// The sizes of the experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Entries of a cache.
    pub(super) entries: usize,
    /// Values that the window holds.
    pub(super) window: usize,
    /// Bytes of a value beside its key.
    pub(super) bytes: usize,
    /// Lookups of a batch.
    pub(super) lookups: u64,
}

/// The window, which holds values strongly.
type Window = Array<Option<Value>>;

/// Plays a thread with its own cache. Checks the cache's contents
/// afterwards.
pub(super) fn scene<C: Cache>(
    mutator: &mut Mutator<'_>,
    mut cache: C,
    setting: Setting,
    thread: &Thread,
    together: &Together,
    play: Play<'_>,
) -> anyhow::Result<()> {
    root!(mutator, window = alloc!(mutator, NewArray::new(setting.window, None))?);
    let mut witness = Witness::new(setting.entries, setting.window);
    let worker = Looking::new(mutator, &mut cache, window, &mut witness, setting, thread.index);
    together.play(worker, play)?;
    collected(mutator, &cache, &witness, setting, thread.count == 1)
}

/// Checks the cache after a collection: held values are present. Where the collection certainly
/// covered the whole heap, all other values are gone.
fn collected<C: Cache>(
    mutator: &mut Mutator<'_>,
    cache: &C,
    witness: &Witness,
    setting: Setting,
    alone: bool,
) -> anyhow::Result<()> {
    mutator.collect();
    for key in 0..setting.entries {
        let found = cache.find(mutator, key);
        let found = found.map(|value| numbers(mutator, value, setting)).transpose()?;
        if alone { witness.see_collected(key, found)? } else { witness.see(key, found)? }
    }
    Ok(())
}

/// A value's key and serial number; an error if its payload belongs to another value.
fn numbers(mutator: &Mutator<'_>, value: Gc<'_, Value>, setting: Setting) -> anyhow::Result<(u64, u64)> {
    let payload = value.payload.load(mutator);
    let last = payload.as_ref().last().map_or(value.serial as u8, |byte| byte.get());
    if payload.len() != setting.bytes || last != value.serial as u8 {
        bail!("the value of key {} has lost its payload", value.key);
    }
    Ok((value.key, value.serial))
}

struct Looking<'a, 'm, 't, C> {
    mutator: &'m mut Mutator<'t>,
    cache: &'a mut C,
    window: Local<'a, Window>,
    witness: &'a mut Witness,
    setting: Setting,
    random: Random,
    counts: Counts,
    /// The first error.
    failed: Option<anyhow::Error>,
}

/// Counts of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    lookups: u64,
    hits: u64,
}

impl<'a, 'm, 't, C: Cache> Looking<'a, 'm, 't, C> {
    fn new(
        mutator: &'m mut Mutator<'t>,
        cache: &'a mut C,
        window: Local<'a, Window>,
        witness: &'a mut Witness,
        setting: Setting,
        index: usize,
    ) -> Self {
        let random = Random::new(index as u64);
        let counts = Counts::default();
        Looking { mutator, cache, window, witness, setting, random, counts, failed: None }
    }

    fn look_up(&mut self) -> anyhow::Result<()> {
        let key = self.random.below(self.setting.entries);
        self.counts.lookups += 1;
        let value = match self.cache.find(self.mutator, key) {
            Some(value) => {
                self.counts.hits += 1;
                self.witness.see(key, Some(numbers(self.mutator, value, self.setting)?))?;
                value
            }
            None => {
                self.witness.see(key, None)?;
                let serial = self.witness.make(key);
                let bytes = self.setting.bytes;
                let value = rebind!(self.mutator, make(self.mutator, key as u64, serial, bytes)?);
                self.cache.put(self.mutator, key, value);
                value
            }
        };
        let place = self.witness.hold(key);
        self.window.get(self.mutator).at(place).store(self.mutator, Some(value));
        // The use of the value leaves garbage, as a program's work does. Otherwise a cache that
        // holds every value would never cause a collection.
        let scratch = alloc!(self.mutator, NewSlots::new(self.setting.bytes, key as u8))?;
        keep(scratch.as_ref().as_ptr());
        Ok(())
    }
}

impl<C: Cache> Worker for Looking<'_, '_, '_, C> {
    fn batch(&mut self) -> u64 {
        for done in 0..self.setting.lookups {
            if self.failed.is_some() {
                return done;
            }
            self.failed = self.look_up().err();
        }
        self.setting.lookups
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.counts = Counts::default();
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        let Counts { lookups, hits } = self.counts;
        vec![SecondaryValue::average("hits", "%", hits as f64 / lookups as f64 * 100.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::{Fields, Roots, table};
    use super::*;
    use allotment::{Heap, OutOfMemory};

    const SETTING: Setting = Setting { entries: 2000, window: 100, bytes: 64, lookups: LOOKUPS };

    /// Looks up keys until the heap has been collected several times.
    fn exercise<C: Cache>(mutator: &mut Mutator<'_>, cache: &mut C) -> (Counts, Witness) {
        root!(mutator, window = alloc!(mutator, NewArray::new(SETTING.window, None)).unwrap());
        let mut witness = Witness::new(SETTING.entries, SETTING.window);
        let mut looking = Looking::new(mutator, cache, window, &mut witness, SETTING, 3);
        for _ in 0..400 {
            assert_eq!(looking.batch(), LOOKUPS);
            looking.finish().unwrap();
            looking.mutator.collect();
        }
        let counts = looking.counts;
        collected(mutator, cache, &witness, SETTING, true).unwrap();
        (counts, witness)
    }

    #[test]
    fn what_is_not_held_is_cleared_and_made_again() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            root!(mutator, entries = table(mutator, SETTING.entries)?);
            let (fields, _) = exercise(mutator, &mut Fields(entries));
            let (roots, _) = exercise(mutator, &mut Roots::new(SETTING.entries));
            assert_eq!(fields, roots, "the same keys, and a collection after each batch");
            assert!(fields.hits > 0 && fields.hits < fields.lookups / 2, "{fields:?}");
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }

    /// Checks that the check can fail: a window that holds nothing breaks the witness's
    /// expectation.
    #[test]
    fn a_cleared_reference_to_what_should_be_held_ends_the_run() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            let mut cache = Roots::new(SETTING.entries);
            let (_, witness) = exercise(mutator, &mut cache);
            // The window of `exercise` is gone, so this collection clears all references.
            let error = collected(mutator, &cache, &witness, SETTING, true).unwrap_err().to_string();
            assert!(error.contains("was cleared although"), "{error}");
        })
        .unwrap();
    }
}
