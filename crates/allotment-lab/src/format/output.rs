//! A result file that is known to be writable before anything is measured, and is whole or not there.
//!
//! An ordinary file is written beside its place and renamed into it. The temporary file is made at the
//! start, which is the writability test; it vanishes when the run fails. What is not an ordinary file
//! (`/dev/stdout`, a pipe) is opened at the start and written in place: renaming over a device would replace
//! it. Writing at the end to a path never tried is what was refused: an hour of measuring would be lost to a
//! mistyped directory.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Why a result file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct OutputError {
    path: PathBuf,
    source: io::Error,
}

/// A place for results, opened and not yet filled.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Renamed(NamedTempFile),
    InPlace(File),
}

impl OutputFile {
    /// Opens `path` for a later [`OutputFile::write`]. An existing file keeps its contents until then, and
    /// for good if there is no such call.
    ///
    /// # Errors
    /// The directory is missing or cannot be written to, or the path is a directory or a write-protected
    /// file.
    pub fn open(path: &Path) -> Result<OutputFile, OutputError> {
        let failed = |source| OutputError { path: path.to_path_buf(), source };
        // A link's own place is its target's: renaming over the link would cut it.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let mode = match fs::metadata(&path) {
            Ok(existing) => {
                let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
                if !existing.is_file() {
                    return Ok(OutputFile { path, target: Target::InPlace(file) });
                }
                existing.permissions()
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Permissions::from_mode(0o666),
            Err(error) => return Err(failed(error)),
        };
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if path.file_name().is_none() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it names no file")));
        }
        let file = tempfile::Builder::new()
            .prefix(".allotment-")
            .permissions(mode)
            .tempfile_in(directory)
            .map_err(failed)?;
        Ok(OutputFile { path, target: Target::Renamed(file) })
    }

    /// The path, with links resolved where it existed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the contents and puts the file in its place.
    ///
    /// # Errors
    /// The disk is full, the directory is gone, or the other end of a pipe is.
    pub fn write(self, contents: &[u8]) -> Result<(), OutputError> {
        let OutputFile { path, target } = self;
        let done = match target {
            Target::InPlace(mut file) => file.write_all(contents),
            Target::Renamed(mut file) => file
                .write_all(contents)
                .and_then(|()| file.as_file().sync_all())
                .and_then(|()| file.persist(&path).map(drop).map_err(|error| error.error)),
        };
        done.map_err(|source| OutputError { path, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_appears_whole_and_only_when_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        fs::write(&path, "old").unwrap();
        let file = OutputFile::open(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        file.write(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        drop(OutputFile::open(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "temporary files must vanish");
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        OutputFile::open(&link).unwrap().write(b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn a_device_is_written_in_place() {
        OutputFile::open(Path::new("/dev/null")).unwrap().write(b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let full = OutputFile::open(Path::new("/dev/full")).unwrap().write(b"x").unwrap_err();
        assert!(full.to_string().contains("/dev/full"), "{full}");
    }

    #[test]
    fn places_that_cannot_be_written_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        for path in
            [directory.path().to_path_buf(), directory.path().join("no/such.json"), "/".into(), "".into()]
        {
            let error = OutputFile::open(&path).unwrap_err();
            assert!(error.to_string().starts_with("cannot write"), "{error}");
        }
    }
}
