//! Reads the small files of `/proc` and `/sys` under a replaceable root.
//!
//! Every reader of the layer takes the root directory as its first argument: `/` on the machine, a
//! temporary tree in tests, a copy of another machine's files in a study. A missing or unreadable
//! file is an absent fact and not an error: kernels, containers and sandboxes differ in the files
//! that they show.

use std::fs;
use std::path::{Path, PathBuf};

/// The absolute `path`, placed below `root`.
pub(in crate::platform) fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The text of a file without the white space around it, or `None` if it cannot be read.
pub(in crate::platform) fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The number that a file holds, or `None` if it cannot be read or holds something else.
pub(in crate::platform) fn read_number<N: std::str::FromStr>(path: impl AsRef<Path>) -> Option<N> {
    read(path)?.parse().ok()
}

/// The value of `key` in a file of `key: value` lines such as `/proc/meminfo`.
pub(in crate::platform) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_stay_below_the_root() {
        assert_eq!(below(Path::new("/tmp/tree"), "/proc/meminfo"), Path::new("/tmp/tree/proc/meminfo"));
        assert_eq!(below(Path::new("/"), "/proc/meminfo"), Path::new("/proc/meminfo"));
    }

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "MemTotalOther: 1 kB\nMemTotal:   24 kB\nflags\t\t: fpu vme\n";
        assert_eq!(field(text, "MemTotal"), Some("24 kB"));
        assert_eq!(field(text, "flags"), Some("fpu vme"));
        assert_eq!(field(text, "Mem"), None);
    }
}
