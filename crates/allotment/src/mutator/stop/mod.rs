//! The two kinds of stops, and what a thread does after the light one.

mod buffers;
mod contents;
mod duty;
mod halted;
mod pause;
mod world;

pub(crate) use buffers::BufferSizes;
pub use contents::{WorldObject, WorldRoot};
pub(crate) use halted::Halted;
pub(crate) use pause::Pause;
pub use world::{StopError, World};

use crate::mutator::GeneratedFrame;
use crate::mutator::thread::state::State;
use std::ptr;

/// The frame of each of these threads that is in a call from generated code.
fn generated_frames<'s>(states: impl Iterator<Item = &'s State>) -> Vec<*const GeneratedFrame> {
    let frames = states.map(|state| state.hot.frame()).filter(|frame| *frame != 0);
    frames.map(ptr::with_exposed_provenance).collect()
}
