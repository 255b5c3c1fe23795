//! Roots in the frames of a thread: a list through the frames themselves, innermost first.
//!
//! Linking and unlinking are a load and two stores each, without synchronisation. A collector reads
//! the list only while the thread is stopped or in a blocking region. In a blocking region the
//! thread may still drop a frame (a suspended future, say) while a collector walks the list. So the
//! list head is then moved aside, and a sentinel that equals no link takes its place. The compare
//! that every unlink does anyway then leads to the slow path, which takes a lock.
//!
//! A bit of an entry says what the entry points to: one word, an object with a function that visits
//! it, or a range of words. A range serves frames of C code, and the stack of an interpreter.
//!
//! Refused:
//! - The function for each word: another store for every root.
//! - A stack of words beside the frames: a future is not dropped in the order in which its roots
//!   were made.

use crate::object::SlotVisitor;
use crate::platform::abort_because;
use std::cell::Cell;
use std::ptr;

/// An entry of a thread's list: a [`RootWord`], with [`VISITED`] added to its address a [`RootLink`],
/// with [`RANGE`] added a [`RootRange`]. Null at the end.
pub(in crate::mutator) type LinkEntry = *mut RootWord;

/// The bit of an entry that points to a [`RootLink`]. All three types are aligned to a word.
pub(in crate::mutator) const VISITED: usize = 1;

/// The bit of an entry that points to a [`RootRange`].
pub(in crate::mutator) const RANGE: usize = 2;

/// One word as a root, as `root!` makes it.
#[repr(C)]
pub struct RootWord {
    /// The next entry outward. The thread writes it when it links and unlinks.
    below: Cell<LinkEntry>,
    bits: Cell<u64>,
}

impl RootWord {
    /// A root that holds `bits`, once it is linked.
    #[inline(always)]
    pub const fn new(bits: u64) -> RootWord {
        RootWord { below: Cell::new(ptr::null_mut()), bits: Cell::new(bits) }
    }

    /// The word. While the root is linked, the word is valid until the next safepoint of the
    /// thread.
    #[inline(always)]
    pub fn get(&self) -> u64 {
        self.bits.get()
    }

    /// Replaces the word.
    ///
    /// # Safety
    /// - While the root is linked, `bits` refers to a live object of the thread's heap, or to none.
    #[inline(always)]
    pub unsafe fn set(&self, bits: u64) {
        self.bits.set(bits);
    }
}

/// The entry that a collector finds on a thread's list. It heads the memory that holds the roots.
#[repr(C)]
pub struct RootLink {
    /// The next entry outward, first as in a [`RootWord`]: linking and unlinking treat a link as
    /// one.
    below: Cell<LinkEntry>,
    /// Visits the slots that the link leads to.
    visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>),
}

impl RootLink {
    /// A link whose roots `visit` finds, given the link's address.
    ///
    /// `visit` is called while the link is on a thread's list and that thread is at a safepoint or
    /// in `blocking`, perhaps on another thread. It visits every slot behind the link that may hold
    /// a reference, and no other. Each such slot holds a word as a slot of an object does. Each call
    /// visits the same slots until the thread goes on. `visit` uses the heap in no other way, takes
    /// no lock that a stopped thread may hold, and does not unwind.
    pub const fn new(visit: unsafe fn(*mut RootLink, &mut SlotVisitor<'_>)) -> RootLink {
        RootLink { below: Cell::new(ptr::null_mut()), visit }
    }
}

/// Words side by side as roots. Its layout is part of the interface for C: four words, the next
/// entry, the hot part of the thread, the address of the first word, the number of words.
#[repr(C)]
pub struct RootRange {
    /// The next entry outward, first as in a [`RootWord`].
    below: Cell<LinkEntry>,
    /// The hot part of the thread on whose list the range is. Rust code does not read it. The
    /// function with which C code ends a scope gets the range alone.
    mutator: *const (),
    words: Cell<*mut u64>,
    count: Cell<usize>,
}

const _: () = {
    assert!(std::mem::offset_of!(RootRange, mutator) == 8);
    assert!(std::mem::offset_of!(RootRange, words) == 16);
    assert!(std::mem::offset_of!(RootRange, count) == 24);
    assert!(size_of::<RootRange>() == 32);
};

impl RootRange {
    /// A range without words, for the thread whose [hot part](crate::mutator::RawMutator::hot) this
    /// is.
    pub const fn new(mutator: *const ()) -> RootRange {
        RootRange {
            below: Cell::new(ptr::null_mut()),
            mutator,
            words: Cell::new(ptr::null_mut()),
            count: Cell::new(0),
        }
    }

