//! The history of a heap's collections: the latest records, sums, and two distributions of times.

use super::log::GcLog;
use super::record::{
    CollectionRecord, CollectionSums, LogLevel, Phase, drawn_between_cycles, drawn_without_record,
    uncommitted_line,
};
use crate::mutator::GcOverhead;
use crate::platform::{Clock, in_hook, tell};
use crate::probes::probe;
use crate::region::FreeSet;
use crate::time_histogram::TimeHistogram;
use crate::timeline::{Occupied, Timeline};
use hdrhistogram::Histogram;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Number of records kept.
const KEPT: usize = 256;

/// The longest time that the histograms distinguish. A longer time counts as this one.
const LONGEST: Duration = Duration::from_secs(3600);

/// A function that gets the record of each collection; see
/// [`HeapBuilder::on_collection`](crate::heap::HeapBuilder::on_collection).
pub(crate) type Listener = Arc<dyn Fn(&CollectionRecord) + Send + Sync>;

/// The collections of one heap.
pub(crate) struct History {
    pub(crate) clock: Clock,
    listener: Option<Listener>,
    /// The most detailed lines to print for each collection; `None` for no line.
    level: Option<LogLevel>,
    /// The file for the lines; `None` for the standard error.
    pub(crate) log: Option<Arc<GcLog>>,
    timeline: Option<Arc<Timeline>>,
    /// Whether the shortage of threads was already printed. Relaxed: the flag orders nothing.
    told_of_shortage: AtomicBool,
    inner: Mutex<CollectionHistory>,
}

/// The collections of a heap so far: [`Heap::collections`](crate::Heap::collections).
///
/// [`Metrics`](crate::stats::Metrics) has sums over all of them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CollectionHistory {
    /// Number of collections.
    pub count: u64,
    /// Sums over all of them.
    pub(crate) sums: CollectionSums,
    /// The age of the heap when the last of them ended; 0 before the first.
    pub(crate) last_end: Duration,
    /// The latest records, oldest first: up to 256.
    pub recent: VecDeque<CollectionRecord>,
    /// Times for which all threads stood still.
    pub pauses: TimePercentiles,
    /// Times from a request to stop until the last thread had stopped.
    pub times_to_safepoint: TimePercentiles,
    /// Number of collections after which an allocation failed because of `UseGCOverheadLimit`.
    pub(crate) overhead_limits: u64,
}

/// The percentiles of a distribution of times, to three digits: of pauses, or of times to
/// safepoints ([`CollectionHistory`]).
#[derive(Clone)]
pub struct TimePercentiles {
    /// In ns.
    histogram: Histogram<u64>,
    /// The recorded times in fixed buckets, and their sum.
    pub(crate) buckets: TimeHistogram,
}

impl Default for TimePercentiles {
    fn default() -> TimePercentiles {
        let histogram = Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, 3);
        TimePercentiles {
            histogram: histogram.expect("the bounds are constants that work"),
            buckets: TimeHistogram::default(),
        }
    }
}

impl TimePercentiles {
    fn record(&mut self, time: Duration) {
        self.histogram.saturating_record(time.as_nanos() as u64);
        self.buckets.record(time);
    }

    /// Number of recorded times.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Sum of the recorded times.
    pub fn total(&self) -> Duration {
        self.buckets.sum()
    }

    /// The longest recorded time; 0 where there is none.
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.histogram.max())
    }

    /// The time that `percent` of the recorded times (0 to 100) do not exceed, to three digits; 0
    /// where there is none.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_percentile(percent))
    }
}

/// Prints the summary, not the thousands of counts of the histogram.
impl fmt::Debug for TimePercentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimePercentiles({self})")
    }
}

impl fmt::Display for TimePercentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in {:?}: p50 {:?}, p99 {:?}, max {:?}",
            self.count(),
            self.total(),
            self.percentile(50.0),
            self.percentile(99.0),
            self.max()
        )
    }
}

impl History {
    pub(crate) fn new(
        clock: Clock,
        level: Option<LogLevel>,
        log: Option<Arc<GcLog>>,
        listener: Option<Listener>,
        timeline: Option<Arc<Timeline>>,
    ) -> History {
        let inner = Mutex::default();
        History { clock, listener, level, log, timeline, told_of_shortage: AtomicBool::new(false), inner }
    }

