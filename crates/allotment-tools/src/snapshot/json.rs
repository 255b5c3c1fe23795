//! JSON from front to back, piece by piece, with limits. Nothing is kept of a value that is passed
//! over.

use super::SnapshotFileError;
use super::input::Input;

/// The most bytes of the head, of a key and of a name. A shape has some 200 bytes in the head.
const MOST_HEAD_BYTES: usize = 64 << 20;

/// The deepest nesting of values that are passed over.
const MOST_DEPTH: usize = 128;

/// The most fields of a node or an edge.
pub(super) const MOST_FIELDS: usize = 32;

/// The most entries of a list in the meta data. V8 has two dozen types.
const MOST_ENTRIES: usize = 1024;

/// Passes over blanks.
fn blanks(input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
    while matches!(input.peek()?, Some(b' ' | b'\n' | b'\r' | b'\t')) {
        input.byte("a snapshot")?;
    }
    Ok(())
}

/// Takes a byte after blanks.
pub(super) fn expect(input: &mut Input<'_>, wanted: u8) -> Result<(), SnapshotFileError> {
    blanks(input)?;
    match input.byte("a snapshot")? {
        byte if byte == wanted => Ok(()),
        byte => Err(input.broken(format!("{:?} where {:?} belongs", byte as char, wanted as char))),
    }
}

/// Calls `each` before each of the elements between two brackets, which `each` reads.
fn elements(
    input: &mut Input<'_>,
    [open, close]: [u8; 2],
    mut each: impl FnMut(&mut Input<'_>) -> Result<(), SnapshotFileError>,
) -> Result<(), SnapshotFileError> {
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
    input: &mut Input<'_>,
    each: impl FnMut(&mut Input<'_>) -> Result<(), SnapshotFileError>,
) -> Result<(), SnapshotFileError> {
    elements(input, *b"[]", each)
}

/// Calls `each` with each key of an object, before its value.
pub(super) fn object(
    input: &mut Input<'_>,
    mut each: impl FnMut(&mut Input<'_>, &str) -> Result<(), SnapshotFileError>,
) -> Result<(), SnapshotFileError> {
    elements(input, *b"{}", |input| {
        let key = string(input)?;
        expect(input, b':')?;
        blanks(input)?;
        each(input, &key)
    })
}

/// A list of at most [`MOST_ENTRIES`]: a small packed file may announce billions.
pub(super) fn list<T>(
    input: &mut Input<'_>,
    entry: fn(&mut Input<'_>) -> Result<T, SnapshotFileError>,
) -> Result<Vec<T>, SnapshotFileError> {
    let mut entries = Vec::new();
    array(input, |input| {
        if entries.len() == MOST_ENTRIES {
            return Err(input.broken(format!("a list of more than {MOST_ENTRIES} entries")));
        }
        entries.push(entry(input)?);
        Ok(())
    })?;
    Ok(entries)
}

/// Calls `each` with `width` numbers of an array at a time.
pub(super) fn numbers(
    input: &mut Input<'_>,
    width: usize,
    mut each: impl FnMut(&Input<'_>, &[u64]) -> Result<(), SnapshotFileError>,
) -> Result<(), SnapshotFileError> {
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
    if filled == 0 { Ok(()) } else { Err(input.broken(format!("an array that is no multiple of {width}"))) }
}

pub(super) fn number(input: &mut Input<'_>) -> Result<u64, SnapshotFileError> {
    let mut number: Option<u64> = None;
    while let Some(digit @ b'0'..=b'9') = input.peek()? {
        let next = number.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0')));
        number = Some(next.ok_or_else(|| input.broken("a number of more than 64 bits"))?);
        input.byte("a number")?;
    }
    match (number, input.peek()?) {
        (Some(number), Some(_)) => Ok(number),
        (_, None) => Err(SnapshotFileError::Cut { at: input.at(), what: "a number" }),
        (None, Some(byte)) => Err(input.broken(format!("{:?} where a whole number belongs", byte as char))),
    }
}

/// A string, without its quotes and escapes.
pub(super) fn string(input: &mut Input<'_>) -> Result<String, SnapshotFileError> {
    let mut text = vec![b'"'];
    expect(input, b'"')?;
    rest_of_string(input, &mut |byte| text.push(byte), MOST_HEAD_BYTES)?;
    serde_json::from_slice(&text).map_err(|error| input.broken(format!("a string is not JSON: {error}")))
}

/// Takes the rest of a string after its first quote, the last one included.
pub(super) fn rest_of_string(
    input: &mut Input<'_>,
    take: &mut dyn FnMut(u8),
    most: usize,
) -> Result<(), SnapshotFileError> {
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
    input: &mut Input<'_>,
    take: &mut dyn FnMut(u8),
    most: usize,
) -> Result<(), SnapshotFileError> {
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

pub(super) fn value(input: &mut Input<'_>) -> Result<Vec<u8>, SnapshotFileError> {
    let mut text = Vec::new();
    each_of_value(input, &mut |byte| text.push(byte), MOST_HEAD_BYTES)?;
    Ok(text)
}

pub(super) fn skip(input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
    each_of_value(input, &mut |_| {}, usize::MAX)
}
