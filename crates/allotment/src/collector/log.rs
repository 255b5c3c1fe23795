//! `GCLog`: the lines of `PrintGC` in a file.
//!
//! The thread that made a collection hands its lines over, and a thread of the log's own writes
//! them at once. So a slow disk delays neither a mutator nor the next stop. Refused: a write by the
//! thread that collected, as for the standard error. That thread is often an attached mutator, and
//! the next stop would wait for its write.
//!
//! **Errors.** A file that cannot be made is an error of the builder. If lines cannot be written
//! later, one line on the standard error says so, and the program goes on. The log goes on, too,
//! when the disk has room again, and then says how many lines are missing.
//!
//! **`fork()`.** A child of the process writes nothing: the log is its parent's.

use crate::platform::{Clock, OwnThread, tell};
use crate::sync::POISONED;
use allotment_output::{LogError, LogFile};
use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Bytes of lines that wait for the thread, at most. Later ones are dropped and counted.
const MOST_PENDING: usize = 1 << 20;

/// The name of the thread that writes.
const THREAD: &str = "allotment-log";

/// The log of one heap.
pub(crate) struct GcLog {
    queue: Arc<Queue>,
    thread: OwnThread,
}

/// The lines on their way from all threads to the one that writes.
#[derive(Default)]
struct Queue {
    /// Locked by any thread to append, and by the thread that writes to take all.
    pending: Mutex<Pending>,
    /// Wakes the thread that writes.
    wakes: Condvar,
}

/// Lines that the writing thread has not taken yet.
#[derive(Default)]
struct Pending {
    /// At most [`MOST_PENDING`] bytes.
    lines: String,
    /// Lines without room.
    dropped: usize,
    /// The log ends when these lines are written, and takes no more.
    ends: bool,
}

/// The state of the thread that writes.
struct Writer {
    queue: Arc<Queue>,
    file: LogFile,
    path: PathBuf,
    clock: Clock,
    /// Lines that are missing at this place of the log, and why.
    missing: Option<(usize, String)>,
    /// Standard error has the reason.
    has_told: bool,
}

impl GcLog {
    /// Begins the log of a heap with this clock. `path` is for messages.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn begin(file: LogFile, path: PathBuf, clock: Clock) -> io::Result<GcLog> {
        let queue = Arc::new(Queue::default());
        let mut writer = Writer { queue: queue.clone(), file, path, clock, missing: None, has_told: false };
        let thread = OwnThread::start(THREAD, move || writer.run())?;
        Ok(GcLog { queue, thread })
    }

    /// Adds lines, each with its line break. Waits for no disk.
    pub(super) fn add(&self, lines: &str) {
        if self.thread.is_here() {
            self.queue.lock().add(lines);
            self.queue.wakes.notify_one();
        }
    }

    /// Writes what is left. For the end of the heap.
    pub(crate) fn finish(&self) {
        self.thread.end(|| {
            self.queue.lock().ends = true;
            self.queue.wakes.notify_one();
        });
    }
}

impl Drop for GcLog {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().expect(POISONED)
    }

    /// Waits for lines or the end, and takes the lines. The end stays.
    fn take(&self) -> Pending {
        let is_idle =
            |pending: &mut Pending| pending.lines.is_empty() && pending.dropped == 0 && !pending.ends;
        let mut pending = self.wakes.wait_while(self.lock(), is_idle).expect(POISONED);
        let ends = pending.ends;
        std::mem::replace(&mut pending, Pending { ends, ..Pending::default() })
    }
}

impl Pending {
    fn add(&mut self, lines: &str) {
        if self.ends {
            return;
        }
        if self.lines.len() + lines.len() <= MOST_PENDING {
            self.lines.push_str(lines);
        } else {
            self.dropped += lines.lines().count();
        }
    }
}

impl Writer {
    fn run(&mut self) {
        loop {
            let pending = self.queue.take();
            self.write(&pending.lines);
            if pending.dropped > 0 {
                self.miss(pending.dropped, "the disk is slower than the collections");
            }
            if pending.ends {
                if self.missing.is_some() {
                    self.write("");
                }
                return;
            }
        }
    }

    fn write(&mut self, lines: &str) {
        let mut text = String::new();
        if let Some((count, why)) = &self.missing {
            let age = self.clock.age().as_secs_f64();
            let _ = writeln!(text, "[{age:.3}s][warning][gc] {count} lines are missing here: {why}");
        }
        let told = usize::from(self.missing.is_some());
        text.push_str(lines);
        match self.file.append(&text) {
            Ok(()) => self.missing = None,
            Err(error @ LogError::Rotation { .. }) => {
                self.missing = None;
                tell(format_args!("allotment: the GC log {} {error}", self.path.display()));
            }
            Err(LogError::Write { lost, source }) => self.fail(lost, told, &text, source),
            Err(error) => tell(format_args!("allotment: the GC log {} {error}", self.path.display())),
        }
    }

