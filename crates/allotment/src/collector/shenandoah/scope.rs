//! Which generations a cycle marks by itself.
//!
//! Without generations each cycle is a global one. Refused: two flags for the begin and the end of
//! the marking of old objects. A reader has to know which of the four pairs means what.

use crate::collector::concurrent::Sought;

/// Which old objects a cycle marks, beside all young ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// None: all old objects count as live.
    Young,
    /// None, and its first pause is the snapshot for the marking of old objects, which goes on
    /// after the cycle.
    YoungBeginsOld,
    /// Those that the marking of old objects has left. From then on marks say which are live.
    YoungEndsOld,
    /// All of them.
    Global,
}

impl Scope {
    /// Whether the first pause of the cycle is the snapshot of old objects.
    pub(super) fn begins_old(self) -> bool {
        matches!(self, Scope::YoungBeginsOld | Scope::Global)
    }

    /// Whether marks say at the end which old objects are live. Otherwise all of them count as
    /// live.
    pub(super) fn ends_old(self) -> bool {
        matches!(self, Scope::YoungEndsOld | Scope::Global)
    }

    /// What the markers of the cycle look for, while old objects are marked apart or are not.
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
    /// That of young objects.
    #[default]
    Young,
    /// That of old objects, too.
    All,
}
