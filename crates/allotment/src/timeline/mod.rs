//! `Timeline`: the times of a heap's collections, as a file that Perfetto and Chrome open.
//!
//! ```text
//! records of collections    pauses, phases, cycles      drawn when a record is added
//! threads that share work   shares of workers           noted by each, handed over by the caller
//! mutators in slow paths    stalls, slices of a cycle   handed over one by one
//! collectors                occupancy of the heap       the same
//!          |
//!          '--> pending: bounded --> the timeline's own thread, after each collection --> file
//! ```
//!
//! **The thread** ([`writer`]) names, sorts and writes. All others append to a list under a lock
//! that is held for nothing else. So no mutator and no stop waits for a disk. Refused: the thread
//! that collected writes. It is often an attached mutator, and the next stop would wait for its
//! write.
//!
//! **The form** is Chrome's trace format, as an array of events. The file is written beside its
//! place while the program runs, and moved there when the heap ends, so a file at its place is
//! whole. Readers take an array without its end: what a killed program leaves, under the name of
//! the partial file ([`OutputFile`](allotment_output::OutputFile)), can be opened up to the last
//! write. Refused: the form as an object, which cannot. Refused: one write at the end, because
//! memory would have no bound and a killed program would leave nothing. Refused: Perfetto's own
//! form, which other readers do not take.
//!
//! **Rows.** Pauses of stopped worlds have a row of their own, and so have concurrent cycles: they
//! concern all threads. Stops exclude each other, and one thread drives all cycles, so events of
//! these rows nest. A thread's own row nests as its calls do.
//!
//! **Errors.** A file that cannot be made is an error of the builder, and so is a thread that the
//! system refuses. If writing fails later, the file is removed, a line on standard error says so,
//! and the program goes on without a timeline.
//!
//! **`fork()`.** The thread has the file, and is not in a child ([`OwnThread`]). So a child can
//! neither write to the file nor remove it. It waits for no lock of a timeline.
//!
//! Without the option there is no `Timeline`. Slow paths look whether there is one, fast paths do
//! not.

mod event;
mod file;
mod shares;
#[cfg(all(test, not(loom)))]
mod tests;
mod writer;

pub(crate) use event::{Arguments, Category, Occupied, Row, Slice};
pub(crate) use shares::Shares;

use crate::platform::{Clock, OwnThread, SystemThread};
use crate::sync::POISONED;
use event::Event;
use file::TraceFile;
use shares::Share;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use writer::Writer;

/// The most events that wait for the thread, and the most shares. Later ones are dropped and
/// counted.
const MOST_PENDING: usize = 1 << 14;

/// The name of the thread that writes.
const THREAD: &str = "allotment-trace";

/// The reason why a timeline cannot be written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// The file cannot be made.
    #[error(
        "Timeline={}: the file cannot be written: {source}; choose a file in a folder that is there, and in which this \
         program may make files",
        path.display()
    )]
    File {
        /// The path that was to be written.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The system gives no thread to write the file.
    #[error(
        "Timeline={}: the system refused the thread that writes the file: {source}; a higher limit on threads may work",
        path.display()
    )]
    Thread {
        /// The path that was to be written.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}
crate::debug::debug_is_display!(TimelineError);

/// The timeline of one heap.
pub(crate) struct Timeline {
    /// When the heap was made: the zero of all times.
    born: Instant,
    queue: Arc<Queue>,
    /// The thread that writes.
    thread: OwnThread,
}

/// The events and shares on their way from all threads to the one that writes.
#[derive(Default)]
struct Queue {
    /// No more events are taken: after an error, and at the end. Relaxed: the lock orders the rest.
    is_closed: AtomicBool,
    /// Locked by any thread to append, and by the thread that writes to take all.
    pending: Mutex<Pending>,
    /// Wakes the thread that writes when there is a wish.
    wakes: Condvar,
}

/// Events and shares that the writing thread has not taken yet.
#[derive(Default)]
struct Pending {
    /// At most [`MOST_PENDING`].
    events: Vec<Event>,
    /// Shares of work, at most [`MOST_PENDING`].
    shares: Vec<Share>,
    /// Events and shares without room.
    dropped: u64,
    wish: Wish,
}

/// The next task of the thread that writes. A task of the list is not withdrawn by one before it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    /// Nothing.
    #[default]
    Wait,
    /// To write what there is.
    Write,
    /// To write what there is, and to move the file to its place.
    Finish,
    /// To remove the file.
    GiveUp,
}

