//! A file as bytes, with the place of each for messages.

use super::SnapshotFileError;
use std::io::Read;

/// Bytes that are read in one go.
const BUFFER_BYTES: usize = 1 << 16;

/// The rest of a file.
pub(super) struct Input<'f> {
    file: &'f mut dyn Read,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    next: usize,
    /// Bytes in the buffer.
    end: usize,
    /// Bytes of the file before the buffer.
    before: u64,
}

impl<'f> Input<'f> {
    pub(super) fn new(file: &'f mut dyn Read) -> Input<'f> {
        Input { file, buffer: vec![0; BUFFER_BYTES], next: 0, end: 0, before: 0 }
    }

    /// Bytes of the file before the next one.
    pub(super) fn at(&self) -> u64 {
        self.before + self.next as u64
    }

    pub(super) fn broken(&self, what: impl Into<String>) -> SnapshotFileError {
        SnapshotFileError::Broken { at: self.at(), what: what.into() }
    }

    /// The next byte; `None` at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Option<u8>, SnapshotFileError> {
        if self.next == self.end {
            self.before += self.end as u64;
            (self.next, self.end) = (0, 0);
            self.end = loop {
                match self.file.read(&mut self.buffer) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
        }
        Ok(self.buffer[..self.end].get(self.next).copied())
    }

    /// Takes the next byte, within `what`.
    #[inline]
    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, SnapshotFileError> {
        let byte = self.peek()?.ok_or(SnapshotFileError::Cut { at: self.at(), what })?;
        self.next += 1;
        Ok(byte)
    }

    /// Takes `count` bytes. The list grows with what is there, not with what is announced.
    pub(super) fn bytes(&mut self, count: u64, what: &'static str) -> Result<Vec<u8>, SnapshotFileError> {
        let mut bytes = Vec::new();
        self.pieces(count, what, |piece| bytes.extend_from_slice(piece))?;
        Ok(bytes)
    }

    /// Passes over `count` bytes.
    pub(super) fn skip(&mut self, count: u64, what: &'static str) -> Result<(), SnapshotFileError> {
        self.pieces(count, what, |_| {})
    }

    /// Takes `count` bytes, as pieces of any lengths.
    fn pieces(
        &mut self,
        mut count: u64,
        what: &'static str,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), SnapshotFileError> {
        while count > 0 {
            self.peek()?.ok_or(SnapshotFileError::Cut { at: self.at(), what })?;
            let bytes = (self.end - self.next).min(usize::try_from(count).unwrap_or(usize::MAX));
            take(&self.buffer[self.next..self.next + bytes]);
            self.next += bytes;
            count -= bytes as u64;
        }
        Ok(())
    }

    /// A number of `bytes` bytes, the highest first.
    pub(super) fn number(&mut self, bytes: u32, what: &'static str) -> Result<u64, SnapshotFileError> {
        let mut number = 0;
        for _ in 0..bytes {
            number = number << 8 | u64::from(self.byte(what)?);
        }
        Ok(number)
    }
}
