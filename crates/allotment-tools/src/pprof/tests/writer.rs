//! Messages field by field, for tests: right ones, and such as no encoder writes.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Out(pub(in super::super) Vec<u8>);

impl Out {
    pub(in super::super) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(in super::super) fn number(mut self, field: u64, number: u64) -> Out {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    pub(in super::super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Out {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(in super::super) fn message(self, field: u64, inner: Out) -> Out {
        self.bytes(field, &inner.0)
    }
}
