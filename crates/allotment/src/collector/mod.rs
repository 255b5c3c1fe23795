//! Collectors: choreographies over the layers below, one file each, and what they have in common.

mod epsilon;
pub(crate) mod full;
mod history;
mod mark_compact;
mod record;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use epsilon::Epsilon;
pub use history::{Collections, Times};
pub(crate) use history::{History, Listener};
pub(crate) use mark_compact::{MarkCompact, Settings};
pub use record::{CollectionKind, CollectionRecord, Phase};
