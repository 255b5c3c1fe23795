//! The events of a timeline, and each as a line of the file.
//!
//! Times are in microseconds, with three more digits: Chrome's unit, and no nanosecond is lost.
//! Refused: a JSON library in the heap, for flat objects of numbers and names.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::{self, Write};
use std::thread::Thread;
use std::time::Duration;

/// Where an event is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// Stopped worlds.
    Stops,
    /// Concurrent cycles and what runs between them.
    Cycles,
    /// A thread, by the kernel's number.
    Thread(i32),
}

impl Row {
    /// The rows that do not belong to a thread, with their names, in the order in which they are
    /// shown.
    pub(super) const OWN: [(Row, &'static str); 2] =
        [(Row::Stops, "World stopped"), (Row::Cycles, "Concurrent cycles")];

    /// Its number in the file. The kernel numbers threads below 2^22 (`PID_MAX_LIMIT`).
    pub(super) fn number(self) -> i32 {
        match self {
            Row::Stops => (1 << 22) + 1,
            Row::Cycles => (1 << 22) + 2,
            Row::Thread(number) => number,
        }
    }
}

/// The kind of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// All threads stand still. These are the pauses of records.
    Pause,
    /// From a request to stop until the last thread has stopped.
    Safepoint,
    /// A part of a pause.
    Phase,
    /// A concurrent cycle.
    Cycle,
    /// A part of a cycle, beside threads, or of the marking between cycles.
    Concurrent,
    /// A pause of a cycle that was given up. No record has it.
    GivenUp,
    /// One worker's share of a phase.
    Share,
    /// A thread waits for a collection, or makes it.
    Stall,
    /// A thread does a slice of a cycle's work.
    Assist,
}

impl Category {
    fn name(self) -> &'static str {
        match self {
            Category::Pause => "pause",
            Category::Safepoint => "safepoint",
            Category::Phase => "phase",
            Category::Cycle => "cycle",
            Category::Concurrent => "concurrent",
            Category::GivenUp => "given up",
            Category::Share => "share",
            Category::Stall => "stall",
            Category::Assist => "assist",
        }
    }
}

/// Work on a row of the timeline, with its beginning and its time.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) row: Row,
    pub(crate) category: Category,
    pub(crate) name: Cow<'static, str>,
    /// Since the heap was made.
    pub(crate) start: Duration,
    pub(crate) time: Duration,
    pub(crate) arguments: Arguments,
}

impl Slice {
    pub(crate) fn end(&self) -> Duration {
        self.start + self.time
    }

    /// Its place among others: by its beginning, and longer ones first.
    pub(super) fn place(&self) -> (Duration, Reverse<Duration>) {
        (self.start, Reverse(self.time))
    }
}

/// How much of a heap is in use, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupied {
    /// Handed out as buffers and objects.
    pub(crate) used: usize,
    /// Those of these bytes that belong to old objects, humongous ones included.
    pub(crate) old: usize,
    /// Backed by memory.
    pub(crate) committed: usize,
}

/// An event that waits for its writing.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Slice(Slice),
    /// A slice of the row of this thread, which the file may have no name for yet.
    Done(Slice, Thread),
    Occupied(Duration, Occupied),
    Name(Row, String),
}

impl Event {
    /// The slice, if shares of workers are parts of it.
    pub(super) fn phase(&self) -> Option<&Slice> {
        match self {
            Event::Slice(slice) => {
                Some(slice).filter(|slice| matches!(slice.category, Category::Phase | Category::Concurrent))
            }
            _ => None,
        }
    }

    /// Its place in the file: by its beginning, and longer ones first.
    pub(super) fn place(&self) -> (Duration, Reverse<Duration>) {
        match self {
            Event::Slice(slice) | Event::Done(slice, _) => slice.place(),
            Event::Occupied(at, _) => (*at, Reverse(Duration::ZERO)),
            Event::Name(..) => (Duration::ZERO, Reverse(Duration::MAX)),
        }
    }

    /// Writes it as JSON, for the process of this number.
    pub(super) fn json(&self, process: u32) -> impl fmt::Display {
        fmt::from_fn(move |f| match self {
            Event::Slice(slice) | Event::Done(slice, _) => {
                let Slice { row, category, name, start, time, arguments } = slice;
                let (row, category) = (row.number(), category.name());
                write!(f, r#"{{"ph":"X","pid":{process},"tid":{row},"ts":{},"#, Microseconds(*start))?;
                write!(f, r#""dur":{},"cat":"{category}","name":{}"#, Microseconds(*time), Quoted(name))?;
                if !arguments.0.is_empty() {
                    write!(f, r#","args":{{{}}}"#, arguments.0)?;
                }
                f.write_str("}")
            }
            Event::Occupied(at, Occupied { used, old, committed }) => {
                let young = used.saturating_sub(*old);
                write!(f, r#"{{"ph":"C","pid":{process},"ts":{},"name":"Heap","#, Microseconds(*at))?;
                write!(f, r#""args":{{"used":{used},"committed":{committed},"young":{young},"old":{old}}}}}"#)
            }
            Event::Name(row, name) => {
                let (row, name) = (row.number(), Quoted(name));
                write!(f, r#"{{"ph":"M","pid":{process},"tid":{row},"#)?;
                write!(f, r#""name":"thread_name","args":{{"name":{name}}}}}"#)
            }
        })
    }
}

/// The details of a slice beside its time, as the inside of a JSON object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(String);

impl Arguments {
    /// Adds a value in JSON.
    fn with(mut self, name: &str, value: impl fmt::Display) -> Arguments {
        let comma = if self.0.is_empty() { "" } else { "," };
        // A `String` takes all.
        let _ = write!(self.0, "{comma}{}:{value}", Quoted(name));
        self
    }

    pub(crate) fn number(self, name: &str, number: u64) -> Arguments {
        self.with(name, number)
    }

    pub(crate) fn text(self, name: &str, text: &str) -> Arguments {
        self.with(name, Quoted(text))
    }

    /// Adds a time, in microseconds.
    pub(crate) fn time(self, name: &str, time: Duration) -> Arguments {
        self.with(name, Microseconds(time))
    }

    /// Adds arguments that belong together.
    pub(crate) fn group(self, name: &str, group: Arguments) -> Arguments {
        self.with(name, format_args!("{{{}}}", group.0))
    }
}

/// Prints a time as Chrome's format has it.
pub(super) struct Microseconds(pub(super) Duration);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.as_nanos();
        write!(f, "{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
    }
}

/// Prints a text as a string of JSON.
pub(super) struct Quoted<'t>(pub(super) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' | '\\' => write!(f, "\\{char}")?,
                '\0'..='\x1F' => write!(f, "\\u{:04x}", char as u32)?,
                _ => f.write_char(char)?,
            }
        }
        f.write_char('"')
    }
}
