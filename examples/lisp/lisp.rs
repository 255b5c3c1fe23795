//! The state of the Lisp outside its values: the machine's stack, the symbols, the current output.
//!
//! The state holds values through roots only (`Stack`, `Root`), so it can be passed beside the
//! mutator to every function. The mutator is not in it: a bare value would then borrow the whole
//! state.

use crate::fault::Fault;
use crate::value::{NewPair, NewSymbol, Pair, Symbol, Val, Value};
use allotment::{
    Array, Gc, IdMap, Local, Mutator, NewArray, NewIdMap, NewStr, Root, Stack, Unboxed, alloc, rebind, root,
};
use std::collections::HashMap;
use std::io::Write;

/// Words on the machine's stack. A deeper stack is a fault.
pub const DEEPEST: usize = 4 << 20;

/// `'t` is the thread's attachment to the heap.
pub struct Lisp<'t, 'o> {
    /// Operands, arguments, and the return addresses of calls.
    pub stack: Stack<'t, Value>,
    /// Constants of the functions under compilation.
    pub constants: Stack<'t, Value>,
    /// All symbols, by id.
    symbols: Stack<'t, Symbol>,
    ids: HashMap<Box<str>, usize>,
    /// The places of functions written in Rust.
    pub builtins: HashMap<&'static str, u32>,
    /// A string port, or nothing: output then goes to `out`.
    pub output: Root<Value>,
    pub out: &'o mut dyn Write,
    /// The lines in which lists begin.
    lines: Root<IdMap<Pair, Unboxed<u32>>>,
}

impl<'t, 'o> Lisp<'t, 'o> {
    pub fn new(mu: &mut Mutator<'t>, out: &'o mut dyn Write) -> Result<Lisp<'t, 'o>, Fault> {
        let lines = alloc!(mu, NewIdMap::new())?;
        Ok(Lisp {
            stack: Stack::new(mu),
            constants: Stack::new(mu),
            symbols: Stack::new(mu),
            ids: HashMap::new(),
            builtins: HashMap::new(),
            output: Root::new(mu, Val::Nil),
            out,
            lines: Root::new(mu, lines),
        })
    }

    /// Records the line in which a list begins.
    pub fn set_line(&mut self, mu: &mut Mutator<'_>, list: Local<'_, Pair>, line: u32) -> Result<(), Fault> {
        root!(mu, lines = self.lines.get(mu), line = Unboxed(line));
        Ok(IdMap::insert(mu, lines, list, line)?)
    }

    /// The line in which a list begins, if a reader read the list since the lines were last
    /// forgotten.
    pub fn line(&self, mu: &Mutator<'_>, list: Gc<'_, Pair>) -> Option<u32> {
        self.lines.get(mu).get(mu, list).map(|Unboxed(line)| line)
    }

    /// Forgets the lines of all lists.
    pub fn forget_lines(&mut self, mu: &Mutator<'_>) {
        self.lines.get(mu).clear(mu);
    }

    /// The symbol of this name.
    pub fn intern<'m>(&mut self, mu: &'m mut Mutator<'_>, name: &str) -> Result<Gc<'m, Symbol>, Fault> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(self.symbol(mu, id));
        }
        let id = self.symbols.len();
        let text = alloc!(mu, NewStr::from(name))?;
        let symbol = alloc!(mu, NewSymbol { name: text, global: Val::Unbound, id: id as u32 })?;
        self.symbols.push(mu, symbol);
        self.ids.insert(name.into(), id);
        Ok(rebind!(mu, symbol))
    }

    /// The symbol of this id.
    pub fn symbol<'g>(&self, mu: &'g Mutator<'_>, id: usize) -> Gc<'g, Symbol> {
        self.symbols.get(mu, id).expect("ids are given by intern")
    }

    /// Pops the top of the machine's stack. The compiler ensures that there is one.
    #[inline]
    pub fn pop<'g>(&mut self, mu: &'g Mutator<'_>) -> Val<'g> {
        self.stack.pop(mu).unwrap_or(Val::Unbound)
    }

    /// Pushes the elements of a list.
    pub fn push_list<'g>(&mut self, mu: &'g Mutator<'_>, list: Val<'g>) -> Result<(), Fault> {
        let mut rest = list;
        while let Val::Pair(pair) = rest {
            if self.stack.len() > DEEPEST {
                return Err(Fault::new("the list is too long"));
            }
            self.stack.push(mu, pair.car.load(mu));
            rest = pair.cdr.load(mu);
        }
        match rest {
            Val::Nil => Ok(()),
            other => Err(Fault::new(format!("needs a list, but was given {}", other.kind()))),
        }
    }

    /// Writes text to the current output.
    pub fn print(&mut self, mu: &mut Mutator<'_>, text: &str) -> Result<(), Fault> {
        match self.output.get(mu) {
            Val::Output(port) => {
                root!(mu, port = port);
                let piece = alloc!(mu, NewStr::from(text))?;
                let pieces = port.get(mu).pieces.load(mu);
                let pair = alloc!(mu, NewPair { car: Val::Text(piece), cdr: pieces })?;
                port.get(mu).pieces.store(mu, Val::Pair(pair));
                Ok(())
            }
            _ => self
                .out
                .write_all(text.as_bytes())
                .map_err(|error| Fault::new(format!("cannot write: {error}"))),
        }
    }
}

/// Pops all words above `height` off a stack and makes them a list that ends in `tail`.
pub fn list<'m>(
    mu: &'m mut Mutator<'_>,
    stack: &mut Stack<'_, Value>,
    height: usize,
    tail: Local<'_, Value>,
) -> Result<Val<'m>, Fault> {
    let mut list = tail.get(mu);
    while stack.len() > height
        && let Some(item) = stack.pop(mu)
    {
        list = Val::Pair(alloc!(mu, NewPair { car: item, cdr: list })?);
    }
    Ok(rebind!(mu, list))
}

/// Pops all words above `height` off a stack and makes them a vector.
pub fn vector<'m>(
    mu: &'m mut Mutator<'_>,
    stack: &mut Stack<'_, Value>,
    height: usize,
) -> Result<Gc<'m, Array<Value>>, Fault> {
    let vector = alloc!(mu, NewArray::new(stack.len() - height, Val::Nil))?;
    for (at, slot) in (height..).zip(vector.as_ref()) {
        slot.store(mu, stack.get(mu, at).unwrap_or(Val::Nil));
    }
    stack.truncate(mu, height);
    Ok(rebind!(mu, vector))
}
