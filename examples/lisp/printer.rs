//! From values to text.
//!
//! Printing allocates nothing in the heap, so it is ordinary Rust: bare values may even wait in a
//! `Vec`. That list of the values left to print replaces recursion: a list nested a million deep
//! must not overflow the stack of Rust.

use crate::fault::Fault;
use crate::value::Val;
use allotment::Mutator;
use std::fmt::Write;

/// A longer text counts as a structure that contains itself.
const LONGEST: usize = 16 << 20;

enum Task<'g> {
    Value(Val<'g>),
    /// The rest of a list, after its first element.
    Rest(Val<'g>),
    /// A vector from this element on.
    Elements(Val<'g>, usize),
    Text(&'static str),
}

/// The text of a value: in the form of `write` if `quoted`, else in that of `display`.
pub fn print(mu: &Mutator<'_>, value: Val<'_>, quoted: bool) -> Result<String, Fault> {
    let mut out = String::new();
    let mut tasks = vec![Task::Value(value)];
    while let Some(task) = tasks.pop() {
        if out.len() + tasks.len() > LONGEST {
            return Err(Fault::new("too long to print: does it contain itself?"));
        }
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Value(Val::Pair(pair)) => {
                out.push('(');
                tasks.push(Task::Rest(pair.cdr.load(mu)));
                tasks.push(Task::Value(pair.car.load(mu)));
            }
            Task::Rest(Val::Nil) => out.push(')'),
            Task::Rest(Val::Pair(pair)) => {
                out.push(' ');
                tasks.push(Task::Rest(pair.cdr.load(mu)));
                tasks.push(Task::Value(pair.car.load(mu)));
            }
            Task::Rest(other) => {
                out.push_str(" . ");
                tasks.push(Task::Text(")"));
                tasks.push(Task::Value(other));
            }
            Task::Value(value @ Val::Vector(_)) => {
                out.push_str("#(");
                tasks.push(Task::Elements(value, 0));
            }
            Task::Elements(Val::Vector(vector), index) if index < vector.len() => {
                if index > 0 {
                    out.push(' ');
                }
                tasks.push(Task::Elements(Val::Vector(vector), index + 1));
                tasks.push(Task::Value(vector[index].load(mu)));
            }
            Task::Elements(..) => out.push(')'),
            Task::Value(other) => atom(mu, other, quoted, &mut out),
        }
    }
    Ok(out)
}

fn atom(mu: &Mutator<'_>, value: Val<'_>, quoted: bool, out: &mut String) {
    match value {
        Val::Nil => out.push_str("()"),
        Val::Unspecified => out.push_str("#<unspecified>"),
        Val::Unbound => out.push_str("#<unbound>"),
        Val::Eof => out.push_str("#<eof>"),
        Val::Bool(true) => out.push_str("#t"),
        Val::Bool(false) => out.push_str("#f"),
        Val::Char(c) if quoted => match c {
            ' ' => out.push_str("#\\space"),
            '\n' => out.push_str("#\\newline"),
            '\t' => out.push_str("#\\tab"),
            c => {
                out.push_str("#\\");
                out.push(c);
            }
        },
        Val::Char(c) => out.push(c),
        Val::Int(n) => add(out, n),
        Val::Float(float) => out.push_str(&float_text(float.value)),
        Val::Symbol(symbol) => out.push_str(&symbol.name.load(mu)),
        Val::Text(text) if quoted => quote(&text, out),
        Val::Text(text) => out.push_str(&text),
        Val::Builtin(_) => out.push_str("#<procedure>"),
        Val::Closure(closure) => {
            out.push_str("#<procedure");
            if let Val::Symbol(name) = closure.code.load(mu).name.load(mu) {
                out.push(' ');
                out.push_str(&name.name.load(mu));
            }
            out.push('>');
        }
        Val::Table(_) => out.push_str("#<hash-table>"),
        Val::Output(_) | Val::Input(_) => out.push_str("#<port>"),
        Val::Pair(_) | Val::Vector(_) | Val::Code(_) | Val::Frame(_) => out.push_str("#<object>"),
    }
}

/// A decimal point distinguishes a float from an integer.
pub fn float_text(value: f64) -> String {
    match value {
        _ if value.is_nan() => "+nan.0".to_string(),
        f64::INFINITY => "+inf.0".to_string(),
        f64::NEG_INFINITY => "-inf.0".to_string(),
        _ => format!("{value:?}"),
    }
}

fn add(out: &mut String, value: impl std::fmt::Display) {
    write!(out, "{value}").expect("a String takes all text");
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
}
