//! The wire format of protocol buffers, read: fields, numbers, messages inside messages.
//!
//! A field is a key, `number << 3 | kind`, and a value. A message is a part of the file's bytes,
//! and is read where it lies. Each error has the place of its byte in the file.

use super::PprofError;

/// A varint has 7 bits a byte, so 64 bits take this many bytes at most.
const MOST_VARINT_BYTES: usize = 10;

/// The bytes of a message, and their place in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'b> {
    bytes: &'b [u8],
    /// Bytes of the file before the first.
    at: usize,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'b> {
    /// A varint.
    Number(u64),
    /// Text, a message, or a list of numbers.
    Bytes(Message<'b>),
    /// A number of fixed width. No field that is read here has one.
    Fixed,
}

/// A field: its number and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'b> {
    pub(super) number: u64,
    pub(super) value: Value<'b>,
    /// Its key and its value, as they lie in the file.
    pub(super) raw: &'b [u8],
    /// The place of its key in the file.
    at: usize,
}

impl<'b> Message<'b> {
    /// A whole file.
    pub(super) fn new(bytes: &'b [u8]) -> Message<'b> {
        Message { bytes, at: 0 }
    }

    /// The bytes, as text has them.
    pub(super) fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// Calls `found` with each field, in the order of the file.
    ///
    /// # Errors
    /// The bytes are no message; what `found` returned.
    pub(super) fn each(
        mut self,
        mut found: impl FnMut(Field<'b>) -> Result<(), PprofError>,
    ) -> Result<(), PprofError> {
        while !self.bytes.is_empty() {
            found(self.field()?)?;
        }
        Ok(())
    }

    fn field(&mut self) -> Result<Field<'b>, PprofError> {
        let (at, from) = (self.at, self.bytes);
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            kind => return Err(broken(at, format!("a field of the unknown kind {kind}"))),
        };
        match key >> 3 {
            0 => Err(broken(at, "a field with the number 0")),
            number => Ok(Field { number, value, raw: &from[..self.at - at], at }),
        }
    }

    fn varint(&mut self) -> Result<u64, PprofError> {
        let mut number = 0;
        for (index, byte) in self.bytes.iter().enumerate().take(MOST_VARINT_BYTES) {
            // The tenth byte has one bit of the number.
            if index + 1 == MOST_VARINT_BYTES && *byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7F) << (7 * index);
            if byte & 0x80 == 0 {
                self.take(index + 1)?;
                return Ok(number);
            }
        }
        if self.bytes.len() < MOST_VARINT_BYTES {
            return Err(PprofError::Cut { at: self.at + self.bytes.len() });
        }
        Err(broken(self.at, "a number of more than 64 bits"))
    }

    /// Takes so many bytes off the front.
    fn take(&mut self, count: usize) -> Result<Message<'b>, PprofError> {
        let Some((bytes, rest)) = self.bytes.split_at_checked(count) else {
            return Err(PprofError::Cut { at: self.at + self.bytes.len() });
        };
        let taken = Message { bytes, at: self.at };
        *self = Message { bytes: rest, at: self.at + count };
        Ok(taken)
    }
}

impl<'b> Field<'b> {
    /// The value as one number.
    pub(super) fn number(&self) -> Result<u64, PprofError> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(broken(self.at, format!("field {} is no number", self.number))),
        }
    }

    /// The value as text or a message.
    pub(super) fn message(&self) -> Result<Message<'b>, PprofError> {
        match self.value {
            Value::Bytes(message) => Ok(message),
            _ => Err(broken(self.at, format!("field {} is no message", self.number))),
        }
    }

    /// Adds the value to a list of numbers: one number, or several in the packed form.
    pub(super) fn numbers(&self, list: &mut Vec<u64>) -> Result<(), PprofError> {
        match self.value {
            Value::Number(number) => list.push(number),
            Value::Bytes(mut packed) => {
                while !packed.bytes.is_empty() {
                    list.push(packed.varint()?);
                }
            }
            Value::Fixed => return Err(broken(self.at, format!("field {} is no number", self.number))),
        }
        Ok(())
    }

    /// An error at this field.
    pub(super) fn broken(&self, what: impl Into<String>) -> PprofError {
        broken(self.at, what)
    }
}

fn broken(at: usize, what: impl Into<String>) -> PprofError {
    PprofError::Broken { at, what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let mut found = Vec::new();
        let read = Message::new(bytes).each(|field| {
            let mut numbers = Vec::new();
            let value = match field.value {
                Value::Number(number) => number.to_string(),
                Value::Bytes(text) if field.number == 4 => {
                    field.numbers(&mut numbers)?;
                    assert!(text.bytes().len() >= numbers.len());
                    format!("{numbers:?}")
                }
                Value::Bytes(text) => String::from_utf8_lossy(text.bytes()).into_owned(),
                Value::Fixed => "fixed".into(),
            };
            found.push((field.number, value));
            Ok(())
        });
        read.map(|()| found).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_those_of_the_specification() {
        let message: &[&[u8]] = &[
            &[0x08, 0x96, 0x01],
            &[0x12, 0x07],
            b"testing",
            &[0x19, 0, 0, 0, 0, 0, 0, 0, 0],
            &[0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
            &[0x2d, 0, 0, 0, 0],
            &[0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ];
        let expected = ["150", "testing", "fixed", "[3, 270, 86942]", "fixed", "18446744073709551615"];
        let expected: Vec<_> = (1..).zip(expected.map(String::from)).collect();
        assert_eq!(fields(&message.concat()), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (bytes, told) in [
            (&[0x08][..], "it ends at byte 1"),
            (&[0x08, 0x01, 0x08, 0x80], "it ends at byte 4"),
            (&[0x08, 0x01, 0x12, 0x05, 0x00], "it ends at byte 5"),
            (&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], "it ends at byte 11"),
            (&[0x09, 0x00], "it ends at byte 2"),
            (&[0x08, 0x01, 0x0b], "at byte 2, a field of the unknown kind 3"),
            (&[0x00, 0x01], "at byte 0, a field with the number 0"),
            (
                &[0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02],
                "at byte 1, a number of more",
            ),
            (&[0x22, 0x02, 0x01, 0x80], "it ends at byte 4"),
        ] {
            let error = fields(bytes).unwrap_err();
            assert!(error.contains(told), "{bytes:?}: {error}");
        }
    }
}
