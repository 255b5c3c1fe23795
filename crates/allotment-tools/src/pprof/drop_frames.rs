//! Frames that a profile asks to drop: `drop_frames` and `keep_frames`, regular expressions for whole
//! names of functions.
//!
//! A dropped function goes, and with it all that it calls. So the inner functions of an allocator
//! count for its caller. As in `go tool pprof`, a name is compared without its parameters, and
//! frames before the first one that stays are not dropped.
//!
//! The crate `regex` reads the dialect of Go's expressions, in linear time.

use super::file::File;
use regex::bytes::{Regex, RegexBuilder};

/// The most bytes that an expression may have. Lists of allocators' functions have some thousand.
const MOST_TEXT: usize = 64 << 10;

/// The most bytes that a compiled expression may take.
const MOST_BYTES: usize = 4 << 20;

/// Parts of names whose brackets begin no parameters.
const NAMES_WITH_BRACKETS: [&[u8]; 2] = [b"(anonymous namespace)", b"operator()"];

/// The frames that a profile asks to drop.
pub(super) struct DropFrames {
    drop: Regex,
    keep: Option<Regex>,
}

impl DropFrames {
    /// The frames that a file asks to drop, and a note for the reader if its expressions are not
    /// valid.
    pub(super) fn of(file: &File<'_>) -> (Option<DropFrames>, Option<String>) {
        if file.drop_frames == 0 || file.strings.bytes(file.drop_frames).is_empty() {
            return (None, None);
        }
        let compiled = |index: u64| {
            let text = str::from_utf8(file.strings.bytes(index)).ok().filter(|text| text.len() <= MOST_TEXT);
            let mut builder = RegexBuilder::new(&format!("^({})$", text.ok_or(())?));
            builder.size_limit(MOST_BYTES).dfa_size_limit(MOST_BYTES).build().map_err(|_| ())
        };
        let has_keep = file.keep_frames != 0 && !file.strings.bytes(file.keep_frames).is_empty();
        let keep = has_keep.then(|| compiled(file.keep_frames)).transpose();
        match (compiled(file.drop_frames), keep) {
            (Ok(drop), Ok(keep)) => (Some(DropFrames { drop, keep }), None),
            _ => {
                let note = "the file's drop_frames or keep_frames is not a valid regular expression; nothing is dropped";
                (None, Some(note.into()))
            }
        }
    }

    /// Whether the function with this name is dropped.
    pub(super) fn holds(&self, name: &[u8]) -> bool {
        let name = without_parameters(name);
        self.drop.is_match(name) && !self.keep.as_ref().is_some_and(|keep| keep.is_match(name))
    }
}

/// A name up to its parameters, and without the dot that some linkers put in front.
fn without_parameters(name: &[u8]) -> &[u8] {
    let name = name.strip_prefix(b".").unwrap_or(name);
    let mut at = 0;
    while at < name.len() {
        let reserved = NAMES_WITH_BRACKETS.iter().find(|reserved| name[at..].starts_with(reserved));
        match reserved {
            Some(reserved) => at += reserved.len(),
            None if name[at] == b'(' => return &name[..at],
            None => at += 1,
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::without_parameters;

    #[test]
    fn parameters_are_left_out_and_other_brackets_stay() {
        for (name, told) in [
            ("malloc", "malloc"),
            (".malloc(unsigned long)", "malloc"),
            ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
            ("Sort::operator()(int, int)", "Sort::operator()"),
            ("main.(*Server).serve", "main."),
            ("", ""),
        ] {
            assert_eq!(without_parameters(name.as_bytes()), told.as_bytes());
        }
    }
}
