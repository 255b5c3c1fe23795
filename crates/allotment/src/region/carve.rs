//! A piece taken from a region, and the cost of taking it: plain values.

/// A piece of a region, which belongs to the taker alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carve {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// `[dirty, end)` is zero; within `[start, end]`.
    pub(crate) dirty: usize,
}

/// Compare-and-swaps tried and won. They stand in for a hardware counter of locked loads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) tried: u64,
    pub(crate) won: u64,
}