    /// Makes the `count` words at `words` the roots of this range, in place of those before.
    ///
    /// # Safety
    /// - While the range is linked, only its thread calls this, and not in
    ///   [`blocking`](crate::Mutator::blocking).
    /// - While the range is linked and has these words: the words are readable and writable memory,
    ///   aligned to 8 bytes. Each refers to a live object of the thread's heap, or to none. Nothing
    ///   but this thread writes to them, and a collector while the thread is at a safepoint.
    pub unsafe fn set(&self, words: *mut u64, count: usize) {
        self.words.set(words);
        self.count.set(count);
    }
}

/// The field with the next entry.
///
/// # Safety
/// - The entry is not null, and its target is alive for `'e`.
#[inline(always)]
pub(in crate::mutator) unsafe fn below<'e>(entry: LinkEntry) -> &'e Cell<LinkEntry> {
    let first = entry.map_addr(|address| address & !(VISITED | RANGE)).cast::<Cell<LinkEntry>>();
    // SAFETY: the first field of all kinds.
    unsafe { &*first }
}

/// Head of the list of a thread in a blocking region: equal to no link.
pub(in crate::mutator) const OUTSIDE: LinkEntry = ptr::without_provenance_mut(OUTSIDE_ADDRESS);

/// The address of [`OUTSIDE`].
pub(in crate::mutator) const OUTSIDE_ADDRESS: usize = 8;

/// Takes an entry off the list that begins at `head`. Ends the process if the entry is not on it:
/// C code unlinked a frame twice.
///
/// # Safety
/// - The entry is alive, and no other thread walks or changes the list meanwhile.
pub(in crate::mutator) unsafe fn take_off(head: &Cell<LinkEntry>, entry: LinkEntry) {
    let mut place = head;
    while place.get() != entry {
        if place.get().is_null() || place.get() == OUTSIDE {
            abort_because(format_args!(
                "a root is not on the list from which it is unlinked: unlink each root once, on its own thread, and \
                 link none in a blocking region"
            ));
        }
        // SAFETY: every entry on the list is alive.
        place = unsafe { below(place.get()) };
    }
    // SAFETY: every entry on the list is alive.
    place.set(unsafe { below(entry) }.get());
}

/// Visits the roots of a list, which begins with `at`.
///
/// # Safety
/// - The list is the calling thread's own; or that of a thread that is stopped, or kept in a
///   blocking region, and the caller holds that thread's lock (`State::lock_roots`).
pub(in crate::mutator) unsafe fn visit_links(mut at: LinkEntry, slots: &mut SlotVisitor<'_>) {
    while !at.is_null() {
        // SAFETY: every entry on the list is alive and of the kind that its bit says, a link's
        // function is for that link, and a range's words are readable.
        unsafe {
            if at.addr() & VISITED != 0 {
                let link = at.map_addr(|address| address & !VISITED).cast::<RootLink>();
                ((*link).visit)(link, slots);
            } else if at.addr() & RANGE != 0 {
                let range = at.map_addr(|address| address & !RANGE).cast::<RootRange>();
                let words = (*range).words.get();
                (0..(*range).count.get()).for_each(|index| slots.strong(words.add(index)));
            } else {
                slots.strong((*at).bits.as_ptr());
            }
            at = below(at).get();
        }
    }
}
