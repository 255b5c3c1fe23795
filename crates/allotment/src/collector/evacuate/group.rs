//! A worker's loop: takes slots in groups from its stack, and lets each slot refer to a copy.
//!
//! The worker handles several objects at once. It loads their headers before it copies the first
//! one, finds one room for all copies, and makes the per-slot checks once for four slots. A locked
//! instruction lets no later load begin before it has ended, and several workers need one for each
//! object. Here the loads of the other headers are already done by then. One worker takes a fifth
//! less time than object by object, and two workers save a little more than a fifth.
//!
//! A group consists of objects with [headers that the worker has met](super::header_cache). If a
//! header is not one of these, the group's objects are handled one by one. Refused: groups of
//! eight, which are no faster. Refused: all swaps of a group before the first copy.

use super::OLD;
use super::header_cache::HeaderCache;
use super::lines::{DESTINATION_AHEAD, copy_contents, fetch};
use super::worker::Worker;
use crate::collector::kernel::{decide, decided, word_at};
use crate::collector::work::{Ring, WorkEntry};
use crate::object::{ADDRESS_MASK, Header, for_each_word, with_reference};
use crate::platform::prefetch_write;
use std::sync::atomic::Ordering;

/// Slots of a group.
const GROUP: usize = 4;

/// Groups whose referents are being fetched, from the pop until their turn comes. With 2 one worker
/// took 5 % longer; 4 are in between.
const AHEAD: usize = if cfg!(test) { 1 } else { 8 };

/// Groups after which a worker checks whether another worker has nothing to do.
const LOOK_AROUND: usize = if cfg!(test) { 1 } else { 16 };

/// The referent of a slot.
#[derive(Clone, Copy)]
struct Referent {
    address: usize,
    header: Header,
    /// The place of the header in the cache of headers.
    place: usize,
    /// Offset of the copy among those of the group.
    offset: usize,
}

impl Referent {
    const NONE: Referent = Referent { address: 0, header: Header::from_bits(0), place: 0, offset: 0 };
}

/// The referents of a group's slots.
struct Referents<const N: usize> {
    referents: [Referent; N],
    /// Bytes of all of them.
    bytes: usize,
    some_become_old: bool,
}

impl<const SHARED: bool> Worker<'_, '_, SHARED> {
    /// Works until its own stack is empty.
    #[inline(never)]
    pub(super) fn drain_own(&mut self) {
        // Popped groups whose referents are being fetched.
        let mut ahead = Ring::<AHEAD, GROUP>::new();
        loop {
            while let Some(group) = self.stack.pop_group(WorkEntry::are_plain) {
                for slot in group {
                    // SAFETY: every pushed slot refers into the set.
                    unsafe { fetch::<SHARED>((slot & !OLD) as *const u64) };
                }
                let due = ahead.add(group);
                // SAFETY: as above.
                unsafe { self.update_group_or_each(&due) };
                if SHARED && ahead.came().is_multiple_of(LOOK_AROUND) && self.stack.is_wanted() {
                    self.stack.give();
                }
            }
            if !self.drain_few(&mut ahead) {
                return;
            }
        }
    }

    /// Goes on where the stack has no whole group, or has chunks of arrays. Returns `false` if
    /// nothing is left.
    #[inline(never)]
    fn drain_few(&mut self, ahead: &mut Ring<AHEAD, GROUP>) -> bool {
        if ahead.is_empty() {
            self.drain_list();
        }
        let (mut group, mut slots) = ([0; GROUP], 0);
        while slots < GROUP {
            // Entries on offer to others come only when nothing else is left: others are about to
            // take them.
            let entry = if ahead.is_empty() { self.stack.pop() } else { self.stack.pop_at_hand() };
            match entry.map(WorkEntry::decode) {
                Some(WorkEntry::Plain(slot)) => {
                    // SAFETY: every pushed slot refers into the set.
                    unsafe { fetch::<SHARED>((slot & !OLD) as *const u64) };
                    group[slots] = slot;
                    slots += 1;
                }
                // SAFETY: an array of references; this worker owns this piece of it.
                Some(WorkEntry::Chunk { array, number }) => unsafe { self.scan_chunk(array, number) },
                None => break,
            }
        }
        let due = match slots {
            0 => ahead.take(),
            // No other group could be handled while these headers arrive.
            1..GROUP if ahead.is_empty() => group,
            _ => ahead.add(group),
        };
        // SAFETY: as above.
        unsafe { self.update_each(&due) };
        if SHARED {
            self.stack.look_around();
        }
        slots > 0 || due[0] != 0
    }

