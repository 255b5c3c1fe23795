//! A folder for temporary files for each test, and so a lock for each test: `allotment run` refuses to
//! measure beside another one, and tests run side by side.

use std::path::PathBuf;

/// The variable that names the folder.
pub(crate) const VARIABLE: &str = "TMPDIR";

/// The folder of the test that this thread runs.
pub(crate) fn own_folder() -> PathBuf {
    let test = std::thread::current().name().unwrap_or("unnamed").replace("::", "-");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
