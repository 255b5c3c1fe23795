//! Memory that threads walk to keep caches busy. In the experiment `cache` the walk is measured; in
//! neighbours it disturbs.
//!
//! The memory is mapped directly and not a heap's, since headers and barriers would be part of the
//! figures.

mod cycle;
mod mapping;
mod stream;

pub(crate) use allotment_report::random::Random;
pub(crate) use cycle::{Cycle, Way};
pub(crate) use mapping::{Mapping, Pages};
pub(crate) use stream::Stream;
