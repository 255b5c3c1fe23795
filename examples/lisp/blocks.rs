//! Forms that bind variables: `let` and its relatives, and the loops.
//!
//! The variables of a block are slots in the frame of its function, so a block costs nothing. A
//! loop is a function. Each turn enters the function again, and its variables are new each time.

use crate::code::Op;
use crate::compiler::{Compiler, after, length, next, nth};
use crate::fault::Fault;
use crate::forms::Done;
use crate::value::{Val, Value};
use allotment::{Local, Mutator, root};

impl Compiler<'_, '_, '_> {
    /// The name and the expression of `(name expression)`; `do` allows a third part.
    pub fn binding<'g>(
        &self,
        mu: &'g Mutator<'_>,
        binding: Val<'g>,
        most: usize,
    ) -> Result<(u32, Val<'g>), Fault> {
        match (nth(mu, binding, 0), nth(mu, binding, 1), length(mu, binding)) {
            (Some(name), Some(value), Some(parts)) if parts <= most => Ok((self.name(name)?, value)),
            _ => Err(Fault::new("a variable is bound as (name expression)")),
        }
    }

    /// The names of the variables.
    pub fn names(
        &self,
        mu: &Mutator<'_>,
        bindings: Local<'_, Value>,
        most: usize,
    ) -> Result<Vec<u32>, Fault> {
        let mut names = Vec::new();
        let mut list = bindings.get(mu);
        while let Val::Pair(pair) = list {
            let (name, _) = self.binding(mu, pair.car.load(mu), most)?;
            names.push(name);
            list = pair.cdr.load(mu);
        }
        Ok(names)
    }

    /// Pushes the initial values of variables. After each one calls `bind` with the name.
    pub fn initial_values(
        &mut self,
        mu: &mut Mutator<'_>,
        bindings: Local<'_, Value>,
        most: usize,
        mut bind: impl FnMut(&mut Self, &Mutator<'_>, u32),
    ) -> Done {
        root!(mu, mut rest = bindings.get(mu));
        while let Some(binding) = next(mu, &mut rest) {
            let (name, value) = self.binding(mu, binding, most)?;
            root!(mu, value = value);
            self.named_expression(mu, name, value)?;
            bind(self, mu, name);
        }
        if rest.get(mu) != Val::Nil {
            return Err(Fault::new("bindings are a list: ((name expression) ...)"));
        }
        Ok(())
    }

    /// Begins a function with these parameters.
    pub fn begin_loop(&mut self, name: Option<u32>, parameters: &[u32]) {
        self.begin(name);
        for &parameter in parameters {
            self.function().declare(parameter, false);
        }
        self.function().required = parameters.len() as u32;
    }

    pub fn let_at_once(
        &mut self,
        mu: &mut Mutator<'_>,
        bindings: Local<'_, Value>,
        body: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        let seen = self.function().bindings.len();
        let mut names = Vec::new();
        self.initial_values(mu, bindings, 2, |_, _, name| names.push(name))?;
        let slots: Vec<usize> = names.iter().map(|&name| self.function().declare(name, false)).collect();
        for slot in slots.into_iter().rev() {
            self.emit(Op::Store, slot);
        }
        self.body(mu, body, tail)?;
        self.function().bindings.truncate(seen);
        Ok(())
    }

    pub fn let_in_turn(
        &mut self,
        mu: &mut Mutator<'_>,
        bindings: Local<'_, Value>,
        body: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        let seen = self.function().bindings.len();
        self.initial_values(mu, bindings, 2, |this, _, name| {
            let slot = this.function().declare(name, false);
            this.emit(Op::Store, slot);
        })?;
        self.body(mu, body, tail)?;
        self.function().bindings.truncate(seen);
        Ok(())
    }

    pub fn letrec(
        &mut self,
        mu: &mut Mutator<'_>,
        bindings: Local<'_, Value>,
        body: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        let seen = self.function().bindings.len();
        for name in self.names(mu, bindings, 2)? {
            self.function().declare(name, true);
        }
        self.initial_values(mu, bindings, 2, |this, mu, name| this.assign(mu, name))?;
        self.body(mu, body, tail)?;
        self.function().bindings.truncate(seen);
        Ok(())
    }

    /// `(let loop ((name expression) ...) body ...)`: a function that is called at once.
    pub fn named_let(
        &mut self,
        mu: &mut Mutator<'_>,
        name: Local<'_, Value>,
        rest: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        let seen = self.function().bindings.len();
        let name = self.name(name.get(mu))?;
        let slot = self.function().declare(name, false);
        root!(mu, bindings = nth(mu, rest.get(mu), 0).unwrap_or(Val::Nil), body = after(mu, rest.get(mu), 1));
        let parameters = self.names(mu, bindings, 2)?;
        self.begin_loop(Some(name), &parameters);
        self.body(mu, body, true)?;
        self.close(mu)?;
        self.emit(Op::Store, slot);
        self.function().bindings.truncate(seen);
        self.emit(Op::Local, slot);
        self.initial_values(mu, bindings, 2, |_, _, _| ())?;
        self.emit(if tail { Op::TailCall } else { Op::Call }, parameters.len());
        self.done(tail);
        Ok(())
    }

    /// `(do ((name first step) ...) (test value ...) command ...)`: a loop is a function that calls
    /// itself.
    pub fn r#do(
        &mut self,
        mu: &mut Mutator<'_>,
        bindings: Local<'_, Value>,
        rest: Local<'_, Value>,
        tail: bool,
    ) -> Done {
        let slot = self.function().reserve();
        let names = self.names(mu, bindings, 3)?;
        self.begin_loop(None, &names);
        root!(mu, end = nth(mu, rest.get(mu), 0).unwrap_or(Val::Nil), commands = after(mu, rest.get(mu), 1));
        root!(
            mu,
            test = nth(mu, end.get(mu), 0).ok_or_else(|| Fault::new("do needs (test expression ...)"))?
        );
        self.expression(mu, test, false)?;
        let go_on = self.emit(Op::JumpFalse, 0);
        root!(mu, values = after(mu, end.get(mu), 1));
        self.sequence(mu, values, true)?;
        self.function().land(go_on);
        self.sequence(mu, commands, false)?;
        self.emit(Op::Pop, 0);
        self.emit(Op::Outer, 1 << 16 | slot);
        root!(mu, mut steps = bindings.get(mu));
        while let Some(binding) = next(mu, &mut steps) {
            // A variable without a step keeps its value.
            root!(mu, step = nth(mu, binding, 2).or_else(|| nth(mu, binding, 0)).unwrap_or(Val::Nil));
            self.expression(mu, step, false)?;
        }
        self.emit(Op::TailCall, names.len());
        self.close(mu)?;
        self.emit(Op::Store, slot);
        self.emit(Op::Local, slot);
        self.initial_values(mu, bindings, 3, |_, _, _| ())?;
        self.emit(if tail { Op::TailCall } else { Op::Call }, names.len());
        self.done(tail);
        Ok(())
    }
}
