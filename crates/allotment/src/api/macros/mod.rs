//! The macros. Each is safe to use, and so is each that they expand to, by whomever it is called. That takes these rules:
//!
//! 1. No expression of the user stands inside `unsafe`: no place, no variable of a list, no reborrow of the mutator (a raw
//!    pointer would be dereferenced there, a `static mut` read).
//! 2. Between the step that forgets a span and the one that gives a span, no code of the user runs. What stands between
//!    them of the user's is the mutator, which is mentioned several times. It is a variable of type `&mut Mutator`, or one
//!    field of a variable of type `&mut S`, where `S` has no `Deref` at all: then the compiler has nothing to call. Both types are
//!    asked by type parameters (`rt::exact`, `rt::holder`): to a parameter nothing is coerced, whereas a `&&mut S` takes whatever
//!    dereferences to a `&mut S`. `.await` is no field. `__exact!` is this rule.
//! 3. An expression of the user is bound in a statement of its own before any span is forgotten, so that
//!    its temporaries are gone by then.
//! 4. Every path begins with `$crate`, and no method is called on a type of the user.
//! 5. A macro that writes `unsafe` asks for all of this in the same rule, whoever calls it. What it hands to another macro, that
//!    one asks for again.

mod alloc;
mod call;
mod derive;
mod find;
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
    ($holder:ident . await) => {
        $crate::rt::core::compile_error!(
            "the mutator is a variable, or a field of a `&mut`: `.await` is no field, it runs a future"
        )
    };
    ($holder:ident . $field:tt) => {{
        // `0.1` is one token, and two fields.
        const _: () = $crate::rt::one_field($crate::rt::core::stringify!($field));
        $crate::rt::holder(&$holder);
        // In a closure, which nobody calls: there `.await` does not compile, whatever a token is called.
        let _ = || $crate::rt::exact(&$holder.$field);
    }};
}
