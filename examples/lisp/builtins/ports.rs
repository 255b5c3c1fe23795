//! Output, and ports that write to strings and read from them.

use super::kinds::{Args, Builtin, wrong};
use crate::fault::Fault;
use crate::lisp::Lisp;
use crate::printer::print;
use crate::value::{Input, NewInput, NewOutput, Val};
use allotment::{Gc, Mutator, NewStr, Plain, alloc};

pub const ALL: &[Builtin] = &[
    Builtin::make("display", 1, 2, |mu, lisp, args| {
        let text = print(mu, args.get(mu, lisp, 0), false)?;
        put(mu, lisp, args, 1, &text)
    }),
    Builtin::make("write", 1, 2, |mu, lisp, args| {
        let text = print(mu, args.get(mu, lisp, 0), true)?;
        put(mu, lisp, args, 1, &text)
    }),
    Builtin::make("write-char", 1, 2, |mu, lisp, args| {
        let c = args.char(mu, lisp, 0)?;
        put(mu, lisp, args, 1, c.encode_utf8(&mut [0; 4]))
    }),
    Builtin::make("newline", 0, 1, |mu, lisp, args| put(mu, lisp, args, 0, "\n")),
    Builtin::make("open-output-string", 0, 0, |mu, _, _| {
        Ok(Val::Output(alloc!(mu, NewOutput { pieces: Val::Nil })?))
    }),
    Builtin::make("get-output-string", 1, 1, |mu, lisp, args| {
        let mut pieces = Vec::new();
        let mut rest = args.output(mu, lisp, 0)?.pieces.load(mu);
        while let Val::Pair(pair) = rest {
            if let Val::Text(piece) = pair.car.load(mu) {
                pieces.push(piece);
            }
            rest = pair.cdr.load(mu);
        }
        let text: String = pieces.iter().rev().map(|piece| &**piece).collect();
        Ok(Val::Text(alloc!(mu, NewStr::from(&*text))?))
    }),
    // Sets the port for output without a named port. The value is the former port.
    Builtin::look("set-current-output!", 1, 1, |mu, lisp, args| {
        let before = lisp.output.get(mu);
        match args.get(mu, lisp, 0) {
            port @ (Val::Output(_) | Val::Nil) => lisp.output.set(mu, port),
            other => return Err(wrong("a string port to write to", other)),
        }
        Ok(before)
    }),
    Builtin::make("open-input-string", 1, 1, |mu, lisp, args| {
        let text = args.text(mu, lisp, 0)?;
        Ok(Val::Input(alloc!(mu, NewInput { text, position: Plain::new(0) })?))
    }),
    Builtin::look("peek-char", 1, 1, |mu, lisp, args| {
        Ok(peek(mu, args.input(mu, lisp, 0)?).map_or(Val::Eof, Val::Char))
    }),
    Builtin::look("read-char", 1, 1, |mu, lisp, args| {
        let port = args.input(mu, lisp, 0)?;
        let Some(c) = peek(mu, port) else { return Ok(Val::Eof) };
        port.position.set(port.position.get() + c.len_utf8());
        Ok(Val::Char(c))
    }),
    Builtin::make("read-line", 1, 1, |mu, lisp, args| {
        let port = args.input(mu, lisp, 0)?;
        let text = port.text.load(mu);
        let from = port.position.get();
        if from == text.len() {
            return Ok(Val::Eof);
        }
        let len = text[from..].find('\n');
        port.position.set(len.map_or(text.len(), |len| from + len + 1));
        let range = from..len.map_or(text.len(), |len| from + len);
        Ok(Val::Text(alloc!(mu, NewStr::part(text, range))?))
    }),
];

fn peek(mu: &Mutator<'_>, port: Gc<'_, Input>) -> Option<char> {
    port.text.load(mu)[port.position.get()..].chars().next()
}

/// Writes to the port in that argument, or to the current one.
fn put<'m>(
    mu: &'m mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    args: Args,
    port: usize,
    text: &str,
) -> Result<Val<'m>, Fault> {
    if args.count <= port {
        lisp.print(mu, text)?;
        return Ok(Val::Unspecified);
    }
    let port = args.output(mu, lisp, port)?;
    let before = lisp.output.get(mu);
    lisp.stack.push(mu, before);
    lisp.output.set(mu, Val::Output(port));
    let result = lisp.print(mu, text);
    let before = lisp.pop(mu);
    lisp.output.set(mu, before);
    result?;
    Ok(Val::Unspecified)
}