    /// The last `lost` lines of `text` were not written. Its first lines, `told` of them, say that
    /// others are missing.
    fn fail(&mut self, lost: usize, told: usize, text: &str, why: io::Error) {
        let written = text.lines().count() - lost;
        if written >= told {
            self.missing = None;
        }
        let lines = if written >= told { lost } else { lost - told };
        self.miss(lines, &why.to_string());
        if !std::mem::replace(&mut self.has_told, true) {
            tell(format_args!(
                "allotment: the GC log {} cannot be written: {why}; the program goes on, and lines will be missing",
                self.path.display()
            ));
        }
    }

    fn miss(&mut self, lines: usize, why: &str) {
        let before = self.missing.take().map_or(0, |(count, _)| count);
        self.missing = Some((before + lines, why.to_owned()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use allotment_output::Rotation;
    use std::path::Path;
    use std::process::Command;

    fn begin(path: &Path) -> GcLog {
        let file = LogFile::open(path, Rotation { file_bytes: 0, files: 0 }).unwrap();
        GcLog::begin(file, path.to_owned(), Clock::new(None)).unwrap()
    }

    /// How many lines are missing by what the log says.
    fn missing(text: &str, why: &str) -> usize {
        let number = |line: &str| {
            let (start, reason) = line.split_once(" lines are missing here: ")?;
            assert!(reason.starts_with(why), "{line}");
            start.split_once("s][warning][gc] ")?.1.parse::<usize>().ok()
        };
        text.lines().filter_map(number).sum()
    }

    #[test]
    fn the_end_waits_for_all_lines_and_later_ones_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gc.log");
        let log = begin(&path);
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number}\n")).collect();
        lines.iter().for_each(|line| log.add(line));
        log.finish();
        log.add("late\n");
        drop(log);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines.concat());
    }

    #[test]
    fn lines_beyond_the_queue_are_counted_in_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let mut reader = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        let log = begin(&path);
        let line = "x".repeat(999) + "\n";
        // More than the pipe, the thread and the queue have room for together.
        const LINES: usize = 4000;
        (0..LINES).for_each(|_| log.add(&line));
        let reading = std::thread::spawn(move || {
            let (mut text, mut piece) = (Vec::new(), vec![0; 1 << 16]);
            while !text.ends_with(b"last\n") {
                let read = std::io::Read::read(&mut reader, &mut piece).unwrap();
                text.extend(&piece[..read]);
            }
            String::from_utf8(text).unwrap()
        });
        // The thread has taken what was there when it has room again.
        while log.queue.lock().lines.len() > line.len() {
            std::thread::yield_now();
        }
        log.add("last\n");
        log.finish();
        let text = reading.join().unwrap();
        let missing = missing(&text, "the disk is slower than the collections");
        assert!(missing > 0, "nothing was dropped");
        assert_eq!(text.lines().filter(|found| found.len() == 999).count() + missing, LINES);
    }

    #[test]
    fn after_an_error_the_log_goes_on_and_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().to_str().unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none", disk]).output();
        if !mount.is_ok_and(|mount| mount.status.success()) {
            eprintln!("left out: no file system can be mounted here");
            return;
        }
        let done = std::panic::catch_unwind(|| {
            let (path, other) = (folder.path().join("gc.log"), folder.path().join("other"));
            let queue = Arc::new(Queue::default());
            let file = LogFile::open(&path, Rotation { file_bytes: 0, files: 0 }).unwrap();
            let clock = Clock::new(None);
            let mut writer =
                Writer { queue, file, path: path.clone(), clock, missing: None, has_told: false };
            writer.write("first\n");
            let _ = std::fs::write(&other, vec![0; 1 << 20]);
            let line = "x".repeat(4095) + "\n";
            writer.write(&line.repeat(3));
            writer.write(&line);
            assert!(writer.missing.is_some() && writer.has_told);
            std::fs::remove_file(&other).unwrap();
            writer.write("again\n");
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("first\n") && text.ends_with("\nagain\n"), "{text}");
            let whole = text.lines().filter(|found| *found == &line[..4095]).count();
            assert_eq!(whole + missing(&text, "No space left on device"), 4, "{text}");
        });
        assert!(Command::new("umount").arg(disk).status().unwrap().success());
        done.unwrap();
    }
}
