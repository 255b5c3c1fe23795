//! Names of functions for profilers: `/tmp/perf-PID.map`, which `perf report` reads.
//!
//! The file has a line per function, `START SIZE name`, with the numbers in hexadecimal. It is
//! written only on request: nobody ever deletes the file, so a library must not leave it in
//! `/tmp` unasked.

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
    /// Opens this process's file, to add to it. Other compilers of the process may do the same.
    ///
    /// # Errors
    /// The error of opening the file.
    pub fn open() -> io::Result<PerfMap> {
        // Not through another user's symbolic link: the name can be guessed.
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
        let file = OpenOptions::new().create(true).append(true).custom_flags(no_link).open(PerfMap::path())?;
        Ok(PerfMap { file })
    }

    /// The path of the file.
    pub fn path() -> PathBuf {
        PathBuf::from(format!("/tmp/perf-{}.map", std::process::id()))
    }

    /// Adds a function of `bytes` at `address`. A line break in its name becomes a space.
    ///
    /// # Errors
    /// The error of writing to the file.
    pub fn add(&mut self, address: usize, bytes: usize, name: &str) -> io::Result<()> {
        let line = format!("{address:x} {bytes:x} {}\n", name.replace(['\n', '\r'], " "));
        // One write per line, so that lines of several compilers do not mix.
        self.file.write_all(line.as_bytes())
    }
}
