//! What another user may have put at a place, for this process to write there.
//!
//! Everybody may make files in a directory such as `/tmp`. There another user can put a link to a
//! file of this process's user, or a file or a pipe, under a name that this process is about to write. The kernel has a rule for it: what is in a directory with the sticky bit that
//! all may write to must belong to the user of the process, or to the owner of the directory. But
//! the kernel checks links only when it follows them itself, and files only when an opening may make
//! them (`O_CREAT`). Here links are followed by `resolve.rs`, and files are opened first as they
//! are. So the rule is here.
//!
//! Refused: openings with `O_CREAT`, which would make files where none is wanted. Administrators can
//! switch the kernel's check off, too (`fs.protected_symlinks`, `fs.protected_regular`).

use rustix::fs::{Stat, stat};
use std::io;
use std::path::Path;

/// The sticky bit, and the permission for all to write.
const SHARED: u32 = 0o1002;

/// Refuses what is at `path` if its owner is neither this user nor that of a directory which all
/// share. `about` describes the open file, or the link itself.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied); or nothing can be known of the directory.
pub(crate) fn refuse_planted(path: &Path, about: &Stat) -> io::Result<()> {
    let directory = stat(path.parent().unwrap_or(Path::new("/")))?;
    let own = rustix::process::geteuid().as_raw();
    if directory.st_mode & SHARED != SHARED || [own, directory.st_uid].contains(&about.st_uid) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "Permission denied: `{}` belongs to another user, in a directory where everybody may make \
             files; remove it, or name a path in a directory of your own",
            path.display()
        ),
    ))
}
