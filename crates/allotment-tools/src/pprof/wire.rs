//! The fields of a file in the order in which they lie there.
//!
//! `prost` decodes the messages in them ([`super::message`]). The file itself is walked here, since a
//! decoded file of 64 MiB may take fifty times as much memory, and since fields that are not known
//! here are kept as they are when a file is written again. Each error has the place of its field.

use crate::FileError;
use prost::Message;
use prost::encoding::{decode_varint, encode_varint};

/// The fields of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'b>(pub(super) &'b [u8]);

/// The value of a field.
#[derive(Clone, Copy, Debug)]
enum Value<'b> {
    Number(u64),
    /// Text, a message, or a list of numbers.
    Bytes(&'b [u8]),
    /// A number of fixed width. No field that is read here has one.
    Fixed,
}

/// A field: its number and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'b> {
    pub(super) number: u64,
    value: Value<'b>,
    /// Its key and its value, as they lie in the file.
    pub(super) raw: &'b [u8],
    /// The place of its key in the file, in bytes.
    at: usize,
}

impl<'b> Fields<'b> {
    /// Calls `found` with each field, in the order of the file.
    ///
    /// # Errors
    /// The bytes are not fields; what `found` returned.
    pub(super) fn each(
        self,
        mut found: impl FnMut(Field<'b>) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let (from, at) = (rest, self.0.len() - rest.len());
            let (number, value) = field(&mut rest).map_err(|fault| match fault {
                Fault::Cut => FileError::Cut { at: self.0.len() as u64, what: "a field of a profile" },
                Fault::Broken => broken(at, "there is no field"),
            })?;
            found(Field { number, value, raw: &from[..from.len() - rest.len()], at })?;
        }
        Ok(())
    }

    /// Calls `found` with each field of that number, and the message in it.
    ///
    /// # Errors
    /// The bytes are not fields, or the field is not such a message; what `found` returned.
    pub(super) fn each_message<M: Message + Default>(
        self,
        number: u64,
        mut found: impl FnMut(Field<'b>, M) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        self.each(|field| if field.number == number { found(field, field.message()?) } else { Ok(()) })
    }
}

/// Why bytes are not a field.
enum Fault {
    /// They end within it.
    Cut,
    /// They contradict the format.
    Broken,
}

/// Takes a field off the front: its number, which is not 0, and its value.
fn field<'b>(rest: &mut &'b [u8]) -> Result<(u64, Value<'b>), Fault> {
    let taken = |rest: &mut &'b [u8], length: u64| {
        let length = usize::try_from(length).map_err(|_| Fault::Cut)?;
        rest.split_off(..length).ok_or(Fault::Cut)
    };
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Number(varint(rest)?),
        1 => taken(rest, 8).map(|_| Value::Fixed)?,
        2 => {
            let length = varint(rest)?;
            Value::Bytes(taken(rest, length)?)
        }
        5 => taken(rest, 4).map(|_| Value::Fixed)?,
        _ => return Err(Fault::Broken),
    };
    if key >> 3 == 0 { Err(Fault::Broken) } else { Ok((key >> 3, value)) }
}

/// Takes a number off the front.
fn varint(rest: &mut &[u8]) -> Result<u64, Fault> {
    let from = *rest;
    // A number has at most ten bytes, and only the last one has no bit for more.
    let is_cut = || from.len() < 10 && from.iter().all(|byte| *byte >= 0x80);
    decode_varint(rest).map_err(|_| if is_cut() { Fault::Cut } else { Fault::Broken })
}

impl<'b> Field<'b> {
    /// The value as one number.
    pub(super) fn number(&self) -> Result<u64, FileError> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(self.broken(format!("field {} is not a number", self.number))),
        }
    }

    /// The value as text.
    pub(super) fn bytes(&self) -> Result<&'b [u8], FileError> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.broken(format!("field {} is not a message", self.number))),
        }
    }

    /// The value as a message.
    pub(super) fn message<M: Message + Default>(&self) -> Result<M, FileError> {
        M::decode(self.bytes()?).map_err(|error| self.broken(error.to_string()))
    }

    /// The value as a list of numbers: one number, or several in the packed form.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, FileError> {
        let Value::Bytes(mut packed) = self.value else { return Ok(vec![self.number()?]) };
        let mut list = Vec::new();
        while !packed.is_empty() {
            list.push(varint(&mut packed).map_err(|_| self.broken("a list of numbers that is cut off"))?);
        }
        Ok(list)
    }

    /// An error at this field.
    pub(super) fn broken(&self, what: impl Into<String>) -> FileError {
        broken(self.at, &what.into())
    }
}

/// An error at a place in the file. The format has no mark at its beginning, so any file may come here.
fn broken(at: usize, what: &str) -> FileError {
    let what = format!("{what}; it is not a profile in pprof's form, or a damaged one");
    FileError::Broken { at: at as u64, what }
}

/// Adds a field with bytes, or with a message, to a file that is being written.
pub(super) fn push(file: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    encode_varint(number << 3 | 2, file);
    encode_varint(bytes.len() as u64, file);
    file.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let mut found = Vec::new();
        let read = Fields(bytes).each(|field| {
            let value = match field.value {
                Value::Number(number) => number.to_string(),
                Value::Bytes(_) if field.number == 4 => format!("{:?}", field.numbers()?),
                Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
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
    fn what_is_wrong_is_told_with_the_place_of_its_field() {
        for (bytes, told) in [
            (&[0x08][..], "it ends at byte 1"),
            (&[0x08, 0x01, 0x08, 0x80], "it ends at byte 4"),
            (&[0x08, 0x01, 0x12, 0x05, 0x00], "it ends at byte 5"),
            (&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], "it ends at byte 11"),
            (&[0x09, 0x00], "it ends at byte 2"),
            (&[0x08, 0x01, 0x0b], "byte 2: there is no field"),
            (&[0x00, 0x01], "byte 0: there is no field"),
            (
                &[0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02],
                "byte 0: there is no field",
            ),
            (&[0x22, 0x02, 0x01, 0x80], "byte 0: a list of numbers that is cut off"),
        ] {
            let error = fields(bytes).unwrap_err();
            assert!(error.contains(told), "{bytes:?}: {error}");
        }
    }
}
