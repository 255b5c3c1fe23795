//! The common parts of marking, evacuation and the full collection: access to an object and to a
//! block of the heap, the measurement of a part of a collection, and the end of a process whose
//! heap is broken.

mod broken;
mod cover;
mod forwarding;
mod live_map;
mod live_objects;
mod old_tables;
mod phase;
mod roots;

pub(crate) use broken::broken;
pub(in crate::collector) use broken::walk_or_abort;
pub(crate) use cover::cover;
pub(in crate::collector) use forwarding::{KEPT, decide, decided, word_at};
pub(crate) use live_map::Pages;
pub(in crate::collector) use live_map::{BLOCK_BYTES, Destination, LiveMap, next_block};
pub(crate) use live_objects::ShapeCache;
pub(in crate::collector) use live_objects::{NO_OBJECT, UNKNOWN_SHAPE, for_each_live};
pub(crate) use old_tables::OldTables;
pub use phase::Phase;
pub(crate) use roots::Roots;
