//! The C compiler as a parameter of an experiment, for modes whose work is code in C.

use crate::c::{CC, COMPILERS, Compiler};
use crate::harness::{Axis, Case, Kind};

/// The axis `cc`.
pub(super) const COMPILER: Axis = Axis::new(
    CC,
    "the C compiler; clang: clang, or `zig cc` where there is none",
    Kind::Choice(COMPILERS),
    COMPILERS,
)
.quick(COMPILERS);

/// The compiler of a case.
///
/// # Errors
/// It is not on this machine, or the case has no such parameter.
pub(super) fn compiler_of(case: &Case) -> anyhow::Result<Compiler> {
    Ok(Compiler::find(case.text(CC)?)?)
}
