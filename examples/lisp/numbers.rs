//! Numbers outside of the heap, and their conversion to values.

use crate::fault::Fault;
use crate::value::{NewFloat, Val};
use allotment::{Fixnum, Mutator, alloc};

/// A number in the form in which Rust computes with it.
#[derive(Clone, Copy)]
pub enum Number {
    Int(Fixnum),
    Float(f64),
}

impl Number {
    /// The number of a value, if it is one.
    pub fn of(value: Val<'_>) -> Option<Number> {
        match value {
            Val::Int(n) => Some(Number::Int(n)),
            Val::Float(float) => Some(Number::Float(float.value)),
            _ => None,
        }
    }

    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(n) => n.get() as f64,
            Number::Float(value) => value,
        }
    }
}

/// An integer, unless it has more than 56 bits or the computation has already overflowed.
pub fn integer(n: Option<i64>) -> Result<Number, Fault> {
    let fits = n.and_then(Fixnum::new).map(Number::Int);
    fits.ok_or_else(|| Fault::new("integer overflow: the result has more than 56 bits"))
}

/// A float in the heap.
pub fn boxed<'m>(mu: &'m mut Mutator<'_>, value: f64) -> Result<Val<'m>, Fault> {
    Ok(Val::Float(alloc!(mu, NewFloat { value })?))
}

/// The number with that text; nothing if it is not a number.
pub fn parse(word: &str) -> Option<Result<Number, Fault>> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let fixnum = word.parse().ok().and_then(Fixnum::new);
        let too_large = || Fault::new(format!("the integer {word} is too large: integers have 56 bits"));
        return Some(fixnum.map(Number::Int).ok_or_else(too_large));
    }
    word.parse().ok().map(|value| Ok(Number::Float(value)))
}
