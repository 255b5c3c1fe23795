//! Words: what a slot may hold, and the bare value it decodes to.
//!
//! The heap knows one rule for all words (`object/reference.rs`), so a kind of word says only how a
//! value becomes bits and back. A dynamic language derives its own with `#[derive(Word)]`.

use super::carry::Carry;

/// A kind of word that a [`Field`](super::Field) or a root may hold.
///
/// An object type `T` is one (a reference to a `T`), `Option<T>` is one (or null), and `#[derive(Word)]`
/// makes an enum of immediates and pointers one.
///
/// # Safety
/// - `decode` inverts [`Bare::encode`].
/// - By the heap's rule for words, the bits of a value refer to what the value points to, or to nothing.
/// - `Of<'g>` holds no reference but for the span `'g`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no word that a slot can hold",
    label = "not a word",
    note = "a slot holds an object type, an `Option` of one, or an enum's word made by `#[derive(Word)]`",
    note = "plain data needs no `Field`: write `key: u64`; arrays of it are `Slots<u64>`"
)]
pub unsafe trait Word: 'static {
    /// The bare value, good for a span.
    type Of<'g>: Bare<'g, Word = Self>;

    /// The value of these bits.
    ///
    /// # Safety
    /// - `bits` were encoded by this kind of word, or updated by a collector since.
    /// - What they refer to is alive for all of `'g`.
    unsafe fn decode<'g>(bits: u64) -> Self::Of<'g>;
}

/// A bare value: it may hold a reference, which is good for the span `'g` only.
///
/// # Safety
/// - [`encode`](Self::encode) gives bits of the kind of word [`Word`](Self::Word), as that trait says.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a bare value of the heap",
    label = "neither a pointer into the heap nor a word",
    note = "roots and slots hold `Gc<T>`, `Option<Gc<T>>` or an enum with `#[derive(Word)]`"
)]
pub unsafe trait Bare<'g>: Copy + Carry {
    /// What a slot calls it.
    type Word: Word<Of<'g> = Self>;

    /// Its bits.
    fn encode(self) -> u64;
}
