//! A path at which something can be written, as far as one can know before.
//!
//! A measurement takes an hour, and a heap's profile is written at its end. A mistyped path must be
//! told before. So a [`Place`] is tried when it is opened: a file is made beside it and removed at
//! once, and what is not a regular file is opened and stays open. Nothing is left if the program is
//! killed between the trial and the write.
//!
//! Refused: to ask for permissions (`access`). It says nothing of read-only file systems, quotas
//! and what a security module thinks.

use super::found::{Found, duplicate, found, is_refusal};
use super::output_file::OutputFile;
use super::partial::{PartialFile, remove_left, remove_left_in};
use super::resolve::{Target, resolve};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A place for an [`OutputFile`], which has been tried.
#[derive(Debug)]
pub struct Place(Kind);

#[derive(Debug)]
enum Kind {
    /// An absolute path without links: of a regular file, or of nothing.
    File(PathBuf),
    /// A regular file in a directory in which this process may make no files.
    InPlace(PathBuf),
    /// A device, a pipe, or a descriptor of the process.
    Stream(File),
}

impl Place {
    /// Finds out what is at `path`, and whether it can be written. A relative path is that of the
    /// folder in which the program is now. What is there keeps its contents.
    ///
    /// # Errors
    /// The directory is missing or cannot be written to; a directory is at `path`, or a file that
    /// this process may not write, or a named pipe that nobody reads.
    pub fn open(path: &Path) -> io::Result<Place> {
        match found(resolve(path)?)? {
            Found::Stream(file) => Ok(Place(Kind::Stream(file))),
            Found::Nothing(path) => {
                PartialFile::create(&path)?;
                Ok(Place(Kind::File(path)))
            }
            Found::File(path, _) => match PartialFile::create(&path) {
                Ok(_) => Ok(Place(Kind::File(path))),
                Err(error) if is_refusal(&error) => Ok(Place(Kind::InPlace(path))),
                Err(error) => Err(error),
            },
        }
    }

    /// Standard output, whatever is behind it.
    ///
    /// # Errors
    /// The program has closed it.
    pub fn standard_output() -> io::Result<Place> {
        Ok(Place(Kind::Stream(duplicate(1)?)))
    }

    /// Tries whether files can be made in the directory `path`. If nothing is at `path`, whether
    /// the directory can be made.
    ///
    /// # Errors
    /// A file is there; or the directory, or the one above it where nothing is, is missing or
    /// cannot be written to.
    pub fn try_directory(path: &Path) -> io::Result<()> {
        let path = std::path::absolute(path)?;
        let inside = match std::fs::metadata(&path) {
            Ok(there) if there.is_dir() => path.join("file"),
            Ok(_) => return Err(Errno::NOTDIR.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => path,
            Err(error) => return Err(error),
        };
        PartialFile::create(&inside).map(drop)
    }

    /// Removes what dead writers left in `directory` of files whose names `is_name` takes. For files
    /// that have the process in their names: the next writer has another name, and
    /// [`create`](Self::create) looks for its own alone.
    pub fn remove_left_in(directory: &Path, is_name: impl Fn(&OsStr) -> bool) {
        remove_left_in(directory, is_name);
    }

    /// The path with links followed, of a file; `None` for devices, pipes and descriptors, which are
    /// written through.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::File(path) | Kind::InPlace(path) => Some(path),
            Kind::Stream(_) => None,
        }
    }

    /// Begins the file. What dead writers of this place left is removed.
    ///
    /// # Errors
    /// As [`open`](Self::open), if something has changed since.
    pub fn create(self) -> io::Result<OutputFile> {
        self.create_by(PartialFile::create)
    }

    /// As [`create`](Self::create), but a file that is new is for its owner alone (mode 600). A file
    /// that is replaced keeps its mode.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_private(self) -> io::Result<OutputFile> {
        self.create_by(PartialFile::create_private)
    }

    fn create_by(self, make: fn(&Path) -> io::Result<PartialFile>) -> io::Result<OutputFile> {
        match self.0 {
            Kind::Stream(file) => Ok(OutputFile::stream(file)),
            Kind::File(path) => {
                remove_left(&path);
                OutputFile::beside(make(&path)?, path)
            }
            Kind::InPlace(path) => match found(Target::Path(path))? {
                Found::File(_, file) => Ok(OutputFile::in_place(file)),
                Found::Stream(file) => Ok(OutputFile::stream(file)),
                Found::Nothing(path) => OutputFile::beside(make(&path)?, path),
            },
        }
    }
}

impl OutputFile {
    /// Begins a file at `path`: [`Place::open`] and [`Place::create`].
    ///
    /// # Errors
    /// As [`Place::open`].
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        Place::open(path)?.create()
    }

    /// [`Place::open`] and [`Place::create_private`].
    ///
    /// # Errors
    /// As [`Place::open`].
    pub fn create_private(path: &Path) -> io::Result<OutputFile> {
        Place::open(path)?.create_private()
    }
}
