//! A file as bytes, with the place of each for messages.

use crate::FileError;
use std::io::{BufRead, BufReader, ErrorKind, Read};

/// Bytes that are read in one go.
const BUFFER_BYTES: usize = 1 << 16;

/// The rest of a file.
pub(super) struct SnapshotInput<'f> {
    file: BufReader<&'f mut dyn Read>,
    /// Bytes of the file before the next one.
    at: u64,
}

impl<'f> SnapshotInput<'f> {
    pub(super) fn new(file: &'f mut dyn Read) -> SnapshotInput<'f> {
        SnapshotInput { file: BufReader::with_capacity(BUFFER_BYTES, file), at: 0 }
    }

    /// Bytes of the file before the next one.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The error for a file that contradicts its format at the next byte.
    pub(super) fn broken(&self, what: impl Into<String>) -> FileError {
        FileError::Broken { at: self.at, what: what.into() }
    }

    /// The next bytes; none at the end of the file.
    #[inline]
    fn next_bytes(&mut self) -> Result<&[u8], FileError> {
        while let Err(error) = self.file.fill_buf() {
            if error.kind() != ErrorKind::Interrupted {
                return Err(error.into());
            }
        }
        Ok(self.file.buffer())
    }

    fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.at += bytes as u64;
    }

    /// The next byte; `None` at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Option<u8>, FileError> {
        Ok(self.next_bytes()?.first().copied())
    }

    /// Takes the next byte, within `what`.
    #[inline]
    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, FileError> {
        let byte = self.peek()?.ok_or(FileError::Cut { at: self.at, what })?;
        self.consume(1);
        Ok(byte)
    }

    /// Takes `count` bytes. The list grows with what is there, not with what is announced.
    pub(super) fn bytes(&mut self, count: u64, what: &'static str) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        self.pieces(count, what, |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }

    /// Passes over `count` bytes.
    pub(super) fn skip(&mut self, count: u64, what: &'static str) -> Result<(), FileError> {
        self.pieces(count, what, |_| {})
    }

    /// Takes `count` bytes, as pieces of any lengths.
    fn pieces(
        &mut self,
        mut count: u64,
        what: &'static str,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), FileError> {
        while count > 0 {
            let next = self.next_bytes()?;
            let piece = &next[..next.len().min(usize::try_from(count).unwrap_or(usize::MAX))];
            take(piece);
            let bytes = piece.len();
            if bytes == 0 {
                return Err(FileError::Cut { at: self.at, what });
            }
            self.consume(bytes);
            count -= bytes as u64;
        }
        Ok(())
    }

    /// A number of `bytes` bytes, the highest first.
    pub(super) fn number(&mut self, bytes: u32, what: &'static str) -> Result<u64, FileError> {
        let mut number = 0;
        for _ in 0..bytes {
            number = number << 8 | u64::from(self.byte(what)?);
        }
        Ok(number)
    }
}
