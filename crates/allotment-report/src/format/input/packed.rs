//! gzip, with errors that say what is wrong with the file.
//!
//! A file may have several members, as rotated logs that were joined have. The library's message
//! for a damaged file ("corrupt deflate stream") does not help the user, and a second read after
//! its error may find an end. So this reader words the cause itself, and repeats it at every
//! further read. Zeros after the data are left by tapes and block copies, and are ignored.
//!
//! Refused: the library's reader of several members. It takes any following bytes for a member, and
//! a short rest for a truncation.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};

const CUT: &str = "its gzip data ends too early: the file was cut off; copy it again, or unpack what there is \
    with `zcat`";
const FOLLOWED: &str =
    "its gzip data is whole, and something else follows it; unpack what there is with `zcat`";
const DAMAGED: &str = "its gzip data is damaged, or something else follows it; copy it again, or unpack what \
    there is with `zcat`";
const NO_GZIP: &str = "it begins as gzip data does, and what follows is damaged; copy it again";

/// The unpacked data of a packed stream.
pub(super) struct Gunzip<R> {
    /// The current member; `None` after the last one.
    member: Option<GzDecoder<BufReader<R>>>,
    any: bool,
    failed: Option<(ErrorKind, &'static str)>,
}

impl<R: Read> Gunzip<R> {
    pub(super) fn new(packed: R) -> Self {
        Self { member: Some(GzDecoder::new(BufReader::new(packed))), any: false, failed: None }
    }

    /// Reads from this member or, at its end, from the next.
    fn read_members(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.any = true;
            self.member = match self.member.take().map(|member| following(member.into_inner())) {
                Some(Ok(Following::Member(rest))) => Some(GzDecoder::new(rest)),
                Some(Ok(Following::Else)) => {
                    self.failed = Some((ErrorKind::InvalidData, FOLLOWED));
                    None
                }
                Some(Err(error)) => return Err(error),
                Some(Ok(Following::Nothing)) | None => None,
            };
        }
        self.failed.map_or(Ok(0), |(kind, text)| Err(io::Error::new(kind, text)))
    }
}

/// The data after a member.
enum Following<R> {
    Nothing,
    Member(BufReader<R>),
    Else,
}

/// Finds the data after a member, and skips zeros.
fn following<R: Read>(mut rest: BufReader<R>) -> io::Result<Following<R>> {
    const FIRST_OF_MEMBER: u8 = 0x1f;
    loop {
        let bytes = rest.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        match bytes.get(zeros) {
            _ if bytes.is_empty() => return Ok(Following::Nothing),
            Some(&FIRST_OF_MEMBER) => {
                rest.consume(zeros);
                return Ok(Following::Member(rest));
            }
            Some(_) => return Ok(Following::Else),
            None => rest.consume(zeros),
        }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            match self.read_members(buffer) {
                Ok(count) => {
                    self.any |= count > 0;
                    return Ok(count);
                }
                Err(_) if self.failed.is_some() => {}
                Err(error) => {
                    self.failed = Some(match error.kind() {
                        ErrorKind::UnexpectedEof => (ErrorKind::UnexpectedEof, CUT),
                        ErrorKind::InvalidInput | ErrorKind::InvalidData if self.any => {
                            (ErrorKind::InvalidData, DAMAGED)
                        }
                        ErrorKind::InvalidInput | ErrorKind::InvalidData => (ErrorKind::InvalidData, NO_GZIP),
                        // An error of the file below, which returns it again on the next read.
                        _ => return Err(error),
                    });
                }
            }
        }
        self.failed.map_or(Ok(0), |(kind, text)| Err(io::Error::new(kind, text)))
    }
}
