//! Functions that were made at run time, from the file `/tmp/perf-PID.map` of a compiler in the
//! process. Its lines are `START SIZE NAME`, with the numbers in hexadecimal.
//!
//! The file's name can be guessed, so only an ordinary file of the process's own user is read.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The most bytes of a map that are read.
const MOST_BYTES: u64 = 256 << 20;

/// A function that was made at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JitFunction {
    /// Address of its first byte.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// Its name.
    pub name: String,
}

/// The functions of a process that were made at run time.
#[derive(Clone, Debug, Default)]
pub struct JitCode {
    /// Sorted by address. Of two functions with one address the later one is last.
    functions: Vec<JitFunction>,
}

impl JitCode {
    /// Reads the text of a perf map. Skips lines of another form.
    #[must_use]
    pub fn parse(text: &str) -> JitCode {
        let mut functions: Vec<_> = text.lines().filter_map(function).collect();
        functions.sort_by_key(|function| function.address);
        JitCode { functions }
    }

    /// The functions of this process. There are none if no compiler has written a map.
    #[must_use]
    pub fn of_this_process() -> JitCode {
        let path = format!("/tmp/perf-{}.map", std::process::id());
        JitCode::parse(&own_file(Path::new(&path)).unwrap_or_default())
    }

    /// The function that has the byte at `address`.
    ///
    /// ```
    /// let code = allotment_symbols::JitCode::parse("7f00 2a allocation loop\n");
    /// assert_eq!(code.function(0x7f29).unwrap().name, "allocation loop");
    /// assert_eq!(code.function(0x7f2a), None);
    /// ```
    #[must_use]
    pub fn function(&self, address: u64) -> Option<&JitFunction> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let function = self.functions[..after].last()?;
        (address - function.address < function.bytes).then_some(function)
    }
}

fn function(line: &str) -> Option<JitFunction> {
    let mut columns = line.splitn(3, ' ');
    let mut number = || u64::from_str_radix(columns.next()?, 16).ok();
    let (address, bytes) = (number()?, number()?);
    Some(JitFunction { address, bytes, name: columns.next()?.into() })
}

/// The text of an ordinary file that belongs to the user of this process.
fn own_file(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    let own = fs::metadata("/proc/self").ok()?.uid();
    if !found.is_file() || found.uid() != own {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_map_are_read_and_the_later_of_two_functions_counts() {
        let code = JitCode::parse("7f40 8 stub\n7f00 2a allocation loop\nx 1 y\n12\n7f40 10 new stub\n");
        let name = |address| code.function(address).map(|function| function.name.as_str());
        assert_eq!(name(0x7eff), None);
        assert_eq!(
            (name(0x7f00), name(0x7f29), name(0x7f2a)),
            (Some("allocation loop"), Some("allocation loop"), None)
        );
        assert_eq!((name(0x7f40), name(0x7f4f), name(0x7f50)), (Some("new stub"), Some("new stub"), None));
        assert_eq!(code.functions.len(), 3);
    }

    #[test]
    fn only_an_ordinary_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        assert_eq!(own_file(&path), None);
        fs::write(&path, "1 2 f").unwrap();
        assert_eq!(own_file(&path).as_deref(), Some("1 2 f"));
        std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert_eq!(own_file(&folder.path().join("link")), None);
    }
}
