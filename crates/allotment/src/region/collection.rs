//! Changes of the free set by a collection.
//!
//! A stopped collection runs while no mutator is between two safepoints, so it may forget hints and
//! lower tops. The sets still stay consistent. A free region is taken from its set before it
//! is written, because returning memory to the system does not stop with the world.

use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;
use crate::sync::Ordering;

impl<B: Backing> FreeSet<B> {
    /// Forgets where shared regions had room. The caller then [offers](Self::offer_region) each of
    /// them again or gives it back. The caller knows that no mutator is between two safepoints.
    pub(crate) fn forget_room(&self) {
        for slot in &self.slots {
            slot.region.store(0, Ordering::Relaxed);
        }
        self.forget_spares();
        self.partial.clear();
    }

    /// Forgets the spare tails. In a stop.
    pub(crate) fn forget_spares(&self) {
        self.slots.iter().for_each(|slot| slot.spares.clear());
    }

    /// Takes shared regions out of use: no thread will allocate in them. In a stop, even a light
    /// one: no thread is reading a region, and no buffer ends at the top of one of these.
    pub(crate) fn withdraw(&self, regions: impl Iterator<Item = usize>) {
        for index in regions {
            self.table.get(index).set_state(State::CollectionSet);
            self.partial.take(index);
        }
        let is_in_set = |index: usize| self.table.get(index).state() == State::CollectionSet;
        for slot in &self.slots {
            let current = slot.region.load(Ordering::Relaxed);
            if current.checked_sub(1).is_some_and(|index| is_in_set(index as usize)) {
                slot.region.store(0, Ordering::Relaxed);
            }
        }
        self.forget_spares();
    }

    /// Takes that region, if it is free. The caller then owns it, in state Exclusive.
    pub(crate) fn take_free_region(&self, index: usize) -> bool {
        let region = self.table.get(index);
        let taken = region.state() == State::Free && self.free[region.home()].take(index);
        if taken {
            region.set_state(State::Exclusive);
        }
        taken
    }

    /// Takes that region, if it has no memory and the system provides some. The caller then owns
    /// it, in state Exclusive.
    pub(crate) fn take_untouched_region(&self, index: usize) -> bool {
        let taken = self.untouched.take(index) && self.commit_taken(index);
        if taken {
            self.table.get(index).set_state(State::Exclusive);
        }
        taken
    }

    /// Notes that the region ends at `top`: the caller left nothing above.
    pub(crate) fn lower_top(&self, index: usize, top: usize) {
        let region = self.table.get(index);
        region.raise_dirty(region.top());
        region.set_top(top);
        self.poison_room(index);
    }

    /// Lets all mutators use the memory above `top` in a region whose objects the caller moved. The
    /// region goes into its home's slot if it has more room than the region there.
    pub(crate) fn offer_region(&self, index: usize, top: usize) {
        let region = self.table.get(index);
        self.lower_top(index, top);
        // A run may have left this region.
        region.set_run(0);
        region.set_tenured(false);
        region.set_age(0);
        region.set_state(State::Shared);
        let slot = &self.slots[region.home()].region;
        let room = |index: usize| self.table.end(index) - self.table.get(index).top();
        let aside = match slot.load(Ordering::Relaxed).checked_sub(1).map(|other| other as usize) {
            Some(other) if room(other) >= room(index) => Some(index),
            other => {
                slot.store(index as u32 + 1, Ordering::Release);
                other
            }
        };
        if let Some(index) = aside {
            self.set_aside(index);
        }
    }

    /// Gives the memory of regions back to the system that have been free for `delay_ms`, but
    /// leaves `keep_bytes` of the heap committed. Returns the number of bytes.
    ///
    /// The delay of a region begins when this function first finds it free. `goes_on` gets the
    /// number of regions given back so far. The function ends early if `goes_on` returns false: the
    /// system may take long for each region.
    pub(crate) fn uncommit_idle(
        &self,
        now_ms: u64,
        delay_ms: u64,
        keep_bytes: usize,
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> usize {
        let keep = keep_bytes.div_ceil(self.table.geometry().region_bytes());
        let (spare, mut given) = (self.committed_regions().saturating_sub(keep), 0);
        self.uncommit_if(|index| {
            // First: the delay begins even if the memory stays for now.
            let is_due = self.table.get(index).idle_ms(now_ms) >= delay_ms;
            let idle = is_due && given < spare && goes_on(given);
            given += usize::from(idle);
            idle
        })
    }
}
