//! Large objects, written in pieces, with a safepoint after each piece.
//!
//! A stop waits until each thread comes to a safepoint. A thread that writes an array of 256 MiB in
//! one go would hold up all others for a tenth of a second. So it writes a piece, and comes to a
//! safepoint. The object is a root meanwhile, and may move.
//!
//! At each of these safepoints the object must be valid, and the rest of it holds whatever lay
//! there before. Plain data may hold anything. An object with slots is in *disguise* until its last
//! word is written: its header says that it is an array of plain words, which has the same size and
//! no slots. (ZGC's `ZObjArrayAllocator` does so.) No slot may hold a reference while the object is
//! in disguise, for no collector would update it.
//!
//! The disguise ends by a compare-and-swap of the header. Its Release lets a concurrent worker that
//! reads the header (Acquire) find every slot written. The length is the same in both forms, so a
//! worker that reads the one header or the other finds the same size.
//!
//! Refused: to zero the memory before the header is there. No root leads to memory without a header.

use super::initialise::ByCaller;
use crate::mutator::{Cause, Mutator, OutOfMemory, RootWord};
use crate::object::{Element, Header, LENGTH_OFFSET, MIN_OBJECT_BYTES, Shape, TypeShape, WORD};
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a piece of plain data. An object without more bytes is written at once. Tests have small
/// heaps.
pub(crate) const PIECE_BYTES: usize = if cfg!(test) { 8 << 10 } else { 256 << 10 };

/// Bytes of a piece of slots. While objects move, each slot of a copy may cost the copy of an
/// object.
pub(crate) const SLOTS_PIECE_BYTES: usize = if cfg!(test) { 1 << 10 } else { 32 << 10 };

/// The pieces of a range of elements, in order.
pub(crate) fn pieces(
    range: Range<usize>,
    element_bytes: usize,
    piece_bytes: usize,
) -> impl DoubleEndedIterator<Item = Range<usize>> {
    let step = piece_bytes / element_bytes;
    let Range { start, end } = range;
    let piece = move |index| start + index * step..end.min(start + (index + 1) * step);
    (0..end.saturating_sub(start).div_ceil(step)).map(piece)
}

/// Calls `copy` with one piece of a range after the other, for a copy to the elements from `at` on:
/// with its place there, and whether the copy goes backward. It does so if the range and its new
/// place may overlap, which they do in one array only.
pub(crate) fn copy_in_pieces(
    pieces: impl DoubleEndedIterator<Item = Range<usize>>,
    start: usize,
    at: usize,
    in_one_array: bool,
    copy: &mut dyn FnMut(Range<usize>, usize, bool),
) {
    let backward = in_one_array && start < at;
    let mut copy = |piece: Range<usize>| copy(piece.clone(), at + (piece.start - start), backward);
    if backward { pieces.rev().for_each(&mut copy) } else { pieces.for_each(&mut copy) }
}

/// The form of an object with slots before all its words are written.
fn disguise() -> &'static TypeShape {
    const WORDS: Element = Element::Plain { bytes: WORD };
    crate::type_shape!(Shape::constant("ArrayInTheMaking", MIN_OBJECT_BYTES, &[], Some(WORDS)))
}

/// A large object that is to be made.
pub(crate) struct Large {
    /// The header of a new object of its type, which has a tail and no other fields.
    pub(crate) header: Header,
    /// The size in bytes.
    pub(crate) bytes: usize,
    /// The number of elements.
    pub(crate) length: usize,
    /// Whether the elements are slots.
    pub(crate) has_slots: bool,
}

impl Large {
    /// Whether the object can be made in pieces. Types of a library that is loaded late may have no
    /// ids yet.
    pub(crate) fn has_pieces(&self) -> bool {
        self.bytes > PIECE_BYTES
            && !self.header.is_early()
            && !(self.has_slots && disguise().new_header().is_early())
    }
}

