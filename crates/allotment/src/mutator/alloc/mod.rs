//! Allocation, from the six instructions of the fast path to the request for room.

mod burst;
mod fast;
mod initialise;
mod outside;
mod pieces;
mod prefetch;
mod recycle;
mod refill;
mod room;
mod site;
mod stall;

pub use burst::Burst;
pub use initialise::{Ahead, ByCaller, PerObject, Zeroing};
pub(crate) use pieces::{Large, PIECE_BYTES, SLOTS_PIECE_BYTES, copy_in_pieces, pieces};
pub use prefetch::{BySize, NoPrefetch, Prefetch, Write};
pub use recycle::Mark;
pub(crate) use recycle::hot_bytes;
pub(super) use refill::Content;
pub use room::Reservation;
pub use site::{ArraySite, Site};
