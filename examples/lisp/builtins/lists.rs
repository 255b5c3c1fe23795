//! Pairs and lists, and operations on all values.

use super::kinds::{ANY, Args, Builtin, wrong};
use crate::compiler::length;
use crate::equality::{equal, same};
use crate::fault::Fault;
use crate::lisp::{Lisp, list};
use crate::printer::print;
use crate::value::{NewPair, Val};
use allotment::{Mutator, alloc, rebind, root};

pub const ALL: &[Builtin] = &[
    Builtin::look("car", 1, 1, |mu, lisp, args| Ok(args.pair(mu, lisp, 0)?.car.load(mu))),
    Builtin::look("cdr", 1, 1, |mu, lisp, args| Ok(args.pair(mu, lisp, 0)?.cdr.load(mu))),
    Builtin::make("cons", 2, 2, |mu, lisp, args| {
        let new = NewPair { car: args.get(mu, lisp, 0), cdr: args.get(mu, lisp, 1) };
        Ok(Val::Pair(alloc!(mu, new)?))
    }),
    Builtin::look("set-car!", 2, 2, |mu, lisp, args| {
        args.pair(mu, lisp, 0)?.car.store(mu, args.get(mu, lisp, 1));
        Ok(Val::Unspecified)
    }),
    Builtin::look("set-cdr!", 2, 2, |mu, lisp, args| {
        args.pair(mu, lisp, 0)?.cdr.store(mu, args.get(mu, lisp, 1));
        Ok(Val::Unspecified)
    }),
    Builtin::make("list", 0, ANY, |mu, lisp, args| {
        root!(mu, nil = Val::Nil);
        list(mu, &mut lisp.stack, args.base, nil)
    }),
    Builtin::look("length", 1, 1, |mu, lisp, args| {
        let value = args.get(mu, lisp, 0);
        let length = length(mu, value).ok_or_else(|| wrong("a list", value))?;
        Ok(Val::int(length as i64).expect("no heap holds so many pairs"))
    }),
    Builtin::make("append", 0, ANY, append),
    Builtin::make("reverse", 1, 1, reverse),
    Builtin::look("list-tail", 2, 2, |mu, lisp, args| {
        let mut rest = args.get(mu, lisp, 0);
        for _ in 0..args.index(mu, lisp, 1)? {
            let Val::Pair(pair) = rest else { return Err(Fault::new("the list is shorter than that")) };
            rest = pair.cdr.load(mu);
        }
        Ok(rest)
    }),
    Builtin::look("eq?", 2, 2, |mu, lisp, args| {
        Ok(Val::Bool(args.get(mu, lisp, 0) == args.get(mu, lisp, 1)))
    }),
    Builtin::look("eqv?", 2, 2, |mu, lisp, args| {
        Ok(Val::Bool(same(args.get(mu, lisp, 0), args.get(mu, lisp, 1))))
    }),
    Builtin::look("equal?", 2, 2, |mu, lisp, args| {
        Ok(Val::Bool(equal(mu, args.get(mu, lisp, 0), args.get(mu, lisp, 1))))
    }),
    Builtin::look("memq", 2, 2, |mu, lisp, args| member(mu, lisp, args, same)),
    Builtin::look("memv", 2, 2, |mu, lisp, args| member(mu, lisp, args, same)),
    Builtin::look("member", 2, 2, |mu, lisp, args| member(mu, lisp, args, |a, b| equal(mu, a, b))),
    Builtin::look("assq", 2, 2, |mu, lisp, args| associated(mu, lisp, args, same)),
    Builtin::look("assv", 2, 2, |mu, lisp, args| associated(mu, lisp, args, same)),
    Builtin::look("assoc", 2, 2, |mu, lisp, args| associated(mu, lisp, args, |a, b| equal(mu, a, b))),
    Builtin::look("not", 1, 1, |mu, lisp, args| Ok(Val::Bool(!args.get(mu, lisp, 0).is_true()))),
    Builtin::look("null?", 1, 1, |mu, lisp, args| Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Nil)))),
    Builtin::look("pair?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Pair(_))))
    }),
    Builtin::look("symbol?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Symbol(_))))
    }),
    Builtin::look("string?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Text(_))))
    }),
    Builtin::look("char?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Char(_))))
    }),
    Builtin::look("boolean?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Bool(_))))
    }),
    Builtin::look("vector?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Vector(_))))
    }),
    Builtin::look("hash-table?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Table(_))))
    }),
    Builtin::look("procedure?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Closure(_) | Val::Builtin(_))))
    }),
    Builtin::look("eof-object?", 1, 1, |mu, lisp, args| {
        Ok(Val::Bool(matches!(args.get(mu, lisp, 0), Val::Eof)))
    }),
    Builtin::look("eof-object", 0, 0, |_, _, _| Ok(Val::Eof)),
    Builtin::look("error", 1, ANY, |mu, lisp, args| {
        let mut message = print(mu, args.get(mu, lisp, 0), false)?;
        for n in 1..args.count {
            message.push(' ');
            message += &print(mu, args.get(mu, lisp, n), true)?;
        }
        Err(Fault::said(message))
    }),
    Builtin::look("assertion-failed", 1, 1, |mu, lisp, args| {
        Err(Fault::said(format!("assertion failed: {}", print(mu, args.get(mu, lisp, 0), true)?)))
    }),
];

