//! The decisions on sizes around a collection: before it, while threads ran, and after it, from its
//! results. Only the log shows them
//! ([`CollectionRecord::detail_lines`](super::CollectionRecord::detail_lines)).

use super::Milliseconds;
use crate::collector::sizing::{Change, Collection, Decision};
use crate::mutator::BufferSizes;
use std::time::Duration;

/// The decisions around a collection, and their inputs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizingDetails {
    /// The growth of eden before this collection, without a stop; `None` if eden did not grow.
    pub enlarged: Option<EnlargedEden>,
    /// The part of eden that was kept back for `CollectWhenIdle`, if it was opened before this
    /// collection, without a stop.
    pub last_part: Option<LastPart>,
    /// The collection, as the decision saw it.
    pub collection: Collection,
    /// The decision, with its reasons.
    pub decision: Decision,
    /// The changes of the sizes of threads' buffers.
    pub buffers: BufferSizes,
    /// The growth of the capacity for an allocation that needed more than the decision allowed, in
    /// regions; `None` if the decision allowed enough.
    pub raised: Option<Change>,
}

/// An eden that grew because threads came. Prints as `eden 4->80 without a stop: 41 threads`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("eden {regions} without a stop: {threads} threads")]
pub(crate) struct EnlargedEden {
    /// Regions that eden was decided to have, and regions that it may have now.
    pub regions: Change,
    /// Threads that were attached then.
    pub threads: usize,
}

/// A last part of eden that was opened. Prints as `eden's last part open after 12.345ms: looked for
/// idle times`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("eden's last part open after {}: {look}", Milliseconds(*after))]
pub(crate) struct LastPart {
    /// Time in which threads had filled the rest of eden.
    pub after: Duration,
    /// Whether the control thread then looked for a time at which no mutator runs.
    pub look: IdleLook,
}

/// Whether the control thread looks for a time at which no thread of a heap runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IdleLook {
    /// The thread looks.
    #[error("looked for idle times")]
    Began,
    /// The thread does not look: eden was nearly full so soon that a look costs more than it gains.
    #[error("too soon to look for idle times")]
    TooSoon,
    /// No thread looks: the system gave none.
    #[error("no thread to look for idle times")]
    NoThread,
}
