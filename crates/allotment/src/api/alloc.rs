//! Allocation of typed objects.
//!
//! An initialiser is a value that knows the object it becomes. Between the bump and any other code,
//! the initialiser writes the whole object, and it runs no user code while it writes. So no code
//! ever sees a half-written object.

use super::carry::{Carry, erase};
use super::gc::{Gc, Object};
use super::large::{Content, Tail, make};
use super::local::Frame;
use super::word::Bare;
use crate::mutator::{ByCaller, Large, Mutator, NoPrefetch, OutOfMemory, PIECE_BYTES, Reservation};
use crate::object::{HEADER_BYTES, MIN_OBJECT_BYTES, TypeShape, reference};
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::ptr::NonNull;

/// No object has more bytes. The sum of an address and this number does not overflow.
const MAX_OBJECT_BYTES: usize = 1 << 46;

/// An initialiser: a value that [`alloc!`](crate::alloc) turns into an object.
/// [`#[derive(Object)]`](macro@crate::Object) makes one for each type.
///
/// # Safety
/// - `bytes` is the size of the object that `write` writes, by the shape of `type_shape`: a
///   multiple of 8, at least 16, or `usize::MAX` if there is no such object. It does not change.
/// - `write` initialises every slot and every field, and runs no user code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an initialiser, so it cannot be allocated",
    label = "not an initialiser",
    note = "`#[derive(Object)] struct Node` also makes `NewNode`: allocate `NewNode {{ .. }}`",
    note = "arrays are allocated with `NewArray`, `NewSlots`, `NewBytes` and `NewStr`"
)]
pub unsafe trait New: Carry {
    /// The type of the object.
    type Object: Object;

    /// The type's shape.
    fn type_shape() -> &'static TypeShape;

    /// The object's size in bytes, header included.
    fn bytes(&self) -> usize;

    /// Writes the object after its header.
    ///
    /// # Safety
    /// - `object` heads `bytes()` bytes that belong to the caller alone.
    unsafe fn write(self, object: NonNull<u8>);

    /// The tail of the object, if a large object of this type is made in pieces: its type has a tail
    /// and no other fields.
    #[doc(hidden)]
    #[inline]
    fn __al_tail(&self) -> Option<Tail> {
        None
    }

    /// The place where the derive compares the fields of the object with those of the initialiser.
    /// It is never called.
    #[doc(hidden)]
    #[inline]
    fn __al_object_fields(_: Self::Object, _: Self) {}
}

/// Bytes of an object whose Rust struct has `body` bytes.
pub const fn object_bytes(body: usize) -> usize {
    let bytes = (HEADER_BYTES + body + 7) & !7;
    if bytes < MIN_OBJECT_BYTES { MIN_OBJECT_BYTES } else { bytes }
}

impl<'t> Mutator<'t> {
    /// Allocates without a safepoint: never collects. Most programs use [`alloc!`](crate::alloc).
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let Ok(text) = mu.try_alloc(NewStr::from("text")) else { panic!("the heap is empty") };
    /// assert_eq!(text.len(), 4);
    /// let long = "x".repeat(32 << 20);
    /// assert!(mu.try_alloc(NewStr::from(&*long)).is_err(), "more than the heap has");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the initialiser if there is no memory without a safepoint;
    /// [`make_room`](Self::make_room) may find some.
    #[inline(always)]
    pub fn try_alloc<N: New>(&self, new: N) -> Result<Gc<'_, N::Object>, N> {
        let bytes = new.bytes();
        if bytes > MAX_OBJECT_BYTES {
            return Err(new);
        }
        // SAFETY: every heap knows every type; `write` writes all that the type has.
        match unsafe {
            self.raw().try_alloc_with_header::<ByCaller, NoPrefetch>(N::type_shape().new_header(), bytes)
        } {
            Some(object) => {
                // SAFETY: `bytes` bytes, just allocated. The span is the borrow of the mutator.
                unsafe {
                    new.write(object);
                    Ok(Gc::from_header(object))
                }
            }
            None => Err(new),
        }
    }

    /// Allocates in memory that [`make_room`](Self::make_room) reserved, without a safepoint.
    /// Several objects may share a reservation.
    ///
    /// ```
    /// use allotment::{Heap, New, NewStr, OutOfMemory};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     let (one, two) = (NewStr::from("one"), NewStr::from("two"));
    ///     let mut room = mu.make_room(one.bytes() + two.bytes())?;
    ///     let one = mu.try_alloc_in(&mut room, one).ok().expect("reserved");
    ///     let two = mu.try_alloc_in(&mut room, two).ok().expect("reserved");
    ///     assert_eq!(format!("{one} {two}"), "one two");
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the initialiser if the reservation is used up, or has lapsed at a safepoint.
    pub fn try_alloc_in<N: New>(&self, room: &mut Reservation<'t>, new: N) -> Result<Gc<'_, N::Object>, N> {
        // SAFETY: as in `try_alloc`.
        let object = unsafe {
            self.raw().alloc_in_with_header::<ByCaller>(room, N::type_shape().new_header(), new.bytes())
        };
        match object {
            Some(object) => {
                // SAFETY: as in `try_alloc`.
                unsafe {
                    new.write(object);
                    Ok(Gc::from_header(object))
                }
            }
            None => Err(new),
        }
    }

    /// A number that the object keeps for life, even when it moves. Different objects may share
    /// one.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, text = alloc!(mu, NewStr::from("text"))?);
    /// let hash = mu.identity_hash(text.get(mu));
    /// mu.collect(); // the text moves
    /// assert_eq!(mu.identity_hash(text.get(mu)), hash);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn identity_hash<T: Object>(&self, object: Gc<'_, T>) -> NonZeroU32 {
        // SAFETY: a live object, of the heap this thread is attached to.
        unsafe { self.raw().identity_hash_raw(object.header()) }
    }

    /// The identity hash of a word of any kind. A word that refers to an object has that object's
    /// hash; any other word has a hash of its bits.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, Unboxed, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("text"))?;
    /// assert_eq!(mu.identity_hash_of_word(text), mu.identity_hash(text).get());
    /// assert_eq!(mu.identity_hash_of_word(Unboxed(7)), mu.identity_hash_of_word(Unboxed(7)));
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn identity_hash_of_word<'g, V: Bare<'g>>(&self, value: V) -> u32 {
        let bits = value.encode();
        match reference(bits).and_then(|address| NonNull::new(std::ptr::with_exposed_provenance_mut(address)))
        {
            // SAFETY: as above.
            Some(object) => unsafe { self.raw().identity_hash_raw(object) }.get(),
            // Multiplicative hashing (Knuth, TAOCP 6.4), whose upper half is well distributed.
            None => (bits.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32,
        }
    }
}