    /// Follows a list, as long as each slot leads to one more: nothing is fetched ahead of it.
    fn drain_list(&mut self) {
        let mut followed = 0_usize;
        while self.stack.at_hand() == 1
            && let Some([entry]) = self.stack.pop_group(WorkEntry::are_plain)
        {
            if SHARED && followed.is_multiple_of(LOOK_AROUND) {
                self.stack.look_around();
            }
            followed += 1;
            // SAFETY: every pushed slot refers into the set.
            unsafe { self.update_single(entry) };
        }
    }

    /// Updates the slots of a group, all at once or one by one. A group may have no slots.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each).
    #[inline(always)]
    unsafe fn update_group_or_each(&mut self, group: &[usize; GROUP]) {
        // SAFETY: the caller's predicate.
        unsafe {
            if group[GROUP - 1] == 0 || !self.update_group(group) {
                self.update_each(group);
            }
        }
    }

    /// Copies the referent of each slot of a group if needed, and updates the slot.
    ///
    /// # Safety
    /// - Each slot may be read and written, and refers into the collection set.
    #[inline(never)]
    unsafe fn update_each(&mut self, group: &[usize; GROUP]) {
        for &entry in group.iter().filter(|&&entry| entry != 0) {
            // SAFETY: the caller's predicate.
            unsafe { self.update_single(entry) };
        }
    }

    /// Copies the referent of one slot if needed, and updates the slot.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each).
    #[inline(always)]
    unsafe fn update_single(&mut self, entry: usize) {
        // SAFETY: the caller's predicate.
        unsafe {
            if !self.update_group(&[entry]) {
                self.update((entry & !OLD) as *mut u64, entry & OLD);
            }
        }
    }

    /// Does the work of [`update_each`](Self::update_each) for a whole group, if this worker has
    /// met all headers of the referents before and its buffer has room for the copies. Returns
    /// `false` if a header is unknown or there is no room; then nothing was done.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each).
    #[inline(always)]
    unsafe fn update_group<const N: usize>(&mut self, group: &[usize; N]) -> bool {
        // SAFETY: the caller's predicate.
        unsafe {
            let Some(found) = self.find(group) else { return false };
            if found.some_become_old || self.some_stay {
                return self.update_rare_group(group);
            }
            self.update_known::<N, false>(group, &found)
        }
    }

    /// Does the work of [`update_group`](Self::update_group) where some referents become old (then
    /// all have to), or where some referents do not move.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each).
    // Looks the referents up again: a reference to the first result would keep it out of registers.
    #[inline(never)]
    unsafe fn update_rare_group<const N: usize>(&mut self, group: &[usize; N]) -> bool {
        // SAFETY: the caller's predicate.
        unsafe {
            let Some(found) = self.find(group) else { return false };
            let stays = |referent: &Referent| self.heap.set.role_at(referent.address).stays();
            if self.some_stay && found.referents.iter().any(stays) {
                return false;
            }
            if !found.some_become_old {
                return self.update_known::<N, false>(group, &found);
            }
            found.referents.iter().all(|referent| self.headers.at(referent.place).old)
                && self.update_known::<N, true>(group, &found)
        }
    }

    /// The referents of the slots, if this worker has met all their headers before.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each).
    #[inline(always)]
    unsafe fn find<const N: usize>(&mut self, group: &[usize; N]) -> Option<Referents<N>> {
        let mut found = Referents { referents: [Referent::NONE; N], bytes: 0, some_become_old: false };
        for (referent, &entry) in found.referents.iter_mut().zip(group) {
            // SAFETY: the caller's predicate.
            let address = (unsafe { ((entry & !OLD) as *const u64).read() } & ADDRESS_MASK) as usize;
            // SAFETY: a header, which workers change atomically.
            let header = Header::from_bits(unsafe { word_at(address) }.load(Self::ACQUIRE));
            let place = HeaderCache::place_of(header);
            let known = self.headers.at(place);
            if !known.has(header) {
                return None;
            }
            *referent = Referent { address, header, place, offset: found.bytes };
            found.bytes += known.bytes();
            found.some_become_old |= known.old;
        }
        Some(found)
    }

