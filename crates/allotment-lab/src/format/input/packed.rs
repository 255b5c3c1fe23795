//! gzip, with errors that say what is wrong with the file.
//!
//! A file may have several members, as rotated logs have that were put together. What the library says of
//! a damaged one ("corrupt deflate stream") is of no use to who has the file, and a second read after its
//! error may find an end. So the cause is told in our words, and again as often as somebody reads.

use flate2::read::MultiGzDecoder;
use std::io::{self, ErrorKind, Read};

const CUT: &str = "its gzip data ends too early: the file was cut off; copy it again, or unpack what there is \
    with `zcat`";
const DAMAGED: &str = "its gzip data is damaged, or something else follows it; copy it again, or unpack what \
    there is with `zcat`";
const NO_GZIP: &str = "it begins as gzip data does, and what follows is damaged; copy it again";

/// What is packed, unpacked.
pub(super) struct Gunzip<R> {
    members: MultiGzDecoder<R>,
    any: bool,
    failed: Option<(ErrorKind, &'static str)>,
}

impl<R: Read> Gunzip<R> {
    pub(super) fn new(packed: R) -> Self {
        Self { members: MultiGzDecoder::new(packed), any: false, failed: None }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            match self.members.read(buffer) {
                Ok(count) => {
                    self.any |= count > 0;
                    return Ok(count);
                }
                Err(error) => {
                    self.failed = Some(match error.kind() {
                        ErrorKind::UnexpectedEof => (ErrorKind::UnexpectedEof, CUT),
                        ErrorKind::InvalidInput | ErrorKind::InvalidData if self.any => {
                            (ErrorKind::InvalidData, DAMAGED)
                        }
                        ErrorKind::InvalidInput | ErrorKind::InvalidData => (ErrorKind::InvalidData, NO_GZIP),
                        // Of the file below, which says it again if it is asked again.
                        _ => return Err(error),
                    });
                }
            }
        }
        self.failed.map_or(Ok(0), |(kind, text)| Err(io::Error::new(kind, text)))
    }
}
