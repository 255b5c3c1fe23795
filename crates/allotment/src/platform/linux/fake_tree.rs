//! A made-up `/proc` and `/sys` for tests.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A temporary directory that stands for `/`; it vanishes with the value.
pub(in crate::platform) struct FakeTree(TempDir);

impl FakeTree {
    pub(in crate::platform) fn new() -> FakeTree {
        FakeTree(TempDir::new().expect("a temporary directory"))
    }

    /// Writes one file; `path` is absolute as on a machine.
    pub(in crate::platform) fn file(&self, path: &str, text: &str) -> &FakeTree {
        let path = super::pseudo_files::below(self.root(), path);
        fs::create_dir_all(path.parent().expect("a file in a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
        self
    }

    pub(in crate::platform) fn root(&self) -> &Path {
        self.0.path()
    }
}
