//! The collection set: which regions a collection empties, as a byte for each region.
//!
//! Each reference that an evacuation meets is looked up here, so it is a table of bytes that fits into the first-level
//! cache, and not a field among those of the region table, which takes two lines for each region.

use super::ranges::OldRanges;
use crate::object::{ADDRESS_MASK, IMMEDIATE_BIT};
use crate::region::{Backing, FreeSet, State};
use crate::sync::{AtomicBool, AtomicU8, Ordering};
use std::collections::TryReserveError;

/// What an evacuation does with the objects of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Role(u8);

impl Role {
    /// Nothing: they are alive, and where they stay.
    pub(crate) const OUTSIDE: Role = Role(0);
    /// Nothing: it put them there itself, and they are young.
    pub(crate) const SURVIVORS: Role = Role(1);
    /// They are copied.
    pub(crate) const MOVES: Role = Role(IN_SET);
    /// Those that are reached stay where they are.
    pub(crate) const STAYS: Role = Role(IN_SET | 1);

    /// Whether its objects have to be reached to live on.
    #[inline(always)]
    pub(crate) fn is_in_set(self) -> bool {
        self.0 & IN_SET != 0
    }

    /// Whether some of its objects stayed for want of memory.
    pub(crate) fn has_kept(self) -> bool {
        self.0 & KEPT != 0
    }

    /// Whether all that is reached in it stays.
    #[inline(always)]
    pub(crate) fn stays(self) -> bool {
        self.0 & !KEPT == Role::STAYS.0
    }
}

/// Regions from one that is looked at to one that is fetched: mutators on several cores have written most of them.
const AHEAD: usize = 16;

const IN_SET: u8 = 2;
const KEPT: u8 = 4;

/// The role of each region. Written before an evacuation begins, but for regions it takes and the bit for objects
/// that stayed. Relaxed: who meets an address met it by way of somebody who knew its region's role.
pub(crate) struct CollectionSet {
    base: usize,
    region_shift: u32,
    roles: Box<[AtomicU8]>,
    /// Whether there is a region whose objects stay. Written before an evacuation begins, Relaxed as the roles.
    some_stay: AtomicBool,
}

/// The roles of a set, for who looks up many: without a look at where the heap begins and ends.
pub(super) struct Roles<'s> {
    /// Where the role of the region at address 0 would be.
    of_region_0: *const AtomicU8,
    region_shift: u32,
    roles: &'s [AtomicU8],
}

impl Roles<'_> {
    /// The role of the region that a word refers to; of null and immediates `OUTSIDE`.
    ///
    /// # Safety
    /// - It is one of these, or refers to a region of the set's heap.
    #[inline(always)]
    pub(super) unsafe fn of_referent(&self, bits: u64) -> Role {
        let address = (bits & ADDRESS_MASK) as usize;
        if bits & IMMEDIATE_BIT != 0 || address == 0 {
            return Role::OUTSIDE;
        }
        let role = self.of_region_0.wrapping_add(address >> self.region_shift);
        debug_assert!(self.roles.as_ptr_range().contains(&role));
        // SAFETY: that of a region of the heap, as the caller says, which begins at a multiple of a region.
        Role(unsafe { &*role }.load(Ordering::Relaxed))
    }
}

impl CollectionSet {
    /// The set of a heap's regions, all outside.
    pub(crate) fn new(table_base: usize, region_shift: u32, regions: usize) -> CollectionSet {
        let roles = (0..regions).map(|_| AtomicU8::new(Role::OUTSIDE.0)).collect();
        CollectionSet { base: table_base, region_shift, roles, some_stay: AtomicBool::new(false) }
    }

    /// All young regions move, runs of young regions stay, the rest is outside; `old` is those in which old objects begin. The bytes
    /// that are used in all of them.
    ///
    /// # Errors
    /// When there is no memory for the list of the old ones; nothing has changed but that and roles.
    pub(crate) fn choose_young<B: Backing>(
        &self,
        free: &FreeSet<B>,
        old: &mut OldRanges,
    ) -> Result<usize, TryReserveError> {
        old.begin();
        self.some_stay.store(false, Ordering::Relaxed);
        self.roles.iter().for_each(|role| role.store(Role::OUTSIDE.0, Ordering::Relaxed));
        let (mut run_is_young, mut used_bytes) = (false, 0);
        for index in free.in_use() {
            free.table().fetch(index + AHEAD);
            let region = free.table().get(index);
            used_bytes += region.top() - free.table().bottom(index);
            let role = match region.state() {
                State::Shared | State::Survivor | State::Exclusive => Role::MOVES,
                State::HumongousStart => {
                    run_is_young = !region.is_tenured();
                    if run_is_young {
                        Role::STAYS
                    } else {
                        old.add(free, index)?;
                        Role::OUTSIDE
                    }
                }
                State::HumongousContinuation if run_is_young => Role::STAYS,
                State::Old => {
                    old.add(free, index)?;
                    Role::OUTSIDE
                }
                _ => Role::OUTSIDE,
            };
            self.set(index, role);
        }
        Ok(used_bytes)
    }

    /// The role of the region of an address; that of an address outside the heap is `OUTSIDE`.
    #[inline(always)]
    pub(crate) fn role_at(&self, address: usize) -> Role {
        let index = address.wrapping_sub(self.base) >> self.region_shift;
        self.roles.get(index).map_or(Role::OUTSIDE, |role| Role(role.load(Ordering::Relaxed)))
    }

    /// The roles, for who looks up many.
    pub(super) fn roles(&self) -> Roles<'_> {
        debug_assert!(self.base.is_multiple_of(1 << self.region_shift));
        let of_region_0 = self.roles.as_ptr().wrapping_sub(self.base >> self.region_shift);
        Roles { of_region_0, region_shift: self.region_shift, roles: &self.roles }
    }

    pub(crate) fn role(&self, index: usize) -> Role {
        Role(self.roles[index].load(Ordering::Relaxed))
    }

    /// Whether [`stays`](Role::stays) is true of any region.
    #[inline(always)]
    pub(crate) fn some_stay(&self) -> bool {
        self.some_stay.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, index: usize, role: Role) {
        self.roles[index].store(role.0, Ordering::Relaxed);
        if role.stays() {
            self.some_stay.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that an object of the region at `address` stayed.
    pub(crate) fn note_kept(&self, address: usize) {
        let role = &self.roles[(address - self.base) >> self.region_shift];
        role.fetch_or(KEPT, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_role_of_what_it_refers_to_whatever_its_tag() {
        const BASE: usize = 0x7000_0000_0000;
        let set = CollectionSet::new(BASE, 18, 3);
        set.set(1, Role::MOVES);
        let roles = set.roles();
        let second = (BASE + (1 << 18) + 64) as u64;
        // SAFETY: words that refer into the heap, null and immediates.
        let role_of = |word| unsafe { roles.of_referent(word) };
        for word in [second, second | 0b110, second | 0xABCD << 48] {
            assert_eq!(
                (role_of(word), set.role_at((word & ADDRESS_MASK) as usize)),
                (Role::MOVES, Role::MOVES),
                "{word:#x}"
            );
        }
        for word in [0, 0b110, 0xABCD << 48, second | 1, BASE as u64, (BASE + (3 << 18) - 8) as u64] {
            assert_eq!(role_of(word), Role::OUTSIDE, "{word:#x}");
        }
        for address in [0, 8, BASE - 8, BASE, BASE + (3 << 18), !7 & ADDRESS_MASK as usize] {
            assert_eq!(set.role_at(address), Role::OUTSIDE, "{address:#x}");
        }
    }
}
