//! The content of a line of the log.
//!
//! Three dialects are in use. They differ in the labels, in the units (`KB` or `K`, words of 8
//! bytes in resize lines) and in the fields of a refill. The meaning of a field is the same in all
//! dialects that have it.

use super::tokens::{Token, Tokens};

/// Bytes of a word, in which HotSpot logs some sizes.
const WORD: u64 = 8;

/// The releases that write a line. Only lines that differ between releases have a dialect. A
/// changed size is written alike from JDK 8 to 26, and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// With the waste of fast refills: JDK 8 to 15.
    Fast,
    /// Without the waste of fast refills.
    Slow,
    /// Since JDK-8381834: the real sizes of buffers, and no desired size at a refill.
    Capacity,
}

/// The thread of a line. Both numbers are needed, since threads that follow each other may share
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// The operating system's number.
    pub id: u64,
    /// The address of HotSpot's thread.
    pub pointer: u64,
}

/// Bytes thrown away, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Waste {
    /// Bytes left in buffers that a collection took away.
    pub gc: u64,
    /// Bytes left in buffers that were dropped for the next (`slow` and `refill` in the log).
    pub slow: u64,
    /// Bytes left in buffers that fast refills of old releases dropped.
    pub fast: u64,
}

impl Waste {
    /// The sum of all kinds.
    pub const fn sum(&self) -> u64 {
        self.gc.saturating_add(self.slow).saturating_add(self.fast)
    }

    /// Adds another's bytes.
    pub const fn add(&mut self, other: &Waste) {
        self.gc = self.gc.saturating_add(other.gc);
        self.slow = self.slow.saturating_add(other.slow);
        self.fast = self.fast.saturating_add(other.fast);
    }
}

/// A thread's sums since the last collection, at a refill or at the next collection.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadLine {
    /// The thread.
    pub thread: ThreadId,
    /// The desired bytes of its buffers, rounded down to a KiB.
    pub desired: Option<u64>,
    /// Bytes of the buffer it was given, where the dialect gives them.
    pub capacity: Option<u64>,
    /// Bytes it allocated, where the dialect gives them.
    pub allocated: Option<u64>,
    /// Expected share of the eden, and its bytes, where the dialect gives them.
    pub expected: Option<(f64, u64)>,
    /// Objects it allocated outside its buffers while it kept them.
    pub slow_allocations: u64,
    /// Buffers it was given.
    pub refills: u64,
    /// Bytes thrown away; at a refill of the newest dialect unknown.
    pub waste: Option<Waste>,
    /// Waste in percent of the bytes of its buffers, to a tenth.
    pub waste_percent: Option<f64>,
    /// The dialect of the line.
    pub dialect: Dialect,
}

/// A thread's size changes after a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Resize {
    /// The thread.
    pub thread: ThreadId,
    /// Expected share of the eden.
    pub fraction: f64,
    /// The target of refills per cycle, where the dialect gives it.
    pub target: Option<u64>,
    /// The desired bytes of its buffers before.
    pub from: u64,
    /// The desired bytes of its buffers now.
    pub to: u64,
    /// The dialect of the line, if it has one.
    pub dialect: Option<Dialect>,
}

/// All threads' counts at a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Threads that were given buffers.
    pub threads: u64,
    /// Buffers given.
    pub refills: u64,
    /// Objects allocated outside of kept buffers.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
    /// Waste in percent of the bytes of all buffers, to a tenth.
    pub waste_percent: f64,
    /// The dialect of the line.
    pub dialect: Dialect,
}

/// The size that a refill of some thread requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Bytes of the object that is waiting.
    pub object: u64,
    /// The requested bytes, object included; `None` if there is no room for a buffer.
    pub size: Option<u64>,
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A thread was given a buffer.
    Fill(ThreadLine),
    /// A collection took a thread's buffer away.
    Gc(ThreadLine),
    /// A thread's size changes.
    Resize(Resize),
    /// A collection's totals.
    Totals(Totals),
    /// A refill requests a buffer.
    Request(Request),
    /// The line is about buffers, and incomplete.
    Damaged,
    /// The line is about something else.
    Foreign,
}

