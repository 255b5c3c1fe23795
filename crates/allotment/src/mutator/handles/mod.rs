//! What attached threads hold roots by: each takes its place in [`roots`](super::roots).

mod linked;
mod pin;
mod root;

pub use linked::LinkedRoot;
pub use pin::Pin;
pub use root::RootHandle;