    /// Copies the referents and updates the slots. Returns `false` if there is no room.
    ///
    /// # Safety
    /// - As for [`update_each`](Self::update_each). `found` has the slots' referents; all become
    ///   old, or none.
    #[inline(always)]
    unsafe fn update_known<const N: usize, const BECOME_OLD: bool>(
        &mut self,
        group: &[usize; N],
        found: &Referents<N>,
    ) -> bool {
        let Referents { referents, bytes, .. } = found;
        let buffer = if BECOME_OLD { &mut self.old } else { &mut self.survivors };
        let Some(start) = buffer.allocate(*bytes) else { return false };
        const { assert!(N == 1 || N == 4) };
        // SAFETY: the caller's predicate, and this room is this worker's.
        unsafe {
            // Unrolled by hand: the compiler would keep a loop.
            self.update_one::<BECOME_OLD>(group[0], &referents[0], start);
            if N == 4 {
                self.update_one::<BECOME_OLD>(group[1], &referents[1], start);
                self.update_one::<BECOME_OLD>(group[2], &referents[2], start);
                self.update_one::<BECOME_OLD>(group[3], &referents[3], start);
            }
        }
        true
    }

    /// Copies the referent of a slot, and updates the slot.
    ///
    /// # Safety
    /// - The slot may be read and written, and refers to that object. The cache knows the object's
    ///   header at its place, and the object had this header.
    /// - There is room for a copy at the referent's offset from `start`.
    #[inline(always)]
    unsafe fn update_one<const BECOME_OLD: bool>(&mut self, entry: usize, referent: &Referent, start: usize) {
        let to = start + referent.offset;
        // SAFETY: the caller's predicates.
        unsafe {
            let to = if self.copy_known::<BECOME_OLD>(referent, to) {
                to
            } else {
                decided(word_at(referent.address), referent.address)
            };
            let slot = (entry & !OLD) as *mut u64;
            slot.write(with_reference(slot.read(), to));
            self.heap.remember(slot, entry & OLD != 0, to);
        }
    }

    /// Copies an object, unless another worker or another slot of the group was faster.
    ///
    /// # Safety
    /// - The cache knows the object's header at its place, the object had this header, and there is
    ///   room at `to`.
    #[inline(always)]
    unsafe fn copy_known<const BECOME_OLD: bool>(&mut self, referent: &Referent, to: usize) -> bool {
        let &Referent { address, header, place, .. } = referent;
        prefetch_write::<DESTINATION_AHEAD>(to);
        // SAFETY: as in the caller.
        let word = unsafe { word_at(address) };
        let forwarded = Header::forwarded(to);
        let is_first = if SHARED && !self.stack.is_alone() {
            decide(word, header, forwarded)
        } else {
            // Two slots of the group may refer to the object.
            let is_first = word.load(Ordering::Relaxed) == header.bits();
            if is_first {
                word.store(forwarded.bits(), Ordering::Relaxed);
            }
            is_first
        };
        if !is_first {
            let bytes = self.headers.at(place).bytes();
            self.retract(to, bytes, BECOME_OLD);
            return false;
        }
        let known = self.headers.at(place);
        known.copied += 1;
        let (bytes, words) = (known.bytes(), known.words);
        let moved = if BECOME_OLD { header.with_age(0) } else { header.older() };
        // SAFETY: an object of `bytes` bytes, of which other workers change only the header, and as
        // many bytes at `to` that are this worker's.
        unsafe {
            copy_contents(address, to, bytes);
            (to as *mut u64).write(moved.bits());
        }
        if BECOME_OLD {
            self.heap.tables.starts.record(to, bytes);
        }
        let old = if BECOME_OLD { OLD } else { 0 };
        // Reads the original, whose words are the same: a word that was just stored cannot be
        // loaded at once.
        for_each_word(address, words, |word| {
            // SAFETY: a slot of an object with these slots; other workers change only the object's
            // header.
            if unsafe { self.roles.of_referent(word.read()) }.is_in_set() {
                self.push((word.addr() - address + to) | old);
            }
        });
        true
    }
}
