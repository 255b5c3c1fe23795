//! Frames that a profile asks to drop: `drop_frames` and `keep_frames`, regular expressions for whole
//! names of functions.
//!
//! A dropped function goes, and with it all that it calls. So the inner functions of an allocator
//! count for its caller. As in `go tool pprof`, a name is compared without its parameters, and
//! frames before the first one that stays are not dropped.
//!
//! The crate `regex` reads the dialect of Go's expressions, in linear time.

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
    /// Compiles the two expressions of a file; an empty one is missing.
    ///
    /// # Errors
    /// A note for the reader if they are not valid.
    pub(super) fn of(drop: &[u8], keep: &[u8]) -> Result<Option<DropFrames>, &'static str> {
        let compiled = |text: &[u8]| {
            let text = str::from_utf8(text).ok().filter(|text| text.len() <= MOST_TEXT)?;
            let mut builder = RegexBuilder::new(&format!("^({text})$"));
            builder.size_limit(MOST_BYTES).dfa_size_limit(MOST_BYTES).build().ok()
        };
        let (drops, keeps) = (compiled(drop), compiled(keep));
        match (drops, keeps) {
            _ if drop.is_empty() => Ok(None),
            (Some(drop), Some(regex)) => {
                Ok(Some(DropFrames { drop, keep: (!keep.is_empty()).then_some(regex) }))
            }
            _ => Err(
                "the file's drop_frames or keep_frames is not a valid regular expression; nothing is dropped",
            ),
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
