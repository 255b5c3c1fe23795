//! A file that a user gives to a command: its text as UTF-8, or the true cause why it cannot be read.
//!
//! Every command reads its files here, so all commands know the same encodings and give the same
//! message for the same file. Binary files are unpacked here too ([`open_binary`]). There are three
//! steps. First the kind of the path is checked, since a directory or a device must not be opened as
//! a file. Then gzip is unpacked, in any number of members and layers. Then the first bytes give the
//! encoding, or the kind of a foreign file. The file's name is ignored: `tlab.log` is often
//! compressed, and `tlab.log.gz` was often unpacked on its way.
//!
//! zstd, xz and other packers are recognised and refused with the command that unpacks them. Logs
//! are rotated with gzip nearly everywhere, and each packer would be a dependency that saves one
//! line of a shell.

mod kinds;
mod packed;
#[cfg(test)]
mod tests;

use encoding_rs::{UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use kinds::{Encoding, Foreign};
use packed::Gunzip;
use std::fs::{self, File, FileType};
use std::io::{self, Cursor, IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Bytes that are read before the kind is decided.
const HEAD: usize = 8 << 10;

/// The largest number of gzip layers. A gzip file within a gzip file happens; more layers are an
/// attack.
const MOST_LAYERS: usize = 4;

/// The largest text that is read as a whole, in bytes: a hundred times the largest result files.
const MOST_TEXT: u64 = 1 << 30;

/// Why a file cannot be read: its name, the fault, and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {why}", quoted(name))]
pub struct InputError {
    name: String,
    why: String,
}

impl InputError {
    /// An error of the file `name`: why it cannot be read, and what helps.
    pub fn new(name: &str, why: impl Into<String>) -> InputError {
        InputError { name: name.into(), why: why.into() }
    }
}

/// The name of standard input, which is not a path.
const STANDARD_INPUT: &str = "standard input";

fn quoted(name: &str) -> String {
    if name == STANDARD_INPUT { name.into() } else { format!("`{name}`") }
}

/// A file's text, as a stream.
pub struct Input {
    name: String,
    text: Box<dyn Read>,
}

impl Input {
    /// The name of a path in messages: `-` is standard input.
    pub fn name(path: &Path) -> String {
        if is_standard_input(path) { STANDARD_INPUT.into() } else { path.display().to_string() }
    }

    /// The name of a path inside a sentence: paths are in backticks.
    pub fn quoted(path: &Path) -> String {
        quoted(&Input::name(path))
    }

    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// The file does not exist, may not be read, is a directory or a device, is packed by another
    /// program than gzip, or is not text.
    pub fn open(path: &Path) -> Result<Input, InputError> {
        Input::of(&Input::name(path), opened(path)?)
    }

    /// The text of `reader`, under a name for messages.
    ///
    /// # Errors
    /// The text cannot be read, is packed by another program than gzip, or is not text.
    pub fn of(name: &str, reader: impl Read + 'static) -> Result<Input, InputError> {
        let (mut head, text) = unpacked(name, Box::new(reader))?;
        if let Some(Foreign { is, hint }) = kinds::foreign(&head) {
            return Err(InputError::new(name, format!("it is {is}; {hint}")));
        }
        let (encoding, mark) = kinds::encoding(&head);
        head.drain(..mark);
        let whole = Cursor::new(head).chain(text);
        let other = match encoding {
            Encoding::Utf8 => return Ok(Input { name: name.into(), text: Box::new(whole) }),
            Encoding::Utf16Little => UTF_16LE,
            Encoding::Utf16Big => UTF_16BE,
        };
        let text = Box::new(DecodeReaderBytesBuilder::new().encoding(Some(other)).build(whole));
        Ok(Input { name: name.into(), text })
    }

    /// The whole text.
    ///
    /// # Errors
    /// The text cannot be read to its end, is cut off, is too long, or is in an encoding that the
    /// lab does not read.
    pub fn text(self) -> Result<String, InputError> {
        let Input { name, text } = self;
        let mut bytes = Vec::new();
        text.take(MOST_TEXT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| InputError::new(&name, cause(&error)))?;
        if bytes.len() as u64 > MOST_TEXT {
            return Err(InputError::new(&name, "it is longer than 1 GiB; name a file of results"));
        }
        String::from_utf8(bytes).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count();
            let why =
                format!("it is not UTF-8 at line {line}; convert it, such as `iconv -f LATIN1 -t UTF-8`");
            InputError::new(&name, why)
        })
    }

    /// An error of reading on, reported as an error of this file.
    pub fn failed(&self, error: &io::Error) -> InputError {
        InputError::new(&self.name, cause(error))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text.read(buffer)
    }
}

