//! Collectors: choreographies over the layers below, one file each, and what they have in common.

mod capacity;
mod epsilon;
pub(crate) mod full;
mod history;
mod mark_compact;
mod record;
#[cfg(all(test, not(loom)))]
mod tests;
pub(crate) mod verify;
#[allow(dead_code, unused_imports)]
pub(crate) mod work;

pub(crate) use capacity::Capacity;
pub(crate) use epsilon::Epsilon;
pub use history::{Collections, Times};
pub(crate) use history::{History, Listener};
pub(crate) use mark_compact::{MarkCompact, Settings};
pub use record::{CollectionKind, CollectionRecord, Phase};
