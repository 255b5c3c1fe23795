//! Reads HotSpot's log of its thread-local allocation buffers: `-Xlog:gc+tlab` of JDK 9 and later,
//! `-XX:+PrintTLAB` of JDK 8.
//!
//! | module | content |
//! |---|---|
//! | `tokens` | a message as labelled numbers |
//! | `line` | a message as data, in any of the three dialects |
//! | `place` | the message in a line, and the text before it |
//! | `stamp` | the time of a line |
//! | `source` | the files of a log in the order they were written, and their lines |
//! | `run` | the JVM of a line, among several |
//! | `whose` | the JVM of a line, by its prefix |
//! | `release` | the JDKs that wrote the lines |
//! | `account` | the sums of one thread's lines |
//! | `log` | the sums of all lines |
//! | `verdict` | threads with too little or too much buffer |
//! | `cycles` | bytes allocated by each thread between two collections |
//! | `history` | the sizes that threads desired, over time |
//! | `objects` | the sizes of the objects, and the ends of buffers |
//! | `candidate`, `replay` | the effect of other sizings |
//! | `advice` | the setting to choose |
//!
//! The log is read once, as bytes, and a few numbers per thread are kept, so a pipe and a log of
//! any length work. Lines are recognised by their labels, never by columns: decorations are the
//! user's choice, and the fields differ between releases. Refused: a regular expression per
//! dialect. Three of them per line cost more than the disk, and none shows where a line is damaged.
//!
//! Sources of the formats: `threadLocalAllocBuffer.cpp` and `threadLocalAllocBuffer.inline.hpp` of
//! HotSpot, before and after JDK-8381834; JEP 158 and JEP 271 for the text before a message.

mod account;
mod advice;
mod candidate;
mod cycles;
mod history;
mod line;
mod log;
mod objects;
mod place;
mod release;
mod replay;
mod run;
mod source;
mod stamp;
#[cfg(test)]
mod tests;
mod tokens;
mod verdict;
mod whose;

pub use account::{Account, Sizes};
pub(crate) use advice::bytes_in;
pub use advice::{Advice, AllocationCosts, bytes};
pub use candidate::{BUILT_IN, Candidate};
pub use cycles::Cycles;
pub use history::History;
pub use line::{Dialect, Line, Request, Resize, ThreadId, ThreadLine, Totals, Waste};
pub use log::{Difference, Log, Skipped, Sum};
pub use replay::{Replay, Replayed};
pub use source::{Sources, read};
pub use verdict::{Judge, Verdict};
