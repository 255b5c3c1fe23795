//! Keys of a map by content.
//!
//! The map does the hashing, so that an attacker cannot feed a program keys that all collide: it
//! uses SipHash with random keys per map, as in the standard library. A key only supplies the data
//! to hash.
//!
//! Refused: `std::hash::Hash` itself. It does not get the mutator, and a slot cannot be read
//! without one.

use allotment::{Bytes, Gc, Immediate, Maybe, Mutator, Str, Unboxed, Word};
use std::hash::{Hash, Hasher};

/// A kind of word whose values are compared by their contents.
///
/// The functions take `&Mutator`, so they reach no safepoint. Equal values must have equal
/// hashes at all times: the hashed contents of an object must not change while it is a key. If a
/// program breaks this rule, a map gives wrong answers and nothing worse.
///
/// ```
/// use allotment::{Field, Gc, Key, Mutator, Object, Str, Word};
/// use std::hash::{Hash, Hasher};
///
/// #[derive(Clone, Copy, Word)]
/// #[word(Value)]
/// enum Val<'g> {
///     Nil,
///     Int(i32),
///     Text(Gc<'g, Str>),
///     Pair(Gc<'g, Pair>),
/// }
///
/// #[derive(Object)]
/// struct Pair {
///     car: Field<Value>,
///     cdr: Field<Value>,
/// }
///
/// impl Key for Value {
///     fn hash<'g, H: Hasher>(key: Val<'g>, mu: &'g Mutator, state: &mut H) {
///         match key {
///             Val::Nil => 0.hash(state),
///             Val::Int(value) => value.hash(state),
///             Val::Text(text) => text.as_ref().hash(state),
///             // By identity.
///             Val::Pair(pair) => mu.identity_hash(pair).hash(state),
///         }
///     }
///
///     fn equal<'g>(one: Val<'g>, other: Val<'g>, _: &'g Mutator) -> bool {
///         match (one, other) {
///             (Val::Nil, Val::Nil) => true,
///             (Val::Int(one), Val::Int(other)) => one == other,
///             (Val::Text(one), Val::Text(other)) => *one == *other,
///             (Val::Pair(one), Val::Pair(other)) => one == other,
///             _ => false,
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a map by content",
    label = "not a `Key`",
    note = "implement `Key` for the object type or the enum's word: what of a value is hashed, and when two are equal",
    note = "numbers are keys as `Unboxed<u32>`, text as `Str`; a map by identity is an `IdMap`"
)]
pub trait Key: Word {
    /// Feeds `state` with data that is the same for equal values.
    fn hash<'g, H: Hasher>(key: Self::Of<'g>, mutator: &'g Mutator<'_>, state: &mut H);

    /// Whether two values are the same key.
    fn equal<'g>(one: Self::Of<'g>, other: Self::Of<'g>, mutator: &'g Mutator<'_>) -> bool;
}

/// Compares by text; [`Map::get_str`](super::Map::get_str) searches in the same way.
impl Key for Str {
    fn hash<'g, H: Hasher>(key: Gc<'g, Str>, _: &'g Mutator<'_>, state: &mut H) {
        key.as_ref().hash(state);
    }

    fn equal<'g>(one: Gc<'g, Str>, other: Gc<'g, Str>, _: &'g Mutator<'_>) -> bool {
        *one == *other
    }
}

impl Key for Bytes {
    fn hash<'g, H: Hasher>(key: Gc<'g, Bytes>, _: &'g Mutator<'_>, state: &mut H) {
        key.as_ref().hash(state);
    }

    fn equal<'g>(one: Gc<'g, Bytes>, other: Gc<'g, Bytes>, _: &'g Mutator<'_>) -> bool {
        *one == *other
    }
}

impl<I: Immediate + Hash + Eq> Key for Unboxed<I> {
    fn hash<'g, H: Hasher>(key: Self::Of<'g>, _: &'g Mutator<'_>, state: &mut H) {
        Hash::hash(&key.0, state);
    }

    fn equal<'g>(one: Self::Of<'g>, other: Self::Of<'g>, _: &'g Mutator<'_>) -> bool {
        one == other
    }
}

impl<K: Key> Key for Maybe<K> {
    fn hash<'g, H: Hasher>(key: Maybe<K::Of<'g>>, mutator: &'g Mutator<'_>, state: &mut H) {
        key.0.is_some().hash(state);
        if let Some(key) = key.0 {
            K::hash(key, mutator, state);
        }
    }

    fn equal<'g>(one: Maybe<K::Of<'g>>, other: Maybe<K::Of<'g>>, mutator: &'g Mutator<'_>) -> bool {
        match (one.0, other.0) {
            (Some(one), Some(other)) => K::equal(one, other, mutator),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}
