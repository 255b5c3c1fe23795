//! The content of a line of the log.
//!
//! Three dialects are in use. They differ in the labels, in the units (`KB` or `K`, words of 8
//! bytes in resize lines) and in the fields of a refill. The meaning of a field is the same in all
//! dialects that have it.

use super::place::placed;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The same for the fast refills of old releases.
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

/// Reads a line without its end. `whole`: the end of the line was there; if not, a number at the
/// end may be cut.
pub fn parse(line: &[u8], whole: bool) -> Line {
    placed(line).map_or(Line::Foreign, |placed| message(placed.message, whole, placed.is_decorated()))
}

/// Reads a message. `decorated`: unified logging wrote it, as far as its line shows.
pub(super) fn message(message: &[u8], whole: bool, decorated: bool) -> Line {
    let Some(prefix) = PREFIXES.iter().find(|prefix| message.starts_with(prefix)) else {
        // A complete message must be decorated to be a line of the JVM at all.
        let is_cut = (decorated || !whole) && is_cut_prefix(message);
        return if is_cut { Line::Damaged } else { Line::Foreign };
    };
    let rest = &message[prefix.len()..];
    let found = match *prefix {
        FILL => thread_line(rest, whole, Kind::Fill).map(Line::Fill),
        GC => thread_line(rest, whole, Kind::Gc).map(Line::Gc),
        NEW_FILL => thread_line(rest, whole, Kind::NewFill).map(Line::Fill),
        NEW_GC => thread_line(rest, whole, Kind::NewGc).map(Line::Gc),
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

/// Fills a place once; returns false if it was filled before, as in two lines that ran into each
/// other.
fn once<T>(place: &mut Option<T>, value: T) -> bool {
    place.replace(value).is_none()
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fill,
    Gc,
    NewFill,
    NewGc,
}

fn thread_line(rest: &[u8], whole: bool, kind: Kind) -> Option<ThreadLine> {
    let (mut pointer, mut id, mut desired, mut capacity, mut allocated) = (None, None, None, None, None);
    let (mut fraction, mut expected, mut slow_allocations, mut refills) = (None, None, None, None);
    let (mut gc, mut slow, mut fast, mut percent) = (None, None, None, None);
    for (index, token) in Tokens::new(rest).enumerate() {
        let ok = match token.label {
            // The label `thread` is part of the prefix.
            b"" if index == 0 => once(&mut pointer, token.whole),
            b"" if fraction.is_some() => once(&mut expected, token.bytes()?),
            b"id" => once(&mut id, token.whole),
            b"desired_size" | b"desired" => once(&mut desired, token.bytes()?),
            b"capacity" => once(&mut capacity, token.bytes()?),
            b"allocated" => once(&mut allocated, token.bytes()?),
            b"alloc" => once(&mut fraction, token.value),
            b"slow allocs" => once(&mut slow_allocations, token.whole),
            b"refills" => once(&mut refills, uncut(&token, whole)?.whole),
            b"waste" => once(&mut percent, token.value),
            b"gc" => once(&mut gc, token.bytes()?),
            b"slow" => once(&mut slow, token.bytes()?),
            b"fast" => once(&mut fast, token.bytes()?),
            _ => true,
        };
        if !ok {
            return None;
        }
    }
    let thread = ThreadId { id: id?, pointer: pointer? };
    let dialect = match (kind, fast) {
        (Kind::NewFill | Kind::NewGc, _) => Dialect::Capacity,
        (_, Some(_)) => Dialect::Fast,
        (_, None) => Dialect::Slow,
    };
    let waste = match kind {
        Kind::NewFill => {
            capacity?;
            None
        }
        _ => {
            desired?;
            percent?;
            Some(Waste { gc: gc?, slow: slow?, fast: fast.unwrap_or(0) })
        }
    };
    Some(ThreadLine {
        thread,
        desired,
        capacity,
        allocated,
        expected: fraction.zip(expected),
        slow_allocations: slow_allocations?,
        refills: refills?,
        waste,
        waste_percent: percent,
        dialect,
    })
}

fn resize(rest: &[u8], whole: bool, dialect: Option<Dialect>) -> Option<Resize> {
    let (mut pointer, mut id, mut fraction, mut target) = (None, None, None, None);
    let (mut from, mut to) = (None, None);
    // Words in the older dialects, which name no unit.
    let size = |token: &Token<'_>| {
        if token.unit.is_empty() { Some(token.whole.saturating_mul(WORD)) } else { token.bytes() }
    };
    for (index, token) in Tokens::new(rest).enumerate() {
        let ok = match token.label {
            b"" if index == 0 => once(&mut pointer, token.whole),
            b"id" => once(&mut id, token.whole),
            b"alloc" | b"alloc-fraction" => once(&mut fraction, token.value),
            b"refills" => once(&mut target, token.whole),
            b"desired_size" => once(&mut from, size(&token)?),
            b"->" => once(&mut to, size(uncut(&token, whole)?)?),
            _ => true,
        };
        if !ok {
            return None;
        }
    }
    let thread = ThreadId { id: id?, pointer: pointer? };
    Some(Resize { thread, fraction: fraction?, target, from: from?, to: to?, dialect })
}

fn totals(rest: &[u8], whole: bool) -> Option<Totals> {
    let (mut threads, mut refills, mut slow_allocations, mut percent) = (None, None, None, None);
    let (mut gc, mut slow, mut fast) = (None, None, None);
    let mut dialect = Dialect::Slow;
    let mut last_max = false;
    for token in Tokens::new(rest) {
        last_max = false;
        let ok = match token.label {
            b"thrds" => once(&mut threads, token.whole),
            b"refills" => once(&mut refills, token.whole),
            b"slow allocs" => once(&mut slow_allocations, token.whole),
            b"waste" => once(&mut percent, token.value),
            b"gc" => once(&mut gc, token.bytes()?),
            b"slow" => once(&mut slow, token.bytes()?),
            b"refill" => {
                dialect = Dialect::Capacity;
                once(&mut slow, token.bytes()?)
            }
            b"fast" => {
                dialect = Dialect::Fast;
                once(&mut fast, token.bytes()?)
            }
            b"max" => {
                last_max = token.bytes().is_some() && uncut(&token, whole).is_some();
                true
            }
            _ => true,
        };
        if !ok {
            return None;
        }
    }
    // The line ends with a maximum; a line with another end is cut.
    if !last_max {
        return None;
    }
    let waste = Waste { gc: gc?, slow: slow?, fast: fast.unwrap_or(0) };
    let (refills, slow_allocations) = (refills?, slow_allocations?);
    Some(Totals { threads: threads?, refills, slow_allocations, waste, waste_percent: percent?, dialect })
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
