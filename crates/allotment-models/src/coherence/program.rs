//! The steps that a core executes. Each step knows the value that the last one read.

/// A step. Addresses are multiples of 8 below the size of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads a word, from the core's own store buffer if it is there.
    Load(u64),
    /// Puts a word (address, value) into the store buffer.
    Store(u64, u64),
    /// Locked: writes `new` if the word is `expected`. Reads the old value.
    CompareExchange {
        /// The address of the word.
        address: u64,
        /// The expected value.
        expected: u64,
        /// The new value.
        new: u64,
    },
    /// Locked: adds to a word (address, amount), and reads the old value.
    FetchAdd(u64, u64),
    /// Locked: writes a word (address, value), and reads the old value.
    Exchange(u64, u64),
    /// Waits until a word (address, value) has another value, and reads that value. The core spins
    /// on its own copy meanwhile.
    WaitWhile(u64, u64),
    /// A number of cycles of other work.
    Compute(u64),
    /// The program is over.
    Done,
}

/// A core's program.
pub trait Program {
    /// The next step. `read` is the value that the last reading step read; 0 at first.
    fn next(&mut self, read: u64) -> Step;
}
