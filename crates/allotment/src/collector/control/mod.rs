//! A collector's own thread, which controls cycles or looks for idle times.

mod requests;
mod thread;

pub(in crate::collector) use thread::{ControlThread, Watch};
