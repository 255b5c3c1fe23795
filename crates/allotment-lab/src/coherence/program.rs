//! What a core executes: one step after the other, each knowing what the last one read.

/// A step. Addresses are multiples of 8 below the size of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads a word, from the core's own store buffer if it is there.
    Load(u64),
    /// Puts a word (address, value) into the store buffer.
    Store(u64, u64),
    /// Locked: writes `new` if the word is `expected`. Reads what was there.
    CompareExchange {
        /// Where.
        address: u64,
        /// What is to be there.
        expected: u64,
        /// What is there then.
        new: u64,
    },
    /// Locked: adds to a word (address, amount), and reads what was there.
    FetchAdd(u64, u64),
    /// Locked: writes a word (address, value), and reads what was there.
    Exchange(u64, u64),
    /// Waits until a word (address, value) is another one, looking at a copy of one's own meanwhile; reads it.
    WaitWhile(u64, u64),
    /// So many cycles of other work.
    Compute(u64),
    /// The program is over.
    Done,
}

/// A core's program.
pub trait Program {
    /// The next step. `read` is what the last step that read anything has read; 0 at first.
    fn next(&mut self, read: u64) -> Step;
}
