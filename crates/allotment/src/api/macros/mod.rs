//! The macros of the safe API. Each is safe to use, and so is each macro in their expansions, even
//! if a program calls it by hand. Five rules ensure this:
//!
//! 1. No token of the user stands inside `unsafe`: no expression, no place, no variable of a list,
//!    no reborrow of the mutator. (`unsafe` would dereference a raw pointer and read a `static
//!    mut`.)
//! 2. No user code runs between the step that forgets a span and the step that gives a span. There
//!    a macro mentions only the mutator. It is a variable of type `&mut Mutator`, or one field of a
//!    variable of type `&mut S`, where `S` has no `Deref` at all: the compiler then has nothing to
//!    call. `rt::exact` and `rt::holder` ask for both types by a type parameter, to which nothing
//!    is coerced. A parameter `&&mut S` would accept anything that dereferences to a `&mut S`.
//!    `.await` is not a field. `__exact!` checks this rule.
//! 3. An expression of the user is bound in its own statement before a span is forgotten, so that
//!    its temporaries are gone by then.
//! 4. Every path begins with `$crate`, and no macro calls a method of a type of the user.
//! 5. A macro that writes `unsafe` checks these rules itself, in the same rule of the macro.

mod alloc;
mod call;
mod derive;
mod find;
mod keep;
mod pass;
mod rebind;
mod root;

/// Compiles for a mutator that satisfies rule 2. Every macro checks this before it reborrows the
/// mutator, even a macro that is called by hand.
#[doc(hidden)]
#[macro_export]
macro_rules! __exact {
    ($mu:ident) => {
        $crate::rt::exact(&$mu)
    };
    ($holder:ident . await) => {
        $crate::rt::core::compile_error!(
            "the mutator is a variable, or a field of a `&mut`: `.await` is not a field, it runs a future"
        )
    };
    ($holder:ident . $field:tt) => {{
        // `0.1` is one token but two fields.
        const _: () = $crate::rt::one_field($crate::rt::core::stringify!($field));
        $crate::rt::holder(&$holder);
        // This closure is never called. `.await` does not compile in it, whatever name the token
        // has.
        let _ = || $crate::rt::exact(&$holder.$field);
    }};
}
