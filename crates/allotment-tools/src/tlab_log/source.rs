//! The files of a log in the order they were written, and their lines.
//!
//! HotSpot renames a full log to `name.0`, `name.1` and so on, and starts over when the numbers
//! end. So neither the numbers nor the order on a command line show which file is older. The times
//! in the files do: their dates, where all files have one, and else the JVM's uptime. Files whose
//! lines have no time stay in the given order.

use super::Log;
use super::place::placed;
use super::stamp::Stamp;
use allotment_report::format::input::{Input, InputError, is_standard_input};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes read at a time. HotSpot writes no longer lines, and longer lines are not kept.
const CHUNK: usize = 256 << 10;

/// Bytes at a file's beginning that are searched for a time.
const BEGINNING: u64 = 64 << 10;

/// The files of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The paths in reading order; `-` is standard input.
    pub paths: Vec<PathBuf>,
}

impl Sources {
    /// The named files, with their rotated siblings, in the order they were written. A file that is
    /// named twice is read once.
    ///
    /// # Errors
    /// One of them does not exist.
    pub fn find(names: &[PathBuf]) -> Result<Self, InputError> {
        let (mut begun, mut seen) = (Vec::new(), HashSet::new());
        for name in names {
            let siblings = with_siblings(name)?.into_iter();
            let mut is_new = |path: &PathBuf| seen.insert(fs::canonicalize(path).unwrap_or(path.clone()));
            begun.extend(siblings.filter(|path| is_new(path)).map(|path| (beginning(&path), path)));
        }
        let all = |of: fn(&Stamp) -> Option<u64>| begun.iter().all(|(stamp, _)| of(stamp).is_some());
        let (dated, timed) = (all(|stamp| stamp.epoch), all(|stamp| stamp.uptime));
        // The sort is stable: files that begin at one time stay in their order.
        if dated {
            begun.sort_by_key(|(stamp, _)| stamp.epoch);
        } else if timed {
            begun.sort_by_key(|(stamp, _)| stamp.uptime);
        }
        Ok(Self { paths: begun.into_iter().map(|(_, path)| path).collect() })
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// One of them cannot be read, is damaged, or is not a text.
    pub fn read(&self) -> Result<Log, InputError> {
        let mut log = Log::default();
        for path in &self.paths {
            read_input(Input::open(path)?, &mut log)?;
        }
        log.finish();
        Ok(log)
    }
}

/// Reads a log of one file, given as its bytes.
///
/// ```
/// let line = b"[0.5s][gc,tlab] TLAB fill: thread: 0x7f [id: 7] \
///     capacity: 64K slow allocs: 0  refills: 1\n";
/// let log = allotment_tools::tlab_log::read(line).unwrap();
/// assert_eq!(log.accounts()[0].refills, 1);
/// ```
///
/// # Errors
/// The bytes are packed by another program than gzip, are damaged, or are not a text.
pub fn read(bytes: &[u8]) -> Result<Log, InputError> {
    let mut log = Log::default();
    read_input(Input::of("the log", io::Cursor::new(bytes.to_vec()))?, &mut log)?;
    log.finish();
    Ok(log)
}

/// Reads one file. A packed file that was cut off is read as far as it goes, as a text that was
/// cut off is.
fn read_input(mut input: Input, log: &mut Log) -> Result<(), InputError> {
    match read_text(&mut input, log) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            log.cut_off = true;
            Ok(())
        }
        done => done.map_err(|error| input.failed(&error)),
    }
}

