//! The two kinds of stops, and what a thread does behind the light one.

mod duty;
mod early;
mod halted;
mod pause;
mod world;

pub(crate) use halted::Halted;
pub(crate) use pause::Pause;
pub use world::{StopError, World};
