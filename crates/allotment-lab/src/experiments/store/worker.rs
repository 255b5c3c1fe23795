//! The worker: puts, asks and scans, and checks each answer.

use super::super::memory::advised;
use super::access::Access;
use super::load::{TickLoad, quote};
use crate::harness::{SecondaryValue, Share, Worker, keep_value};
use crate::walk::Random;
use allotment::OutOfMemory;
use allotment_ticks::{Key, TICK_BYTES, Tick};
use anyhow::bail;

/// Operations between two checks of the harness.
const OPERATIONS: u64 = 32;

/// What fits a heap that is full.
pub(super) const FITS: &str = "a larger --heap or fewer --ticks fit";

/// The work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Puts ticks that are newer than all others.
    Append,
    /// Puts ticks anywhere.
    Scatter,
    /// Asks for what was known at a time.
    Get,
    /// Sums up a stretch of an instrument.
    Scan,
    /// Of a hundred operations 50 append, 49 get, and one scans.
    Mixed,
}

impl Work {
    /// The work of that name.
    pub(super) fn named(mode: &str) -> Option<Work> {
        Some(match mode {
            "put" => Work::Append,
            "put-random" => Work::Scatter,
            "get" => Work::Get,
            "scan" => Work::Scan,
            "mixed" => Work::Mixed,
            _ => return None,
        })
    }

    /// Whether ticks are put.
    pub(super) fn puts(self) -> bool {
        matches!(self, Work::Append | Work::Scatter | Work::Mixed)
    }

    /// Whether ticks are scanned.
    pub(super) fn scans(self) -> bool {
        matches!(self, Work::Scan | Work::Mixed)
    }
}

pub(super) struct Working<A> {
    access: A,
    load: TickLoad,
    work: Work,
    random: Random,
    /// Whether this thread checks the store after an iteration.
    checks: bool,
    outcome: Result<(), OutOfMemory>,
    /// The first wrong answer: what was asked, and what was told.
    wrong: Option<(Key, Tick)>,
    counts: Counts,
    /// The share of the leaves that holds ticks, in percent.
    fill: Option<f64>,
}

/// Counts of an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    gets: u64,
    found: u64,
    scans: u64,
    scanned: u64,
}

impl<A: Access> Working<A> {
    /// The worker of a thread.
    pub(super) fn new(access: A, load: TickLoad, work: Work, index: usize) -> Self {
        Working {
            access,
            load,
            work,
            random: Random::new(index as u64),
            checks: index == 0,
            outcome: Ok(()),
            wrong: None,
            counts: Counts::default(),
            fill: None,
        }
    }

    #[inline]
    fn get(&mut self) {
        let (load, random) = (self.load, &mut self.random);
        let (key, found) = self.access.at_or_before(|clock| load.ask(clock, random));
        self.counts.gets += 1;
        if let Some(tick) = found {
            self.counts.found += 1;
            if tick.key.instrument != key.instrument || tick.key > key || tick.quote != quote(tick.key) {
                self.wrong.get_or_insert((key, tick));
            }
        }
    }

    #[inline]
    fn scan(&mut self) {
        let (load, random) = (self.load, &mut self.random);
        let scan = self.access.scan(|clock| load.stretch(clock, random));
        self.counts.scans += 1;
        self.counts.scanned += scan.ticks;
        keep_value(scan.sum as u64);
    }

    #[inline]
    fn append(&mut self) -> Result<(), OutOfMemory> {
        let (load, random) = (self.load, &mut self.random);
        self.access.put(|clock| load.append(clock, random))
    }

    #[inline]
    fn operate(&mut self) -> Result<(), OutOfMemory> {
        match self.work {
            Work::Append => self.append()?,
            Work::Scatter => {
                let (load, random) = (self.load, &mut self.random);
                self.access.put(|clock| load.scatter(clock, random))?;
            }
            Work::Get => self.get(),
            Work::Scan => self.scan(),
            Work::Mixed => match self.random.below(100) {
                0..50 => self.append()?,
                50..99 => self.get(),
                _ => self.scan(),
            },
        }
        Ok(())
    }
}

