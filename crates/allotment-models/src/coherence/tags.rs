//! The lines that a set-associative cache holds. The least recently used line of a set is evicted
//! first.

/// The tags of a cache. A slot's number is also the index of the data that the owner keeps for the
/// line.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    ways: usize,
    mask: usize,
    /// The line plus one; 0 means empty.
    tags: Vec<u32>,
    used: Vec<u64>,
    clock: u64,
}

impl Tags {
    /// For `lines` lines in sets of `ways`; the number of sets is rounded up to a power of two.
    pub(super) fn new(lines: usize, ways: usize) -> Tags {
        let sets = lines.div_ceil(ways).next_power_of_two();
        Tags { ways, mask: sets - 1, tags: vec![0; sets * ways], used: vec![0; sets * ways], clock: 0 }
    }

    pub(super) fn slots(&self) -> usize {
        self.tags.len()
    }

    fn set(&self, line: u32) -> usize {
        (line as usize & self.mask) * self.ways
    }

    /// The slot of a line.
    #[inline]
    pub(super) fn find(&self, line: u32) -> Option<usize> {
        let first = self.set(line);
        self.tags[first..first + self.ways].iter().position(|&tag| tag == line + 1).map(|way| first + way)
    }

    /// Marks a slot as the last used.
    #[inline]
    pub(super) fn touch(&mut self, slot: usize) {
        self.clock += 1;
        self.used[slot] = self.clock;
    }

    /// The slot that a line would get, and the line that would have to leave it.
    pub(super) fn victim(&self, line: u32) -> (usize, Option<u32>) {
        let first = self.set(line);
        let age = |slot: &usize| if self.tags[*slot] == 0 { 0 } else { self.used[*slot] };
        let slot = (first..first + self.ways).min_by_key(age).unwrap_or(first);
        (slot, self.tags[slot].checked_sub(1))
    }

    /// Marks a line as the last used, in its slot or in that of its victim. Returns whether the cache
    /// had the line.
    #[inline]
    pub(super) fn keep(&mut self, line: u32) -> bool {
        let found = self.find(line);
        match found {
            Some(slot) => self.touch(slot),
            None => self.put(self.victim(line).0, line),
        }
        found.is_some()
    }

    pub(super) fn put(&mut self, slot: usize, line: u32) {
        self.tags[slot] = line + 1;
        self.touch(slot);
    }

    pub(super) fn clear(&mut self, slot: usize) {
        self.tags[slot] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_of_a_set_leaves() {
        let mut tags = Tags::new(8, 2);
        assert_eq!(tags.slots(), 8);
        for line in [0, 4] {
            let (slot, gone) = tags.victim(line);
            assert_eq!(gone, None);
            tags.put(slot, line);
        }
        tags.touch(tags.find(0).unwrap());
        assert_eq!(tags.victim(8).1, Some(4));
        assert_eq!(tags.victim(1).1, None);
        tags.clear(tags.find(0).unwrap());
        assert_eq!((tags.find(0), tags.victim(8).1), (None, None));
    }
}
