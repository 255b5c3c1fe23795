//! A request to stop early and keep what there is.

use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants the run to end. The first Ctrl-C (or SIGTERM, or SIGHUP) asks; the second ends the
/// program at once, and the kernel ends its forks.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Exit code of a run that was interrupted: 128 + SIGINT, as shells have it.
    pub const EXIT_CODE: u8 = 130;

    /// Starts listening to signals. Once per process.
    ///
    /// # Errors
    /// Somebody listens already.
    pub fn install() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let heard = interrupt.clone();
        ctrlc::set_handler(move || {
            if heard.0.swap(true, Ordering::AcqRel) {
                std::process::exit(i32::from(Self::EXIT_CODE));
            }
        })
        .context("cannot listen to Ctrl-C")?;
        Ok(interrupt)
    }

    /// An interrupt that no signal asks for.
    pub fn never() -> Interrupt {
        Interrupt::default()
    }

    /// Asks for the end, as a signal would.
    pub fn request(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody has asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
