//! A Lisp session: starts up, runs files, answers at a prompt.

use crate::builtins;
use crate::compiler::compile;
use crate::fault::Fault;
use crate::forms::SPECIAL;
use crate::lisp::Lisp;
use crate::machine::run;
use crate::printer::print;
use crate::reader::Reader;
use crate::value::Val;
use allotment::{Mutator, rebind, root};
use std::io::BufRead;

const PRELUDE: &str = include_str!("prelude.lisp");

/// Gives the symbols of special forms their ids, the builtins their names, and runs the prelude.
pub fn start(mu: &mut Mutator<'_>, lisp: &mut Lisp<'_, '_>) -> Result<(), Fault> {
    for name in SPECIAL {
        lisp.intern(mu, name)?;
    }
    for (index, builtin) in (0..).zip(builtins::ALL.iter()) {
        lisp.builtins.insert(builtin.name, index);
        let symbol = rebind!(lisp.intern(mu, builtin.name)?);
        symbol.global.store(mu, Val::Builtin(index));
    }
    load(mu, lisp, PRELUDE, "prelude.lisp")
}

/// Runs every expression of a text.
pub fn load(mu: &mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, text: &str, file: &str) -> Result<(), Fault> {
    each(mu, lisp, text, file, |_, _, _| Ok(()))
}

/// Runs every expression of a text, and passes its value on.
fn each(
    mu: &mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    text: &str,
    file: &str,
    mut then: impl FnMut(&Mutator<'_>, &mut Lisp<'_, '_>, Val<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = Reader::new(text, file);
    loop {
        lisp.forget_lines(mu);
        let Some(expression) = reader.datum(mu, lisp)? else { return Ok(()) };
        root!(mu, expression = expression);
        root!(mu, code = compile(mu, lisp, file, expression)?);
        let value = rebind!(run(mu, lisp, code)?);
        then(mu, lisp, value)?;
    }
}

/// Whether the text ends outside all expressions.
fn is_complete(mu: &mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, text: &str) -> bool {
    let mut reader = Reader::new(text, "prompt");
    loop {
        match reader.datum(mu, lisp) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(fault) => return !fault.incomplete,
        }
    }
}

/// Reads expressions and shows their values until the input ends. A fault ends an expression, not
/// the session.
pub fn prompt(
    mu: &mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    input: &mut (dyn BufRead + Send),
) -> Result<(), Fault> {
    let cannot = |error: std::io::Error| Fault::new(format!("the prompt: {error}"));
    let mut text = String::new();
    loop {
        write!(lisp.out, "{}", if text.is_empty() { "> " } else { "  " }).map_err(cannot)?;
        lisp.out.flush().map_err(cannot)?;
        // A collection that another thread requests does not wait for the typing user.
        if mu.blocking(|| input.read_line(&mut text)).map_err(cannot)? == 0 {
            return writeln!(lisp.out).map_err(cannot);
        }
        if !is_complete(mu, lisp, &text) {
            continue;
        }
        let result = each(mu, lisp, &text, "prompt", |mu, lisp, value| match value {
            Val::Unspecified => Ok(()),
            value => writeln!(lisp.out, "{}", print(mu, value, true)?).map_err(cannot),
        });
        if let Err(fault) = result {
            writeln!(lisp.out, "{fault}").map_err(cannot)?;
        }
        lisp.output.set(mu, Val::Nil);
        text.clear();
    }
}
