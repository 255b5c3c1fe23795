//! The stopped world: what a thread may do that has stopped all others.

mod early;
mod world;

pub use world::{StopError, World};
