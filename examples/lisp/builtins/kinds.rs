//! The builtins: their kinds, and their access to arguments.
//!
//! There are three kinds, by the effects that a builtin may have. A builtin that only looks takes
//! `&Mutator`: there is no safepoint, so all its values are bare. A builtin that makes something
//! takes `&mut Mutator`, and finds its arguments on the stack again after each allocation.
//! Arithmetic gives a number of Rust; the machine puts it into a word or, if it is a float, into an
//! object.
//!
//! Refused: one signature for all. `car` would pay for the live list of a call that might collect.

use crate::fault::Fault;
use crate::lisp::Lisp;
use crate::numbers::Number;
use crate::value::{Input, Output, Pair, Symbol, Table, Val, Value};
use allotment::{Array, Gc, Mutator, Str};

pub type Look = for<'g> fn(&'g Mutator<'_>, &Lisp<'_, '_>, Args) -> Result<Val<'g>, Fault>;
pub type Make = for<'m> fn(&'m mut Mutator<'_>, &mut Lisp<'_, '_>, Args) -> Result<Val<'m>, Fault>;
pub type Compute = fn(&Mutator<'_>, &Lisp<'_, '_>, Args) -> Result<Number, Fault>;

#[derive(Clone, Copy)]
pub enum Body {
    Look(Look),
    Make(Make),
    Number(Compute),
    /// The machine executes it.
    Apply,
}

#[derive(Clone, Copy)]
pub struct Builtin {
    pub name: &'static str,
    /// The least number of arguments.
    pub least: usize,
    pub most: usize,
    pub body: Body,
}

pub const ANY: usize = usize::MAX;

impl Builtin {
    pub const fn look(name: &'static str, least: usize, most: usize, look: Look) -> Builtin {
        Builtin { name, least, most, body: Body::Look(look) }
    }

    pub const fn make(name: &'static str, least: usize, most: usize, make: Make) -> Builtin {
        Builtin { name, least, most, body: Body::Make(make) }
    }

    pub const fn number(name: &'static str, least: usize, most: usize, compute: Compute) -> Builtin {
        Builtin { name, least, most, body: Body::Number(compute) }
    }

    pub fn wrong_count(&self, count: usize) -> Fault {
        let Builtin { name, least, most, .. } = *self;
        let wanted = match most {
            ANY => format!("{least} or more"),
            _ if least == most => least.to_string(),
            _ => format!("{least} to {most}"),
        };
        Fault::new(format!("{name} takes {wanted} arguments and was given {count}"))
    }
}

/// `apply`, which the machine executes.
pub const APPLY: Builtin = Builtin { name: "apply", least: 2, most: ANY, body: Body::Apply };

/// The place of a call's arguments on the stack.
#[derive(Clone, Copy)]
pub struct Args {
    pub base: usize,
    pub count: usize,
}

/// An argument of the wrong type.
pub fn wrong(wanted: &str, value: Val<'_>) -> Fault {
    Fault::new(format!("needs {wanted}, but was given {}", value.kind()))
}

/// Arguments by their type.
macro_rules! typed {
    ($($name:ident: $variant:ident => $type:ty, $wanted:literal;)*) => {
        impl Args {
            $(pub fn $name<'g>(self, mu: &'g Mutator<'_>, lisp: &Lisp<'_, '_>, n: usize) -> Result<$type, Fault> {
                match self.get(mu, lisp, n) {
                    Val::$variant(value) => Ok(value),
                    other => Err(wrong($wanted, other)),
                }
            })*
        }
    };
}
typed! {
    pair: Pair => Gc<'g, Pair>, "a pair";
    symbol: Symbol => Gc<'g, Symbol>, "a symbol";
    text: Text => Gc<'g, Str>, "a string";
    vector: Vector => Gc<'g, Array<Value>>, "a vector";
    table: Table => Gc<'g, Table>, "a hash table";
    output: Output => Gc<'g, Output>, "a string port to write to";
    input: Input => Gc<'g, Input>, "a string port to read from";
}

impl Args {
    /// An argument; a missing argument is `Unbound`.
    #[inline]
    pub fn get<'g>(self, mu: &'g Mutator<'_>, lisp: &Lisp<'_, '_>, n: usize) -> Val<'g> {
        if n < self.count { lisp.stack.get(mu, self.base + n).unwrap_or(Val::Unbound) } else { Val::Unbound }
    }

    pub fn char(self, mu: &Mutator<'_>, lisp: &Lisp<'_, '_>, n: usize) -> Result<char, Fault> {
        match self.get(mu, lisp, n) {
            Val::Char(c) => Ok(c),
            other => Err(wrong("a character", other)),
        }
    }

    /// An argument that is a count or an index.
    pub fn index(self, mu: &Mutator<'_>, lisp: &Lisp<'_, '_>, n: usize) -> Result<usize, Fault> {
        match self.get(mu, lisp, n) {
            Val::Int(n) if n.get() >= 0 => Ok(n.get() as usize),
            other => Err(wrong("an integer that is not negative", other)),
        }
    }
}

/// Replaces a call of `apply` on the stack by the call that it asks for. Returns the number of
/// arguments of that call.
pub fn spread(mu: &Mutator<'_>, lisp: &mut Lisp<'_, '_>, args: Args) -> Result<usize, Fault> {
    let list = args.get(mu, lisp, args.count - 1);
    for n in 0..args.count - 1 {
        let value = args.get(mu, lisp, n);
        lisp.stack.set(mu, args.base + n - 1, value);
    }
    lisp.stack.truncate(mu, args.base + args.count - 2);
    lisp.push_list(mu, list)?;
    Ok(lisp.stack.len() - args.base)
}
