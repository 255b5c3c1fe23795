//! Words: the possible contents of a slot, and the bare values that they decode to.
//!
//! The heap has one rule for all words (`object/reference.rs`). So a kind of word only defines how
//! a value becomes bits and back. A dynamic language derives its own kind with `#[derive(Word)]`.

use super::carry::Carry;
use super::immediate::{Immediate, NO_VARIANT, decode_immediate, encode_immediate};
use crate::object::SlotVisitor;

/// A kind of word that a [`Field`](super::Field) or a root may hold.
///
/// An object type `T` is one (a reference to a `T`). `Option<T>` is one (a reference or null).
/// [`#[derive(Word)]`](macro@crate::Word) makes an enum of immediates and pointers one.
///
/// # Safety
/// - `decode` inverts [`Bare::encode`].
/// - By the heap's rule for words, the bits of a value refer to the value's referent, or to
///   nothing.
/// - `Of<'g>` holds references for the span `'g` only.
/// - No value has the bits [`NONE`](Self::NONE), and they refer to nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a word that a slot can hold",
    label = "not a word",
    note = "a slot holds an object type, an `Option` of one, or an enum's word made by `#[derive(Word)]`",
    note = "a number that fits beside a variant's is `Unboxed<u32>`: up to 32 bits, `f32`, `char`, `bool`, `Fixnum`",
    note = "plain data needs no `Field`: write `key: u64`; arrays of it are `Slots<u64>`"
)]
pub unsafe trait Word: 'static {
    /// The bare value, valid for a span.
    type Of<'g>: Bare<'g, Word = Self>;

    /// The bits of `None` in [`Maybe<Self>`](Maybe): null for an object type, else an immediate
    /// that is not a value.
    const NONE: u64;

    /// The value of these bits.
    ///
    /// # Safety
    /// - `bits` were encoded by this kind of word, or updated by a collector since.
    /// - Their referent is alive for all of `'g`.
    unsafe fn decode<'g>(bits: u64) -> Self::Of<'g>;
}

/// A bare value: it may hold a reference, which is valid for the span `'g` only.
///
/// # Safety
/// - [`encode`](Self::encode) gives bits of the kind of word [`Word`](Self::Word), by the rules of
///   that trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bare value of the heap",
    label = "neither a pointer into the heap nor a word",
    note = "roots and slots hold `Gc<T>`, `Option<Gc<T>>` or an enum with `#[derive(Word)]`"
)]
pub unsafe trait Bare<'g>: Copy + Carry {
    /// The kind of word of a slot that holds this value.
    type Word: Word<Of<'g> = Self>;

    /// The value's bits.
    fn encode(self) -> u64;
}

/// Compiles for the bare value of that kind of word, at that span.
pub fn bare_of<'g: 'g, W: Word, V: Bare<'g, Word = W>>() {}

/// Visits the reference of a word that lies at any place.
pub fn trace_word<'g, V: Bare<'g>>(value: &mut V, slots: &mut SlotVisitor<'_>) {
    let mut bits = value.encode();
    slots.strong(&raw mut bits);
    // SAFETY: bits of that kind of word; the visitor leaves only references to live objects.
    *value = unsafe { <V::Word as Word>::decode(bits) };
}

/// A word of any kind, or none: the content of a slot of a generic object before it has a value.
///
/// `Maybe<W>` is the kind of word, `Maybe<W::Of<'g>>` its bare value. If the kind is known to be a
/// pointer, `Option<T>` serves as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maybe<V>(pub Option<V>);

// SAFETY: `NONE` of `W` distinguishes the two cases, and refers to nothing. Only words like this
// one have the immediates from `NO_VARIANT` on: a word that may be none, and whose value may itself
// be none, uses the next.
unsafe impl<W: Word> Word for Maybe<W> {
    type Of<'g> = Maybe<W::Of<'g>>;
    const NONE: u64 = if W::NONE == 0 { NO_VARIANT } else { W::NONE + (1 << 8) };

    #[inline(always)]
    unsafe fn decode<'g>(bits: u64) -> Maybe<W::Of<'g>> {
        // SAFETY: the caller's predicates; bits of a `W`.
        Maybe((bits != W::NONE).then(|| unsafe { W::decode(bits) }))
    }
}

// SAFETY: no value has the bits of `NONE`.
unsafe impl<'g, V: Bare<'g>> Bare<'g> for Maybe<V> {
    type Word = Maybe<V::Word>;

    #[inline(always)]
    fn encode(self) -> u64 {
        self.0.map_or(V::Word::NONE, V::encode)
    }
}

// SAFETY: as for the value.
unsafe impl<C: Carry> Carry for Maybe<C> {
    type At<'g> = Maybe<C::At<'g>>;

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        self.0.trace(slots);
    }
}

/// An immediate as a word of its own: a slot, root or array element that holds a number and never a
/// pointer.
///
/// It is both the kind of word and the bare value: `Field<Unboxed<u32>>` holds an `Unboxed(7)`. If
/// a field need not be a slot, a number can be a plain field, or a mutable [`Plain`](super::Plain).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unboxed<I>(pub I);

// SAFETY: immediates refer to nothing, and this one has number 0.
unsafe impl<I: Immediate> Word for Unboxed<I> {
    type Of<'g> = Self;
    const NONE: u64 = NO_VARIANT;

    #[inline(always)]
    unsafe fn decode<'g>(bits: u64) -> Self::Of<'g> {
        // SAFETY: the caller's predicates.
        Unboxed(unsafe { decode_immediate(bits) })
    }
}

// SAFETY: as above.
unsafe impl<I: Immediate> Bare<'_> for Unboxed<I> {
    type Word = Self;

    #[inline(always)]
    fn encode(self) -> u64 {
        encode_immediate(0, self.0)
    }
}

// SAFETY: holds no reference.
unsafe impl<I: Immediate> Carry for Unboxed<I> {
    type At<'g> = Self;

    fn trace(&mut self, _: &mut SlotVisitor<'_>) {}
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Any, Fixnum};
    use super::*;

    /// None is told from every value, at every depth.
    #[test]
    fn none_is_no_value() {
        fn none_differs<W: Word>(value: W::Of<'_>) {
            let deep = [Maybe(None), Maybe(Some(Maybe(None))), Maybe(Some(Maybe(Some(value))))];
            for one in &deep {
                for other in &deep {
                    assert_eq!(one.encode() == other.encode(), std::ptr::eq(one, other));
                }
            }
            for value in deep {
                // SAFETY: bits of that kind of word, which refer to nothing.
                assert_eq!(unsafe { Maybe::<Maybe<W>>::decode(value.encode()) }.encode(), value.encode());
            }
        }
        none_differs::<Option<Any>>(None);
        none_differs::<Unboxed<i32>>(Unboxed(-1));
        none_differs::<Unboxed<Fixnum>>(Unboxed(Fixnum::MIN));
        none_differs::<Maybe<Unboxed<char>>>(Maybe(None));
    }
}
