//! The files of a profile, each opened once when its first address is named.

use crate::{Binary, Frame, debug_files};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A mapping of a file, as a profile describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mapped<'a> {
    /// The file's path when it was mapped.
    pub path: &'a Path,
    /// Hexadecimal digits; empty if it is not known.
    pub build_id: &'a str,
    /// Address of its first byte.
    pub start: u64,
    /// The place of its first byte in the file.
    pub offset: u64,
}

/// Finds the files of a profile by path and build id, and names addresses in them.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Files to search first.
    given: Vec<Binary>,
    /// By path and build id.
    found: HashMap<(PathBuf, String), FoundBinary>,
}

/// The file of a mapping.
#[derive(Debug)]
enum FoundBinary {
    /// The index of a given file.
    Given(usize),
    Opened(Box<Binary>),
    Nothing,
}

impl Symbols {
    /// Searches `given` before other files. A given file belongs to a mapping if their build ids
    /// are equal, or, if one of the two has no build id, if their names are equal.
    #[must_use]
    pub fn new(given: Vec<Binary>) -> Symbols {
        Symbols { given, found: HashMap::new() }
    }

    /// The file of a mapping: a given one, the file at its path, a debug file with its build id, or
    /// the program that runs. A file of another build does not count.
    pub fn binary(&mut self, mapped: Mapped<'_>) -> Option<&Binary> {
        let key = (mapped.path.to_owned(), mapped.build_id.to_owned());
        let given = &self.given;
        match self.found.entry(key).or_insert_with(|| look_for(given, mapped)) {
            FoundBinary::Given(index) => self.given.get(*index),
            FoundBinary::Opened(binary) => Some(binary),
            FoundBinary::Nothing => None,
        }
    }

    /// The functions at an address in a mapping, the innermost first. Empty if the address has no
    /// name.
    pub fn frames(&mut self, mapped: Mapped<'_>, address: u64) -> Vec<Frame> {
        let place = address.wrapping_sub(mapped.start).wrapping_add(mapped.offset);
        self.binary(mapped).map_or(Vec::new(), |binary| binary.frames_in(mapped.offset, place))
    }

    /// The given files that belong to no mapping so far.
    pub fn unused(&self) -> impl Iterator<Item = &Binary> {
        let used = |index| {
            self.found.values().any(|found| matches!(found, FoundBinary::Given(one) if *one == index))
        };
        self.given.iter().enumerate().filter(move |(index, _)| !used(*index)).map(|(_, binary)| binary)
    }
}

fn look_for(given: &[Binary], mapped: Mapped<'_>) -> FoundBinary {
    let Mapped { path, build_id, .. } = mapped;
    let is_given = |binary: &Binary| {
        if build_id.is_empty() || binary.build_id().is_empty() {
            return path.file_name().is_some() && binary.path().file_name() == path.file_name();
        }
        binary.build_id() == build_id
    };
    if let Some(index) = given.iter().position(is_given) {
        return FoundBinary::Given(index);
    }
    let open = |path: PathBuf| Binary::open(&path).ok().filter(|binary| binary.build_id() == build_id);
    let by_id = debug_files::by_build_id(build_id);
    // Only a build id shows whether a relative path leads to the right file.
    let own = (path.is_absolute() || !build_id.is_empty()).then(|| path.to_owned());
    // A program whose file was replaced or deleted while it runs.
    let running = (!build_id.is_empty()).then(|| PathBuf::from("/proc/self/exe"));
    match own.into_iter().chain(by_id).chain(running).find_map(open) {
        Some(binary) => FoundBinary::Opened(Box::new(binary)),
        None => FoundBinary::Nothing,
    }
}
