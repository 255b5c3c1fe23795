//! The stopped world: what a thread may do after it has stopped all other threads.

mod early;
mod world;

pub use world::{StopError, World};
