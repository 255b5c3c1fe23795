//! JSON from front to back, piece by piece, with limits. Nothing is kept of a value that is passed
//! over.

use super::input::SnapshotInput;
use crate::FileError;
use serde::de::DeserializeOwned;

/// The most bytes of a part of the head, of a key and of a name. A shape has some 200 bytes in the
/// head.
pub(super) const MOST_HEAD_BYTES: usize = 64 << 20;

/// The deepest nesting of values that are passed over.
const MOST_DEPTH: usize = 128;

/// The most fields of a node or an edge.
pub(super) const MOST_FIELDS: usize = 32;

/// Passes over blanks.
fn blanks(input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
    while matches!(input.peek()?, Some(b' ' | b'\n' | b'\r' | b'\t')) {
        input.byte("a snapshot")?;
    }
    Ok(())
}

/// Takes a byte after blanks.
pub(super) fn expect(input: &mut SnapshotInput<'_>, wanted: u8) -> Result<(), FileError> {
    blanks(input)?;
    match input.byte("a snapshot")? {
        byte if byte == wanted => Ok(()),
        byte => Err(input.broken(format!("{:?} where {:?} belongs", byte as char, wanted as char))),
    }
}

/// Calls `each` before each of the elements between two brackets, which `each` reads.
fn elements(
    input: &mut SnapshotInput<'_>,
    [open, close]: [u8; 2],
    mut each: impl FnMut(&mut SnapshotInput<'_>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    expect(input, open)?;
    loop {
        blanks(input)?;
        if input.peek()? == Some(close) {
            return expect(input, close);
        }
        each(input)?;
        blanks(input)?;
        if input.peek()? != Some(close) {
            expect(input, b',')?;
        }
    }
}

/// Calls `each` before each element of an array.
pub(super) fn array(
    input: &mut SnapshotInput<'_>,
    each: impl FnMut(&mut SnapshotInput<'_>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    elements(input, *b"[]", each)
}

/// Calls `each` with each key of an object, before its value.
pub(super) fn object(
    input: &mut SnapshotInput<'_>,
    mut each: impl FnMut(&mut SnapshotInput<'_>, &str) -> Result<(), FileError>,
) -> Result<(), FileError> {
    elements(input, *b"{}", |input| {
        let key = string(input)?;
        expect(input, b':')?;
        blanks(input)?;
        each(input, &key)
    })
}

/// Calls `each` with `width` numbers of an array at a time.
pub(super) fn numbers(
    input: &mut SnapshotInput<'_>,
    width: usize,
    mut each: impl FnMut(&SnapshotInput<'_>, &[u64]) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let (mut group, mut filled) = ([0; MOST_FIELDS], 0);
    array(input, |input| {
        group[filled] = number(input)?;
        filled += 1;
        if filled == width {
            filled = 0;
            each(input, &group[..width])?;
        }
        Ok(())
    })?;
    if filled == 0 {
        Ok(())
    } else {
        Err(input.broken(format!("an array whose length is not a multiple of {width}")))
    }
}

pub(super) fn number(input: &mut SnapshotInput<'_>) -> Result<u64, FileError> {
    let mut number: Option<u64> = None;
    while let Some(digit @ b'0'..=b'9') = input.peek()? {
        let next = number.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0')));
        number = Some(next.ok_or_else(|| input.broken("a number of more than 64 bits"))?);
        input.byte("a number")?;
    }
    match (number, input.peek()?) {
        (Some(number), Some(_)) => Ok(number),
        (_, None) => Err(FileError::Cut { at: input.at(), what: "a number" }),
        (None, Some(byte)) => Err(input.broken(format!("{:?} where a whole number belongs", byte as char))),
    }
}

/// A string, without its quotes and escapes.
pub(super) fn string(input: &mut SnapshotInput<'_>) -> Result<String, FileError> {
    let mut text = vec![b'"'];
    expect(input, b'"')?;
    rest_of_string(input, &mut |byte| text.push(byte), MOST_HEAD_BYTES)?;
    serde_json::from_slice(&text).map_err(|error| input.broken(format!("a string is not JSON: {error}")))
}

/// Takes the rest of a string after its first quote, the last one included.
pub(super) fn rest_of_string(
    input: &mut SnapshotInput<'_>,
    take: &mut dyn FnMut(u8),
    most: usize,
) -> Result<(), FileError> {
    for _ in 0..most {
        let byte = input.byte("a string")?;
        take(byte);
        match byte {
            b'"' => return Ok(()),
            b'\\' => take(input.byte("a string")?),
            _ => {}
        }
    }
    Err(input.broken(format!("a string of more than {most} bytes")))
}

/// Takes a whole value: an object, an array, or something simple.
fn each_of_value(
    input: &mut SnapshotInput<'_>,
    take: &mut dyn FnMut(u8),
    most: usize,
) -> Result<(), FileError> {
    let (mut depth, begin) = (0, input.at());
    loop {
        let byte = input.byte("a value")?;
        take(byte);
        match byte {
            b'"' => rest_of_string(input, take, most)?,
            b'{' | b'[' if depth == MOST_DEPTH => return Err(input.broken("values that nest too deep")),
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return Err(input.broken("a bracket that closes nothing")),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if input.at() - begin > most as u64 {
            return Err(input.broken(format!("a value of more than {most} bytes")));
        }
        if depth == 0 && matches!(input.peek()?, Some(b',' | b'}' | b']') | None) {
            return Ok(());
        }
    }
}

/// A value of at most `most` bytes, read as its type.
pub(super) fn parsed<T: DeserializeOwned>(
    input: &mut SnapshotInput<'_>,
    most: usize,
) -> Result<T, FileError> {
    let mut text = Vec::new();
    each_of_value(input, &mut |byte| text.push(byte), most)?;
    serde_json::from_slice(&text).map_err(|error| input.broken(error.to_string()))
}

/// Passes over a value.
pub(super) fn skip(input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
    each_of_value(input, &mut |_| {}, usize::MAX)
}