/// Compiles for an initialiser only, so that the error for any other type names the trait.
#[inline(always)]
pub fn initialiser<N: New>(new: N) -> N {
    new
}

/// The inline part of `alloc!`: takes the buffer's next bytes, if there are enough, else returns
/// the initialiser. A large object takes the slow part.
#[inline(always)]
pub fn alloc_fast<'g, N: New>(mutator: &'g Mutator<'_>, new: N) -> Result<Gc<'g, N::Object>, N> {
    let bytes = new.bytes();
    if bytes > PIECE_BYTES {
        return Err(new);
    }
    // SAFETY: as in `try_alloc`.
    match unsafe {
        mutator.raw().alloc_in_buffer::<ByCaller, NoPrefetch>(N::type_shape().new_header(), bytes)
    } {
        Some(object) => {
            // SAFETY: as in `try_alloc`.
            unsafe {
                new.write(object);
                Ok(Gc::from_header(object))
            }
        }
        None => Err(new),
    }
}

/// The slow part of `alloc!`: one call, with no further inline code, since allocating functions are
/// small and many. `kept` receives the live variables, in any case.
///
/// # Safety
/// - `new` and `live` were erased, and no safepoint was reached since.
/// - The caller restores the results before anything else happens.
#[inline(always)]
pub unsafe fn alloc_slow<N: New, L: Carry>(
    mutator: &mut Mutator<'_>,
    new: N,
    live: L,
    kept: &mut MaybeUninit<L>,
) -> Result<Gc<'static, N::Object>, OutOfMemory> {
    // SAFETY: the caller's predicates.
    unsafe { alloc_out_of_line(mutator.duplicate(), new, live, kept) }
}

/// # Safety
/// As for [`alloc_slow`].
#[cold]
#[inline(never)]
unsafe fn alloc_out_of_line<N: New, L: Carry>(
    mut mutator: Mutator<'_>,
    new: N,
    live: L,
    kept: &mut MaybeUninit<L>,
) -> Result<Gc<'static, N::Object>, OutOfMemory> {
    let mutator = &mut mutator;
    if let Some(large) = large(&new) {
        // SAFETY: the caller erased the values, and the frame is linked at the coming safepoints.
        let mut frame = unsafe { Frame::of_erased((new, live)) };
        let place = &raw mut frame;
        // SAFETY: the frame stays here and is unlinked before it is taken. While it is linked, the
        // values are up to date and nothing else refers to them between two safepoints. The
        // initialiser has that tail, and its `bytes` and `type_shape` say the rest.
        let made = unsafe {
            let linked = Frame::link(place, mutator);
            let tail = || Frame::value(place).0.__al_tail().expect("an initialiser keeps its tail");
            let made = make(mutator, &large, &tail);
            drop(linked);
            made
        };
        // SAFETY: the frame was linked at each safepoint. The caller restores the live variables
        // and the object, which was good at the last safepoint.
        unsafe {
            let (_, live) = frame.take();
            kept.write(live);
            return made.map(|object| Gc::from_header(object));
        }
    }
    let new = match mutator.try_alloc(new) {
        Ok(object) => {
            kept.write(live);
            // SAFETY: the caller restores it.
            return Ok(unsafe { erase(object) });
        }
        Err(new) => new,
    };
    let bytes = new.bytes();
    // SAFETY: the caller erased the values, and the frame is linked at the coming safepoint.
    let mut frame = unsafe { Frame::of_erased((new, live)) };
    // SAFETY: the frame stays here and is unlinked before it is taken.
    let linked = unsafe { Frame::link(&raw mut frame, mutator) };
    let room = mutator.make_room(bytes);
    drop(linked);
    // SAFETY: the frame was linked at the safepoint. The caller restores the live variables, and
    // the code below restores the object.
    let (new, live) = unsafe { frame.take() };
    kept.write(live);
    let Ok(object) = mutator.try_alloc_in(&mut room?, new) else {
        unreachable!("a reservation holds until the next safepoint")
    };
    // SAFETY: the caller restores it.
    Ok(unsafe { erase(object) })
}

/// The object that this initialiser makes, if it is made in pieces.
fn large<N: New>(new: &N) -> Option<Large> {
    let (bytes, header) = (new.bytes(), N::type_shape().new_header());
    if bytes <= PIECE_BYTES {
        return None;
    }
    let Tail { length, content } = new.__al_tail()?;
    let has_slots = matches!(content, Content::Slots(_));
    Some(Large { header, bytes, length, has_slots }).filter(Large::has_pieces)
}
