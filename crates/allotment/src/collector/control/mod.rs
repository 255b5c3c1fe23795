//! The thread by which a collector controls its cycles.

mod requests;
mod thread;

pub(in crate::collector) use thread::{ControlThread, Watch};
