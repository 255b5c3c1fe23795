//! The files of a log in the order they were written, and their lines.
//!
//! HotSpot renames a full log to `name.0`, `name.1` and so on, and starts over when the numbers end; neither
//! the numbers nor the order on a command line say which is older. The times in the files do. Files whose
//! lines carry no time stay in the order given.

use super::Log;
use super::line::time;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes read at a time. Longer lines are nothing that HotSpot writes, and are not kept.
const CHUNK: usize = 256 << 10;

/// Bytes at a file's beginning in which a time is looked for.
const BEGINNING: u64 = 64 << 10;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read `{}`: {source}", path.display())]
pub struct SourceError {
    path: PathBuf,
    source: io::Error,
}

/// Where a log is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// In the order they are read; `-` is standard input.
    paths: Vec<PathBuf>,
}

/// When a file begins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    /// ns of an uptime or since the epoch.
    Number(u64),
    /// A date as text, which sorts as dates do.
    Date(Vec<u8>),
}

impl Sources {
    /// The files named, with their rotated siblings, in the order they were written. A file that is named
    /// twice is read once.
    ///
    /// # Errors
    /// One of them is not there or may not be read.
    pub fn find(names: &[PathBuf]) -> Result<Self, SourceError> {
        let mut paths = Vec::new();
        let mut seen = HashSet::new();
        for name in names {
            for path in with_siblings(name)? {
                let same = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if seen.insert(same) {
                    paths.push(path);
                }
            }
        }
        let mut begun: Vec<(Option<Beginning>, PathBuf)> =
            paths.into_iter().map(|path| (beginning(&path), path)).collect();
        let numbers = begun.iter().all(|(begins, _)| matches!(begins, Some(Beginning::Number(_))));
        let dates = begun.iter().all(|(begins, _)| matches!(begins, Some(Beginning::Date(_))));
        if numbers || dates {
            // Stable: files that begin at one time stay in their order.
            begun.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(Self { paths: begun.into_iter().map(|(_, path)| path).collect() })
    }

    /// The files, in the order they are read.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// One of them cannot be opened or read to its end.
    pub fn read(&self) -> Result<Log, SourceError> {
        let mut log = Log::default();
        for path in &self.paths {
            let failed = |source| SourceError { path: path.clone(), source };
            if is_standard_input(path) {
                read_lines(io::stdin().lock(), &mut log).map_err(failed)?;
            } else {
                read_lines(File::open(path).map_err(failed)?, &mut log).map_err(failed)?;
            }
        }
        log.finish();
        Ok(log)
    }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file and, beside it, those with its name, a point and digits.
fn with_siblings(name: &Path) -> Result<Vec<PathBuf>, SourceError> {
    if is_standard_input(name) {
        return Ok(vec![name.to_path_buf()]);
    }
    let failed = |source| SourceError { path: name.to_path_buf(), source };
    let is_file = fs::metadata(name).map(|data| data.is_file());
    if let Ok(false) = is_file {
        // A pipe, or a directory, which reading refuses.
        return Ok(vec![name.to_path_buf()]);
    }
    let directory = match name.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut found: Vec<OsString> = Vec::new();
    if let (Some(file), Ok(entries)) = (name.file_name(), fs::read_dir(&directory)) {
        for other in entries.flatten().map(|entry| entry.file_name()) {
            let digits =
                other.as_bytes().strip_prefix(file.as_bytes()).and_then(|rest| rest.strip_prefix(b"."));
            if digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
                found.push(other);
            }
        }
    }
    found.sort();
    let mut paths: Vec<PathBuf> = found.into_iter().map(|other| name.with_file_name(other)).collect();
    match is_file {
        // The one being written is the newest, where no time says otherwise.
        Ok(_) => paths.push(name.to_path_buf()),
        Err(error) if paths.is_empty() => return Err(failed(error)),
        Err(_) => {}
    }
    Ok(paths)
}

/// When a regular file's first decorated line was written.
fn beginning(path: &Path) -> Option<Beginning> {
    if is_standard_input(path) || !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    BufReader::new(File::open(path).ok()?.take(BEGINNING)).read_to_end(&mut text).ok()?;
    text.split(|byte| *byte == b'\n').find_map(|line| {
        time(line).map(Beginning::Number).or_else(|| {
            let inner = line.strip_prefix(b"[")?;
            let date = &inner[..inner.iter().position(|byte| *byte == b']')?];
            let is_date = date.len() > 10 && date[..4].iter().all(u8::is_ascii_digit) && date[4] == b'-';
            is_date.then(|| Beginning::Date(date.to_vec()))
        })
    })
}

/// Reads lines to the end, whatever ends them (LF or CRLF), in one buffer that does not grow.
pub(super) fn read_lines(mut input: impl Read, log: &mut Log) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut skipping) = (0, false);
    loop {
        let count = match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..filled + count];
        // What was there before has no end of a line.
        let mut searched = filled;
        while let Some(end) = find_newline(&rest[searched..]).map(|at| at + searched) {
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
    if filled > 0 {
        log.line(without_return(&buffer[..filled]), false);
    }
    Ok(())
}

/// The standard library's search, which looks at many bytes at once.
fn find_newline(text: &[u8]) -> Option<usize> {
    let mut rest = text;
    let skipped = io::BufRead::skip_until(&mut rest, b'\n').ok()?;
    (skipped > 0 && text[skipped - 1] == b'\n').then(|| skipped - 1)
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