impl Line {
    /// The dialect, if the line is of a thread and has one.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        match self {
            Line::Fill(line) | Line::Gc(line) => Some(line.dialect),
            _ => None,
        }
    }
}

/// Reads a message. `whole`: the end of its line was there; if not, a number at the end may be cut.
/// `decorated`: unified logging wrote it, as far as its line shows.
pub(super) fn message(message: &[u8], whole: bool, decorated: bool) -> Line {
    let Some(prefix) = PREFIXES.iter().find(|prefix| message.starts_with(prefix)) else {
        // A complete message must be decorated to be a line of the JVM at all.
        let is_cut = (decorated || !whole) && is_cut_prefix(message);
        return if is_cut { Line::Damaged } else { Line::Foreign };
    };
    let rest = &message[prefix.len()..];
    let found = match *prefix {
        FILL | NEW_FILL => thread_line(prefix, rest, whole).map(Line::Fill),
        GC | NEW_GC => thread_line(prefix, rest, whole).map(Line::Gc),
        NEW_SIZE => resize(rest, whole, None).map(Line::Resize),
        RESIZE => resize(rest, whole, Some(Dialect::Capacity)).map(Line::Resize),
        TOTALS => totals(rest, whole).map(Line::Totals),
        _ => request(rest, whole).map(Line::Request),
    };
    found.unwrap_or(Line::Damaged)
}

/// Whether a message begins like one that is read.
pub(super) fn is_message(message: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| message.starts_with(prefix))
}

/// Whether a message is the beginning of such a prefix.
pub(super) fn is_cut_prefix(message: &[u8]) -> bool {
    PREFIXES.iter().any(|prefix| prefix.starts_with(message))
}

const FILL: &[u8] = b"TLAB: fill thread";
const GC: &[u8] = b"TLAB: gc thread";
const NEW_FILL: &[u8] = b"TLAB fill: thread";
const NEW_GC: &[u8] = b"TLAB GC: thread";
const NEW_SIZE: &[u8] = b"TLAB new size: thread";
const RESIZE: &[u8] = b"TLAB resize: thread";
const TOTALS: &[u8] = b"TLAB totals:";
const COMPUTE_SIZE: &[u8] = b"ThreadLocalAllocBuffer::compute_size(";

/// The prefixes of the messages that are read.
const PREFIXES: [&[u8]; 8] = [FILL, GC, NEW_FILL, NEW_GC, NEW_SIZE, RESIZE, TOTALS, COMPUTE_SIZE];

/// The numbers of a message, by their labels.
struct Numbers<'a>(Vec<Token<'a>>);

impl<'a> Numbers<'a> {
    /// Labels the two numbers without a label: the address of the thread, whose label is a part of
    /// the message's prefix, and the expected bytes after their share.
    fn of(rest: &'a [u8]) -> Numbers<'a> {
        let mut tokens: Vec<Token<'a>> = Tokens::new(rest).collect();
        let mut before: &[u8] = b"thread:";
        for token in &mut tokens {
            token.label = match (token.label, before) {
                (b"", b"thread:") => b"pointer",
                (b"", b"alloc" | b"expected") => b"expected",
                (label, _) => label,
            };
            before = token.label;
        }
        Numbers(tokens)
    }

    /// The number with one of these labels, if there is one. The outer `None`: there are several,
    /// as in two lines that ran into each other.
    fn any(&self, labels: &[&[u8]]) -> Option<Option<&Token<'a>>> {
        let mut found = self.0.iter().filter(|token| labels.contains(&token.label));
        let first = found.next();
        found.next().is_none().then_some(first)
    }

