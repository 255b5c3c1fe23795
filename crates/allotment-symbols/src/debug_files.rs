//! The places where distributions and `gdb` look for the debug information of a stripped file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The root of separate debug files.
const ROOT: &str = "/usr/lib/debug";

/// The path of the debug file with a build id; `None` for an id that is too short, or not
/// hexadecimal.
///
/// `/usr/lib/debug/.build-id/ab/cdef.debug` for the id `abcdef`.
pub(crate) fn by_build_id(build_id: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_at_checked(2)?;
    let is_id = !rest.is_empty() && build_id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| Path::new(ROOT).join(".build-id").join(first).join(format!("{rest}.debug")))
}

/// A build id as text.
pub(crate) fn hexadecimal(build_id: &[u8]) -> String {
    build_id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The places where the debug file of `program` may lie, best first. `link` is the name in its
/// section `.gnu_debuglink`.
pub(crate) fn places(program: &Path, build_id: &str, link: Option<&[u8]>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = by_build_id(build_id).into_iter().collect();
    let name = link.map(|name| Path::new(OsStr::from_bytes(name)));
    if let (Some(name), Some(folder)) = (name.and_then(Path::file_name), program.parent()) {
        found.push(folder.join(name));
        found.push(folder.join(".debug").join(name));
        found.push(Path::new(ROOT).join(folder.strip_prefix("/").unwrap_or(folder)).join(name));
    }
    found
}

/// The file that `.gnu_debugaltlink` of the file at `path` names: information that several debug
/// files share.
pub(crate) fn shared(path: &Path, name: &[u8], build_id: &[u8]) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(name));
    let beside = path.parent().map(|folder| folder.join(name));
    [beside, by_build_id(&hexadecimal(build_id))].into_iter().flatten().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_files_are_looked_for_where_distributions_put_them() {
        let told = places(Path::new("/usr/bin/lisp"), "abcdef", Some(b"lisp.debug"));
        let told: Vec<_> = told.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(
            told,
            [
                "/usr/lib/debug/.build-id/ab/cdef.debug",
                "/usr/bin/lisp.debug",
                "/usr/bin/.debug/lisp.debug",
                "/usr/lib/debug/usr/bin/lisp.debug",
            ]
        );
        for none in ["", "ab", "../../etc", "é"] {
            assert_eq!(places(Path::new("/usr/bin/lisp"), none, None), [] as [PathBuf; 0], "{none}");
        }
        // A link leads to a file beside the program, wherever its name points.
        assert_eq!(places(Path::new("/a/b"), "", Some(b"../../c"))[0], Path::new("/a/c"));
    }
}
