//! The JDKs that wrote a log, as far as its lines show.
//!
//! JDK 8 and JDK 9 write the same messages. They differ because unified logging, which came with
//! JDK 9, decorates messages. It also writes the collection's number even without decorations. A
//! cut line of JDK 9 may look like one of JDK 16, so a few such lines among damaged ones are
//! ignored.

use super::line::Dialect;

/// The number of lines of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Releases {
    fast_decorated: u64,
    fast_bare: u64,
    /// Lines among them that would have the number of a collection.
    fast_bare_at_collections: u64,
    slow: u64,
    capacity: u64,
    any: u64,
}

impl Releases {
    /// Takes in a line, except a changed size without a dialect.
    pub(super) fn add(&mut self, dialect: Option<Dialect>, decorated: bool, at_collection: bool) {
        match dialect {
            Some(Dialect::Fast) if decorated => self.fast_decorated += 1,
            Some(Dialect::Fast) => {
                self.fast_bare += 1;
                self.fast_bare_at_collections += u64::from(at_collection);
            }
            Some(Dialect::Slow) => self.slow += 1,
            Some(Dialect::Capacity) => self.capacity += 1,
            None => self.any += 1,
        }
    }

    /// The names of the JDKs, the oldest first. `damaged` is the number of damaged lines.
    pub(super) fn names(&self, damaged: u64) -> Vec<&'static str> {
        let fast = self.fast_decorated + self.fast_bare;
        let is_cut = fast > 0 && self.slow <= damaged;
        let none = fast + self.slow + self.capacity == 0;
        [
            (self.fast_bare_at_collections > 0, "JDK 8"),
            (fast > 0 && self.fast_decorated + self.fast_bare_at_collections == 0, "JDK 8 to 15"),
            (self.fast_decorated > 0, "JDK 9 to 15"),
            (self.slow > 0 && !is_cut, "JDK 16 to 26"),
            (self.capacity > 0, "a JDK with JDK-8381834 (27 or later)"),
            (none && self.any > 0, "JDK 8 to 26"),
            (none && self.any == 0, "a JDK that they do not tell"),
        ]
        .into_iter()
        .filter_map(|(is, name)| is.then_some(name))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_tell() {
        let names = |lines: &[(Option<Dialect>, bool, bool)], damaged| {
            let mut releases = Releases::default();
            lines.iter().for_each(|&(dialect, decorated, gc)| releases.add(dialect, decorated, gc));
            releases.names(damaged).join(" and of ")
        };
        let (fast, slow, new) = (Some(Dialect::Fast), Some(Dialect::Slow), Some(Dialect::Capacity));
        assert_eq!(names(&[(fast, true, false), (None, true, false), (fast, true, true)], 0), "JDK 9 to 15");
        assert_eq!(names(&[(fast, false, false), (fast, false, true), (None, false, false)], 0), "JDK 8");
        assert_eq!(names(&[(fast, false, false)], 0), "JDK 8 to 15");
        assert_eq!(names(&[(fast, false, false), (fast, true, true)], 0), "JDK 9 to 15");
        assert_eq!(names(&[(slow, true, false), (None, true, false)], 3), "JDK 16 to 26");
        assert_eq!(names(&[(fast, true, true), (slow, true, false)], 1), "JDK 9 to 15");
        assert_eq!(names(&[(fast, true, true), (slow, true, false)], 0), "JDK 9 to 15 and of JDK 16 to 26");
        assert_eq!(names(&[(new, true, true)], 0), "a JDK with JDK-8381834 (27 or later)");
        assert_eq!(names(&[(None, true, true)], 0), "JDK 8 to 26");
        assert_eq!(names(&[], 0), "a JDK that they do not tell");
    }
}
