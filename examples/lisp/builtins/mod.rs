//! The functions written in Rust, grouped by the values that they work on.

mod characters;
mod heap;
mod kinds;
mod lists;
mod numeric;
mod ports;
mod tables;
mod vectors;

pub use kinds::{Args, Body, Builtin, spread};
use std::sync::LazyLock;

/// All builtins. `Val::Builtin` holds an index into this list.
pub static ALL: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    [
        &[kinds::APPLY],
        lists::ALL,
        numeric::ALL,
        characters::ALL,
        vectors::ALL,
        tables::ALL,
        ports::ALL,
        heap::ALL,
    ]
    .concat()
});
