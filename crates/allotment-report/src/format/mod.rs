//! Numbers, times, phrases and tables as text, and the files that a command reads and writes.

mod distinct;
pub mod input;
mod layout;
pub mod number;
mod output;
pub mod phrase;
mod printable;
pub mod suggest;
pub mod time;
mod told;
pub mod width;

pub use distinct::{distinct, grouped};
pub use input::{Input, InputError, binary, open_binary, read_text};
pub use layout::Layout;
pub use output::{
    FilesError, OutputError, OutputFile, check_directory, check_files, check_printed_files, named_files,
};
pub use printable::printable;
pub use told::told;