impl<A: Access> Worker for Working<A> {
    fn batch(&mut self) -> u64 {
        for _ in 0..OPERATIONS {
            if let Err(error) = self.operate() {
                self.outcome = Err(error);
                break;
            }
        }
        // A failed operation is reported when the iteration ends, and none of the iteration is
        // used.
        OPERATIONS
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.counts = Counts::default();
        Ok(())
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        advised(self.outcome.clone(), FITS)?;
        if let Some((asked, told)) = self.wrong {
            bail!("asked for {asked:?}, the store told {told:?}");
        }
        if self.checks {
            self.fill = self.access.check()?;
        }
        Ok(())
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.access.idle(wait);
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        let Counts { gets, found, scans, scanned } = self.counts;
        let length = scanned as f64 / scans as f64;
        // Values that are not finite are left out.
        let mut values = vec![
            SecondaryValue::average("found", "%", found as f64 / gets as f64 * 100.0),
            SecondaryValue::average("scan.ticks", "counts", length),
            SecondaryValue::average("block.fill", "%", self.fill.unwrap_or(f64::NAN)),
        ];
        if self.work == Work::Scan {
            let rate = share.measured_operations as f64 / share.time.as_secs_f64();
            values.push(SecondaryValue::sum("scan.rate", "MB/s", rate * length * TICK_BYTES as f64 / 1e6));
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::{InMap, Map};
    use super::*;
    use std::time::Duration;

    const LOAD: TickLoad = TickLoad { ticks: 2000, instruments: 4, range: 40 };

    /// Does the work of a mode on a full map.
    fn worked(map: &Map, mode: &str) -> Vec<SecondaryValue> {
        let mut working = Working::new(InMap(map), LOAD, Work::named(mode).unwrap(), 0);
        working.prepare().unwrap();
        let operations = (0..200).map(|_| working.batch()).sum();
        working.finish().unwrap();
        let time = Duration::from_secs(1);
        working.metrics(&Share { measured_operations: operations, time, ..Share::default() })
    }

    #[test]
    fn each_mode_does_its_work() {
        let map = Map::default();
        {
            let (clock, ticks) = &mut *map.write().unwrap();
            *clock = LOAD
                .fill(true, |tick| {
                    ticks.insert(tick.key, tick.quote);
                    Ok(())
                })
                .unwrap();
        }
        let seen = |mode: &str| {
            let before = map.read().unwrap().0;
            let values = worked(&map, mode);
            let value = |label: &str| values.iter().find(|value| value.label == label).unwrap().value;
            let puts = map.read().unwrap().0 != before;
            (puts, value("found"), value("scan.ticks"))
        };
        let (puts, found, scanned) = seen("get");
        assert!(!puts && found > 95.0 && scanned.is_nan());
        let (puts, found, scanned) = seen("scan");
        assert!(!puts && found.is_nan() && (30.0..50.0).contains(&scanned), "{scanned}");
        let (puts, found, scanned) = seen("mixed");
        assert!(puts && found > 95.0 && (30.0..50.0).contains(&scanned), "{found} {scanned}");
        for mode in ["put", "put-random"] {
            let (puts, found, scanned) = seen(mode);
            assert!(puts && found.is_nan() && scanned.is_nan());
        }
        let rate = worked(&map, "scan").into_iter().find(|value| value.label == "scan.rate").unwrap();
        assert!(
            (6.0..11.0).contains(&rate.value),
            "6400 scans of 40 ticks of 32 bytes in a second: {rate:?}"
        );
        assert!(Work::named("write").is_none());
    }

    #[test]
    fn a_wrong_answer_ends_the_run() {
        let map = Map::default();
        let key = Key::new(0, 0);
        map.write().unwrap().1.insert(key, quote(Key::new(0, 1)));
        let load = TickLoad { ticks: 1, instruments: 1, range: 1 };
        let mut working = Working::new(InMap(&map), load, Work::Get, 1);
        working.batch();
        let error = working.finish().unwrap_err().to_string();
        assert!(error.contains("asked for") && error.contains("the store told"), "{error}");
    }
}
