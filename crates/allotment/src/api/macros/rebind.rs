//! `rebind!` and `ret!`.

/// Gives a bare value the span that it can have now.
///
/// If a function took `&'m mut Mutator` and returned a pointer, that pointer holds the mutator
/// exclusively. After `rebind!` the pointer holds it as any bare pointer does. The macro also
/// serves a bare value that a loop carried, when it is returned: `Ok(rebind!(mu, list))`. It has
/// two forms:
///
/// - `rebind!(mu, value)`: `mu` is a variable, or a field of a `&mut`, and `value` any expression.
/// - `rebind!(f(mu, x)?)`: the mutator is the first argument of a function or method, and the macro
///   finds it there. Any operations may follow: `rebind!(f(mu).unwrap())`. If several groups of
///   arguments begin with a variable, the macro takes the last, but not that of a method of
///   `Option` or `Result`: in `f(mu).unwrap_or(x)` it takes `mu`. If that choice is wrong, use the
///   first form: `rebind!(mu, f(mu).max(x))`.
///
/// ```
/// use allotment::{Gc, Heap, Mutator, NewStr, OutOfMemory, Str, alloc, rebind};
///
/// fn make<'m>(mu: &'m mut Mutator) -> Result<Gc<'m, Str>, OutOfMemory> {
///     alloc!(mu, NewStr::from("made"))
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let text = rebind!(make(mu)?);
///     assert_eq!(mu.identity_hash(text), mu.identity_hash(text));
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! rebind {
    ($mu:ident $(. $field:tt)?, $value:expr $(,)?) => {
        $crate::__rebind!([$mu $(. $field)?] $value)
    };
    ($($call:tt)+) => { $crate::__find_call!(place [__rebind_call] [] [] [] [] $($call)+) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __rebind {
    ([$($mu:tt)+] $value:expr) => {{
        let __al_value = $crate::rt::carried($value);
        // SAFETY: good now, and nothing happens before it is restored: `__exact!` checks this.
        let __al_value = unsafe { $crate::rt::erase(__al_value) };
        $crate::__exact!($($mu)+);
        let __al_span = &*$($mu)+;
        // SAFETY: as above.
        unsafe { $crate::rt::restore(__al_value, __al_span) }
    }};
}

/// The mutator is the first argument of the call that `find.rs` found.
#[doc(hidden)]
#[macro_export]
macro_rules! __rebind_call {
    ([$($callee:tt)+] ($mu:ident $(. $field:tt)? $(, $($rest:tt)*)?) [$($after:tt)*]) => {
        $crate::rebind!($mu $(. $field)?, $($callee)+($mu $(. $field)? $(, $($rest)*)?) $($after)*)
    };
    ($($wrong:tt)*) => {
        $crate::rt::core::compile_error!(
            "rebind! takes a mutator and a value, `rebind!(mu, value)`, or a call whose first argument is the \
             mutator, `rebind!(f(mu, x)?)`"
        )
    };
}

/// Returns a bare value from one arm of a function that otherwise goes on: `ret!(mu, Ok(value))` is
/// `return rebind!(mu, Ok(value))`.
///
/// With a plain `return Ok(value)`, the value's borrow of the mutator lasts for the caller's
/// lifetime, throughout the function. Every later safepoint is then error E0502.
///
/// ```
/// use allotment::{Gc, Heap, Local, Mutator, NewStr, OutOfMemory, Str, alloc, pass, ret};
///
/// fn or_default<'m>(
///     mu: &'m mut Mutator,
///     text: Local<Option<Str>>,
/// ) -> Result<Gc<'m, Str>, OutOfMemory> {
///     if let Some(text) = text.get(mu) {
///         ret!(mu, Ok(text));
///     }
///     alloc!(mu, NewStr::from("default"))
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let text = pass!(or_default(mu, =None)?);
///     assert_eq!(&*text, "default");
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! ret {
    ($mu:ident $(. $field:tt)?, $value:expr $(,)?) => {
        return $crate::rebind!($mu $(. $field)?, $value)
    };
}
