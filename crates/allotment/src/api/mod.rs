//! The safe API: the borrow checker guards a heap that moves every object.
//!
//! **The rule: a bare pointer is a shared borrow of the mutator; a safepoint is an exclusive one.**
//! So no bare pointer is alive at a safepoint, at no cost. A program that breaks the rule does not
//! compile; `docs/E0502.md` in the repository explains the errors.
//!
//! A safepoint is a point where objects may move: in an allocation,
//! [`safepoint`](crate::Mutator::safepoint), [`collect`](crate::Mutator::collect),
//! [`blocking`](crate::Mutator::blocking). To a caller, every function that takes `&mut Mutator` is
//! a safepoint. The lifetime of a shared borrow of the mutator is called a span.
//!
//! ```
//! use allotment::{Field, Heap, Object, OutOfMemory, alloc, root};
//!
//! #[derive(Object)]
//! struct Node {
//!     next: Field<Option<Node>>,
//!     key: u64,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
//! heap.attach(|mu| {
//!     // A root survives every safepoint.
//!     root!(mu, first = alloc!(mu, NewNode { next: None, key: 1 })?);
//!     // A bare pointer survives those that list it.
//!     let mut second = alloc!(mu, NewNode { next: None, key: 2 })?;
//!     let third = alloc!(mu, [second] => NewNode { next: None, key: 3 })?;
//!     first.get(mu).next.store(mu, Some(second));
//!     second.next.store(mu, Some(third));
//!     assert_eq!(first.get(mu).next.load(mu).map(|node| node.key), Some(2));
//!     Ok::<(), OutOfMemory>(())
//! })??;
//! # Ok(())
//! # }
//! ```
//!
//! `T` is an object type, made by [`#[derive(Object)]`](macro@crate::Object) or one of the
//! library's: [`Array`], [`Slots`], [`Bytes`], [`Str`], [`Any`]. `W` is a kind of [`Word`]: an
//! object type, an `Option` of one, an immediate ([`Unboxed`]), or an enum of these with
//! [`#[derive(Word)]`](macro@crate::Word).
//!
//! | type | meaning | survives a safepoint | costs |
//! |---|---|---|---|
//! | [`Gc<'g, T>`](Gc) | bare pointer; `'g` borrows the mutator | no | nothing |
//! | [`Local<'r, W>`](Local) | root in this Rust frame (`root!`) | yes | a link; a load per use |
//! | [`Stack<'t, W>`](Stack) | any number of roots of this thread | yes | as a `Vec` |
//! | [`Root<W>`](Root) | owned root, `Send`, lives anywhere | yes | an entry in a table |
//! | [`Field<W>`](Field) | slot in an object | it is the heap | the barriers |
//!
//! The macros carry bare values over a safepoint: [`alloc!`](crate::alloc) its live list,
//! [`keep!`](crate::keep) the list of any expression, [`pass!`](crate::pass) arguments,
//! [`rebind!`](crate::rebind) and [`ret!`](crate::ret) results.
//!
//! Refused:
//!
//! - A brand on every type: `'gc` everywhere, and no safepoint in running code.
//! - Handle scopes: an indirection for every local.
//! - Checks at run time.

/// Makes the debug form of a type its name: whatever is inside cannot be read without a mutator.
macro_rules! debug_is_name {
    ($name:ident<$($lifetime:lifetime,)? $parameter:ident: $bound:ident>) => {
        impl<$parameter: $bound> std::fmt::Debug for $name<$($lifetime,)? $parameter> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

mod alloc;
mod any;
mod array;
mod call;
mod carry;
mod field;
mod fields;
mod fixnum;
mod gc;
mod immediate;
mod large;
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
