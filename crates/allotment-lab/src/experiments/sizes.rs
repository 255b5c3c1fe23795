//! The object sizes that are compiled in.
//!
//! Where a size is known at compile time, its allocations are inlined. To measure this, a size
//! given on the command line has to select one of many compiled loops.

use crate::harness::{Bench, Case};
use anyhow::{bail, ensure};

/// An experiment whose measured code has the object's size as a constant.
pub(super) trait WithSize {
    /// Measures a case with objects of `BYTES` bytes.
    ///
    /// # Errors
    /// As [`Experiment::run`](crate::harness::Experiment::run).
    fn run_sized<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()>;
}

macro_rules! sizes {
    ($($size:literal)*) => {
        const SIZES: [usize; [$($size),*].len()] = [$($size),*];

        /// Calls `run_sized` with the axis `size` as a constant.
        pub(super) fn by_size<E: WithSize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
            match case.size("size")? {
                $($size => E::run_sized::<$size>(case, bench),)*
                other => bail!("objects of {other} bytes are not compiled in"),
            }
        }
    };
}
sizes!(16 24 32 48 64 96 128 144 256 1024);

/// Checks that objects of `size` bytes are compiled in.
///
/// # Errors
/// The sizes that are.
pub(super) fn check(size: usize) -> anyhow::Result<()> {
    let sizes = SIZES.map(|size| size.to_string()).join(", ");
    ensure!(SIZES.contains(&size), "objects of {size} bytes: the sizes compiled in are {sizes}");
    Ok(())
}
