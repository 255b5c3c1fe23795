//! What a heap does because time has passed, even if the program does nothing: free memory goes
//! back to the system (`UncommitDelay`), and garbage is collected (`GCInterval`).
//!
//! Collections give memory back, too. But a program that rests makes no collection. So a thread of
//! the heap's own looks at the heap some times in each delay. The thread starts after the first
//! collection that leaves free memory, and parks where nothing is left to give back. With
//! `GCInterval` the thread starts with the heap.
//!
//! The thread has low priority. A collection that another thread makes begins the interval anew.
//! Memory goes back in pieces, so that a thread that stops the world waits for one piece at most.
//! Memory that the program will want soon stays, and the thread looks again later.
//!
//! A heap that decides by the program's clock repeats itself. A thread that waits in real time would
//! end that. So such a heap has the thread only with `GCInterval`, which asks for it.
//!
//! Refused: the control threads of the collectors. Parallel withdraws the requests to its thread at
//! each collection, and a cycle would delay the memory of a heap that rests.

use super::control::{ControlThread, Watch};
use super::history::History;
use super::parts::Parts;
use crate::mutator::Shared;
use crate::options::Options;
use crate::region::FreeSet;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

/// Looks in each `UncommitDelay`. Memory goes back at most two looks later than the delay says.
const LOOKS: u32 = 8;

/// Least time between two looks, and between two pieces of memory.
const LEAST_WAIT: Duration = Duration::from_millis(1);

/// Time between two looks while the program will want memory soon.
const BUSY_WAIT: Duration = Duration::from_millis(125);

/// Bytes that go back at a time, or one region.
const PIECE_BYTES: usize = 8 << 20;

/// The timer of one heap.
pub(super) struct Timer {
    settings: TimerSettings,
    thread: ControlThread,
    cpus: Arc<[usize]>,
    history: Arc<History>,
    /// The heap, which has this timer. Empty until the heap is ready.
    heap: OnceLock<Weak<Shared>>,
    /// The age of the heap, in ns, at which the timer last began a collection. Relaxed: only looks
    /// read and write this.
    began_ns: AtomicU64,
    /// Bytes that went back since the log last told of some. Relaxed: only looks read and write
    /// this.
    given_bytes: AtomicUsize,
}

/// The options that a timer reads.
struct TimerSettings {
    /// `UncommitDelay`, in ms.
    uncommit_delay_ms: u64,
    /// `InitialHeapSize`: bytes that stay committed.
    keep_bytes: usize,
    /// `GCInterval`.
    interval: Option<Duration>,
}

impl Timer {
    /// The timer of these parts. Its thread runs on `cpus`.
    pub(super) fn new(parts: &Parts<'_>, cpus: Arc<[usize]>) -> Arc<Timer> {
        let Options { uncommit_delay, initial_heap_size, gc_interval, .. } = *parts.options;
        let settings = TimerSettings {
            uncommit_delay_ms: uncommit_delay,
            keep_bytes: initial_heap_size,
            interval: (gc_interval > 0).then(|| Duration::from_millis(gc_interval)),
        };
        Arc::new(Timer {
            settings,
            thread: ControlThread::new("allotment-timer"),
            cpus,
            history: parts.history.clone(),
            heap: OnceLock::new(),
            began_ns: AtomicU64::new(0),
            given_bytes: AtomicUsize::new(0),
        })
    }

    /// The heap is ready. An interval begins with it.
    pub(super) fn begin(self: &Arc<Self>, heap: &Arc<Shared>) {
        let _ = self.heap.set(Arc::downgrade(heap));
        if self.settings.interval.is_some() {
            self.ask();
        }
    }

    /// Has the thread look, if there is something to look after. Called after a collection, and
    /// after anything else that frees regions.
    pub(super) fn regions_were_freed(self: &Arc<Self>, free: &FreeSet) {
        // Before the state of the thread is read. The thread changes the state before it reads the
        // regions. So one of the two finds the other's change.
        fence(Ordering::SeqCst);
        if !self.thread.is_asked() && self.is_wanted(free) {
            self.ask();
        }
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.thread.is_at_rest()
    }

    /// In a child of `fork()`: forgets the thread, which is not in it.
    pub(super) fn forget_thread(&self) {
        self.thread.forget();
    }

    /// In a child of `fork()` in which the heap works: has a thread of the child look.
    pub(super) fn go_on(self: &Arc<Self>) {
        if let Some(heap) = self.heap.get().and_then(Weak::upgrade) {
            self.regions_were_freed(&heap.space.free);
        }
    }