    /// The only number with one of these labels.
    fn one(&self, labels: &[&[u8]]) -> Option<&Token<'a>> {
        self.any(labels)?
    }

    /// A size that some dialects lack. The outer `None`: the number is not a size, or there are
    /// several.
    fn size(&self, labels: &[&[u8]]) -> Option<Option<u64>> {
        self.any(labels)?.map_or(Some(None), |token| token.bytes().map(Some))
    }

    fn thread(&self) -> Option<ThreadId> {
        Some(ThreadId { id: self.one(&[b"id"])?.whole, pointer: self.one(&[b"pointer"])?.whole })
    }

    fn waste(&self) -> Option<Waste> {
        let (gc, slow) = (self.one(&[b"gc"])?.bytes()?, self.one(&[b"slow", b"refill"])?.bytes()?);
        Some(Waste { gc, slow, fast: self.size(&[b"fast"])?.unwrap_or(0) })
    }

    /// The dialect, where a message of the newest one `is_newest`.
    fn dialect(&self, is_newest: bool) -> Option<Dialect> {
        let has_fast = self.any(&[b"fast"])?.is_some();
        let older = if has_fast { Dialect::Fast } else { Dialect::Slow };
        Some(if is_newest { Dialect::Capacity } else { older })
    }
}

fn thread_line(prefix: &[u8], rest: &[u8], whole: bool) -> Option<ThreadLine> {
    let numbers = Numbers::of(rest);
    let line = ThreadLine {
        thread: numbers.thread()?,
        desired: numbers.size(&[b"desired_size", b"desired"])?,
        capacity: numbers.size(&[b"capacity"])?,
        allocated: numbers.size(&[b"allocated"])?,
        expected: numbers.any(&[b"alloc"])?.map(|share| share.value).zip(numbers.size(&[b"expected"])?),
        slow_allocations: numbers.one(&[b"slow allocs"])?.whole,
        refills: uncut(numbers.one(&[b"refills"])?, whole)?.whole,
        waste: if prefix == NEW_FILL { None } else { Some(numbers.waste()?) },
        waste_percent: numbers.any(&[b"waste"])?.map(|percent| percent.value),
        dialect: numbers.dialect(prefix == NEW_FILL || prefix == NEW_GC)?,
    };
    let is_complete = match prefix {
        NEW_FILL => line.capacity.is_some(),
        _ => line.desired.is_some() && line.waste_percent.is_some(),
    };
    is_complete.then_some(line)
}

fn resize(rest: &[u8], whole: bool, dialect: Option<Dialect>) -> Option<Resize> {
    // Words in the older dialects, which name no unit.
    let size = |token: &Token<'_>| {
        if token.unit.is_empty() { Some(token.whole.saturating_mul(WORD)) } else { token.bytes() }
    };
    let numbers = Numbers::of(rest);
    Some(Resize {
        thread: numbers.thread()?,
        fraction: numbers.one(&[b"alloc", b"alloc-fraction"])?.value,
        target: numbers.any(&[b"refills"])?.map(|target| target.whole),
        from: size(numbers.one(&[b"desired_size"])?)?,
        to: size(uncut(numbers.one(&[b"->"])?, whole)?)?,
        dialect,
    })
}

fn totals(rest: &[u8], whole: bool) -> Option<Totals> {
    let numbers = Numbers::of(rest);
    // The line ends with a maximum; a line with another end is cut.
    let last = uncut(numbers.0.last()?, whole).filter(|last| last.label == b"max")?;
    last.bytes()?;
    Some(Totals {
        threads: numbers.one(&[b"thrds"])?.whole,
        refills: numbers.one(&[b"refills"])?.whole,
        slow_allocations: numbers.one(&[b"slow allocs"])?.whole,
        waste: numbers.waste()?,
        waste_percent: numbers.one(&[b"waste"])?.value,
        dialect: numbers.dialect(numbers.any(&[b"refill"])?.is_some())?,
    })
}

fn request(rest: &[u8], whole: bool) -> Option<Request> {
    let mut tokens = Tokens::new(rest);
    let object = tokens.next().filter(|token| token.label.is_empty())?.whole.saturating_mul(WORD);
    let size = match tokens.next() {
        Some(token) if token.label == b"returns" => Some(uncut(&token, whole)?.whole.saturating_mul(WORD)),
        None if rest.ends_with(b"returns failure") => None,
        _ => return None,
    };
    Some(Request { object, size })
}

/// The token, unless the line may have been cut within its number.
fn uncut<'a, 'b>(token: &'b Token<'a>, whole: bool) -> Option<&'b Token<'a>> {
    (whole || !token.at_end).then_some(token)
}
