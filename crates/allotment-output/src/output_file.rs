//! A file that is made at one go, and is at its place when it is whole.
//!
//! A profile or a snapshot may be written when memory is short, and then a disk may be full, too.
//! So the file is written beside its place under another name (`partial.rs`), brought to the disk,
//! and moved to its place. If anything fails, it is removed, and what was there stays.
//!
//! **Where that cannot be.** A directory may be closed to the process although the file is not, and
//! a file may be mounted by itself, as `docker run -v results.json:/results.json` does. Then no
//! rename can replace the file, and writing into it is the only way; a shell's `>` does the same.
//! In a closed directory the file is written from its beginning. After an error the file is empty:
//! an empty file is plainly no result, and half of one may look like a whole. A mounted file is
//! still written beside its place first, and copied when it is whole. So what was there is lost
//! only if the copy fails. A whole file that cannot be brought to its place stays beside it, and the
//! error names it.
//!
//! Refused: an error instead. The user has named this file, and gave the permission for it.

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

/// A file under way. [`finish`](Self::finish) puts it in its place. If it is dropped before, what
/// was there stays.
///
/// **In place.** A directory may be closed to the process although the file is not. Then the file is
/// written from its beginning. What was there is lost with the first byte, and if the write fails,
/// the file is empty. A file that is mounted by itself, as containers have them, is written beside
/// its place first, and copied when it is whole.
#[derive(Debug)]
pub struct OutputFile(Way);

#[derive(Debug)]
enum Way {
    /// Beside its place.
    Beside { partial: PartialFile, target: PathBuf },
    /// Into the file that is there.
    InPlace(InPlace),
    /// Through a descriptor.
    Stream(File),
}

impl OutputFile {
    /// Writes through a descriptor that somebody else has opened, and puts into its place.
    #[must_use]
    pub fn stream(file: File) -> OutputFile {
        OutputFile(Way::Stream(file))
    }

    /// The regular file under way, for another process to write to. `None`: the output is written
    /// through a descriptor, or in place.
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

    /// A file beside `target`, with the mode and the owner of what is there.
    pub(crate) fn beside(partial: PartialFile, target: PathBuf) -> io::Result<OutputFile> {
        // It may be another one than when the place was tried.
        if let Ok(there) = fs::symlink_metadata(&target)
            && there.is_file()
        {
            refuse_planted(&target, &rustix::fs::lstat(&target)?)?;
            let new = partial.file().metadata()?;
            if (there.uid(), there.gid()) != (new.uid(), new.gid()) {
                // Only root can give files away. Others can give them to groups of their own.
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

    /// Ends the file: brings it to the disk, and puts it in its place.
    ///
    /// # Errors
    /// The system's: a disk that is full may say so only now. What was at the place stays then.
    /// Where the file has to be written in place, it is empty, or the error names the file that is
    /// whole. So does the error if another user has put something at the place meanwhile, in a
    /// directory that all share.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Way::Stream(_) => Ok(()),
            Way::InPlace(mut file) => file.finish(),
            Way::Beside { partial, target } => {
                // What a network file system does not take is told here.
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

    /// Nothing is kept back.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is written over.
#[derive(Debug)]
struct InPlace {
    file: File,
    /// What was there has gone.
    is_begun: bool,
    is_whole: bool,
    /// The process that began. A child of `fork()` does not empty the file.
    process: u32,
}

impl InPlace {
    fn new(file: File) -> InPlace {
        InPlace { file, is_begun: false, is_whole: false, process: std::process::id() }
    }

    /// Empties the file when its first new byte comes, and not before.
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
            // The first error has been told.
            let _ = self.file.set_len(0);
        }
    }
}

/// Whether the rename failed because of what is at the place, and not because of the file: it is
/// mounted by itself, or belongs to the owner of a directory that all share.
fn cannot_replace(error: &io::Error) -> bool {
    is_refusal(error) || matches!(Errno::from_io_error(error), Some(Errno::BUSY | Errno::XDEV))
}

/// Copies a whole file into the one that is at `target`, where `error` forbids to replace it. If
/// that fails, the whole file stays, and the error names it.
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
            format!("{error}; what was to be written is in `{}`, until the next write", whole.display()),
        )
    })
}

/// Reads the file that was written, and does not open it again: its mode may forbid to read it.
fn copy_into(there: &mut InPlace, mut whole: &File) -> io::Result<()> {
    whole.rewind()?;
    io::copy(&mut whole, there)?;
    there.finish()
}
