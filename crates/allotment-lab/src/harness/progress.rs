//! The progress of a run, on standard error: a bar with the time left on a terminal, else a
//! line per fork.
//!
//! The time left is the expected time of the remaining forks. The runner sets it at the beginning of
//! each fork, since each fork improves the estimate. So the bar grows with the elapsed time, and its
//! length changes with each fork.

use crate::format::time::rough;
use crate::hold::hold;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The interval at which the bar is drawn.
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
    /// The moment at which the time left was last set, and that time.
    told: Arc<Mutex<(Instant, Duration)>>,
}

impl Bar {
    fn draw(&self) {
        let (since, left) = *hold(&self.told);
        let left = left.saturating_sub(since.elapsed());
        let (passed, all) = (self.start.elapsed(), self.start.elapsed().saturating_add(left));
        self.bar.set_prefix(rough(left));
        self.bar.set_length(all.as_millis() as u64);
        self.bar.set_position(passed.as_millis() as u64);
        self.bar.tick();
    }
}

/// A thread that redraws the bar. Refused: indicatif's own thread, which panics if the system gives
/// none. Without a thread the bar moves with each fork.
struct Ticker {
    /// Its end ends the thread.
    running: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// Starts the thread; `None` if the system gives none.
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

    /// Waits until the thread has ended.
    fn end(self) {
        drop(self.running);
        // A thread that panicked has ended too.
        let _ = self.thread.join();
    }
}

impl Progress {
    /// The progress of a run of `forks` processes. Shows nothing if `quiet`.
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

    /// A fork begins. All remaining forks are expected to take `left`.
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
                *hold(&bar.told) = (Instant::now(), left);
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
