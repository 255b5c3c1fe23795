//! Why a snapshot or a profile cannot be read: one error for the readers of both.

/// Why a file cannot be read as what the user takes it for.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system cannot read the file.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The file ends too early.
    #[error("it ends at byte {at}, within {what}: it was not written to its end")]
    Cut {
        /// The length of the file.
        at: u64,
        /// The part of the file that was being read.
        what: &'static str,
    },
    /// The file contradicts its format.
    #[error("byte {at}: {what}")]
    Broken {
        /// The place of the contradiction.
        at: u64,
        /// The fault at that byte.
        what: String,
    },
    /// The file is of another kind, is too large, or lacks what was asked for.
    #[error("{0}")]
    Unfit(String),
}
