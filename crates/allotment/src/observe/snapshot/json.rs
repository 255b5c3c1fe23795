//! JSON as it is written by the gigabyte: numbers and strings, through one buffer.
//!
//! A snapshot is tens of millions of small numbers. `write!` takes ten times as long for each as
//! the loop here. Refused: a JSON library in the heap, for two functions.

use super::SnapshotError;
use std::io::Write;

/// Bytes that are handed to the writer in one call.
pub(super) const BUFFER_BYTES: usize = 1 << 16;

/// Bytes of the largest number, and of the text after it.
const NUMBER_BYTES: usize = 21;

/// The numbers 0 to 99 in two digits.
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut number) = ([[0; 2]; 100], 0);
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// The keys that loaders search the file for, text by text.
pub(super) const KEYS: [&str; 11] = [
    "snapshot",
    "nodes",
    "edges",
    "trace_function_infos",
    "trace_tree",
    "samples",
    "locations",
    "scopes",
    "scope_context_vars",
    "scope_uses",
    "strings",
];

/// A buffer before a writer. [`finish`](Self::finish) writes its last bytes.
pub(super) struct Output<'w> {
    writer: &'w mut dyn Write,
    /// [`BUFFER_BYTES`], the first `filled` of which are to be written.
    buffer: Box<[u8]>,
    filled: usize,
    written: u64,
}

impl<'w> Output<'w> {
    pub(super) fn new(writer: &'w mut dyn Write) -> Output<'w> {
        Output { writer, buffer: vec![0; BUFFER_BYTES].into(), filled: 0, written: 0 }
    }

    #[cold]
    fn flush(&mut self) -> Result<(), SnapshotError> {
        self.writer.write_all(&self.buffer[..self.filled]).map_err(SnapshotError::Write)?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    /// Writes what is in the buffer. Returns how many bytes were written in all.
    pub(super) fn finish(mut self) -> Result<u64, SnapshotError> {
        self.flush()?;
        self.writer.flush().map_err(SnapshotError::Write)?;
        Ok(self.written)
    }

    /// Makes room for this many bytes, at most [`BUFFER_BYTES`].
    #[inline(always)]
    fn make_room(&mut self, bytes: usize) -> Result<(), SnapshotError> {
        if self.filled + bytes > BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        for piece in bytes.chunks(BUFFER_BYTES) {
            self.make_room(piece.len())?;
            self.buffer[self.filled..self.filled + piece.len()].copy_from_slice(piece);
            self.filled += piece.len();
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), SnapshotError> {
        self.bytes(text.as_bytes())
    }

    /// Numbers with commas between them, after the byte `before` and before a new line.
    #[inline(always)]
    pub(super) fn record<const N: usize>(
        &mut self,
        before: u8,
        numbers: [u64; N],
    ) -> Result<(), SnapshotError> {
        self.make_room(1 + N * NUMBER_BYTES)?;
        let mut separator = before;
        for number in numbers {
            self.put_byte(separator);
            self.put_number(number);
            separator = b',';
        }
        self.put_byte(b'\n');
        Ok(())
    }

    /// A byte for which there is room.
    #[inline(always)]
    fn put_byte(&mut self, byte: u8) {
        self.buffer[self.filled] = byte;
        self.filled += 1;
    }

    /// A number for which there is room.
    #[inline(always)]
    fn put_number(&mut self, mut number: u64) {
        if number < 10 {
            return self.put_byte(b'0' + number as u8);
        }
        let digits = number.ilog10() as usize + 1;
        let place = &mut self.buffer[self.filled..self.filled + digits];
        self.filled += digits;
        let mut end = digits;
        while end >= 2 {
            place[end - 2..end].copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
            end -= 2;
        }
        if end == 1 {
            place[0] = b'0' + number as u8;
        }
    }

    /// A string in quotes.
    pub(super) fn string(&mut self, text: &str) -> Result<(), SnapshotError> {
        self.string_lossy(text.as_bytes())
    }

    /// Bytes as a string in quotes. Bytes that are not UTF-8 become U+FFFD. Allocates nothing,
    /// since the system may have no memory left.
    ///
    /// The output is ASCII, and a quote in it begins or ends a string. No string is written as a
    /// key of the format is: a loader that searches the file for `"nodes"` finds the key.
    pub(super) fn string_lossy(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.text("\"")?;
        let mut rest = bytes;
        if let Some((first, after)) = bytes.split_first()
            && KEYS.iter().any(|key| key.as_bytes() == bytes)
        {
            self.unit(u16::from(*first))?;
            rest = after;
        }
        for chunk in rest.utf8_chunks() {
            self.escaped(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                self.escaped("\u{FFFD}")?;
            }
        }
        self.text("\"")
    }

    /// The inside of a string.
    fn escaped(&mut self, text: &str) -> Result<(), SnapshotError> {
        for char in text.chars() {
            match char {
                '\\' => self.text("\\\\")?,
                ' '..='~' if char != '"' => self.bytes(&[char as u8])?,
                _ => {
                    for unit in char.encode_utf16(&mut [0; 2]) {
                        self.unit(*unit)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A UTF-16 unit in hexadecimal digits.
    fn unit(&mut self, unit: u16) -> Result<(), SnapshotError> {
        self.text("\\u")?;
        for shift in [12, 8, 4, 0] {
            self.bytes(&[b"0123456789abcdef"[usize::from(unit >> shift & 0xF)]])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(write: impl Fn(&mut Output<'_>) -> Result<(), SnapshotError>) -> String {
        let mut bytes = Vec::new();
        let mut output = Output::new(&mut bytes);
        write(&mut output).unwrap();
        let count = output.finish().unwrap();
        assert_eq!(count, bytes.len() as u64);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn strings_are_escaped() {
        let text = "a\"b\\c\n\0\u{7F}\u{2028}é\u{10FFFF}";
        let expected = r#""a\u0022b\\c\u000a\u0000\u007f\u2028\u00e9\udbff\udfff""#;
        assert_eq!(written(|out| out.string(text)), expected);
    }

    #[test]
    fn a_string_that_is_a_key_is_not_written_as_one() {
        assert_eq!(written(|out| out.string("nodes")), r#""\u006eodes""#);
        for key in KEYS {
            for text in [key.to_owned(), format!("a\"{key}"), format!("{key}\"b"), format!("\"{key}\":[")] {
                let json = written(|out| out.string(&text));
                assert!(!json.contains(&format!("\"{key}\"")), "{json}");
                assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            }
        }
    }

    proptest! {
        #[test]
        fn bytes_are_replaced_as_the_standard_library_does(bytes: Vec<u8>) {
            let text = String::from_utf8_lossy(&bytes);
            let json = written(|out| out.string_lossy(&bytes));
            prop_assert_eq!(&json, &written(|out| out.string(&text)));
            prop_assert!(json.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn numbers_are_written_as_the_standard_library_does(numbers: [u64; 3], length in 0usize..200_000) {
            let text = "x".repeat(length);
            let [a, b, c] = numbers;
            let expected = format!("{text}{a}[{a},{b},{c}\n,{}\n", b % 1000);
            let out = written(|out| {
                out.text(&format!("{text}{a}"))?;
                out.record(b'[', numbers)?;
                out.record(b',', [b % 1000])
            });
            prop_assert!(out == expected);
        }
    }
}
