//! The generations that a cycle marks.
//!
//! Without generations each cycle is a global one. Refused: two flags for the begin and the end of
//! the marking of old objects. A reader would have to know the meaning of each of the four pairs.

use crate::collector::concurrent::Sought;

/// The old objects that a cycle marks, beside all young ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// None: all old objects count as live.
    Young,
    /// None, and its first pause is the snapshot for the marking of old objects, which goes on
    /// after the cycle.
    YoungBeginsOld,
    /// Those that the marking of old objects has left. After this cycle marks decide which old
    /// objects are live.
    YoungEndsOld,
    /// All of them.
    Global,
}

impl Scope {
    /// Whether the first pause of the cycle is the snapshot of old objects.
    pub(super) fn begins_old(self) -> bool {
        matches!(self, Scope::YoungBeginsOld | Scope::Global)
    }

    /// Whether marks decide at the end which old objects are live. Otherwise all old objects count
    /// as live.
    pub(super) fn ends_old(self) -> bool {
        matches!(self, Scope::YoungEndsOld | Scope::Global)
    }

    /// The objects that the markers of the cycle look for. `marks_old`: old objects are being
    /// marked across cycles.
    pub(super) fn sought(self, marks_old: bool) -> Sought {
        match self {
            Scope::Global | Scope::YoungEndsOld => Sought::All,
            Scope::YoungBeginsOld => Sought::YoungBesideOld,
            Scope::Young if marks_old => Sought::YoungBesideOld,
            Scope::Young => Sought::Young,
        }
    }
}

/// The garbage that a request for a cycle wants found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Garbage {
    /// Young objects.
    #[default]
    Young,
    /// Young and old objects.
    All,
}
