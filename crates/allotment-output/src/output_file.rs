//! A file that is written at once, and appears at its place when it is whole.
//!
//! A profile or a snapshot may be written when memory is short, and then a disk may be full, too.
//! So the file is written beside its place under another name (`partial.rs`), synced to the disk,
//! and moved to its place. If anything fails, the new file is removed, and the old one stays.
//!
//! **In place.** The process may have no permission to write to the directory, only to the file. Or
//! a file may be mounted by itself, as `docker run -v results.json:/results.json` does. Then no
//! rename can replace the file, so it is written in place, as by a shell's `>`. Without permission
//! for the directory the file is overwritten from its beginning. After an error the file is empty,
//! since half a file may look like a whole one. A mounted file is first written beside its place,
//! and copied when it is whole. So the old contents are lost only if the copy fails. A whole file
//! that cannot be moved to its place stays beside it, and the error names it.
//!
//! Refused: an error in these cases. The user has named this file, and gave permission to write it.

use super::descriptor;
use super::found::{Found, found, is_refusal};
use super::partial::PartialFile;
use super::planted::refuse_planted;
use super::resolve::Target;
use rustix::io::Errno;
use std::fs::{self, File, Permissions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// A file that is being written. [`finish`](Self::finish) puts it in its place. If it is dropped
/// before, the old file stays.
///
/// **In place.** If the process may write the file but not its directory, the file is overwritten
/// from its beginning. The old contents are lost with the first byte, and if the write fails, the
/// file is empty. A file that is mounted by itself, as containers have them, is written beside its
/// place first, and copied when it is whole.
#[derive(Debug)]
pub struct OutputFile(Way);

#[derive(Debug)]
enum Way {
    /// A new file beside its place.
    Beside { partial: PartialFile, target: PathBuf },
    /// The existing file.
    InPlace(InPlace),
    /// An open descriptor.
    Stream(File),
}

impl OutputFile {
    /// Writes through a descriptor that somebody else has opened, and also moves the file to its
    /// place.
    #[must_use]
    pub fn stream(file: File) -> OutputFile {
        OutputFile(Way::Stream(file))
    }

    /// The regular file that is being written, for another process to write to. `None` if the
    /// output is written through a descriptor, or in place.
    #[must_use]
    pub fn beside_its_place(&self) -> Option<&File> {
        match &self.0 {
            Way::Beside { partial, .. } => Some(partial.file()),
            Way::InPlace(_) | Way::Stream(_) => None,
        }
    }

    pub(crate) fn in_place(file: File) -> OutputFile {
        OutputFile(Way::InPlace(InPlace::new(file)))
    }

    /// A file beside `target`, with the mode and the owner of the existing file.
    pub(crate) fn beside(partial: PartialFile, target: PathBuf) -> io::Result<OutputFile> {
        // It may be another file than when the place was tried.
        if let Ok(there) = fs::symlink_metadata(&target)
            && there.is_file()
        {
            refuse_planted(&target, &rustix::fs::lstat(&target)?)?;
            let new = partial.file().metadata()?;
            if (there.uid(), there.gid()) != (new.uid(), new.gid()) {
                // Only root can give files away. Other users can give them to their own groups.
                let _ = fchown(partial.file(), Some(there.uid()), Some(there.gid()))
                    .or_else(|_| fchown(partial.file(), None, Some(there.gid())));
            }
            // A file system without modes has one for all.
            let (old, new) = (there.mode() & 0o777, new.mode() & 0o777);
            if old != new {
                partial.file().set_permissions(Permissions::from_mode(old))?;
            }
        }
        Ok(OutputFile(Way::Beside { partial, target }))
    }

    /// Completes the file: syncs it to the disk, and puts it in its place.
    ///
    /// # Errors
    /// The system's: a full disk may fail only now. The old file then stays. If the file has to be
    /// written in place, it is empty, or the error names the whole file. The error also names the
    /// whole file if another user has put something at the place meanwhile, in a directory that all
    /// share.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Way::Stream(_) => Ok(()),
            Way::InPlace(mut file) => file.finish(),
            Way::Beside { partial, target } => {
                // A network file system reports its errors here.
                partial.file().sync_all()?;
                match partial.move_to(&target) {
                    Ok(()) => Ok(()),
                    Err((partial, error)) if cannot_replace(&error) => copy(partial, &target, error),
                    Err((_, error)) => Err(error),
                }
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Way::Beside { partial, .. } => descriptor::write(partial.file(), bytes),
            Way::InPlace(file) => file.write(bytes),
            Way::Stream(file) => descriptor::write(file, bytes),
        }
    }

    /// Does nothing: there is no buffer.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is overwritten in place.
#[derive(Debug)]
struct InPlace {
    file: File,
    /// Whether the old contents are gone.
    is_begun: bool,
    is_whole: bool,
    /// The process that made this value. A child of `fork()` does not empty the file.
    process: u32,
}

impl InPlace {
    fn new(file: File) -> InPlace {
        InPlace { file, is_begun: false, is_whole: false, process: std::process::id() }
    }

    /// Empties the file before its first new byte, not earlier.
    fn begin(&mut self) -> io::Result<()> {
        if !self.is_begun {
            self.file.set_len(0)?;
            self.is_begun = true;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        self.file.sync_all()?;
        self.is_whole = true;
        Ok(())
    }
}

impl Write for InPlace {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        descriptor::write(&self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        if self.is_begun && !self.is_whole && self.process == std::process::id() {
            // The first error has been reported.
            let _ = self.file.set_len(0);
        }
    }
}

/// Whether the rename failed because of the existing file: it is mounted by itself, or belongs to
/// the owner of a directory that all share.
fn cannot_replace(error: &io::Error) -> bool {
    is_refusal(error) || matches!(Errno::from_io_error(error), Some(Errno::BUSY | Errno::XDEV))
}

/// Copies a whole file into the one at `target`, which could not be replaced because of `error`. If
/// the copy fails, the whole file stays, and the returned error names it.
fn copy(partial: PartialFile, target: &Path, error: io::Error) -> io::Result<()> {
    let copied = match found(Target::Path(target.to_owned())) {
        Ok(Found::File(_, there)) => copy_into(&mut InPlace::new(there), partial.file()),
        Ok(_) => Err(error),
        Err(error) => Err(error),
    };
    copied.map_err(|error| {
        let whole = partial.path().to_owned();
        partial.leave();
        io::Error::new(
            error.kind(),
            format!("{error}; the new contents are in `{}`, until the next write", whole.display()),
        )
    })
}

/// Copies from the open file, without opening it again: its mode may forbid reading.
fn copy_into(there: &mut InPlace, mut whole: &File) -> io::Result<()> {
    whole.rewind()?;
    io::copy(&mut whole, there)?;
    there.finish()
}
