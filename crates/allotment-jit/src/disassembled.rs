//! An instruction as text, as every machine's decoder gives it.

/// An instruction of code that is not a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembled {
    /// The address.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: usize,
    /// The text: in Intel's syntax on x86-64, in Arm's on AArch64.
    pub assembly: String,
    /// The target of the jump or call, if the instruction itself contains it.
    pub target: Option<u64>,
}
