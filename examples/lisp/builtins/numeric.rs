//! Arithmetic: integers as long as they fit; a float as soon as one operand is a float.

use super::kinds::{ANY, Args, Builtin, wrong};
use crate::fault::Fault;
use crate::lisp::Lisp;
use crate::numbers::{self, Number, integer};
use crate::printer::float_text;
use crate::value::Val;
use allotment::{Mutator, NewStr, alloc};
use std::cmp::Ordering;

pub const ALL: &[Builtin] = &[
    Builtin::number("+", 0, ANY, |mu, lisp, args| {
        fold(mu, lisp, args, 0, 0, |a, b| a.checked_add(b), |a, b| a + b)
    }),
    Builtin::number("*", 0, ANY, |mu, lisp, args| {
        fold(mu, lisp, args, 0, 1, |a, b| a.checked_mul(b), |a, b| a * b)
    }),
    Builtin::number("-", 1, ANY, |mu, lisp, args| {
        let from = usize::from(args.count > 1);
        fold(mu, lisp, args, from, 0, |a, b| a.checked_sub(b), |a, b| a - b)
    }),
    Builtin::number("/", 1, ANY, divide),
    Builtin::number("quotient", 2, 2, |mu, lisp, args| whole(mu, lisp, args, i64::checked_div)),
    Builtin::number("remainder", 2, 2, |mu, lisp, args| whole(mu, lisp, args, i64::checked_rem)),
    Builtin::number("modulo", 2, 2, |mu, lisp, args| {
        whole(mu, lisp, args, |a, b| {
            a.checked_rem(b).map(|rest| if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        })
    }),
    Builtin::number("abs", 1, 1, |mu, lisp, args| match number(mu, lisp, args, 0)? {
        Number::Int(n) => integer(Some(n.get().abs())),
        Number::Float(value) => Ok(Number::Float(value.abs())),
    }),
    Builtin::number("sqrt", 1, 1, |mu, lisp, args| Ok(exact(number(mu, lisp, args, 0)?.to_f64().sqrt()))),
    Builtin::number("floor", 1, 1, |mu, lisp, args| rounded(mu, lisp, args, f64::floor)),
    Builtin::number("round", 1, 1, |mu, lisp, args| rounded(mu, lisp, args, f64::round_ties_even)),
    Builtin::number("truncate", 1, 1, |mu, lisp, args| rounded(mu, lisp, args, f64::trunc)),
    Builtin::number("exact->inexact", 1, 1, |mu, lisp, args| {
        Ok(Number::Float(number(mu, lisp, args, 0)?.to_f64()))
    }),
    Builtin::number("inexact->exact", 1, 1, |mu, lisp, args| match number(mu, lisp, args, 0)? {
        Number::Float(value) if value.fract() == 0.0 && value.abs() < 1e18 => integer(Some(value as i64)),
        Number::Float(value) => Err(Fault::new(format!("{} is not an integer", float_text(value)))),
        int => Ok(int),
    }),
    Builtin::look("=", 1, ANY, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_eq)),
    Builtin::look("<", 1, ANY, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_lt)),
    Builtin::look(">", 1, ANY, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_gt)),
    Builtin::look("<=", 1, ANY, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_le)),
    Builtin::look(">=", 1, ANY, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_ge)),
    Builtin::look("number?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(Number::of(args.get(mu, lisp, 0)).is_some()))
    }),
    Builtin::look("integer?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(match Number::of(args.get(mu, lisp, 0)) {
            Some(Number::Int(_)) => true,
            Some(Number::Float(value)) => value.fract() == 0.0,
            None => false,
        }))
    }),
    Builtin::make("number->string", 1, 1, |mu, lisp, args| {
        let text = match number(mu, lisp, args, 0)? {
            Number::Int(n) => n.to_string(),
            Number::Float(value) => float_text(value),
        };
        Ok(Val::Text(alloc!(mu, NewStr::from(&*text))?))
    }),
    Builtin::make("string->number", 1, 1, |mu, lisp, args| {
        let parsed = numbers::parse(&args.text(mu, lisp, 0)?);
        match parsed.transpose()? {
            Some(Number::Int(n)) => Ok(Val::Int(n)),
            Some(Number::Float(value)) => numbers::boxed(mu, value),
            None => Ok(Val::Bool(false)),
        }
    }),
];

#[inline]
fn number(mu: &Mutator<'_>, lisp: &Lisp<'_, '_>, args: Args, n: usize) -> Result<Number, Fault> {
    let value = args.get(mu, lisp, n);
    Number::of(value).ok_or_else(|| wrong("numbers", value))
}

/// Combines all arguments. Begins with the first argument if `from` is 1, else with `first`.
#[inline]
fn fold(
    mu: &Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    from: usize,
    first: i32,
    exact: fn(i64, i64) -> Option<i64>,
    inexact: fn(f64, f64) -> f64,
) -> Result<Number, Fault> {
    let mut result = if from == 0 { Number::Int(first.into()) } else { number(mu, lisp, args, 0)? };
    for n in from..args.count {
        result = match (result, number(mu, lisp, args, n)?) {
            (Number::Int(a), Number::Int(b)) => integer(exact(a.get(), b.get()))?,
            (a, b) => Number::Float(inexact(a.to_f64(), b.to_f64())),
        };
    }
    Ok(result)
}

/// Integers that divide without remainder give an integer, all others a float.
fn divide(mu: &Mutator<'_>, lisp: &Lisp<'_, '_>, args: Args) -> Result<Number, Fault> {
    let (mut result, from) =
        if args.count == 1 { (Number::Int(1.into()), 0) } else { (number(mu, lisp, args, 0)?, 1) };
    for n in from..args.count {
        result = match (result, number(mu, lisp, args, n)?) {
            (_, Number::Int(b)) if b.get() == 0 => return Err(Fault::new("division by zero")),
            (Number::Int(a), Number::Int(b)) if a.get() % b.get() == 0 => integer(Some(a.get() / b.get()))?,
            (a, b) => Number::Float(a.to_f64() / b.to_f64()),
        };
    }
    Ok(result)
}

fn whole(
    mu: &Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    compute: fn(i64, i64) -> Option<i64>,
) -> Result<Number, Fault> {
    match (args.get(mu, lisp, 0), args.get(mu, lisp, 1)) {
        (Val::Int(_), Val::Int(b)) if b.get() == 0 => Err(Fault::new("division by zero")),
        (Val::Int(a), Val::Int(b)) => integer(compute(a.get(), b.get())),
        (Val::Int(_), other) | (other, _) => Err(wrong("integers", other)),
    }
}

/// A float whose value is whole may be an integer again after a square root.
fn exact(value: f64) -> Number {
    let whole =
        (value.fract() == 0.0 && value.abs() < 1e15).then(|| integer(Some(value as i64)).ok()).flatten();
    whole.unwrap_or(Number::Float(value))
}

fn rounded(
    mu: &Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    round: fn(f64) -> f64,
) -> Result<Number, Fault> {
    Ok(match number(mu, lisp, args, 0)? {
        Number::Float(value) => Number::Float(round(value)),
        int => int,
    })
}

#[inline]
fn compare<'g>(
    mu: &'g Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    holds: fn(Ordering) -> bool,
) -> Result<Val<'g>, Fault> {
    let mut result = true;
    let mut last = number(mu, lisp, args, 0)?;
    for n in 1..args.count {
        let next = number(mu, lisp, args, n)?;
        let order = match (last, next) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.to_f64().partial_cmp(&b.to_f64()),
        };
        result &= order.is_some_and(holds);
        last = next;
    }
    Ok(Val::Bool(result))
}
