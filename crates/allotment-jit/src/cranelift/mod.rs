//! The same allocations in Cranelift's intermediate form, for embedders whose compiler is Cranelift. Feature `cranelift`.
mod allocate;
mod lowering;
mod program;
mod stack_maps;
mod zeroes;

pub use lowering::{Callee, Calls, Lowering};
pub use program::{Program, ProgramError};
pub use stack_maps::{FunctionMaps, StackMapError, StackMaps};
