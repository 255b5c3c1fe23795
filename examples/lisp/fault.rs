//! An error of a program, and its place.
//!
//! A fault holds text, not values. It outlives safepoints, so any function can return it with `?`.
//!
//! Refused: a fault that holds the offending value. A function that collects cannot return a bare
//! value without rooting it.

use allotment::OutOfMemory;
use std::fmt;

#[derive(Debug)]
pub struct Fault {
    message: String,
    /// File and line, once they are known.
    place: Option<(String, u32)>,
    /// The text ended within an expression. At a prompt, more may come.
    pub incomplete: bool,
    /// The program itself raised it, with `error`.
    said: bool,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Fault {
        Fault { message: message.into(), place: None, incomplete: false, said: false }
    }

    /// An error that the program itself raises.
    pub fn said(message: String) -> Fault {
        Fault { said: true, ..Fault::new(message) }
    }

    /// The text ended within an expression.
    pub fn incomplete(message: String) -> Fault {
        Fault { incomplete: true, ..Fault::new(message) }
    }

    /// Adds this place to the fault, unless a more precise place is known.
    #[must_use]
    pub fn at(mut self, file: &str, line: u32) -> Fault {
        self.place.get_or_insert_with(|| (file.to_string(), line));
        self
    }

    /// Attributes the fault to a builtin.
    #[must_use]
    pub fn of(mut self, name: &str) -> Fault {
        if !self.said {
            self.message = format!("{name}: {}", self.message);
        }
        self
    }
}

impl From<OutOfMemory> for Fault {
    fn from(error: OutOfMemory) -> Fault {
        Fault::new(error.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.place {
            write!(f, "{file}:{line}: ")?;
        }
        f.write_str(&self.message)
    }
}
