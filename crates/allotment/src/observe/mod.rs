//! Looks at everything and changes nothing: the checker.

mod verify;

pub use verify::{HeapCensus, VerifyError};
