//! What the user sees meanwhile, on standard error: a bar with the time left on a terminal, else a
//! line per fork.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often the bar is drawn anew.
const TICK: Duration = Duration::from_millis(500);

/// Shows how far a run is. Its length is the planned time in milliseconds.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    ticker: Option<Ticker>,
    lines: u32,
    forks: u32,
}

/// A thread that draws the bar again and again. indicatif's own panics where the system gives no
/// thread; a bar that moves with each iteration alone is good enough then.
struct Ticker {
    /// Its end ends the thread.
    running: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// None where the system gives no thread.
    fn start(bar: &ProgressBar) -> Option<Ticker> {
        let ((running, ended), bar) = (channel(), bar.clone());
        let tick = move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
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
    /// For a run of `forks` processes that are planned to take `total`; `quiet` shows nothing.
    pub(super) fn new(total: Duration, forks: u32, quiet: bool) -> Progress {
        let terminal = !quiet && std::io::stderr().is_terminal();
        let bar = terminal.then(|| {
            let target = ProgressDrawTarget::stderr();
            let bar = ProgressBar::with_draw_target(Some(total.as_millis() as u64), target);
            let template = "{bar:24} {percent:>3} %, {eta} left  {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar
        });
        let ticker = bar.as_ref().and_then(Ticker::start);
        Progress { bar, ticker, lines: if quiet || terminal { u32::MAX } else { 0 }, forks }
    }

    /// A fork begins.
    pub(super) fn fork(&mut self, name: &str, fork: u32, of: u32) {
        let text = format!("fork {fork} of {of}: {name}");
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        } else if self.lines != u32::MAX {
            self.lines += 1;
            // Nobody to tell is no reason to stop measuring.
            let _ = writeln!(std::io::stderr(), "[{}/{}] {text}", self.lines, self.forks);
        }
    }

    /// Planned time has passed.
    pub(super) fn advance(&self, planned: Duration) {
        if let Some(bar) = &self.bar {
            bar.inc(planned.as_millis() as u64);
        }
    }

    /// The run is over; the bar vanishes.
    pub(super) fn finish(&mut self) {
        if let Some(ticker) = self.ticker.take() {
            ticker.end();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
