//! The handles by which attached threads hold roots. Each handle uses a table or list in
//! [`roots`](super::roots).

mod linked;
mod pin;
mod root;

pub use linked::LinkedRoot;
pub use pin::Pin;
pub use root::RootHandle;
