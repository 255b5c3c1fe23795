//! The macros. Each is safe to use, which takes these rules:
//!
//! 1. No expression of the user stands inside `unsafe`, and neither does a reborrow of the mutator (a raw
//!    pointer would be dereferenced there).
//! 2. The mutator is a variable, or one field of a `&mut`, of type `&mut Mutator` exactly: a user's `Deref` could
//!    collect.
//! 3. An expression of the user is bound in a statement of its own before any span is forgotten, so that
//!    its temporaries are gone by then.
//! 4. Every path begins with `$crate`, and no method is called on a type of the user.

mod alloc;
mod call;
mod derive;
mod keep;
mod pass;
mod rebind;
mod root;

/// Compiles for a mutator as rule 2 wants it. Every macro asks before it reborrows the mutator, also one that is called by
/// hand.
#[doc(hidden)]
#[macro_export]
macro_rules! __exact {
    ($mu:ident) => {
        $crate::rt::exact(&$mu)
    };
    ($holder:ident . $field:tt) => {{
        // `0.1` is one token, and two fields.
        const _: () = $crate::rt::one_field($crate::rt::core::stringify!($field));
        $crate::rt::place(&$holder);
        $crate::rt::exact(&$holder.$field)
    }};
}
