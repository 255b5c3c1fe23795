//! Refuses files and links that another user has put at a place.
//!
//! Everybody may make files in a directory such as `/tmp`. There another user can put a link to a
//! file of this process's user, or a file or a pipe, under a name that this process is about to
//! write. The kernel has a rule against that: an entry of a directory with the sticky bit that all
//! may write to must belong to the user of the process, or to the owner of the directory. But the
//! kernel checks links only when it follows them itself, and files only when an opening may make
//! them (`O_CREAT`). In this crate `resolve.rs` follows links, and files are opened without
//! `O_CREAT` first. So this module applies the rule.
//!
//! Refused: openings with `O_CREAT`, which would make unwanted files. Administrators can
//! switch the kernel's check off, too (`fs.protected_symlinks`, `fs.protected_regular`).

use rustix::fs::{Stat, stat};
use std::io;
use std::path::Path;

/// The sticky bit, and the permission to write for all.
const SHARED: u32 = 0o1002;

/// Refuses `path` in a directory that all share if its owner is neither this user nor the
/// directory's. `about` describes the open file, or the link itself.
///
/// # Errors
/// [`PermissionDenied`](io::ErrorKind::PermissionDenied); or the directory cannot be examined.
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
