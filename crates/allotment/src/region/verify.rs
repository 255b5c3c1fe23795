//! The checker of the free set: its invariants, with no mutator attached.

use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;

impl<B: Backing> FreeSet<B> {
    /// Checks, for every region: `bottom <= top <= end`, `bottom <= dirty <= end`, Uncommitted <=>
    /// in `untouched`, Free <=> in exactly one bitmap, which is its home's, Quarantined <=> in that
    /// list, empty <=> `top = bottom`. A search for room finds every shared region with room, and
    /// no other region. A humongous run is whole, and no other region has a run. A spare lies below
    /// the top of a shared region.
    ///
    /// # Errors
    /// One line that names the region and the invariant that fails.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let free = self.free.iter().map(|bitmap| ("free", bitmap));
        for (name, bitmap) in free.chain([("untouched", &self.untouched), ("shared", &self.partial)]) {
            let (counted, found) = (bitmap.count(), bitmap.iter().count());
            if counted != found {
                return Err(format!("a set of {name} regions has {found}, but counts {counted}"));
            }
        }
        let quarantined = self.quarantine.indices();
        let mut index = 0;
        while index < self.table.len() {
            let region = self.table.get(index);
            let (bottom, end) = (self.table.bottom(index), self.table.end(index));
            let (state, top, dirty) = (region.state(), region.top(), region.dirty());
            let fail = |what: &str| Err(format!("region {index} ({state:?}): {what}"));
            if !(bottom..=end).contains(&top) {
                return fail(&format!("top {top:#x} is outside {bottom:#x}..={end:#x}"));
            }
            if !(bottom..=end).contains(&dirty) {
                return fail(&format!("dirty {dirty:#x} is outside {bottom:#x}..={end:#x}"));
            }
            if self.untouched.contains(index) != (state == State::Uncommitted) {
                return fail("its state and the set of untouched regions disagree");
            }
            let sets = self.free.iter().filter(|bitmap| bitmap.contains(index)).count();
            if sets != usize::from(state == State::Free) {
                return fail(&format!("it is in {sets} sets of free regions"));
            }
            if state == State::Free && !self.free[region.home()].contains(index) {
                return fail(&format!("it is in the set of another core than its home {}", region.home()));
            }
            let offered = self.partial.contains(index) || self.is_in_slot(index);
            if offered && state != State::Shared {
                return fail("mutators take memory from it, but its state forbids that");
            }
            if state == State::Shared && self.has_room(index) && !offered {
                return fail("it has room, but no thread would find it");
            }
            if (state == State::Quarantined) != quarantined.contains(&index) {
                return fail("its state and the list of the quarantine disagree");
            }
            if state.is_empty() && top != bottom {
                return fail("it is empty, but its top is not its bottom");
            }
            if state == State::HumongousContinuation {
                return fail("it continues nothing");
            }
            if state != State::HumongousStart && region.run() != 0 {
                return fail("it has a run, but is not humongous");
            }
            let run = if state == State::HumongousStart { region.run() } else { 1 };
            if index + run > self.table.len() {
                return fail(&format!("its run of {run} regions leaves the heap"));
            }
            for step in 1..run {
                let next = self.table.get(index + step);
                if next.state() != State::HumongousContinuation || next.run() != step {
                    return fail(&format!("region {} does not continue it", index + step));
                }
            }
            index += run.max(1);
        }
        for spare in self.spares() {
            let region = self.table.get(self.table.index_of(spare.start));
            if region.state() != State::Shared || spare.end > region.top() {
                return Err(format!("spare {:#x}..{:#x} is not in a shared region", spare.start, spare.end));
            }
        }
        Ok(())
    }
}