impl Timeline {
    /// Begins the timeline of a heap with this clock and name.
    ///
    /// # Errors
    /// [`TimelineError`] if the file cannot be made, or the system gives no thread.
    pub(crate) fn begin(path: &Path, clock: &Clock, heap: &str) -> Result<Timeline, TimelineError> {
        let file = TraceFile::create(path, heap)
            .map_err(|source| TimelineError::File { path: path.to_owned(), source })?;
        let (queue, born) = (Arc::new(Queue::default()), clock.born());
        let writer = Writer::new(queue.clone(), file, path.to_owned(), born);
        // Where there is no thread, the writer is dropped, and its file is removed.
        let thread = OwnThread::start(THREAD, move || writer.run());
        let thread = thread.map_err(|source| TimelineError::Thread { path: path.to_owned(), source })?;
        Ok(Timeline { born, queue, thread })
    }

    /// Whether events are taken: the file can be written, and the process is the one that made it.
    /// A child of `fork()` waits for no lock of a timeline.
    pub(crate) fn is_on(&self) -> bool {
        !self.queue.is_closed.load(Ordering::Relaxed) && self.thread.is_here()
    }

    /// Time since the heap was made.
    pub(crate) fn at(&self, moment: Instant) -> Duration {
        moment.saturating_duration_since(self.born)
    }

    /// Adds a slice of the calling thread: its work from `start`, for a time.
    pub(crate) fn did(
        &self,
        category: Category,
        name: &'static str,
        (start, time): (Instant, Duration),
        arguments: Arguments,
    ) {
        if !self.is_on() {
            return;
        }
        let number = SystemThread::current().number();
        let (row, name, start) = (Row::Thread(number), name.into(), self.at(start));
        let slice = Slice { row, category, name, start, time, arguments };
        let event = Event::Done(slice, std::thread::current());
        self.queue.lock().add(event);
    }

    fn append(&self, to: impl FnOnce(&mut Pending)) {
        if self.is_on() {
            to(&mut self.queue.lock());
        }
    }

    /// Adds the shares of workers in a phase that is under way.
    pub(crate) fn add_shares(&self, shares: Shares) {
        self.append(|pending| pending.add_shares(shares));
    }

    /// Adds the numbers of bytes that are in use now.
    pub(crate) fn add_occupied(&self, occupied: Occupied) {
        let now = self.born.elapsed();
        self.append(|pending| pending.add(Event::Occupied(now, occupied)));
    }

    /// Adds slices. They are written after the next record.
    pub(crate) fn add(&self, slices: Vec<Slice>) {
        self.append(|pending| slices.into_iter().for_each(|slice| pending.add(Event::Slice(slice))));
    }

    /// Adds the slices of a record, and has all events written.
    pub(crate) fn add_record(&self, slices: Vec<Slice>) {
        if self.is_on() {
            self.add(slices);
            self.queue.wish(Wish::Write);
        }
    }

    /// Writes what is left, and ends the file. For the end of the heap.
    pub(crate) fn finish(&self) {
        self.end(Wish::Finish);
    }

    /// Has the thread end, and waits for it. In a child of `fork()`: forgets it.
    fn end(&self, wish: Wish) {
        self.thread.end(|| {
            self.queue.is_closed.store(true, Ordering::Relaxed);
            self.queue.wish(wish);
        });
    }
}

/// A heap that could not be made leaves no file.
impl Drop for Timeline {
    fn drop(&mut self) {
        self.end(Wish::GiveUp);
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().expect(POISONED)
    }

    /// Has the thread that writes do this.
    fn wish(&self, wish: Wish) {
        {
            let mut pending = self.lock();
            // A cycle may end while the heap does.
            pending.wish = pending.wish.max(wish);
        }
        self.wakes.notify_one();
    }

    /// Waits for a wish, and takes all.
    fn take(&self) -> Pending {
        let has_none = |pending: &mut Pending| pending.wish == Wish::Wait;
        std::mem::take(&mut *self.wakes.wait_while(self.lock(), has_none).expect(POISONED))
    }

    /// Takes no more, and forgets what there is.
    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        *self.lock() = Pending::default();
    }
}

impl Pending {
    fn add(&mut self, event: Event) {
        let has_room = self.events.len() < MOST_PENDING;
        self.events.extend(has_room.then_some(event));
        self.dropped += u64::from(!has_room);
    }

    fn add_shares(&mut self, shares: Shares) {
        let mut shares = shares.into_iter();
        self.shares.extend(shares.by_ref().take(MOST_PENDING - self.shares.len()));
        self.dropped += shares.count() as u64;
    }
}
