//! The safe API: the borrow checker guards a heap that moves everything.
//!
//! **The rule: a bare pointer is a shared borrow of the mutator; a safepoint is an exclusive one.** So no
//! bare pointer is alive at a safepoint, nothing is paid for that, and a program that breaks the rule does not
//! compile (`docs/E0502.md` says what its errors mean).
//!
//! | type | what it is | survives a safepoint | costs |
//! |---|---|---|---|
//! | [`Gc<'g, T>`](Gc) | bare pointer; `'g` borrows the mutator | no | nothing |
//! | [`Local<'r, W>`](Local) | root in this Rust frame (`root!`) | yes | a link, and a load for each use |
//! | [`Stack<'t, W>`](Stack) | any number of roots of this thread | yes | as a `Vec` |
//! | [`Root<W>`](Root) | owned root, `Send`, lives anywhere | yes | an entry in a table |
//! | [`Field<W>`](Field) | slot in an object | it is the heap | the barriers |
//!
//! The macros carry bare values over a safepoint: [`alloc!`](crate::alloc) its live list, [`keep!`](crate::keep) any
//! expression's, [`pass!`](crate::pass) arguments, [`rebind!`](crate::rebind) and [`ret!`](crate::ret) results.
//!
//! Refused: a brand on every type (`'gc` everywhere, no safepoint in running code), handle scopes (an indirection for every
//! local), checks at run time.

mod alloc;
mod any;
mod array;
mod call;
mod carry;
mod field;
mod fixnum;
mod gc;
mod immediate;
mod local;
mod macros;
mod plain;
mod root;
#[doc(hidden)]
pub mod rt;
mod stack;
mod tagged;
mod text;
mod word;

pub use alloc::New;
pub use any::{Any, Downcast};
pub use array::{Array, NewArray};
pub use call::Call;
pub use carry::Carry;
pub use field::{Field, SlotField, WeakField};
pub use fixnum::Fixnum;
pub use gc::{Gc, Object};
pub use immediate::Immediate;
pub use local::{Local, LocalMut};
pub use plain::{NewSlots, Plain, Scalar, Slots};
pub use root::{Root, WeakRoot, WrongHeap};
pub use stack::Stack;
pub use tagged::Pointer;
pub use text::{Bytes, NewBytes, NewStr, Str};
pub use word::{Bare, Maybe, Unboxed, Word};
