//! From values to code: variables, calls, functions and bodies. The special forms are in `forms`.
//!
//! A program consists of lists, and lists move. So a value to compile is passed in a root
//! (`Local`), never bare.
//!
//! Refused: an interpreter of the lists themselves. It looks up every name at every use, and its
//! recursion is Rust's.

use crate::code::{Function, Op, Place};
use crate::fault::Fault;
use crate::forms::SPECIAL;
use crate::lisp::{Lisp, vector};
use crate::value::{Code, NewCode, Val, Value};
use allotment::{Gc, Local, LocalMut, Mutator, NewSlots, NewStr, alloc, rebind, root};

/// The limit on nested expressions: more would overflow the stack of Rust.
const NESTING: usize = 200;

pub struct Compiler<'a, 't, 'o> {
    pub lisp: &'a mut Lisp<'t, 'o>,
    file: &'a str,
    functions: Vec<Function>,
    /// The first line of the innermost list whose line is known.
    pub line: u32,
    pub nesting: usize,
}

/// Compiles an expression to a function without arguments.
pub fn compile<'m>(
    mu: &'m mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    file: &str,
    expression: Local<'_, Value>,
) -> Result<Gc<'m, Code>, Fault> {
    let height = lisp.constants.len();
    let mut compiler = Compiler { lisp, file, functions: Vec::new(), line: 1, nesting: 0 };
    compiler.begin(None);
    let result = compiler.expression(mu, expression, true);
    let line = compiler.line;
    match result {
        Ok(()) => compiler.finish(mu),
        Err(fault) => {
            lisp.constants.truncate(mu, height);
            Err(fault.at(file, line))
        }
    }
}

/// Removes the first element from a list.
pub fn next<'g>(mu: &'g Mutator<'_>, list: &mut LocalMut<'_, Value>) -> Option<Val<'g>> {
    let Val::Pair(pair) = list.get(mu) else { return None };
    list.set(mu, pair.cdr.load(mu));
    Some(pair.car.load(mu))
}

/// The rest of a list without its first `n` elements.
pub fn after<'g>(mu: &'g Mutator<'_>, mut list: Val<'g>, n: usize) -> Val<'g> {
    for _ in 0..n {
        let Val::Pair(pair) = list else { return Val::Nil };
        list = pair.cdr.load(mu);
    }
    list
}

/// An element of a list.
pub fn nth<'g>(mu: &'g Mutator<'_>, list: Val<'g>, n: usize) -> Option<Val<'g>> {
    let Val::Pair(pair) = after(mu, list, n) else { return None };
    Some(pair.car.load(mu))
}

/// The number of elements of a list, if it is a proper list.
pub fn length<'g>(mu: &'g Mutator<'_>, mut list: Val<'g>) -> Option<usize> {
    let mut length = 0;
    loop {
        match list {
            Val::Nil => return Some(length),
            Val::Pair(pair) => list = pair.cdr.load(mu),
            _ => return None,
        }
        length += 1;
    }
}

