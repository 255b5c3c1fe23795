//! Writes an allocation profile whenever the process gets a signal that the program names.
//!
//! `cargo run --release -p allotment --example profile_on_signal` prints its number. `kill -USR2`
//! with that number writes `profile.pb.gz` while the program goes on.
//!
//! Signals belong to the process, and several heaps may live in one. So a heap installs no handler:
//! the program does, and asks its heap. A profile needs no stop and no attached thread.

use allotment::stats::DEFAULT_SAMPLE_INTERVAL;
use allotment::{Heap, NewStr, alloc};
use signal_hook::consts::SIGUSR2;
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

/// Writes a profile of `heap` to `file` at each `signal`, until the handle is closed. A file that
/// cannot be written is reported, and the program goes on.
///
/// # Errors
/// Those of the system: the signal may not be caught, or there is no thread.
pub(crate) fn profile_on(signal: i32, heap: &Heap, file: PathBuf) -> io::Result<(Handle, JoinHandle<()>)> {
    let (mut signals, heap) = (Signals::new([signal])?, heap.clone());
    let handle = signals.handle();
    let thread = thread::Builder::new().name("profiles".into()).spawn(move || {
        for _ in signals.forever() {
            match heap.allocation_profile().save(&file) {
                Ok(()) => println!("{} is written", file.display()),
                Err(error) => eprintln!("no profile: {error}"),
            }
        }
    })?;
    Ok((handle, thread))
}

#[allow(dead_code, reason = "a test has the file as a module")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    heap.set_allocation_sample_interval(DEFAULT_SAMPLE_INTERVAL);
    profile_on(SIGUSR2, &heap, "profile.pb.gz".into())?;
    println!("kill -USR2 {}", std::process::id());
    heap.attach(|mu| {
        loop {
            alloc!(mu, NewStr::from("a text that nobody keeps"))?;
        }
    })?
}
