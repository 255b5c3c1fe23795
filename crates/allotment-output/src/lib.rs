//! Opens every file that `allotment` and its lab write.
//!
//! | type | for | what a reader finds |
//! |---|---|---|
//! | [`Place`] | a path, tried before the work begins | what was there before |
//! | [`OutputFile`] | a file that is written at once: a profile, a snapshot, results | all of it, or what was there before |
//! | [`LogFile`] | lines that a program adds while it runs | whole lines, the newest at the end |
//! | [`expand`] | `%p` and `%t` in a path | the process and the time |
//!
//! What is at a path decides how it is written:
//!
//! | at the path | an [`OutputFile`] |
//! |---|---|
//! | nothing | makes it |
//! | a regular file | replaces it when all is written; the mode stays, and so does the owner if the process may give files away |
//! | a symbolic link | writes what the link leads to, and makes it if nothing is there; the link stays |
//! | a file, link or pipe that another user has put into a directory that all share, such as `/tmp` | is an error |
//! | a device, or a pipe with a reader | is written through |
//! | a descriptor of the process, such as `/dev/stdout` | is written through, even if it is a socket or a file |
//! | a directory, a pipe without a reader, a file without permission to write | is an error |
//!
//! A file is replaced by a rename, so it must be possible to make a file beside it. That is not so
//! in two cases, and [`OutputFile`] says what happens then: a directory without permission to
//! write, and a file that is mounted by itself, as containers have them.
//!
//! Writes to a closed pipe or past the limit of `ulimit -f` are errors. They never end the process
//! by a signal, however the program handles signals. [`write_without_signals`] gives this guarantee
//! for a descriptor that somebody else has opened, such as standard error.
//!
//! ```
//! use allotment_output::{OutputFile, Place};
//! use std::io::Write;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("results.json");
//! let place = Place::open(&path)?; // an error now, not after an hour
//! // ... an hour of work ...
//! let mut file: OutputFile = place.create()?;
//! file.write_all(b"{}")?;
//! file.finish()?;
//! assert_eq!(std::fs::read(&path)?, b"{}");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The crate is below all layers of the heap. It does not know heaps, so programs that only read
//! and write files can use it alone. Refused: the crate `tempfile`, whose `persist` replaces a
//! device, forgets the mode, and leaves a killed writer's files for ever.

// The files, lowest first. `.ci/layers` reads the list:
//
// ```text
// descriptor, name, planted   writes without signals, names, what others may have put there
// resolve                     what a path leads to
// partial                     a file under another name until it is whole
// found                       what is at a place
// output_file, log_file       files that are whole, files that grow
// place                       a path, tried before the work begins
// ```

mod descriptor;
mod found;
mod log_file;
mod name;
mod output_file;
mod partial;
mod place;
mod planted;
mod resolve;

pub use descriptor::write_without_signals;
pub use log_file::{LogError, LogFile, Rotation};
pub use name::expand;
pub use output_file::OutputFile;
pub use place::Place;