/// The file, and the files beside it with its name, a point and digits, packed or not.
fn with_siblings(name: &Path) -> Result<Vec<PathBuf>, InputError> {
    let is_file = || fs::metadata(name).map_or(true, |about| about.is_file());
    if is_standard_input(name) || !is_file() {
        // A pipe has no siblings, and neither has a path that the reader will refuse.
        return Ok(vec![name.to_path_buf()]);
    }
    let directory = match name.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let file = name.file_name().unwrap_or_default().as_bytes();
    let is_sibling = |other: &OsString| {
        let rest = other.as_bytes().strip_prefix(file).and_then(|rest| rest.strip_prefix(b"."));
        let digits = rest.map(|rest| rest.strip_suffix(b".gz").unwrap_or(rest));
        digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
    };
    let others = fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut found: Vec<OsString> = others.filter(is_sibling).collect();
    found.sort();
    let mut paths: Vec<PathBuf> = found.into_iter().map(|other| name.with_file_name(other)).collect();
    // The file being written is the newest, unless a time says otherwise. If it does not exist, and
    // no sibling either, opening it reports the reason.
    if fs::symlink_metadata(name).is_ok() {
        paths.push(name.to_path_buf());
    } else if paths.is_empty() {
        Input::open(name)?;
    }
    Ok(paths)
}

/// The time of the first line with a time in a regular file.
fn beginning(path: &Path) -> Stamp {
    let is_file = !is_standard_input(path) && fs::metadata(path).is_ok_and(|about| about.is_file());
    let mut text = Vec::new();
    // An unreadable file is reported when it is read.
    if is_file && let Ok(input) = Input::open(path) {
        let _ = input.take(BEGINNING).read_to_end(&mut text);
    }
    let of_line = |line: &[u8]| {
        let found = match placed(line) {
            Some(placed) => Stamp::of(placed.decorations),
            None => Stamp::of(leading(line)),
        };
        let old = Stamp::of_old_collection(line).unwrap_or_default();
        Some(found.or(old).or(Stamp::of_prefix(line))).filter(|stamp| *stamp != Stamp::default())
    };
    text.split(|byte| *byte == b'\n').find_map(of_line).unwrap_or_default()
}

/// The text in brackets at a line's beginning.
fn leading(line: &[u8]) -> &[u8] {
    let mut rest = line;
    while let [b'[', after @ ..] = rest
        && let Some(end) = after.iter().position(|byte| *byte == b']')
    {
        rest = &after[end + 1..];
    }
    &line[..line.len() - rest.len()]
}

/// Reads a text's lines to its end, in one buffer that does not grow. Lines end with LF, CRLF, or CR where
/// the beginning has nothing else.
pub(super) fn read_text(mut input: impl Read, log: &mut Log) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut skipping) = (0, false);
    let (mut ends_with, mut is_known) = (b'\n', false);
    loop {
        let count = match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..filled + count];
        // The earlier bytes contain no end of a line.
        let mut searched = filled;
        if !is_known && rest.contains(&b'\n') {
            is_known = true;
        } else if !is_known && rest.len() == CHUNK {
            is_known = true;
            if rest.contains(&b'\r') {
                (ends_with, searched) = (b'\r', 0);
            }
        }
        while let Some(end) = find(ends_with, &rest[searched..]).map(|at| at + searched) {
            if !skipping {
                log.line(without_return(&rest[..end]), true);
            }
            skipping = false;
            rest = &rest[end + 1..];
            searched = 0;
        }
        let left = rest.len();
        if left == CHUNK || skipping {
            if !skipping {
                log.skipped.foreign += 1;
            }
            skipping = true;
            filled = 0;
        } else {
            let from = filled + count - left;
            buffer.copy_within(from..from + left, 0);
            filled = left;
        }
    }
    if !is_known && buffer[..filled].contains(&b'\r') {
        let mut lines = buffer[..filled].split(|byte| *byte == b'\r').peekable();
        while let Some(line) = lines.next() {
            log.line(line, lines.peek().is_some());
        }
    } else if filled > 0 {
        log.line(without_return(&buffer[..filled]), false);
    }
    Ok(())
}

/// The standard library's search, which looks at many bytes at once.
fn find(end: u8, text: &[u8]) -> Option<usize> {
    let mut rest = text;
    let skipped = io::BufRead::skip_until(&mut rest, end).ok()?;
    (skipped > 0 && text[skipped - 1] == end).then(|| skipped - 1)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
