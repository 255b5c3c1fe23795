//! A file that is written beside its place: whole, or not there.
//!
//! A profile, a timeline or a snapshot may be written when memory is short, and then a disk may be
//! full, too. So it is written beside its place under another name, and moved there when all of it
//! is written. If anything fails, the other file is removed. A file that was there before stays as
//! it was.
//!
//! The other name is new: no file or link is there, and no other thread or process writes to it.
//! Two writers of one place each write a whole file, and the last one stays. Where the place is a
//! symbolic link to something that is there, the link stays, and what it leads to is replaced. A
//! link that leads nowhere is replaced itself.

use super::open_pipe_or_device;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where output goes that a path names.
pub(crate) enum OutputFile {
    /// To a file that is at its place when it is whole.
    Whole(PartialFile),
    /// To a pipe or a device.
    Stream(File),
}

impl OutputFile {
    /// Opens what is at `path` if it is no regular file, or else makes a file beside it.
    pub(crate) fn create(path: &Path) -> io::Result<OutputFile> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Ok(OutputFile::Stream(open_pipe_or_device(path)?));
        }
        Ok(OutputFile::Whole(PartialFile::create(path)?))
    }

    /// Moves a file to its place.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            OutputFile::Whole(file) => file.finish(),
            OutputFile::Stream(_) => Ok(()),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputFile::Whole(file) => file.write(bytes),
            OutputFile::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputFile::Whole(file) => file.flush(),
            OutputFile::Stream(file) => file.flush(),
        }
    }
}

/// A file that is not at its place yet.
pub(crate) struct PartialFile {
    file: File,
    partial: PathBuf,
    target: PathBuf,
    /// The file has been moved to its place.
    done: bool,
}

impl PartialFile {
    /// Makes the file beside its place.
    pub(crate) fn create(target: &Path) -> io::Result<PartialFile> {
        // The program may go to another folder before the file is finished.
        let target = fs::canonicalize(target).or_else(|_| std::path::absolute(target))?;
        let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
        // Other processes may write there, and other threads of this one.
        for attempt in 0_u32.. {
            let mut partial = OsString::from(".");
            partial.push(name);
            partial.push(format!(".{}-{attempt}.partial", std::process::id()));
            let partial = target.with_file_name(partial);
            match OpenOptions::new().write(true).create_new(true).open(&partial) {
                Ok(file) => return Ok(PartialFile { file, partial, target, done: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Moves the file to its place.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        // What a network file system does not take is told here.
        self.file.sync_all()?;
        fs::rename(&self.partial, &self.target)?;
        self.done = true;
        Ok(())
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.done {
            // The first error has been told; there is no better place for this one.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