fn member<'g>(
    mu: &'g Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    equal: impl Fn(Val<'_>, Val<'_>) -> bool,
) -> Result<Val<'g>, Fault> {
    let key = args.get(mu, lisp, 0);
    let mut rest = args.get(mu, lisp, 1);
    loop {
        match rest {
            Val::Pair(pair) if equal(key, pair.car.load(mu)) => return Ok(rest),
            Val::Pair(pair) => rest = pair.cdr.load(mu),
            Val::Nil => return Ok(Val::Bool(false)),
            other => return Err(wrong("a list", other)),
        }
    }
}

fn associated<'g>(
    mu: &'g Mutator<'_>,
    lisp: &Lisp<'_, '_>,
    args: Args,
    equal: impl Fn(Val<'_>, Val<'_>) -> bool,
) -> Result<Val<'g>, Fault> {
    let key = args.get(mu, lisp, 0);
    let mut rest = args.get(mu, lisp, 1);
    loop {
        match rest {
            Val::Pair(pair) => match pair.car.load(mu) {
                Val::Pair(entry) if equal(key, entry.car.load(mu)) => return Ok(Val::Pair(entry)),
                Val::Pair(_) => rest = pair.cdr.load(mu),
                other => return Err(wrong("a list of pairs", other)),
            },
            Val::Nil => return Ok(Val::Bool(false)),
            other => return Err(wrong("a list", other)),
        }
    }
}

/// Pushes the elements of all lists but the last, and makes one list of them that ends in the last.
fn append<'m>(mu: &'m mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, args: Args) -> Result<Val<'m>, Fault> {
    let height = lisp.stack.len();
    let Some(last) = args.count.checked_sub(1) else { return Ok(Val::Nil) };
    for n in 0..last {
        let list = args.get(mu, lisp, n);
        lisp.push_list(mu, list)?;
    }
    root!(mu, tail = args.get(mu, lisp, last));
    list(mu, &mut lisp.stack, height, tail)
}

/// The cursor and the list so far are bare. The live list carries one over the allocation, the
/// initialiser the other.
fn reverse<'m>(mu: &'m mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, args: Args) -> Result<Val<'m>, Fault> {
    let mut rest = args.get(mu, lisp, 0);
    let mut reversed = Val::Nil;
    while let Val::Pair(pair) = rest {
        rest = pair.cdr.load(mu);
        let new = NewPair { car: pair.car.load(mu), cdr: reversed };
        reversed = Val::Pair(alloc!(mu, [rest] => new)?);
    }
    match rest {
        Val::Nil => Ok(rebind!(mu, reversed)),
        other => Err(wrong("a list", other)),
    }
}
