//! The values of the Lisp: one 64-bit word each, an immediate or a pointer to an object of the
//! heap.
//!
//! `Value` names the word in its place (in a field, an array, a root). `Val<'g>` is the same word,
//! taken out for a span.
//!
//! Refused:
//!
//! - An enum in a box: an allocation for every integer.
//! - A struct of tag and payload: two words, which no slot holds.

use allotment::{Array, Field, Fixnum, Gc, Object, Plain, Slots, Str, Word};

/// A value, taken out of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Word)]
#[word(Value)]
pub enum Val<'g> {
    /// The empty list.
    Nil,
    /// The value of expressions that return nothing useful.
    Unspecified,
    /// The content of a variable before it has one.
    Unbound,
    /// The end of a port.
    Eof,
    Bool(bool),
    Char(char),
    /// 56 bits, the most that fit beside the variant's number.
    Int(Fixnum),
    /// A function written in Rust: its index in the table of `builtins`.
    Builtin(u32),
    Float(Gc<'g, Float>),
    Symbol(Gc<'g, Symbol>),
    Text(Gc<'g, Str>),
    Pair(Gc<'g, Pair>),
    Vector(Gc<'g, Array<Value>>),
    Closure(Gc<'g, Closure>),
    Table(Gc<'g, Table>),
    Output(Gc<'g, Output>),
    Input(Gc<'g, Input>),
    /// Only on the machine's own stack: code to return to, and its variables.
    Code(Gc<'g, Code>),
    Frame(Gc<'g, Frame>),
}

#[derive(Object)]
pub struct Pair {
    pub car: Field<Value>,
    pub cdr: Field<Value>,
}

#[derive(Object)]
pub struct Float {
    pub value: f64,
}

/// One object for each name. It holds the value of the global variable of that name.
#[derive(Object)]
pub struct Symbol {
    pub name: Field<Str>,
    pub global: Field<Value>,
    /// Its index among the symbols, by which the compiler knows it: objects move, so an address
    /// cannot identify it.
    pub id: u32,
}

/// The variables of a call. The first element is the frame of the enclosing function.
pub type Frame = Array<Value>;

#[derive(Object)]
pub struct Closure {
    pub code: Field<Code>,
    pub frame: Field<Frame>,
}

/// A compiled function.
#[derive(Object)]
pub struct Code {
    pub instructions: Field<Slots<u32>>,
    /// The source line of each instruction.
    pub lines: Field<Slots<u32>>,
    pub constants: Field<Array<Value>>,
    /// A symbol, or `#f`.
    pub name: Field<Value>,
    pub file: Field<Str>,
    pub required: u32,
    /// Whether further arguments become a list.
    pub rest: bool,
    /// Elements of a frame.
    pub slots: u32,
}

/// A hash table: each bucket is a list of entries, an entry is a pair of key and value.
#[derive(Object)]
pub struct Table {
    pub buckets: Field<Array<Value>>,
    pub entries: Plain<usize>,
}

/// A string port to write to: the written pieces, last piece first.
#[derive(Object)]
pub struct Output {
    pub pieces: Field<Value>,
}

/// A string port to read from.
#[derive(Object)]
pub struct Input {
    pub text: Field<Str>,
    /// Bytes read.
    pub position: Plain<usize>,
}

impl<'g> Val<'g> {
    /// The value of a number, or nothing if it has more than 56 bits.
    pub fn int(n: i64) -> Option<Val<'g>> {
        Fixnum::new(n).map(Val::Int)
    }

    /// All values except `#f` are true.
    pub fn is_true(self) -> bool {
        !matches!(self, Val::Bool(false))
    }

    /// The kind of value, in the words of error messages.
    pub fn kind(self) -> &'static str {
        match self {
            Val::Nil => "the empty list",
            Val::Unspecified => "nothing",
            Val::Unbound => "a variable without a value",
            Val::Eof => "the end of the port",
            Val::Bool(_) => "a boolean",
            Val::Char(_) => "a character",
            Val::Int(_) => "an integer",
            Val::Float(_) => "a number",
            Val::Symbol(_) => "a symbol",
            Val::Text(_) => "a string",
            Val::Pair(_) => "a pair",
            Val::Vector(_) => "a vector",
            Val::Builtin(_) | Val::Closure(_) => "a procedure",
            Val::Table(_) => "a hash table",
            Val::Output(_) | Val::Input(_) => "a port",
            Val::Code(_) | Val::Frame(_) => "a part of the machine",
        }
    }
}
