//! The collection set: the regions that a collection empties, as a byte for each region.
//!
//! An evacuation looks up each reference here. So the set is a table of bytes that fits into the
//! first-level cache. Refused: a field in the region table, which takes two lines for each region.

use super::ranges::OldRanges;
use crate::object::{ADDRESS_MASK, IMMEDIATE_BIT};
use crate::region::{FreeSet, State};
use crate::sync::{AtomicBool, AtomicU8, Ordering};
use std::collections::TryReserveError;

/// The role of a region's objects in an evacuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Role(u8);

impl Role {
    /// No role: the objects are alive and stay where they are.
    pub(crate) const OUTSIDE: Role = Role(0);
    /// No role: the evacuation put the objects there itself, and they are young.
    pub(crate) const SURVIVORS: Role = Role(1);
    /// The objects are copied.
    pub(crate) const MOVES: Role = Role(IN_SET);
    /// Reached objects stay where they are.
    pub(crate) const STAYS: Role = Role(IN_SET | 1);

    /// Whether its objects have to be reached to live on.
    #[inline(always)]
    pub(crate) fn is_in_set(self) -> bool {
        self.0 & IN_SET != 0
    }

    /// Whether some of its objects stayed because there was no memory for copies.
    pub(crate) fn has_kept(self) -> bool {
        self.0 & HAS_KEPT != 0
    }

    /// Whether all reached objects in it stay.
    #[inline(always)]
    pub(crate) fn stays(self) -> bool {
        self.0 & !HAS_KEPT == Role::STAYS.0
    }
}

/// Distance in regions from the current one to the one being fetched: mutators on several cores
/// have written most of them.
const AHEAD: usize = 16;

const IN_SET: u8 = 2;
const HAS_KEPT: u8 = 4;

/// The role of each region. Written before an evacuation begins, except for regions it takes and
/// the bit for objects that stayed. Relaxed: a worker that meets an address got it from a thread
/// that knew the role of its region.
pub(crate) struct CollectionSet {
    base: usize,
    region_shift: u32,
    roles: Box<[AtomicU8]>,
    /// Whether a region exists whose objects stay. Written before an evacuation begins, Relaxed as
    /// the roles.
    some_stay: AtomicBool,
}

/// The roles of a set, for many look-ups: without a check against the heap's bounds.
pub(super) struct Roles<'s> {
    /// The place where the role of the region at address 0 would be.
    of_region_0: *const AtomicU8,
    region_shift: u32,
    roles: &'s [AtomicU8],
}

impl Roles<'_> {
    /// The role of the region that a word refers to; `OUTSIDE` for null and immediates.
    ///
    /// # Safety
    /// - The word is one of these, or refers to a region of the set's heap.
    #[inline(always)]
    pub(super) unsafe fn of_referent(&self, bits: u64) -> Role {
        let address = (bits & ADDRESS_MASK) as usize;
        if bits & IMMEDIATE_BIT != 0 || address == 0 {
            return Role::OUTSIDE;
        }
        let role = self.of_region_0.wrapping_add(address >> self.region_shift);
        debug_assert!(self.roles.as_ptr_range().contains(&role));
        // SAFETY: the role of a region of the heap, as the caller says; the heap begins at a
        // multiple of a region.
        Role(unsafe { &*role }.load(Ordering::Relaxed))
    }
}

impl CollectionSet {
    /// The set of a heap's regions, all outside.
    pub(crate) fn new(table_base: usize, region_shift: u32, regions: usize) -> CollectionSet {
        let roles = (0..regions).map(|_| AtomicU8::new(Role::OUTSIDE.0)).collect();
        CollectionSet { base: table_base, region_shift, roles, some_stay: AtomicBool::new(false) }
    }

    /// Makes all young regions move, lets runs of young regions stay, and leaves the rest outside.
    /// `old` gets the regions in which old objects begin. Returns the bytes used in all of them.
    ///
    /// # Errors
    /// If there is no memory for the list of old regions; then only the list and roles have
    /// changed.
    pub(crate) fn choose_young(&self, free: &FreeSet, old: &mut OldRanges) -> Result<usize, TryReserveError> {
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

    /// The role of the region of an address; `OUTSIDE` for an address outside the heap.
    #[inline(always)]
    pub(crate) fn role_at(&self, address: usize) -> Role {
        let index = address.wrapping_sub(self.base) >> self.region_shift;
        self.roles.get(index).map_or(Role::OUTSIDE, |role| Role(role.load(Ordering::Relaxed)))
    }

    /// The roles, for many look-ups.
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
        role.fetch_or(HAS_KEPT, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_role_of_its_referent_whatever_its_tag() {
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
