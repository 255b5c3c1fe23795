//! The table of barriers: for each access to a slot, the bits to test, the slow path, and what
//! follows the access.
//!
//! A barrier is written in several forms: in Rust, as machine code, for Cranelift, in C. All of
//! them take these numbers from here.

use super::hot::Hot;
use crate::mutator::barrier_bits::{FORWARDING, MARKING, WEAK};

/// An access to a slot of an object that needs a barrier.
///
/// ```text
/// test byte [hot + Hot::BARRIERS_OFFSET], bits()
/// jne  out of line: call [hot + slow_offset()]
/// the access
/// after()
/// ```
///
/// A load loads first, since its slow path takes the loaded word. The slow path of a
/// [`Store`](Self::Store) comes before the store, and the others replace the access.
///
/// ```
/// use allotment::raw::{AfterAccess, BarrierKind, Hot};
/// assert_eq!(BarrierKind::Store.bits(), Hot::MARKING);
/// assert_eq!(BarrierKind::Store.slow_offset(), Hot::STORE_SLOW_OFFSET);
/// assert_eq!(BarrierKind::Store.after(), AfterAccess::DirtyCard);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// A load of a strong slot: [`RawMutator::load`](crate::raw::RawMutator::load).
    Load,
    /// A load of a weak slot: [`RawMutator::load_weak`](crate::raw::RawMutator::load_weak).
    LoadWeak,
    /// A store: [`RawMutator::store`](crate::raw::RawMutator::store).
    Store,
    /// A compare-and-exchange:
    /// [`RawMutator::compare_exchange`](crate::raw::RawMutator::compare_exchange).
    CompareExchange,
}

/// What follows an access to a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterAccess {
    /// Nothing.
    Nothing,
    /// The byte of the slot's card becomes [`Hot::DIRTY_CARD`], if the access wrote the slot. Code
    /// may dirty the card even if it did not.
    DirtyCard,
}

impl BarrierKind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [BarrierKind; 4] =
        [BarrierKind::Load, BarrierKind::LoadWeak, BarrierKind::Store, BarrierKind::CompareExchange];

    /// The kind's name: `load`, `load_weak`, `store` or `compare_exchange`.
    pub const fn name(self) -> &'static str {
        match self {
            BarrierKind::Load => "load",
            BarrierKind::LoadWeak => "load_weak",
            BarrierKind::Store => "store",
            BarrierKind::CompareExchange => "compare_exchange",
        }
    }

    /// The bits of the word at [`Hot::BARRIERS_OFFSET`] that make the access take its slow path.
    /// All of them are in the word's first byte.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match self {
            BarrierKind::Load => FORWARDING,
            BarrierKind::LoadWeak => MARKING | WEAK | FORWARDING,
            BarrierKind::Store => MARKING,
            BarrierKind::CompareExchange => MARKING | FORWARDING,
        }
    }

    /// Offset in bytes, in the hot part, of the address of the slow path: one of
    /// [`BarrierCalls`](super::BarrierCalls).
    pub const fn slow_offset(self) -> usize {
        match self {
            BarrierKind::Load => Hot::LOAD_SLOW_OFFSET,
            BarrierKind::LoadWeak => Hot::LOAD_WEAK_SLOW_OFFSET,
            BarrierKind::Store => Hot::STORE_SLOW_OFFSET,
            BarrierKind::CompareExchange => Hot::COMPARE_EXCHANGE_SLOW_OFFSET,
        }
    }

    /// What follows the access.
    pub const fn after(self) -> AfterAccess {
        match self {
            BarrierKind::Load | BarrierKind::LoadWeak => AfterAccess::Nothing,
            BarrierKind::Store | BarrierKind::CompareExchange => AfterAccess::DirtyCard,
        }
    }
}
