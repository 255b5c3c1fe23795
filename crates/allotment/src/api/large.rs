//! How `alloc!` makes an object with a large tail: in pieces, with a safepoint after each.
//!
//! An initialiser with a tail says as data what the elements are. So one function writes the pieces
//! of all kinds of arrays and texts. It asks the initialiser again after each safepoint, because
//! the initialiser may refer to objects that move.

use super::array::ELEMENTS;
use crate::mutator::{Large, Mutator, OutOfMemory, SLOTS_PIECE_BYTES};
use crate::object::{WORD, reference};
use std::ops::Range;
use std::ptr::NonNull;

/// The tail of a new object.
pub struct Tail {
    /// The number of elements.
    pub(super) length: usize,
    pub(super) content: Content,
}

/// The elements of a new tail.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// Slots that all hold this word.
    Slots(u64),
    /// Plain data: this word again and again.
    Repeat(u64),
    /// Plain data: a copy of the bytes at an address, and their number. They do not change until the
    /// next safepoint.
    Copy(*const u8, usize),
}

/// Makes a large object, whose tail `tail` gives at any time.
///
/// # Errors
/// [`OutOfMemory`] when the heap has no room for the object.
///
/// # Safety
/// - `large` [has pieces](Large::has_pieces), and is an object with that tail and no other fields,
///   of a type that this heap knows.
/// - The sources of `tail` are up to date after each safepoint.
pub(super) unsafe fn make(
    mutator: &mut Mutator<'_>,
    large: &Large,
    tail: &dyn Fn() -> Tail,
) -> Result<NonNull<u8>, OutOfMemory> {
    let mut write = |object, piece| {
        // A collector does not update the words that are written meanwhile.
        let content = match tail().content {
            Content::Slots(word) if reference(word).is_some() => Content::Repeat(0),
            other => other,
        };
        // SAFETY: the object's own bytes, of such a tail; no other code sees them yet.
        unsafe { write_piece(content, object, piece) }
    };
    // SAFETY: the caller's predicates; `write` writes the whole piece, and no reference.
    let object = unsafe { mutator.alloc_in_pieces(large, &mut write)? };
    let refers = |tail: &Tail| matches!(tail.content, Content::Slots(word) if reference(word).is_some());
    if !refers(&tail()) {
        return Ok(object);
    }
    let mut store = |mutator: &Mutator<'_>, object: NonNull<u8>, piece: Range<usize>| {
        let Content::Slots(word) = tail().content else { unreachable!("a tail keeps its kind") };
        // SAFETY: slots of the object, which hold words by now; the word is up to date.
        unsafe {
            let first = object.byte_add(piece.start).cast().as_ptr();
            mutator.raw().store_slots(first, piece.len() / WORD, word);
        }
    };
    // SAFETY: the object is complete, and there was no safepoint since.
    Ok(unsafe { mutator.in_pieces(object, ELEMENTS..large.bytes, SLOTS_PIECE_BYTES, &mut store) })
}

/// Writes a piece of a tail. It begins and ends at multiples of 8 bytes.
///
/// # Safety
/// - The piece is a part of the tail of the object, whose bytes no other code accesses.
/// - A source has all bytes of the tail, and does not overlap the object.
unsafe fn write_piece(content: Content, object: NonNull<u8>, piece: Range<usize>) {
    match content {
        Content::Slots(word) | Content::Repeat(word) => {
            // SAFETY: aligned words of the piece.
            piece.step_by(WORD).for_each(|at| unsafe { object.byte_add(at).cast::<u64>().write(word) });
        }
        Content::Copy(from, bytes) => {
            // The last word of the object may have fewer bytes of the tail.
            let (from_byte, to_byte) = (piece.start - ELEMENTS, (piece.end - ELEMENTS).min(bytes));
            // SAFETY: the caller's predicates.
            unsafe {
                let to = object.byte_add(piece.start).as_ptr();
                to.copy_from_nonoverlapping(from.add(from_byte), to_byte - from_byte);
            }
        }
    }
}

/// The word that holds `value` again and again.
pub(super) fn repeated<S: super::plain::Scalar>(value: S) -> u64 {
    let mut bytes = [0_u8; WORD];
    for part in bytes.chunks_exact_mut(size_of::<S>()) {
        // SAFETY: a scalar has no padding, and the part has its size.
        unsafe { part.as_mut_ptr().copy_from_nonoverlapping((&raw const value).cast(), size_of::<S>()) };
    }
    u64::from_ne_bytes(bytes)
}
