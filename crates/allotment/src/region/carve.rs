//! What a taker gets out of a region, and what it cost: plain values, for all who carve and all who take.

/// A piece of a region, the taker's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carve {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// `[dirty, end)` is zero; within `[start, end]`.
    pub(crate) dirty: usize,
}

/// Compare-and-swaps tried and won: the software stand-in for a counter of locked loads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) tried: u64,
    pub(crate) won: u64,
}
