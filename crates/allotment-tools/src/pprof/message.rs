//! The messages of pprof's form, by their names in `profile.proto` of github.com/google/pprof.
//!
//! A file is one message `Profile`. Its fields are read one by one ([`super::wire`]); a field that
//! is a message is decoded here. Names are indexes into the file's table of strings.

use prost::Message;

/// The numbers of the fields of a `Profile`.
pub(super) mod profile {
    pub(in super::super) const SAMPLE_TYPE: u64 = 1;
    pub(in super::super) const SAMPLE: u64 = 2;
    pub(in super::super) const MAPPING: u64 = 3;
    pub(in super::super) const LOCATION: u64 = 4;
    pub(in super::super) const FUNCTION: u64 = 5;
    pub(in super::super) const STRING_TABLE: u64 = 6;
    pub(in super::super) const DROP_FRAMES: u64 = 7;
    pub(in super::super) const KEEP_FRAMES: u64 = 8;
    pub(in super::super) const PERIOD_TYPE: u64 = 11;
    pub(in super::super) const PERIOD: u64 = 12;
    pub(in super::super) const COMMENT: u64 = 13;
    pub(in super::super) const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

/// A sample type: the quantity that values count, and its unit.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ValueType {
    #[prost(uint64, tag = "1")]
    pub(super) name: u64,
    #[prost(uint64, tag = "2")]
    pub(super) unit: u64,
}

/// A stack, and a value for each sample type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    pub(super) locations: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub(super) values: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    pub(super) labels: Vec<Label>,
}

/// A word about a sample. Labels with numbers have no text.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Label {
    #[prost(uint64, tag = "1")]
    pub(super) key: u64,
    #[prost(uint64, tag = "2")]
    pub(super) text: u64,
}

/// A file of code, and where it was mapped.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) start: u64,
    #[prost(uint64, tag = "3")]
    pub(super) limit: u64,
    #[prost(uint64, tag = "4")]
    pub(super) offset: u64,
    #[prost(uint64, tag = "5")]
    pub(super) file: u64,
    #[prost(uint64, tag = "6")]
    pub(super) build_id: u64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
    #[prost(bool, tag = "8")]
    pub(super) has_filenames: bool,
    #[prost(bool, tag = "9")]
    pub(super) has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    pub(super) has_inline_frames: bool,
}

/// A place in the code: one frame, or several that are inlined into each other.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Location {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) mapping: u64,
    #[prost(uint64, tag = "3")]
    pub(super) address: u64,
    /// Innermost first.
    #[prost(message, repeated, tag = "4")]
    pub(super) lines: Vec<Line>,
    #[prost(bool, tag = "5")]
    pub(super) is_folded: bool,
}

/// A line of a function.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Line {
    #[prost(uint64, tag = "1")]
    pub(super) function: u64,
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
    #[prost(int64, tag = "3")]
    pub(super) column: i64,
}

/// A function.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Function {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) name: u64,
    #[prost(uint64, tag = "3")]
    pub(super) system_name: u64,
    #[prost(uint64, tag = "4")]
    pub(super) file: u64,
    #[prost(int64, tag = "5")]
    pub(super) start_line: i64,
}
