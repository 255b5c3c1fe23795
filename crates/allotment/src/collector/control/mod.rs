//! The thread that a collector controls its cycles by.

mod requests;
mod thread;

pub(in crate::collector) use thread::{ControlThread, Watch};