    /// Whether no thread holds the lock. For a child of `fork()`, where a held lock is never
    /// released.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, CollectionHistory> {
        self.inner.lock().expect("nothing that may panic runs under the history's lock")
    }

    /// The timeline, if it takes events.
    fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_deref().filter(|timeline| timeline.is_on())
    }

    /// Notes the start of a collection. Returns the heap's age.
    pub(crate) fn begin(&self, free: &FreeSet) -> Duration {
        probe!(collection_begin);
        self.occupancy(free);
        self.clock.age()
    }

    /// Lets the timeline show the memory in use.
    pub(crate) fn occupancy(&self, free: &FreeSet) {
        let Some(timeline) = self.timeline() else { return };
        let occupancy = free.occupancy();
        timeline.add_occupied(Occupied {
            used: occupancy.used_bytes,
            old: occupancy.tenured_bytes,
            committed: free.committed_bytes(),
        });
    }

    /// Lets the timeline show a phase that ran between two cycles.
    pub(crate) fn between_cycles(&self, phase: Option<Phase>) {
        if let (Some(timeline), Some(phase)) = (self.timeline(), phase) {
            timeline.add(vec![drawn_between_cycles(timeline, &phase)]);
        }
    }

    /// Lets the timeline show a cycle that began at `start` and was given up, in a stop or beside
    /// threads.
    pub(crate) fn given_up(&self, start: Duration, phases: &[Phase], pauses: &[Phase]) {
        if let Some(timeline) = self.timeline() {
            timeline.add(drawn_without_record(timeline, start, phases, pauses));
        }
    }

    /// Adds the records of one stop of the world, in order. The first collection of the stop has
    /// the time to the safepoint. Pauses begin with the request to stop.
    pub(crate) fn add_stop(&self, records: impl IntoIterator<Item = CollectionRecord>) {
        for mut record in records {
            record.pause += record.time_to_safepoint;
            self.add(record);
        }
    }

    /// Adds a record, and calls the listener with it. Not called in a stopped world: the listener
    /// is the embedder's code.
    pub(crate) fn add(&self, mut record: CollectionRecord) {
        {
            let mut collections = self.lock();
            record.number = collections.count;
            collections.count += 1;
            collections.overhead_limits += u64::from(record.exceeds_limit());
            collections.sums.add(&record);
            collections.last_end = collections.last_end.max(record.end());
            record.pauses().for_each(|pause| collections.pauses.record(pause));
            collections.times_to_safepoint.record(record.time_to_safepoint);
            if collections.recent.len() == KEPT {
                collections.recent.pop_front();
            }
            collections.recent.push_back(record.clone());
        }
        probe!(
            collection_end,
            record.number,
            record.kind() as usize,
            record.pause.as_nanos(),
            record.used_before,
            record.used_after
        );
        if let Some(timeline) = self.timeline() {
            timeline.add_record(record.drawn(timeline));
        }
        self.print(&record);
        if let Some(listener) = &self.listener {
            in_hook(|| listener(&record));
        }
    }

    /// Notes that memory went back to the system between two collections. Not called in a stopped
    /// world.
    pub(crate) fn memory_given_back(&self, bytes: usize, free: &FreeSet) {
        self.occupancy(free);
        if self.level == Some(LogLevel::Debug) {
            self.write(&[(LogLevel::Debug, uncommitted_line(bytes, free.committed_bytes()))]);
        }
    }

    /// Prints the lines of a record.
    fn print(&self, record: &CollectionRecord) {
        let Some(level) = self.level else { return };
        let number = record.number;
        let mut lines = record.log_lines(level);
        if record.exceeds_limit() {
            let times = GcOverhead::FULL_COLLECTIONS;
            let line = format!("GC({number}) GC Overhead Limit exceeded too often ({times}).");
            lines.push((LogLevel::Info, line));
        }
        if let Some(shortage) = record.shortage()
            && !self.told_of_shortage.swap(true, Ordering::Relaxed)
        {
            lines.push((LogLevel::Warning, format!("GC({number}) {shortage}")));
        }
        self.write(&lines);
    }

    /// Writes lines with their levels to the log.
    fn write(&self, lines: &[(LogLevel, String)]) {
        let age = self.clock.age().as_secs_f64();
        let lines = lines.iter().map(|(level, line)| format!("[{age:.3}s][{level}][gc] {line}"));
        match &self.log {
            Some(log) => log.add(&lines.map(|line| line + "\n").collect::<String>()),
            None => lines.for_each(|line| tell(format_args!("{line}"))),
        }
    }

    /// Calls `read` with the collections so far, which are not copied. The lock is held meanwhile.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&CollectionHistory) -> R) -> R {
        read(&self.lock())
    }
}