    fn ask(self: &Arc<Self>) {
        let Some(heap) = self.heap.get() else { return };
        let watch = || Looks { heap: heap.clone(), timer: Arc::downgrade(self) };
        // If the system gives no thread, memory goes back at collections.
        let _ = self.thread.ask(&self.cpus, watch);
    }

    /// Whether there is something to look after.
    fn is_wanted(&self, free: &FreeSet) -> bool {
        let looks_by_itself = !self.history.clock.is_of_the_program();
        self.settings.interval.is_some() || looks_by_itself && self.has_memory_to_give(free)
    }

    /// Whether free regions are committed beyond the bytes that stay.
    fn has_memory_to_give(&self, free: &FreeSet) -> bool {
        let keep = self.settings.keep_bytes.div_ceil(free.table().geometry().region_bytes());
        free.committed_regions() > keep.max(free.regions_in_use())
    }

    /// Does what is due. Returns the time to wait before the next look.
    pub(super) fn look(self: &Arc<Self>, shared: &Arc<Shared>) -> Duration {
        let collection = self.collect_if_due(shared);
        let memory = self.give_memory_back(shared);
        if let Some(wait) = collection.into_iter().chain(memory).min() {
            return wait;
        }
        self.thread.rest();
        self.regions_were_freed(&shared.space.free);
        Duration::ZERO
    }

    /// Collects if there was no collection for `GCInterval`. Returns the time until the next
    /// collection may be due; `None` without the option.
    fn collect_if_due(&self, shared: &Arc<Shared>) -> Option<Duration> {
        let interval = self.settings.interval?;
        let ended = self.history.read(|collections| collections.last_end);
        let began = Duration::from_nanos(self.began_ns.load(Ordering::Relaxed));
        let idle = self.history.clock.since(ended.max(began));
        if idle < interval {
            return Some((interval - idle).max(LEAST_WAIT));
        }
        shared.collector.collect_after_interval(shared);
        // A concurrent cycle may still be under way, or another thread may have stopped the world.
        self.began_ns.store(self.history.clock.age().as_nanos() as u64, Ordering::Relaxed);
        Some(interval)
    }

    /// Gives back a piece of the memory that was free for `UncommitDelay`. Returns the time until
    /// the next piece may be due; `None` if no free memory is left.
    fn give_memory_back(&self, shared: &Shared) -> Option<Duration> {
        let free = &shared.space.free;
        let wanted_bytes = shared.collector.bytes_wanted_soon(shared);
        let bytes = if self.has_memory_to_give(free) { self.give_piece(shared, wanted_bytes) } else { 0 };
        if bytes > 0 {
            self.given_bytes.fetch_add(bytes, Ordering::Relaxed);
            return Some(LEAST_WAIT);
        }
        let given_bytes = self.given_bytes.swap(0, Ordering::Relaxed);
        if given_bytes > 0 {
            self.history.memory_given_back(given_bytes, free);
        }
        let wait = Duration::from_millis(self.settings.uncommit_delay_ms) / LOOKS;
        let least = if wanted_bytes > 0 { BUSY_WAIT } else { LEAST_WAIT };
        self.has_memory_to_give(free).then(|| wait.max(least))
    }

    /// Gives back at most a piece, and leaves `wanted_bytes` committed. Returns the bytes that went
    /// back.
    fn give_piece(&self, shared: &Shared, wanted_bytes: usize) -> usize {
        // A thread that stops the world has the lock, and gives memory back by itself.
        let Some(_regions) = shared.space.try_lock_regions() else { return 0 };
        let TimerSettings { uncommit_delay_ms, keep_bytes, .. } = self.settings;
        let free = &shared.space.free;
        let most = (PIECE_BYTES / free.table().geometry().region_bytes()).max(1);
        let now_ms = shared.watch.clock.coarse_ms();
        free.uncommit_idle(now_ms, uncommit_delay_ms, keep_bytes.max(wanted_bytes), |given| given < most)
    }
}

/// The thread's looks. They keep the heap alive one at a time.
struct Looks {
    heap: Weak<Shared>,
    timer: Weak<Timer>,
}

impl Watch for Looks {
    fn look(&mut self, _begins: bool) -> Option<Duration> {
        let (heap, timer) = (self.heap.upgrade()?, self.timer.upgrade()?);
        Some(timer.look(&heap))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