impl Mutator<'_> {
    /// Makes a large object. `write` writes a range of its bytes, given the object's present
    /// address. A safepoint comes before each call of `write` and after the last one. The result is
    /// good until the next safepoint.
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap has no room for the object.
    ///
    /// # Safety
    /// - The object [has pieces](Large::has_pieces), its size is that of its type and length, and
    ///   this heap knows its type.
    /// - `write` writes the whole range, and no reference.
    pub(crate) unsafe fn alloc_in_pieces(
        &mut self,
        large: &Large,
        write: &mut dyn FnMut(NonNull<u8>, Range<usize>),
    ) -> Result<NonNull<u8>, OutOfMemory> {
        let &Large { header, bytes, length, has_slots } = large;
        let mut room = self.make_room(bytes)?;
        // SAFETY: the caller's predicates; the object is valid before the next safepoint.
        let Some(object) = (unsafe { self.raw().alloc_in_with_header::<ByCaller>(&mut room, header, bytes) })
        else {
            unreachable!("a reservation holds until the next safepoint")
        };
        // SAFETY: the second word of the new object, whose type has a tail.
        unsafe { object.byte_add(LENGTH_OFFSET).cast::<usize>().write(length) };
        // A sample of the object tells its type, not its disguise.
        self.state().hand_over_early();
        if has_slots {
            debug_assert_eq!(bytes, MIN_OBJECT_BYTES + length * WORD, "the disguise has the same size");
            // SAFETY: the header of the new object, which no other thread changes before the next
            // safepoint.
            unsafe { header_of(object) }.store(disguise().new_header().bits(), Ordering::Relaxed);
        }
        // SAFETY: a valid object, plain or in disguise.
        let object = unsafe {
            self.in_pieces(object, MIN_OBJECT_BYTES..bytes, PIECE_BYTES, &mut |_, object, piece| {
                write(object, piece);
            })
        };
        if has_slots {
            // SAFETY: each slot was written, and holds no reference.
            unsafe { end_disguise(object, header) };
        }
        Ok(object)
    }

    /// Calls `work` with one piece of a range of an object's bytes after the other, and the
    /// object's present address. A safepoint follows each call. Returns the object's address after
    /// the last one.
    ///
    /// # Safety
    /// - A live object of this heap is at `object`.
    pub(crate) unsafe fn in_pieces(
        &mut self,
        object: NonNull<u8>,
        bytes: Range<usize>,
        piece_bytes: usize,
        work: &mut dyn FnMut(&Self, NonNull<u8>, Range<usize>),
    ) -> NonNull<u8> {
        let root = RootWord::new(object.as_ptr().expose_provenance() as u64);
        let present = || {
            let address = ptr::with_exposed_provenance_mut(root.get() as usize);
            NonNull::new(address).expect("a collector keeps the root up to date")
        };
        // SAFETY: the root stays in this frame until `linked` is dropped, here.
        let linked = unsafe { self.raw().link_word(NonNull::from(&root)) };
        for piece in pieces(bytes, 1, piece_bytes) {
            work(self, present(), piece);
            self.end_piece();
        }
        drop(linked);
        present()
    }

    /// The safepoint between two pieces. With zeal it is a collection.
    pub(crate) fn end_piece(&mut self) {
        if self.state().zeal.collects() {
            // Without memory to collect with, the program goes on without a collection.
            self.collect_as(Cause::Zeal, &mut |_| true);
        }
        self.safepoint();
    }
}

/// The header of an object.
///
/// # Safety
/// - An object is at `object` for all of `'o`.
unsafe fn header_of<'o>(object: NonNull<u8>) -> &'o AtomicU64 {
    // SAFETY: the header is the first word. Threads that share it access it as an atomic.
    unsafe { AtomicU64::from_ptr(object.cast().as_ptr()) }
}

/// Gives an object in disguise its own form.
///
/// # Safety
/// - The object is in disguise, and has not moved. Each slot of its own form is written.
unsafe fn end_disguise(object: NonNull<u8>, own: Header) {
    // SAFETY: the caller's predicate.
    let word = unsafe { header_of(object) };
    // A concurrent collector may change the other fields meanwhile. Release: the slots.
    let own_form = |now| Some(Header::from_bits(now).with_shape_of(own).bits());
    let ended = word.fetch_update(Ordering::Release, Ordering::Relaxed, own_form);
    debug_assert!(ended.is_ok_and(|was| Header::from_bits(was).with_shape_of(own).is_object()));
}
