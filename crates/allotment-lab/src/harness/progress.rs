//! The progress of a run, on standard error: a bar with the time left on a terminal, else a
//! line per fork.
//!
//! The time left is what the remaining forks are expected to take. The runner says it at the
//! beginning of each fork, since it learns from each fork how long such a fork takes. So the bar
//! grows with the time that has passed, and its length changes with each fork.

use crate::format::time::rough;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the bar is drawn anew.
const TICK: Duration = Duration::from_millis(500);

/// Shows how far a run is.
pub(super) struct Progress {
    shown: Shown,
    /// Forks that have begun, or that were left out.
    passed: u32,
    forks: u32,
}

/// Where progress is shown.
enum Shown {
    Nowhere,
    Lines,
    Bar { bar: Bar, ticker: Option<Ticker> },
}

/// A bar, and the time that it shows. Its length is in milliseconds.
#[derive(Clone)]
struct Bar {
    bar: ProgressBar,
    start: Instant,
    /// When the time left was last told, and what it was.
    told: Arc<Mutex<(Instant, Duration)>>,
}

impl Bar {
    fn draw(&self) {
        let (since, left) = *self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let left = left.saturating_sub(since.elapsed());
        let (passed, all) = (self.start.elapsed(), self.start.elapsed().saturating_add(left));
        self.bar.set_prefix(rough(left));
        self.bar.set_length(all.as_millis() as u64);
        self.bar.set_position(passed.as_millis() as u64);
        self.bar.tick();
    }
}

/// A thread that draws the bar again and again. indicatif's own panics where the system gives no
/// thread; a bar that moves with each fork alone is good enough then.
struct Ticker {
    /// Its end ends the thread.
    running: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// None where the system gives no thread.
    fn start(bar: &Bar) -> Option<Ticker> {
        let ((running, ended), bar) = (channel(), bar.clone());
        let tick = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.draw();
            }
        };
        let thread = thread::Builder::new().name("progress".into()).spawn(tick).ok()?;
        Some(Ticker { running, thread })
    }

    /// Waits until nothing is drawn any more.
    fn end(self) {
        drop(self.running);
        // One that panicked draws no more either.
        let _ = self.thread.join();
    }
}

impl Progress {
    /// For a run of `forks` processes; `quiet` shows nothing.
    pub(super) fn new(forks: u32, quiet: bool) -> Progress {
        let shown = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Shown::Nowhere,
            (false, false) => Shown::Lines,
            (false, true) => {
                let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
                let template = "{bar:24} {percent:>3} %, {prefix} left  {wide_msg}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                let now = Instant::now();
                let bar = Bar { bar, start: now, told: Arc::new(Mutex::new((now, Duration::ZERO))) };
                let ticker = Ticker::start(&bar);
                Shown::Bar { bar, ticker }
            }
        };
        Progress { shown, passed: 0, forks }
    }

    /// A fork begins, when all that remain are expected to take `left`.
    pub(super) fn fork(&mut self, name: &str, fork: u32, of: u32, left: Duration) {
        self.passed += 1;
        let text = format!("fork {fork} of {of}: {name}");
        match &self.shown {
            Shown::Nowhere => {}
            Shown::Lines => {
                let (passed, forks, left) = (self.passed, self.forks, rough(left));
                // Measuring goes on even if standard error is closed.
                let _ = writeln!(std::io::stderr(), "[{passed}/{forks}, {left} left] {text}");
            }
            Shown::Bar { bar, .. } => {
                *bar.told.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), left);
                bar.draw();
                bar.bar.set_message(text);
            }
        }
    }

    /// A fork is left out.
    pub(super) fn leave_out(&mut self) {
        self.passed += 1;
    }

    /// The run is over; the bar vanishes.
    pub(super) fn finish(self) {
        if let Shown::Bar { bar, ticker } = self.shown {
            if let Some(ticker) = ticker {
                ticker.end();
            }
            bar.bar.finish_and_clear();
        }
    }
}
