//! Invariants between the copies of a line, under every protocol. A check reads the state of every
//! core, so only tests and debug builds call it.

use super::caches::Caches;
use super::protocol::State;

impl Caches {
    /// Checks the copies of a line. A breach is: more than one owner, a reader beside a writer,
    /// copies that differ, or a core that the directory does not know.
    ///
    /// # Errors
    /// Names the line and the breach.
    pub fn check_line(&self, line: u32) -> Result<(), String> {
        let home = &self.homes[line as usize];
        let held: Vec<(usize, State)> = (0..self.private.len())
            .map(|core| (core, self.private[core].state(line)))
            .filter(|&(_, state)| state != State::Invalid)
            .collect();
        let wrong = |what: &str| Err(format!("line {line}: {what}: {held:?}, {home:?}"));
        let count = |wanted: State| held.iter().filter(|&&(_, state)| state == wanted).count();
        if count(State::Modified) + count(State::Exclusive) > 0 && held.len() > 1 {
            return wrong("a copy beside one in M or E");
        }
        if count(State::Owned) > 1 || count(State::Forward) > 1 {
            return wrong("two copies in O or F");
        }
        let owner = held.iter().find(|&&(_, state)| state != State::Shared).map(|&(core, _)| core as u16);
        if owner != home.owner {
            return wrong("the directory has another owner");
        }
        if held.iter().any(|&(core, _)| !home.sharers.contains(core)) {
            return wrong("a copy that the directory does not know");
        }
        let dirty = held.iter().find(|(_, state)| state.is_dirty());
        let copy = |core: usize| {
            let cache = &self.private[core];
            cache.find(line).map(|slot| cache.copies[slot].data)
        };
        let expected = dirty.map_or(Some(self.memory[line as usize]), |&(core, _)| copy(core));
        if held.iter().any(|&(core, _)| copy(core) != expected) {
            return wrong("copies that differ");
        }
        Ok(())
    }
}
