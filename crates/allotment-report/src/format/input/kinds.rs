//! The kind of a file, from its first bytes.
//!
//! The module has a table of beginnings of files that people take for logs or results by mistake,
//! and a few rules for text.
//!
//! Refused: guessing an encoding by the frequency of letters. The lab's inputs are ASCII except for
//! names, so only the width of a character matters.

/// The encoding of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// UTF-8, or any other encoding that contains ASCII.
    Utf8,
    /// Two bytes, the lower first.
    Utf16Little,
    /// Two bytes, the higher first.
    Utf16Big,
}

/// A file of a kind that no command reads as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    /// The kind.
    pub(super) is: &'static str,
    /// The advice to the user.
    pub(super) hint: &'static str,
}

pub(super) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// Beginnings, their kinds, and the advice for each.
const BEGINNINGS: &[(&[u8], &str, &str)] = &[
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "unpack it first: `zstd -d FILE`"),
    (b"\xfd7zXZ\0", "packed by xz", "unpack it first: `xz -dk FILE`"),
    (b"BZh", "packed by bzip2", "unpack it first: `bzip2 -dk FILE`"),
    (b"PK\x03\x04", "a zip archive", "unpack it first: `unzip FILE`"),
    (b"PK\x05\x06", "an empty zip archive", "name the file that should be in it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: `7z x FILE`"),
    (b"Rar!\x1a\x07", "a rar archive", "unpack it first: `unrar x FILE`"),
    (b"\x04\x22\x4d\x18", "packed by lz4", "unpack it first: `lz4 -d FILE`"),
    (b"\xff\x06\0\0sNaPpY", "packed by snappy", "unpack it first: `snzip -d FILE`"),
    (b"LZIP", "packed by lzip", "unpack it first: `lzip -dk FILE`"),
    (b"\x1f\x9d", "packed by compress", "unpack it first: `uncompress FILE`"),
    (b"\x89LZO", "packed by lzop", "unpack it first: `lzop -d FILE`"),
    (b"\x7fELF", "a program", "name a file of text"),
    (b"\xca\xfe\xba\xbe", "a Java class", "name a file of text"),
    (
        b"FLR\0",
        "a recording of JDK Flight Recorder",
        "name a file of text; `jfr print FILE` shows what is in it",
    ),
    (b"JAVA PROFILE 1.", "a heap dump", "name a file of text"),
    (b"LPKSHHRH", "a journal of systemd", "give what `journalctl --file FILE` prints"),
    (b"%PDF-", "a PDF", "name a file of text"),
    (b"\x89PNG\r\n", "a picture", "name a file of text"),
    (b"\xff\xd8\xff", "a picture", "name a file of text"),
    (b"SQLite format 3\0", "a database", "name a file of text"),
    (b"\xff\xfe\0\0", "UTF-32", "convert it: `iconv -f UTF-32 -t UTF-8 FILE`"),
    (b"\0\0\xfe\xff", "UTF-32", "convert it: `iconv -f UTF-32 -t UTF-8 FILE`"),
];

/// The kind of a file that is not text; `None` for text.
pub(super) fn foreign(head: &[u8]) -> Option<Foreign> {
    const TAR: usize = 257;
    let known = BEGINNINGS.iter().find(|(beginning, ..)| head.starts_with(beginning));
    if let Some(&(_, is, hint)) = known {
        return Some(Foreign { is, hint });
    }
    if head.get(TAR..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Some(Foreign { is: "a tar archive", hint: "unpack it first: `tar -xf FILE`" });
    }
    if encoding(head) != (Encoding::Utf8, 0) || head.is_empty() {
        return None;
    }
    // If a log is truncated while the JVM writes it, the log begins with a hole of zeros.
    let written: Vec<u8> = head.iter().copied().filter(|byte| *byte != 0).collect();
    if written.is_empty() && head.len() < super::HEAD {
        return Some(Foreign { is: "nothing but zeros", hint: "copy it again" });
    }
    let controls = written.iter().filter(|byte| is_control(**byte)).count();
    (controls * 20 > written.len()).then_some(Foreign { is: "binary data", hint: "name a file of text" })
}

/// Control characters that text does not contain. Text may contain tabs, ends of lines and pages,
/// backspaces and colours.
fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x08 | 0x1b | 0x1e)
}

/// The encoding of a text, and the bytes of its byte order mark.
pub(super) fn encoding(head: &[u8]) -> (Encoding, usize) {
    if head.starts_with(b"\xef\xbb\xbf") {
        return (Encoding::Utf8, 3);
    }
    if head.starts_with(b"\xff\xfe") {
        return (Encoding::Utf16Little, 2);
    }
    if head.starts_with(b"\xfe\xff") {
        return (Encoding::Utf16Big, 2);
    }
    // Without a mark: ASCII in UTF-16 has a zero in every other byte.
    let pairs = head.chunks_exact(2);
    let (count, mut first, mut second) = (pairs.len(), 0, 0);
    for pair in pairs {
        first += usize::from(pair[0] == 0 && pair[1] != 0);
        second += usize::from(pair[0] != 0 && pair[1] == 0);
    }
    let most = |zeros: usize, others: usize| count > 0 && zeros * 10 >= count * 7 && others * 10 < count;
    if most(second, first) {
        (Encoding::Utf16Little, 0)
    } else if most(first, second) {
        (Encoding::Utf16Big, 0)
    } else {
        (Encoding::Utf8, 0)
    }
}
