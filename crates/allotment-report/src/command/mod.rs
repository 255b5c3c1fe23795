//! What every command has in common: how its line is read, how it prints, how it ends.

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
