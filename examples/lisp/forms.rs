//! The special forms: forms that look like calls but are not.
//!
//! Each compiles to a handful of instructions. None is rewritten into other lists first, so none
//! allocates. A program may give their names to variables, which then hide them.

use crate::code::Op;
use crate::compiler::{Compiler, after, length, next, nth};
use crate::fault::Fault;
use crate::value::{Val, Value};
use allotment::{Local, Mutator, root};

/// The first symbols, so that a symbol's id tells whether it names a special form.
pub const SPECIAL: [&str; 19] = [
    "quote",
    "if",
    "define",
    "set!",
    "lambda",
    "let",
    "let*",
    "letrec",
    "begin",
    "cond",
    "case",
    "and",
    "or",
    "when",
    "unless",
    "do",
    "quasiquote",
    "assert",
    "letrec*",
];

pub type Done = Result<(), Fault>;

impl Compiler<'_, '_, '_> {
    pub fn special(&mut self, mu: &mut Mutator<'_>, name: &str, e: Local<'_, Value>, tail: bool) -> Done {
        let (least, most) = match name {
            "quote" | "quasiquote" | "assert" => (1, 1),
            "if" => (2, 3),
            "set!" => (2, 2),
            "define" | "lambda" | "let" | "let*" | "letrec" | "letrec*" | "do" => (2, usize::MAX),
            "begin" | "cond" | "case" | "when" | "unless" => (1, usize::MAX),
            _ => (0, usize::MAX),
        };
        let parts = length(mu, after(mu, e.get(mu), 1))
            .ok_or_else(|| Fault::new(format!("{name}: a list without a dot")))?;
        if parts < least || parts > most {
            let wanted = if least == most { format!("{least}") } else { format!("at least {least}") };
            return Err(Fault::new(format!("{name} needs {wanted} parts and has {parts}")));
        }
        root!(mu, first = nth(mu, e.get(mu), 1).unwrap_or(Val::Nil));
        root!(mu, rest = after(mu, e.get(mu), 2));
        match name {
            "quote" => {
                self.constant(mu, first.get(mu));
                self.done(tail);
                Ok(())
            }
            "if" => self.conditional(mu, first, rest, tail),
            "define" => self.global_definition(mu, e, tail),
            "set!" => self.assignment(mu, first, rest, tail),
            "lambda" => {
                self.lambda(mu, None, first, rest)?;
                self.done(tail);
                Ok(())
            }
            "let" if matches!(first.get(mu), Val::Symbol(_)) => self.named_let(mu, first, rest, tail),
            "let" => self.let_at_once(mu, first, rest, tail),
            "let*" => self.let_in_turn(mu, first, rest, tail),
            "letrec" | "letrec*" => self.letrec(mu, first, rest, tail),
            "begin" => {
                root!(mu, forms = after(mu, e.get(mu), 1));
                self.sequence(mu, forms, tail)
            }
            "when" | "unless" => {
                self.expression(mu, first, false)?;
                let over = self.emit(if name == "when" { Op::JumpFalse } else { Op::JumpTrue }, 0);
                self.sequence(mu, rest, tail)?;
                self.otherwise_nothing(over, tail)
            }
            "cond" => {
                root!(mu, clauses = after(mu, e.get(mu), 1));
                self.cond(mu, clauses, tail)
            }
            "case" => self.case(mu, first, rest, tail),
            "and" | "or" => {
                root!(mu, forms = after(mu, e.get(mu), 1));
                self.and_or(mu, name == "and", forms, tail)
            }
            "do" => self.r#do(mu, first, rest, tail),
            "quasiquote" => {
                self.quasi(mu, first, 1)?;
                self.done(tail);
                Ok(())
            }
            _ => self.assertion(mu, first, tail),
        }
    }

    /// Expressions of which the last gives the value.
    pub fn sequence(&mut self, mu: &mut Mutator<'_>, forms: Local<'_, Value>, tail: bool) -> Done {
        root!(mu, mut rest = forms.get(mu));
        let mut any = false;
        while let Some(form) = next(mu, &mut rest) {
            if any {
                self.emit(Op::Pop, 0);
            }
            any = true;
            root!(mu, form = form);
            let last = rest.get(mu) == Val::Nil;
            self.expression(mu, form, last && tail)?;
        }
        if !any {
            self.emit(Op::Unspecified, 0);
            self.done(tail);
        }
        Ok(())
    }

    /// Ends a branch. The other branch, which begins at that jump, has no value.
    pub fn otherwise_nothing(&mut self, jump: usize, tail: bool) -> Done {
        let end = (!tail).then(|| self.emit(Op::Jump, 0));
        self.function().land(jump);
        self.emit(Op::Unspecified, 0);
        self.done(tail);
        end.into_iter().for_each(|end| self.function().land(end));
        Ok(())
    }

    pub fn conditional(
        &mut self,
        mu: &mut Mutator<'_>,
        test: Local<'_, Value>,
        branches: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        self.expression(mu, test, false)?;
        let over = self.emit(Op::JumpFalse, 0);
        root!(mu, then = nth(mu, branches.get(mu), 0).unwrap_or(Val::Nil));
        self.expression(mu, then, tail)?;
        let Some(other) = nth(mu, branches.get(mu), 1) else { return self.otherwise_nothing(over, tail) };
        root!(mu, other = other);
        let end = (!tail).then(|| self.emit(Op::Jump, 0));
        self.function().land(over);
        self.expression(mu, other, tail)?;
        end.into_iter().for_each(|end| self.function().land(end));
        Ok(())
    }

    /// Pushes the value of a definition. Returns the name defined.
    pub fn definition(&mut self, mu: &mut Mutator<'_>, form: Local<'_, Value>) -> Result<u32, Fault> {
        let name = self.name(self.defined(mu, form.get(mu))?)?;
        root!(mu, rest = after(mu, form.get(mu), 2));
        if let Some(Val::Pair(header)) = nth(mu, form.get(mu), 1) {
            root!(mu, parameters = header.cdr.load(mu));
            self.lambda(mu, Some(name), parameters, rest)?;
            return Ok(name);
        }
        if length(mu, rest.get(mu)) != Some(1) {
            return Err(Fault::new("define needs a name and one expression"));
        }
        root!(mu, value = nth(mu, rest.get(mu), 0).unwrap_or(Val::Nil));
        self.named_expression(mu, name, value)?;
        Ok(name)
    }

    /// An expression; if it is a `lambda`, the function has that name.
    pub fn named_expression(&mut self, mu: &mut Mutator<'_>, name: u32, e: Local<'_, Value>) -> Done {
        if let Some(Val::Symbol(head)) = nth(mu, e.get(mu), 0)
            && self.is_special(head.id)
            && SPECIAL[head.id as usize] == "lambda"
            && length(mu, e.get(mu)).is_some_and(|parts| parts > 2)
        {
            root!(mu, parameters = nth(mu, e.get(mu), 1).unwrap_or(Val::Nil), body = after(mu, e.get(mu), 2));
            return self.lambda(mu, Some(name), parameters, body);
        }
        self.expression(mu, e, false)
    }

    pub fn global_definition(&mut self, mu: &mut Mutator<'_>, form: Local<'_, Value>, tail: bool) -> Done {
        if !self.is_outermost() {
            return Err(Fault::new(
                "define is allowed outside of functions or in a body, not in another form",
            ));
        }
        let name = self.definition(mu, form)?;
        if (name as usize) < SPECIAL.len() {
            return Err(Fault::new(format!(
                "{} is a special form and cannot be defined",
                SPECIAL[name as usize]
            )));
        }
        self.with_symbol(mu, Op::Define, name);
        self.emit(Op::Unspecified, 0);
        self.done(tail);
        Ok(())
    }

    pub fn assignment(
        &mut self,
        mu: &mut Mutator<'_>,
        name: Local<'_, Value>,
        rest: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        root!(mu, value = nth(mu, rest.get(mu), 0).unwrap_or(Val::Nil));
        let name = self.name(name.get(mu))?;
        self.expression(mu, value, false)?;
        self.assign(mu, name);
        self.emit(Op::Unspecified, 0);
        self.done(tail);
        Ok(())
    }

    pub fn and_or(&mut self, mu: &mut Mutator<'_>, and: bool, forms: Local<'_, Value>, tail: bool) -> Done {
        let mut ends = Vec::new();
        root!(mu, mut rest = forms.get(mu));
        if rest.get(mu) == Val::Nil {
            self.constant(mu, Val::Bool(and));
            self.done(tail);
        }
        while let Some(form) = next(mu, &mut rest) {
            root!(mu, form = form);
            if rest.get(mu) == Val::Nil {
                self.expression(mu, form, tail)?;
            } else {
                self.expression(mu, form, false)?;
                ends.push(self.emit(if and { Op::And } else { Op::Or }, 0));
            }
        }
        if !ends.is_empty() {
            ends.into_iter().for_each(|end| self.function().land(end));
            self.done(tail);
        }
        Ok(())
    }

    /// Clauses, each a head and a body. The first clause that fits is taken; `(else ...)` fits.
    /// `compile` is called for each of the others. The jumps that it adds to the list meet at the
    /// end.
    pub fn clauses(
        &mut self,
        mu: &mut Mutator<'_>,
        clauses: Local<'_, Value>,
        tail: bool,
        shape: &str,
        mut compile: impl FnMut(
            &mut Self,
            &mut Mutator<'_>,
            Local<'_, Value>,
            Local<'_, Value>,
            &mut Vec<usize>,
        ) -> Done,
    ) -> Done {
        let mut ends = Vec::new();
        let mut otherwise = false;
        root!(mu, mut rest = clauses.get(mu));
        while !otherwise && let Some(clause) = next(mu, &mut rest) {
            root!(
                mu,
                body = after(mu, clause, 1),
                head = nth(mu, clause, 0).ok_or_else(|| Fault::new(shape))?
            );
            otherwise = self.is_else(mu, head.get(mu));
            if otherwise {
                self.sequence(mu, body, tail)?;
            } else {
                compile(self, mu, head, body, &mut ends)?;
            }
        }
        if !otherwise {
            self.emit(Op::Unspecified, 0);
            self.done(tail);
        }
        ends.into_iter().for_each(|end| self.function().land(end));
        Ok(())
    }

    /// Ends a clause that the jump `over` skips.
    pub fn end_clause(&mut self, over: usize, tail: bool, ends: &mut Vec<usize>) {
        ends.extend((!tail).then(|| self.emit(Op::Jump, 0)));
        self.function().land(over);
    }

    /// Whether the clause is `(else ...)`.
    pub fn is_else(&self, mu: &Mutator<'_>, first: Val<'_>) -> bool {
        matches!(first, Val::Symbol(symbol) if &*symbol.name.load(mu) == "else" && self.find(symbol.id).is_none())
    }

    pub fn cond(&mut self, mu: &mut Mutator<'_>, clauses: Local<'_, Value>, tail: bool) -> Done {
        let shape = "cond: a clause is (test expression ...)";
        self.clauses(mu, clauses, tail, shape, |this, mu, test, body, ends| {
            this.expression(mu, test, false)?;
            if body.get(mu) == Val::Nil {
                // The test's value is the clause's value. In tail position the target of the jump
                // must return.
                let over = this.emit(Op::Or, 0);
                let next = this.emit(Op::Jump, 0);
                this.function().land(over);
                this.done(tail);
                this.end_clause(next, tail, ends);
                return Ok(());
            }
            let arrow = matches!(nth(mu, body.get(mu), 0), Some(Val::Symbol(s)) if &*s.name.load(mu) == "=>");
            if arrow && length(mu, body.get(mu)) == Some(2) {
                let slot = this.function().reserve();
                this.emit(Op::Store, slot);
                this.emit(Op::Local, slot);
                let over = this.emit(Op::JumpFalse, 0);
                root!(mu, receiver = nth(mu, body.get(mu), 1).unwrap_or(Val::Nil));
                this.expression(mu, receiver, false)?;
                this.emit(Op::Local, slot);
                this.emit(if tail { Op::TailCall } else { Op::Call }, 1);
                this.done(tail);
                this.end_clause(over, tail, ends);
                return Ok(());
            }
            let over = this.emit(Op::JumpFalse, 0);
            this.sequence(mu, body, tail)?;
            this.end_clause(over, tail, ends);
            Ok(())
        })
    }

    pub fn case(
        &mut self,
        mu: &mut Mutator<'_>,
        key: Local<'_, Value>,
        clauses: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        self.expression(mu, key, false)?;
        let slot = self.function().reserve();
        self.emit(Op::Store, slot);
        let shape = "case: a clause is ((datum ...) expression ...)";
        self.clauses(mu, clauses, tail, shape, |this, mu, data, body, ends| {
            root!(mu, mut rest = data.get(mu));
            let mut hits = Vec::new();
            while let Some(datum) = next(mu, &mut rest) {
                this.constant(mu, datum);
                this.emit(Op::Local, slot);
                this.emit(Op::Same, 0);
                hits.push(this.emit(Op::JumpTrue, 0));
            }
            let over = this.emit(Op::Jump, 0);
            hits.into_iter().for_each(|hit| this.function().land(hit));
            this.sequence(mu, body, tail)?;
            this.end_clause(over, tail, ends);
            Ok(())
        })
    }

    /// Pushes a function written in Rust, even if the program uses its name for something else.
    pub fn builtin(&mut self, mu: &Mutator<'_>, name: &str) {
        let value = self.lisp.builtins.get(name).map_or(Val::Unbound, |&index| Val::Builtin(index));
        self.constant(mu, value);
    }

    pub fn assertion(&mut self, mu: &mut Mutator<'_>, test: Local<'_, Value>, tail: bool) -> Done {
        self.expression(mu, test, false)?;
        let holds = self.emit(Op::JumpTrue, 0);
        self.builtin(mu, "assertion-failed");
        self.constant(mu, test.get(mu));
        self.emit(Op::Call, 1);
        self.emit(Op::Pop, 0);
        self.function().land(holds);
        self.emit(Op::Unspecified, 0);
        self.done(tail);
        Ok(())
    }
}
