//! JSON with entries that are not one to a line, as cloud services export it and programs print it
//! for people.
//!
//! ```json
//! {
//!   "events": [
//!     { "timestamp": 1704067200123, "message": "[0.5s][gc,tlab] TLAB fill: ..." },
//! ```
//!
//! An entry is an object that has a text ([`has_text`]), at any depth. Each entry is passed on as a
//! line of its own, so one reader ([`super::unwrap`]) handles its content. Entries are passed on as
//! they come: an export is one array, and may be larger than the memory.
//!
//! Refused: gathering lines until an object closes. This needs a second parser, which cannot locate
//! an error.

use super::Log;
use super::unwrap::{has_text, when};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The most bytes of one entry with the text before it; a log has no longer ones.
const MOST_BYTES: u64 = 16 << 20;

/// The most numbers of an array that are kept: the journal writes a text as the numbers of its
/// bytes.
const MOST_ELEMENTS: usize = 256 << 10;

/// Whether a text that begins with `head` is JSON to be read as a whole: it contains an entry, and
/// its first line cannot be read by itself.
pub(super) fn begins(head: &[u8]) -> bool {
    let text = without_separators(head);
    if !opens(text) {
        return false;
    }
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if !opens(&when(first).0) || !of_line(first).is_empty() {
        return false;
    }
    let mut found = false;
    let mut each = |_| {
        found = true;
        false
    };
    // The head ends anywhere, so the parser ends with an error.
    let _ = entries(&mut serde_json::Deserializer::from_slice(text), &mut each);
    found
}

/// The entries of a line that is JSON only, as lines; empty for any other line.
pub(super) fn of_line(line: &[u8]) -> Vec<Vec<u8>> {
    let (mut found, mut rest) = (Vec::new(), without_separators(line));
    let mut each = |entry| {
        found.push(entry);
        true
    };
    while opens(rest) {
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { return Vec::new() };
        rest = without_separators(&rest[values.byte_offset()..]);
        // The value is parsed already, so no error is possible.
        let _ = entries(value, &mut each);
    }
    if rest.is_empty() { found } else { Vec::new() }
}

/// Reads JSON as long as there is some. The rest is left to the reader of lines.
///
/// # Errors
/// The input cannot be read; it ends within an object or an array
/// ([`io::ErrorKind::UnexpectedEof`]); or it is no JSON, with the place.
pub(super) fn read(input: &mut impl BufRead, log: &mut Log) -> io::Result<()> {
    let left = Cell::new(0);
    let mut line = 1;
    while skip_to_json(input, &mut line)? {
        left.set(MOST_BYTES);
        let mut each = |entry: Vec<u8>| {
            left.set(MOST_BYTES);
            log.line(&entry, true);
            true
        };
        let lines = Cell::new(0);
        let bounded = Bounded { input: &mut *input, lines: &lines, left: &left };
        let mut values = serde_json::Deserializer::from_reader(bounded);
        match entries(&mut values, &mut each) {
            Ok(()) => line += lines.get(),
            Err(error) if error.is_eof() => {
                log.skipped.damaged += 1;
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => {
                let said = error.to_string();
                let what = said.split(" at line ").next().unwrap_or(&said);
                let at = line + error.line().saturating_sub(1) as u64;
                let why = format!("it is JSON that is damaged in line {at}: {what}; export it again");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
    }
    Ok(())
}

/// Calls `each` with the entries of a value, as lines of JSON, during the parse, as long as `each`
/// returns true.
fn entries<'de, D: Deserializer<'de>>(
    value: D,
    each: &mut dyn FnMut(Vec<u8>) -> bool,
) -> Result<(), D::Error> {
    Entries { each, is_field: false }.deserialize(value).map(drop)
}

/// Skips the separators between values, and returns whether another value follows.
fn skip_to_json(input: &mut impl BufRead, line: &mut u64) -> io::Result<bool> {
    loop {
        let text = input.fill_buf()?;
        let skipped = text.len() - without_separators(text).len();
        let is_json = opens(&text[skipped..]);
        let is_all = skipped == text.len() && skipped > 0;
        *line += newlines(&text[..skipped]);
        input.consume(skipped);
        if !is_all {
            return Ok(is_json);
        }
    }
}

fn newlines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A reader that counts lines, and ends where an entry is too long.
struct Bounded<'a, R> {
    input: &'a mut R,
    lines: &'a Cell<u64>,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            let why = format!("it is JSON that has no line of a log in {} MiB", MOST_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let count = self.input.read(buffer)?;
        self.lines.set(self.lines.get() + newlines(&buffer[..count]));
        self.left.set(self.left.get().saturating_sub(count as u64));
        Ok(count)
    }
}

/// Whether an object begins here, or an array that may have objects; `[0.5s]` is neither.
pub(super) fn opens(text: &[u8]) -> bool {
    let next = || text[1..].trim_ascii_start().first();
    match text.first() {
        Some(b'{') => matches!(next(), None | Some(b'"' | b'}')),
        Some(b'[') => matches!(next(), None | Some(b'{' | b'[')),
        _ => false,
    }
}

/// The text without separators before a value and between values: 0x1e begins a record of
/// `json-seq`.
fn without_separators(text: &[u8]) -> &[u8] {
    let is = |byte: &u8| !matches!(byte, 0 | 0x1e | b',') && !byte.is_ascii_whitespace();
    &text[text.iter().position(is).unwrap_or(text.len())..]
}

/// A value that is searched for entries during the parse. The other content is returned.
struct Entries<'a> {
    /// Called with each entry; returns whether to go on.
    each: &'a mut dyn FnMut(Vec<u8>) -> bool,
    /// Whether the value is in a field of an object: then it may be that object's text, and is no
    /// entry by itself.
    is_field: bool,
}

impl Entries<'_> {
    /// Passes on an object that has a text, or the objects in its fields that have one.
    fn hand_on(&mut self, fields: &Map<String, Value>) -> bool {
        if has_text(fields) {
            let entry = Value::Object(fields.clone()).to_string();
            return (self.each)(entry.into_bytes());
        }
        fields.values().filter_map(Value::as_object).all(|inner| self.hand_on(inner))
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(Entries { each: &mut *self.each, is_field: true })?;
            fields.insert(key, value);
        }
        if self.is_field {
            return Ok(Value::Object(fields));
        }
        if self.hand_on(&fields) { Ok(Value::Null) } else { Err(A::Error::custom("enough is found")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(value) =
            sequence.next_element_seed(Entries { each: &mut *self.each, is_field: false })?
        {
            if value.is_number() && numbers.len() < MOST_ELEMENTS {
                numbers.push(value);
            }
        }
        Ok(Value::Array(numbers))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}