impl Compiler<'_, '_, '_> {
    pub fn function(&mut self) -> &mut Function {
        self.functions.last_mut().expect("compile begins one")
    }

    pub fn emit(&mut self, op: Op, operand: usize) -> usize {
        let line = self.line;
        self.function().emit(line, op, operand)
    }

    /// Ends an expression: in tail position its value is the function's.
    pub fn done(&mut self, tail: bool) {
        if tail {
            self.emit(Op::Return, 0);
        }
    }

    /// The number of a constant of this function.
    pub fn number(&mut self, mu: &Mutator<'_>, value: Val<'_>) -> usize {
        self.lisp.constants.push(mu, value);
        let below = self.function().constants;
        self.lisp.constants.len() - 1 - below
    }

    pub fn constant(&mut self, mu: &Mutator<'_>, value: Val<'_>) {
        let number = self.number(mu, value);
        self.emit(Op::Const, number);
    }

    /// Goes one level deeper.
    pub fn deeper(&mut self) -> Result<(), Fault> {
        if self.nesting == NESTING {
            return Err(Fault::new(format!("expressions are nested more than {NESTING} deep")));
        }
        self.nesting += 1;
        Ok(())
    }

    pub fn expression(&mut self, mu: &mut Mutator<'_>, e: Local<'_, Value>, tail: bool) -> Result<(), Fault> {
        self.deeper()?;
        let around = self.line;
        match e.get(mu) {
            Val::Symbol(symbol) => {
                self.variable(mu, symbol.id);
                self.done(tail);
            }
            Val::Pair(form) => {
                self.line = self.lisp.line(mu, form).unwrap_or(around);
                match form.car.load(mu) {
                    Val::Symbol(head) if self.is_special(head.id) => {
                        let name = SPECIAL[head.id as usize];
                        self.special(mu, name, e, tail).map_err(|fault| fault.at(self.file, self.line))?;
                    }
                    _ => self.call(mu, e, tail)?,
                }
            }
            Val::Nil => {
                return Err(
                    Fault::new("() is not an expression: the empty list is '()").at(self.file, self.line)
                );
            }
            value => {
                self.constant(mu, value);
                self.done(tail);
            }
        }
        self.line = around;
        self.nesting -= 1;
        Ok(())
    }

    /// Whether this is outside of all functions and blocks.
    pub fn is_outermost(&self) -> bool {
        self.functions.len() == 1 && self.functions[0].bindings.is_empty()
    }

    /// Whether a name means a special form here. A variable may hide it.
    pub fn is_special(&self, name: u32) -> bool {
        (name as usize) < SPECIAL.len() && self.find(name).is_none()
    }

    /// The visible variable of that name, unless it is a global one.
    pub fn find(&self, name: u32) -> Option<Place> {
        self.functions.iter().rev().enumerate().find_map(|(depth, function)| {
            let binding = function.bindings.iter().rev().find(|binding| binding.name == name)?;
            Some(Place { depth, slot: binding.slot, checked: binding.checked })
        })
    }

    fn variable(&mut self, mu: &Mutator<'_>, name: u32) {
        match self.find(name) {
            Some(Place { depth, slot, checked }) => {
                match depth {
                    0 => self.emit(Op::Local, slot),
                    _ => self.emit(Op::Outer, depth << 16 | slot),
                };
                if checked {
                    self.with_symbol(mu, Op::Check, name);
                }
            }
            None => self.with_symbol(mu, Op::Global, name),
        }
    }

    /// An instruction whose operand is a symbol.
    pub fn with_symbol(&mut self, mu: &Mutator<'_>, op: Op, name: u32) {
        let symbol = self.lisp.symbol(mu, name as usize);
        let number = self.number(mu, Val::Symbol(symbol));
        self.emit(op, number);
    }

    /// Pops into the variable of that name.
    pub fn assign(&mut self, mu: &Mutator<'_>, name: u32) {
        match self.find(name) {
            Some(Place { depth: 0, slot, .. }) => {
                self.emit(Op::Store, slot);
            }
            Some(Place { depth, slot, .. }) => {
                self.emit(Op::StoreOuter, depth << 16 | slot);
            }
            None => self.with_symbol(mu, Op::StoreGlobal, name),
        }
    }

    /// Pushes each element of a list. Returns the number of elements.
    pub fn push_all(&mut self, mu: &mut Mutator<'_>, list: Local<'_, Value>) -> Result<usize, Fault> {
        root!(mu, mut rest = list.get(mu));
        let mut count = 0;
        while let Some(item) = next(mu, &mut rest) {
            root!(mu, item = item);
            self.expression(mu, item, false)?;
            count += 1;
        }
        Ok(count)
    }

    fn call(&mut self, mu: &mut Mutator<'_>, e: Local<'_, Value>, tail: bool) -> Result<(), Fault> {
        if length(mu, e.get(mu)).is_none() {
            return Err(Fault::new("a call is a list without a dot").at(self.file, self.line));
        }
        let parts = self.push_all(mu, e)?;
        self.emit(if tail { Op::TailCall } else { Op::Call }, parts - 1);
        // A builtin in tail position returns to this point.
        self.done(tail);
        Ok(())
    }

    /// Begins a function within this one.
    pub fn begin(&mut self, name: Option<u32>) {
        let constants = self.lisp.constants.len();
        self.functions.push(Function { name, constants, slots: 1, ..Function::default() });
    }

    /// Makes an object of the most recently begun function.
    pub fn finish<'m>(&mut self, mu: &'m mut Mutator<'_>) -> Result<Gc<'m, Code>, Fault> {
        let function = self.functions.pop().expect("begun");
        function.check()?;
        root!(mu, constants = vector(mu, &mut self.lisp.constants, function.constants)?);
        root!(mu, instructions = alloc!(mu, NewSlots::from(&function.instructions[..]))?);
        root!(mu, lines = alloc!(mu, NewSlots::from(&function.lines[..]))?);
        let file = alloc!(mu, NewStr::from(self.file))?;
        let code = NewCode {
            instructions: instructions.get(mu),
            lines: lines.get(mu),
            constants: constants.get(mu),
            name: function.name.map_or(Val::Bool(false), |id| Val::Symbol(self.lisp.symbol(mu, id as usize))),
            file,
            required: function.required,
            rest: function.rest,
            slots: function.slots as u32,
        };
        Ok(alloc!(mu, code)?)
    }

    /// Ends the most recently begun function and pushes a closure of it.
    pub fn close(&mut self, mu: &mut Mutator<'_>) -> Result<(), Fault> {
        let code = rebind!(self.finish(mu)?);
        let number = self.number(mu, Val::Code(code));
        self.emit(Op::Closure, number);
        Ok(())
    }

    /// Pushes a closure of a function with these parameters and this body.
    pub fn lambda(
        &mut self,
        mu: &mut Mutator<'_>,
        name: Option<u32>,
        parameters: Local<'_, Value>,
        body: Local<'_, Value>,
    ) -> Result<(), Fault> {
        self.begin(name);
        root!(mu, mut rest = parameters.get(mu));
        while let Some(parameter) = next(mu, &mut rest) {
            let name = self.name(parameter)?;
            self.function().declare(name, false);
            self.function().required += 1;
        }
        if rest.get(mu) != Val::Nil {
            let name = self.name(rest.get(mu))?;
            self.function().declare(name, false);
            self.function().rest = true;
        }
        self.body(mu, body, true)?;
        self.close(mu)
    }

    /// The id of a variable's name.
    pub fn name(&self, value: Val<'_>) -> Result<u32, Fault> {
        match value {
            Val::Symbol(symbol) => Ok(symbol.id),
            other => Err(Fault::new(format!("a variable's name is a symbol, not {}", other.kind()))),
        }
    }

    /// A sequence that may begin with definitions; they are variables of the block.
    pub fn body(&mut self, mu: &mut Mutator<'_>, forms: Local<'_, Value>, tail: bool) -> Result<(), Fault> {
        let seen = self.function().bindings.len();
        self.declare_definitions(mu, forms.get(mu))?;
        let mut first = true;
        root!(mu, mut rest = forms.get(mu));
        while let Some(form) = next(mu, &mut rest) {
            if !first {
                self.emit(Op::Pop, 0);
            }
            first = false;
            root!(mu, form = form);
            let last = rest.get(mu) == Val::Nil;
            if self.is_definition(mu, form.get(mu)) {
                let name = self.definition(mu, form)?;
                self.assign(mu, name);
                self.emit(Op::Unspecified, 0);
                self.done(last && tail);
            } else {
                self.expression(mu, form, last && tail)?;
            }
        }
        if first {
            return Err(Fault::new("a body needs at least one expression"));
        }
        self.function().bindings.truncate(seen);
        Ok(())
    }

    fn is_definition(&self, mu: &Mutator<'_>, form: Val<'_>) -> bool {
        let Some(Val::Symbol(head)) = nth(mu, form, 0) else { return false };
        self.is_special(head.id) && SPECIAL[head.id as usize] == "define"
    }

    /// The name that a definition defines.
    pub fn defined<'g>(&self, mu: &'g Mutator<'_>, form: Val<'g>) -> Result<Val<'g>, Fault> {
        match nth(mu, form, 1) {
            Some(Val::Pair(header)) => Ok(header.car.load(mu)),
            Some(name) => Ok(name),
            None => Err(Fault::new("define needs a name")),
        }
    }

    fn declare_definitions<'g>(&mut self, mu: &'g Mutator<'_>, mut forms: Val<'g>) -> Result<(), Fault> {
        // As long as only functions were defined, no code has run that could see a variable without
        // a value.
        let mut checked = false;
        while let Val::Pair(pair) = forms {
            let form = pair.car.load(mu);
            if self.is_definition(mu, form) {
                let name = self.name(self.defined(mu, form)?)?;
                checked |= !matches!(nth(mu, form, 1), Some(Val::Pair(_)));
                self.function().declare(name, checked);
            } else {
                checked = true;
            }
            forms = pair.cdr.load(mu);
        }
        Ok(())
    }
}
