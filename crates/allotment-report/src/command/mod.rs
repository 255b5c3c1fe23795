//! The common part of all commands: reading the command line, printing, and ending.

mod answers;
mod arguments;
mod failure;
mod interrupt;
mod print;
pub mod rows;
pub mod table;

pub use answers::print_answers;
pub use arguments::{failure_of, joined};
pub use failure::{Failure, ignore_file_size_signal};
pub use interrupt::Interrupt;
pub use print::{print, print_bold, wrapped};