/// Reads a file of results or such, as a whole.
///
/// # Errors
/// Those of [`Input::open`] and [`Input::text`].
pub fn read_text(path: &Path) -> Result<String, InputError> {
    Input::open(path)?.text()
}

/// The bytes of a binary file, unpacked if gzip packed it; of standard input for `-`.
///
/// # Errors
/// Those of [`Input::open`], except for files that are not text.
pub fn open_binary(path: &Path) -> Result<impl Read + use<>, InputError> {
    binary(&Input::name(path), opened(path)?)
}

/// The bytes of `reader`, unpacked if gzip packed them.
///
/// # Errors
/// They cannot be read or unpacked.
pub fn binary<R: Read + 'static>(name: &str, reader: R) -> Result<impl Read + use<R>, InputError> {
    let (head, rest) = unpacked(name, Box::new(reader))?;
    Ok(Cursor::new(head).chain(rest))
}

/// The first bytes of a reader's data without layers of gzip, and the rest.
fn unpacked(name: &str, mut data: Box<dyn Read>) -> Result<(Vec<u8>, Box<dyn Read>), InputError> {
    let failed = |error: &io::Error| InputError::new(name, cause(error));
    let mut head = peek(&mut data).map_err(|error| failed(&error))?;
    let mut layers = 0;
    while kinds::is_gzip(&head) {
        layers += 1;
        if layers > MOST_LAYERS {
            let why = format!("it is packed by gzip more than {MOST_LAYERS} times over; unpack it first");
            return Err(InputError::new(name, why));
        }
        data = Box::new(Gunzip::new(Cursor::new(head).chain(data)));
        head = peek(&mut data).map_err(|error| failed(&error))?;
    }
    Ok((head, data))
}

/// Opens a path that can be read as a file.
fn opened(path: &Path) -> Result<Box<dyn Read>, InputError> {
    let name = Input::name(path);
    if is_standard_input(path) {
        return Ok(Box::new(io::stdin()));
    }
    let about = fs::metadata(path).map_err(|error| not_there(&name, path, &error))?;
    if let Some(why) = no_file(about.file_type()) {
        return Err(InputError::new(&name, why));
    }
    let file = File::open(path).map_err(|error| not_there(&name, path, &error))?;
    if about.file_type().is_char_device() && !file.is_terminal() && !is_null(about.rdev()) {
        return Err(InputError::new(&name, "it is a device; name a file"));
    }
    Ok(Box::new(file))
}

/// Whether the path is `-`, which stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The first bytes; fewer only at the end of the file. An error after the first byte occurs again
/// when the text is read.
fn peek(text: &mut Box<dyn Read>) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    match text.take(HEAD as u64).read_to_end(&mut head) {
        Err(error) if head.is_empty() => Err(error),
        _ => Ok(head),
    }
}

/// Why a path of this kind cannot be read as a file.
fn no_file(kind: FileType) -> Option<&'static str> {
    if kind.is_dir() {
        Some("it is a directory; name a file in it")
    } else if kind.is_socket() {
        Some("it is a socket; name a file")
    } else if kind.is_block_device() {
        Some("it is a device; name a file")
    } else {
        None
    }
}

/// Whether the device is `/dev/null`, which counts as an empty file.
fn is_null(device: u64) -> bool {
    (libc::major(device), libc::minor(device)) == (1, 3)
}

fn not_there(name: &str, path: &Path, error: &io::Error) -> InputError {
    let why = match (error.kind(), fs::read_link(path)) {
        (io::ErrorKind::NotFound, Ok(target)) => {
            format!("it is a link to `{}`, which is not there", target.display())
        }
        (io::ErrorKind::PermissionDenied, _) => {
            "Permission denied; make it readable, or run this as a user who may read it".into()
        }
        _ => cause(error),
    };
    InputError::new(name, why)
}

/// The message of an error, without the system's number for it.
fn cause(error: &io::Error) -> String {
    let said = error.to_string();
    match error.kind() {
        io::ErrorKind::IsADirectory => "it is a directory; name a file in it".into(),
        _ => said.split(" (os error").next().unwrap_or(&said).into(),
    }
}
