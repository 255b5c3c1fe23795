//! The wire format of protocol buffers, as far as pprof needs it: numbers, bytes, messages.
//!
//! A field is a key, `number << 3 | kind`, and a value. Numbers are varints: 7 bits a byte, lowest
//! first, and the top bit says that more follow. Refused: `prost`, a dependency of
//! every embedder, for three kinds of fields.

/// The kind of a field that is a varint.
const VARINT: u64 = 0;
/// The kind of a field with a length.
const BYTES: u64 = 2;

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// A number. 0 is the value of a missing field, and is left out.
    pub(super) fn number(&mut self, field: u64, number: u64) -> &mut Message {
        if number != 0 {
            self.varint(field << 3 | VARINT);
            self.varint(number);
        }
        self
    }

    /// Bytes or text, empty ones too: an entry of a list counts.
    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Message {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message inside this one.
    pub(super) fn message(&mut self, field: u64, write: impl FnOnce(&mut Message)) -> &mut Message {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0)
    }

    /// A list of numbers, in the packed form.
    pub(super) fn numbers(&mut self, field: u64, numbers: impl Iterator<Item = u64>) -> &mut Message {
        self.message(field, |packed| numbers.for_each(|number| packed.varint(number)))
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_specification() {
        let mut message = Message::default();
        message.number(1, 150).number(2, 0).bytes(2, b"testing");
        message.message(3, |inner| _ = inner.number(1, u64::MAX)).numbers(4, [3, 270, 86942].into_iter());
        let expected: &[&[u8]] = &[
            &[0x08, 0x96, 0x01],
            &[0x12, 0x07],
            b"testing",
            &[0x1a, 0x0b, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x22, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
        ];
        assert_eq!(message.finish(), expected.concat());
    }
}
