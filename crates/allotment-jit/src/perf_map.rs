//! Names of functions for profilers: `/tmp/perf-PID.map`, which `perf report` reads.
//!
//! A line a function, `START SIZE name`, the numbers in hexadecimal. Written only where it is asked for: a file in `/tmp` that
//! is never taken away is not a library's to leave behind unasked.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// The file with the names of this process's functions.
#[derive(Debug)]
pub struct PerfMap {
    file: File,
}

impl PerfMap {
    /// Opens this process's file, to add to it; other compilers of the process may do the same.
    ///
    /// # Errors
    /// What opening says.
    pub fn open() -> io::Result<PerfMap> {
        // Not through a link that somebody else put there: the name can be guessed.
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let file = OpenOptions::new().create(true).append(true).custom_flags(no_link).open(PerfMap::path())?;
        Ok(PerfMap { file })
    }

    /// Where it is.
    pub fn path() -> PathBuf {
        PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
    }

    /// Adds a function of `bytes` at `address`. A line break in its name becomes a space.
    ///
    /// # Errors
    /// What writing says.
    pub fn add(&mut self, address: usize, bytes: usize, name: &str) -> io::Result<()> {
        let line = format!("{address:x} {bytes:x} {}\n", name.replace(['\n', '\r'], " "));
        // One write a line: lines of several compilers do not mix.
        self.file.write_all(line.as_bytes())
    }
}
