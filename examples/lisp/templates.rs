//! `quasiquote`: all parts that are not unquoted are constants; the rest is built at run time.

use crate::code::Op;
use crate::compiler::{Compiler, length, next, nth};
use crate::forms::Done;
use crate::lisp::list;
use crate::value::{Val, Value};
use allotment::{Local, Mutator, root};

impl Compiler<'_, '_, '_> {
    /// A template: all parts that are not unquoted are constants; the rest is built at run time.
    pub fn quasi(&mut self, mu: &mut Mutator<'_>, e: Local<'_, Value>, level: usize) -> Done {
        self.deeper()?;
        self.template(mu, e, level)?;
        self.nesting -= 1;
        Ok(())
    }

    pub fn template(&mut self, mu: &mut Mutator<'_>, e: Local<'_, Value>, level: usize) -> Done {
        if !has_unquote(mu, e.get(mu)) {
            self.constant(mu, e.get(mu));
            return Ok(());
        }
        if is_form(mu, e.get(mu), "unquote") && level == 1 {
            root!(mu, unquoted = nth(mu, e.get(mu), 1).unwrap_or(Val::Nil));
            return self.expression(mu, unquoted, false);
        }
        if let Val::Vector(vector) = e.get(mu) {
            let height = self.lisp.stack.len();
            vector.iter(mu).for_each(|item| self.lisp.stack.push(mu, item));
            root!(mu, nil = Val::Nil);
            root!(mu, items = list(mu, &mut self.lisp.stack, height, nil)?);
            self.builtin(mu, "list->vector");
            self.quasi(mu, items, level)?;
            self.emit(Op::Call, 1);
            return Ok(());
        }
        let inner = match e.get(mu) {
            e if is_form(mu, e, "quasiquote") => level + 1,
            e if is_form(mu, e, "unquote") || is_form(mu, e, "unquote-splicing") => level - 1,
            _ => level,
        };
        // The list is appended from lists: lists of one item each, and unquoted lists as they are.
        self.builtin(mu, "append");
        let mut lists = 0;
        root!(mu, mut rest = e.get(mu));
        while let Val::Pair(_) = rest.get(mu)
            && !(lists > 0 && NAMES.iter().any(|name| is_form(mu, rest.get(mu), name)))
        {
            root!(mu, item = next(mu, &mut rest).unwrap_or(Val::Nil));
            if is_form(mu, item.get(mu), "unquote-splicing") && inner == 1 {
                root!(mu, unquoted = nth(mu, item.get(mu), 1).unwrap_or(Val::Nil));
                self.expression(mu, unquoted, false)?;
            } else {
                self.builtin(mu, "list");
                self.quasi(mu, item, inner)?;
                self.emit(Op::Call, 1);
            }
            lists += 1;
        }
        self.quasi(mu, rest.local(), inner)?;
        self.emit(Op::Call, lists + 1);
        Ok(())
    }
}

/// The forms that a template recognises.
const NAMES: [&str; 3] = ["quasiquote", "unquote", "unquote-splicing"];

/// Whether a value is `(name something)`.
fn is_form(mu: &Mutator<'_>, value: Val<'_>, name: &str) -> bool {
    matches!(nth(mu, value, 0), Some(Val::Symbol(symbol)) if &*symbol.name.load(mu) == name)
        && length(mu, value) == Some(2)
}

/// Whether it contains an unquoted part.
fn has_unquote(mu: &Mutator<'_>, value: Val<'_>) -> bool {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Val::Pair(_) if is_form(mu, value, "unquote") || is_form(mu, value, "unquote-splicing") => {
                return true;
            }
            Val::Pair(pair) => left.extend([pair.car.load(mu), pair.cdr.load(mu)]),
            Val::Vector(vector) => left.extend(vector.iter(mu)),
            _ => {}
        }
    }
    false
}
