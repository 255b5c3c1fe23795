//! A path that can be written, as far as a trial shows.
//!
//! A measurement may take an hour, and a heap's profile is written at its end. A wrong path must
//! fail at the beginning. So a [`Place`] is tried when it is opened: a file is made beside it and
//! removed at once. A device, a pipe or a descriptor is opened and stays open. Nothing is left if
//! the program is killed between the trial and the write.
//!
//! Refused: `access`, which ignores read-only file systems, quotas and security modules.

use super::found::{Found, duplicate, found, is_refusal};
use super::output_file::OutputFile;
use super::partial::{PartialFile, remove_left, remove_left_in};
use super::resolve::{Target, resolve};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A place for an [`OutputFile`] that has been tried.
#[derive(Debug)]
pub struct Place(PlaceKind);

#[derive(Debug)]
enum PlaceKind {
    /// An absolute path without links, of a regular file or where nothing is yet.
    File(PathBuf),
    /// A regular file in a directory in which this process may make no files.
    InPlace(PathBuf),
    /// A device, a pipe, or a descriptor of the process.
    Stream(File),
}

impl Place {
    /// Finds out what is at `path`, and whether it can be written. A relative path starts at the
    /// program's current folder. An existing file keeps its contents.
    ///
    /// # Errors
    /// The directory is missing or cannot be written to; or `path` is a directory, a file that this
    /// process may not write, or a named pipe that nobody reads.
    pub fn open(path: &Path) -> io::Result<Place> {
        match found(resolve(path)?)? {
            Found::Stream(file) => Ok(Place(PlaceKind::Stream(file))),
            Found::Nothing(path) => {
                PartialFile::create(&path)?;
                Ok(Place(PlaceKind::File(path)))
            }
            Found::File(path, _) => match PartialFile::create(&path) {
                Ok(_) => Ok(Place(PlaceKind::File(path))),
                Err(error) if is_refusal(&error) => Ok(Place(PlaceKind::InPlace(path))),
                Err(error) => Err(error),
            },
        }
    }

    /// Standard output: a terminal, a pipe, a socket or a file.
    ///
    /// # Errors
    /// The program has closed standard output.
    pub fn standard_output() -> io::Result<Place> {
        Ok(Place(PlaceKind::Stream(duplicate(1)?)))
    }

    /// Tries whether files can be made in the directory `path`. If nothing is at `path`, tries
    /// whether the directory can be made.
    ///
    /// # Errors
    /// `path` is a file; or the directory, or the one above it if nothing is at `path`, is missing
    /// or cannot be written to.
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

    /// Removes the partial files that dead writers left in `directory`, if `is_name` accepts the
    /// name of the place. Use it for names that contain the process: the next writer has another
    /// name, and [`create`](Self::create) only removes files of its own name.
    pub fn remove_left_in(directory: &Path, is_name: impl Fn(&OsStr) -> bool) {
        remove_left_in(directory, is_name);
    }

    /// The path of a file, with links followed; `None` for devices, pipes and descriptors.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            PlaceKind::File(path) | PlaceKind::InPlace(path) => Some(path),
            PlaceKind::Stream(_) => None,
        }
    }

    /// Begins the file. Removes the partial files that dead writers of this place left.
    ///
    /// # Errors
    /// As [`open`](Self::open), if the place has changed since.
    pub fn create(self) -> io::Result<OutputFile> {
        self.create_by(PartialFile::create)
    }

    /// As [`create`](Self::create), but only the owner can read a new file (mode 600). A replaced
    /// file keeps its mode.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_private(self) -> io::Result<OutputFile> {
        self.create_by(PartialFile::create_private)
    }

    fn create_by(self, make: fn(&Path) -> io::Result<PartialFile>) -> io::Result<OutputFile> {
        match self.0 {
            PlaceKind::Stream(file) => Ok(OutputFile::stream(file)),
            PlaceKind::File(path) => {
                remove_left(&path);
                OutputFile::beside(make(&path)?, path)
            }
            PlaceKind::InPlace(path) => match found(Target::Path(path))? {
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
