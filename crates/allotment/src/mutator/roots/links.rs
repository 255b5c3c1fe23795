//! Roots in the frames of a thread: a list through the frames themselves, innermost first.
//!
//! Linking and unlinking are a load and two stores each, with nobody to ask: the list is read by a
//! collector only while the thread is stopped or in a blocking region. In a blocking region the thread may still
//! drop a frame (a suspended future, say) while a collector walks: so its list head is then moved
//! aside, a sentinel that equals no link stands in its place, and the compare that every unlink does
//! anyway leads to the slow path, which takes a lock.
//!
//! A bit of an entry says what it points to: one word, or something with a function that visits it. Refused: the function
//! for each (another store for every root), and a stack of words beside the frames (a future is not dropped in the
//! order in which its roots were made).

use crate::object::SlotVisitor;
use crate::sync::{Mutex, MutexGuard};
use std::cell::Cell;
use std::ptr;

/// What stands on a thread's list: a [`RootWord`], or, with [`VISITED`] added to its address, a [`RootLink`]. Null at
/// the end.
pub(in crate::mutator) type Entry = *mut RootWord;

/// Told by an entry that points to a [`RootLink`]. Both are aligned to a word.
pub(in crate::mutator) const VISITED: usize = 1;

/// One word as a root: what `root!` makes.
#[repr(C)]
pub struct RootWord {
    /// The next entry outward. Written by the thread when it links and unlinks.
    below: Cell<Entry>,
    bits: Cell<u64>,
}

impl RootWord {
    /// A root that holds `bits`, once it is linked.
    #[inline(always)]
    pub const fn new(bits: u64) -> RootWord {
        RootWord { below: Cell::new(ptr::null_mut()), bits: Cell::new(bits) }
    }

    /// The word. While it is linked, it is valid until the next safepoint of the thread.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.bits.get()
    }

    /// Replaces the word.
    ///
    /// # Safety
    /// - While it is linked, `bits` refers to a live object of the thread's heap, or to none.
    #[inline(always)]
    pub unsafe fn set(&self, bits: u64) {
        self.bits.set(bits);
    }
}

/// What a collector finds on a thread's list; heads the memory that holds the roots.
#[repr(C)]
pub struct RootLink {
    /// As in a [`RootWord`], which this is taken for to link and unlink it.
    below: Cell<Entry>,
    /// Visits the slots behind the link.
    visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>),
}

impl RootLink {
    /// A link whose roots `visit` finds, given the link's address. It is called for a linked link only, and visits the same
    /// slots until that is unlinked.
    pub const fn new(visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>)) -> RootLink {
        RootLink { below: Cell::new(ptr::null_mut()), visit }
    }
}

/// The place of the next entry.
///
/// # Safety
/// - The entry is not null, and what it points to is alive for `'e`.
#[inline(always)]
pub(in crate::mutator) unsafe fn below<'e>(entry: Entry) -> &'e Cell<Entry> {
    let first = entry.map_addr(|address| address & !VISITED).cast::<Cell<Entry>>();
    // SAFETY: the first field of both kinds.
    unsafe { &*first }
}

/// Head of the list of a thread in a blocking region: equal to no link.
pub(in crate::mutator) const OUTSIDE: Entry = ptr::without_provenance_mut(8);

/// Held by whoever walks or changes the list of a thread in a blocking region.
#[derive(Default)]
pub(crate) struct Outside(Mutex<()>);

impl Outside {
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, ()> {
        super::lock(&self.0, "a thread panicked while it changed a list of roots")
    }
}

/// Takes an entry off the list that begins at `head`.
///
/// # Safety
/// - It is on that list, and nobody else walks or changes the list meanwhile.
pub(in crate::mutator) unsafe fn take_off(head: &Cell<Entry>, entry: Entry) {
    let mut place = head;
    while place.get() != entry {
        // SAFETY: the entry is on the list, so every place before it is of something alive.
        place = unsafe { below(place.get()) };
    }
    // SAFETY: what is on the list is alive.
    place.set(unsafe { below(entry) }.get());
}

/// Visits the roots of a list, which begins with `at`.
///
/// # Safety
/// - The list is that of a thread that is stopped, or in a blocking region and kept there, and the caller holds `outside`.
pub(in crate::mutator) unsafe fn visit_links(mut at: Entry, slots: &mut SlotVisitor<'_>) {
    while !at.is_null() {
        // SAFETY: what is on the list is alive and as its entry says, and a link's function is for it.
        unsafe {
            if at.addr() & VISITED == 0 {
                slots.strong((*at).bits.as_ptr());
            } else {
                let link = at.map_addr(|address| address & !VISITED).cast::<RootLink>();
                ((*link).visit)(link, slots);
            }
            at = below(at).get();
        }
    }
}
