//! Memory that threads walk to keep caches busy: for the experiment `cache`, where the walk is what is measured, and for
//! neighbours, where it is what disturbs.
//!
//! Plain mapped memory and not a heap's: headers and barriers would be part of the number.

mod cycle;
mod mapping;
mod random;
mod stream;

pub(crate) use cycle::{Cycle, Way};
pub(crate) use mapping::{Mapping, Pages};
pub(crate) use random::Random;
pub(crate) use stream::Stream;
