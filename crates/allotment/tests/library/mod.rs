//! Where the library lies that cargo built for a test.

use std::path::PathBuf;
use std::time::SystemTime;

/// The library and the directory of its dependencies.
pub(super) fn library() -> (PathBuf, PathBuf) {
    let test = std::env::current_exe().expect("a test has a path");
    let deps = test.parent().expect("a test lies in a directory").to_owned();
    let newest = std::fs::read_dir(&deps)
        .expect("the directory of this test")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("liballotment-") && name.ends_with(".rlib")
        })
        .max_by_key(|path| {
            path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
        });
    (newest.expect("cargo has built the library"), deps)
}
