//! The derives of the crate `allotment`, which re-exports them and documents their use.
//!
//! A derive sorts the parts of a type and writes one call of a macro of the library. That macro
//! writes the code. The derive writes nothing unsafe itself, for two reasons. It has no `$crate`,
//! so a name of the user could capture its paths. And it sees tokens where the compiler sees types.
//!
//! | derive | on | makes |
//! |---|---|---|
//! | `Object` | `struct Node { next: Field<Option<Node>>, key: u64 }` | object type and `NewNode` |
//! | `Word` | `#[word(Value)] enum Val<'g> { Nil, Int(i32), Pair(Gc<'g, Pair>) }` | word `Value` |
//! | `Carry` | `struct State<'g> { list: Val<'g>, count: usize }` | a struct that live lists take |

mod carry;
mod object;
mod parts;
mod word;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

fn expand(
    input: TokenStream,
    derive: fn(DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(input).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a struct an object type of the heap, with an initialiser.
///
/// For `Node` the initialiser is `NewNode`: its fields are the bare values of the slots and the
/// plain data. `#[object(new = Other)]` gives it another name.
///
/// - A field of type `Field<W>` or `WeakField<T>` is a slot. Every other field is plain data: `Send
///   + Sync + 'static`, without drop glue, aligned to at most 8 bytes.
/// - A type parameter may be used inside `Field<..>` and `WeakField<..>` only.
///
/// `#[object(crate = path)]` gives the path of the library, if it is not `::allotment`.
#[proc_macro_derive(Object, attributes(object))]
pub fn derive_object(input: TokenStream) -> TokenStream {
    expand(input, object::derive)
}

/// Makes an enum the bare value of a kind of word: immediates and pointers in 64 bits.
///
/// `#[word(Value)]` names the word, which the derive declares. The enum is `Copy` and has at most
/// one parameter, the span's lifetime. Its variants hold nothing or one value: a pointer (`Gc<'g,
/// T>`, or an `Option` of it) or an immediate (an integer of up to 32 bits, `f32`, `char`, `bool`,
/// `Fixnum`).
///
/// `#[word(Value, crate = path)]` gives the path of the library, if it is not `::allotment`.
#[proc_macro_derive(Word, attributes(word))]
pub fn derive_word(input: TokenStream) -> TokenStream {
    expand(input, word::derive)
}

/// Lets a struct of bare values and plain data stand in live lists.
///
/// Its first lifetime is the span; others are kept. `#[carry(crate = path)]` gives the path of the
/// library, if it is not `::allotment`.
#[proc_macro_derive(Carry, attributes(carry))]
pub fn derive_carry(input: TokenStream) -> TokenStream {
    expand(input, carry::derive)
}
