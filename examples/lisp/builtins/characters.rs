//! Characters, strings and symbols. Strings are text in UTF-8 that does not change.

use super::kinds::{ANY, Args, Builtin, wrong};
use crate::fault::Fault;
use crate::lisp::{Lisp, list};
use crate::value::Val;
use allotment::{Mutator, NewStr, alloc, root};
use std::cmp::Ordering;
use std::ops::Range;

/// Most bytes of a string that is made of a list.
const LONGEST: usize = 1 << 30;

pub const ALL: &[Builtin] = &[
    Builtin::look("string-length", 1, 1, |mu, lisp, args| {
        let length = args.text(mu, lisp, 0)?.chars().count();
        Ok(Val::int(length as i64).expect("no heap holds so many characters"))
    }),
    Builtin::look("string-ref", 2, 2, |mu, lisp, args| {
        let (text, index) = (args.text(mu, lisp, 0)?, args.index(mu, lisp, 1)?);
        text.chars()
            .nth(index)
            .map(Val::Char)
            .ok_or_else(|| Fault::new(format!("the string has no character {index}")))
    }),
    Builtin::make("substring", 2, 3, |mu, lisp, args| {
        let text = args.text(mu, lisp, 0)?;
        let range = range(mu, lisp, args)?;
        Ok(Val::Text(alloc!(mu, NewStr::part(text, range))?))
    }),
    Builtin::make("string-append", 0, ANY, |mu, lisp, args| {
        let mut text = String::new();
        for n in 0..args.count {
            text += &args.text(mu, lisp, n)?;
        }
        Ok(Val::Text(alloc!(mu, NewStr::from(&*text))?))
    }),
    Builtin::make("string->list", 1, 1, |mu, lisp, args| {
        let height = lisp.stack.len();
        let text = args.text(mu, lisp, 0)?;
        text.chars().for_each(|c| lisp.stack.push(mu, Val::Char(c)));
        root!(mu, nil = Val::Nil);
        list(mu, &mut lisp.stack, height, nil)
    }),
    Builtin::make("list->string", 1, 1, |mu, lisp, args| {
        let mut text = String::new();
        let mut rest = args.get(mu, lisp, 0);
        while let Val::Pair(pair) = rest {
            match pair.car.load(mu) {
                Val::Char(_) if text.len() > LONGEST => return Err(Fault::new("the list is too long")),
                Val::Char(c) => text.push(c),
                other => return Err(wrong("a list of characters", other)),
            }
            rest = pair.cdr.load(mu);
        }
        Ok(Val::Text(alloc!(mu, NewStr::from(&*text))?))
    }),
    Builtin::make("string->symbol", 1, 1, |mu, lisp, args| {
        let name = args.text(mu, lisp, 0)?.to_string();
        Ok(Val::Symbol(lisp.intern(mu, &name)?))
    }),
    Builtin::look("symbol->string", 1, 1, |mu, lisp, args| {
        Ok(Val::Text(args.symbol(mu, lisp, 0)?.name.load(mu)))
    }),
    Builtin::look("string=?", 2, 2, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_eq)),
    Builtin::look("string<?", 2, 2, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_lt)),
    Builtin::look("string>?", 2, 2, |mu, lisp, args| compare(mu, lisp, args, Ordering::is_gt)),
    Builtin::look("char=?", 2, 2, |mu, lisp, args| compare_characters(mu, lisp, args, Ordering::is_eq)),
    Builtin::look("char<?", 2, 2, |mu, lisp, args| compare_characters(mu, lisp, args, Ordering::is_lt)),
    Builtin::look("char-alphabetic?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(args.char(mu, lisp, 0)?.is_alphabetic()))
    }),
    Builtin::look("char-numeric?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(args.char(mu, lisp, 0)?.is_numeric()))
    }),
    Builtin::look("char-whitespace?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(args.char(mu, lisp, 0)?.is_whitespace()))
    }),
    Builtin::look("char-upcase", 1, 1, |mu, lisp, args| {
        let c = args.char(mu, lisp, 0)?;
        Ok(Val::Char(c.to_uppercase().next().unwrap_or(c)))
    }),
    Builtin::look("char-downcase", 1, 1, |mu, lisp, args| {
        let c = args.char(mu, lisp, 0)?;
        Ok(Val::Char(c.to_lowercase().next().unwrap_or(c)))
    }),
    Builtin::look("char->integer", 1, 1, |mu, lisp, args| {
        Ok(Val::Int((u32::from(args.char(mu, lisp, 0)?) as i32).into()))
    }),
    Builtin::look("integer->char", 1, 1, |mu, lisp, args| {
        let number = u32::try_from(args.index(mu, lisp, 0)?).ok();
        number
            .and_then(char::from_u32)
            .map(Val::Char)
            .ok_or_else(|| Fault::new("no character has that number"))
    }),
];

/// The bytes of the characters from the second argument to the third.
fn range(mu: &Mutator<'_>, lisp: &Lisp<'_, '_>, args: Args) -> Result<Range<usize>, Fault> {
    let text = args.text(mu, lisp, 0)?;
    let start = args.index(mu, lisp, 1)?;
    let end = if args.count == 3 { args.index(mu, lisp, 2)? } else { text.chars().count() };
    let byte = |n: usize| text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(n);
    match (byte(start), byte(end)) {
        (Some(from), Some(to)) if from <= to => Ok(from..to),
        _ => Err(Fault::new(format!("the string has no characters from {start} to {end}"))),
    }
}

fn compare<'g>(
    mu: &'g Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    holds: fn(Ordering) -> bool,
) -> Result<Val<'g>, Fault> {
    let (a, b) = (args.text(mu, lisp, 0)?, args.text(mu, lisp, 1)?);
    Ok(Val::Bool(holds(a.cmp(&b))))
}

fn compare_characters<'g>(
    mu: &'g Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    holds: fn(Ordering) -> bool,
) -> Result<Val<'g>, Fault> {
    Ok(Val::Bool(holds(args.char(mu, lisp, 0)?.cmp(&args.char(mu, lisp, 1)?))))
}
