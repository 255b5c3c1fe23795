//! Reading what HotSpot logs of its thread-local allocation buffers: `-Xlog:gc+tlab` of JDK 9 and later,
//! `-XX:+PrintTLAB` of JDK 8.
//!
//! | module | is |
//! |---|---|
//! | `tokens` | a message as labelled numbers |
//! | `line` | a message as what it says, in any of the three dialects |
//! | `place` | where in a line the message is, and what precedes it |
//! | `stamp` | when a line was written |
//! | `unwrap` | a line without what collectors of logs put around it |
//! | `markup` | a line without colours and entities |
//! | `document` | lines in JSON that is no matter of lines |
//! | `source` | the files of a log in the order they were written, and their lines |
//! | `run` | which of several JVMs a line is of |
//! | `whose` | what a prefix says of that |
//! | `release` | which JDKs wrote the lines |
//! | `account` | what one thread's lines add up to |
//! | `log` | what all lines add up to |
//! | `verdict` | which threads starve, which hoard; and when nothing can be said |
//! | `cycles` | who allocated how much between two collections |
//! | `history` | the sizes that threads desired, over time |
//! | `candidate`, `replay` | what other sizings would have done with that |
//!
//! The log is read once, as bytes, and what is kept is a few numbers per thread, so that a pipe and a log of
//! any length will do. Lines are recognised by their labels, never by columns: decorations are the user's
//! choice, and the fields differ between releases. A regular expression per dialect was refused: three of
//! them per line cost more than the disk, and none says where a line is damaged.
//!
//! Sources of the formats: `threadLocalAllocBuffer.cpp` and `threadLocalAllocBuffer.inline.hpp` of HotSpot,
//! before and after JDK-8381834; JEP 158 and JEP 271 for what precedes a message.

mod account;
mod candidate;
mod cycles;
mod document;
mod history;
mod line;
mod log;
mod markup;
mod place;
mod release;
mod replay;
mod run;
mod source;
mod stamp;
#[cfg(test)]
mod tests;
mod tokens;
mod unwrap;
mod verdict;
mod whose;

pub use account::{Account, Sizes};
pub use candidate::{BUILT_IN, Candidate};
pub use cycles::Cycles;
pub use history::History;
pub use line::{Dialect, Line, Request, Resize, ThreadId, ThreadLine, Totals, Waste, parse};
pub use log::{Agreement, Log, Skipped, Sum};
pub use replay::{Replayed, replay};
pub use source::{Sources, read};
pub use verdict::{Judge, Verdict};
