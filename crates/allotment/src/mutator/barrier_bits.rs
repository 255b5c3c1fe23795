//! The barriers that a collector puts in force, as bits of one word.
//!
//! They are the constants of [`Hot`](super::Hot), where generated code finds them. The tables of
//! roots, which know no thread, test them too.

/// A store first hands over what the slot held.
pub(in crate::mutator) const MARKING: u32 = 1;

/// A load of a weak slot gives null if the referent is dead.
pub(in crate::mutator) const WEAK: u32 = 2;

/// A load gives the referent's new place.
pub(in crate::mutator) const FORWARDING: u32 = 4;

/// Generated code hands each loaded reference to its hook.
pub(in crate::mutator) const HOOK: u32 = 8;
