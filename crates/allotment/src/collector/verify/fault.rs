//! The possible faults of a heap, with messages that lead to the cause.

use crate::object::{SlotKind, WalkError};
use crate::region::State;
use std::fmt;

/// The first thing that a check found wrong.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The free set contradicts itself.
    #[error("{0}")]
    FreeSet(String),
    /// The list of attached threads contradicts itself.
    #[error("{0}")]
    Threads(String),
    /// A region is not parsable.
    #[error("region {region}: {error}")]
    Walk {
        /// The region's number.
        region: usize,
        /// The first place that is not parsable.
        error: WalkError,
    },
    /// A word refers to an address at which no object begins.
    #[error(transparent)]
    Reference(Box<BadReference>),
    /// Some code wrote to memory without objects.
    #[error(
        "{address:#x}: region {region} ({state:?}) has {found:#018x} there instead of {expected}, \
         and no object is there: some code wrote through a reference to an object that had died or moved"
    )]
    Freed {
        /// The word.
        address: usize,
        /// The region's number.
        region: usize,
        /// Its state.
        state: State,
        /// The value of the word.
        found: u64,
        /// The value it should have.
        expected: &'static str,
    },
    /// The check itself needs memory.
    #[error("the system has no memory for the {bytes} bytes that the check needs")]
    NoMemory {
        /// Bytes asked for.
        bytes: usize,
    },
}
crate::debug::debug_is_display!(Fault);

/// A word that refers to an address at which no object begins.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{holder} holds {bits:#018x}: {target:#x} {problem}")]
pub struct BadReference {
    /// The place of the word.
    pub holder: Holder,
    /// The word.
    pub bits: u64,
    /// The address in it.
    pub target: usize,
    /// The reason why no object begins at the address.
    pub problem: Problem,
}
crate::debug::debug_is_display!(BadReference);

/// The place of a word that refers to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// In an object.
    Object {
        /// Its address.
        address: usize,
        /// The name of its shape.
        shape: String,
        /// The slot in the object.
        slot: SlotPlace,
        /// How that slot keeps its referent.
        kind: SlotKind,
    },
    /// In a root: a handle's, a frame's or a provider's.
    Root {
        /// Address of the slot.
        slot: usize,
        /// How it keeps its referent.
        kind: SlotKind,
    },
    /// In the table of pins, or given as pinned by a provider.
    Pin,
}

/// A slot of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlotPlace {
    /// The slot of this name.
    Named(String),
    /// The element of the tail with this index.
    Element(usize),
    /// A slot that the shape's trace function visits, at this address.
    Traced(usize),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weak = |kind: &SlotKind| if *kind == SlotKind::Weak { "weak " } else { "" };
        match self {
            Holder::Object { address, shape, slot, kind } => {
                write!(f, "`{shape}` at {address:#x}: {}", weak(kind))?;
                match slot {
                    SlotPlace::Named(name) => write!(f, "slot `{name}`"),
                    SlotPlace::Element(index) => write!(f, "element {index}"),
                    SlotPlace::Traced(slot) => write!(f, "traced slot at {slot:#x}"),
                }
            }
            Holder::Root { slot, kind } => write!(f, "{}root at {slot:#x}", weak(kind)),
            Holder::Pin => f.write_str("a pin"),
        }
    }
}

/// The reason why no object begins at an address.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is in no region of the heap.
    #[error("is outside the heap")]
    OutsideHeap,
    /// It is not a multiple of 8.
    #[error("is not a multiple of 8")]
    Misaligned,
    /// Its region has no objects.
    #[error("is in region {region}, which is {state:?}: the object died, or moved and this was not updated")]
    UnusedRegion {
        /// The region's number.
        region: usize,
        /// Its state.
        state: State,
    },
    /// No object and no filler reaches that far.
    #[error(
        "is in region {region}, whose objects end at {top:#x}: the object died, or moved and this was not updated"
    )]
    BeyondTop {
        /// The region's number.
        region: usize,
        /// The end of its objects.
        top: usize,
    },
    /// It is inside an object, or in a gap.
    #[error(
        "is in region {region}, but no object begins there{}",
        below.map_or(" or below it".into(), |below| format!(": the nearest one below it is at {below:#x}"))
    )]
    NoObject {
        /// The region's number.
        region: usize,
        /// The nearest object below it, where there is one.
        below: Option<usize>,
    },
    /// The object is young, the slot that refers to it is old, and the slot's card
    /// is clean.
    #[error(
        "is young, and the card of the old slot at {slot:#x} is clean: it was stored to without the barrier"
    )]
    CleanCard {
        /// Address of the slot.
        slot: usize,
    },
    /// The object is young, and young collections do not look at the handle that refers to it.
    #[error(
        "is young, and the handle is not among those that young collections visit: it was stored to without a note of that"
    )]
    ForgottenHandle,
}

crate::debug::debug_is_display!(Problem);
