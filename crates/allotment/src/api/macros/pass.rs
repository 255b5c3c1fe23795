//! `pass!`.

/// Calls a function or method that may collect with bare arguments: `pass!(put(mu, env, =name,
/// =value)?)`.
///
/// Each `=` argument is rooted for the call and passed as a [`Local`](crate::Local); the others are
/// passed as they are. The result is rebound, as by [`rebind!`](crate::rebind). The mutator is the
/// first argument. If it is not, as in a method of the struct that holds it, it is named first:
/// `pass!(self.mu => self.put(=name)?)`.
///
/// ```
/// use allotment::{Gc, Heap, Local, Mutator, NewStr, OutOfMemory, Str, alloc, pass};
///
/// fn join<'m>(
///     mu: &'m mut Mutator,
///     a: Local<Str>,
///     b: Local<Str>,
/// ) -> Result<Gc<'m, Str>, OutOfMemory> {
///     let both = format!("{}{}", a.get(mu), b.get(mu));
///     alloc!(mu, NewStr::from(&*both))
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let text = alloc!(mu, NewStr::from("ab"))?;
///     let text = pass!(join(mu, =text, =text)?);
///     assert_eq!(&*text, "abab");
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! pass {
    ($mu:ident $(. $field:tt)? => $($call:tt)+) => {
        $crate::__find_call!(any [__pass @mutator [$mu $(. $field)?]] [] [] [] [] $($call)+)
    };
    ($($call:tt)+) => { $crate::__find_call!(place [__pass @mutator []] [] [] [] [] $($call)+) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __pass {
    // The mutator: given, or the first argument.
    (@mutator [$($mu:tt)+] [$($callee:tt)+] ($($arguments:tt)*) $after:tt) => {
        $crate::__pass!(@arguments [$($mu)+] [$($callee)+] $after [] $($arguments)*)
    };
    (@mutator [] [$($callee:tt)+] ($mu:ident $(. $field:tt)? $(, $($rest:tt)*)?) $after:tt) => {
        $crate::__pass!(@arguments [$mu $(. $field)?] [$($callee)+] $after [$mu $(. $field)?,] $($($rest)*)?)
    };
    // The arguments, one by one.
    (@arguments [$($mu:tt)+] [$($callee:tt)+] [$($after:tt)*] [$($done:tt)*]) => {
        $crate::rebind!($($mu)+, $($callee)+($($done)*) $($after)*)
    };
    (@arguments [$($mu:tt)+] $callee:tt $after:tt [$($done:tt)*] = $value:expr $(, $($rest:tt)*)?) => {{
        $crate::root!($($mu)+, __al_argument = $value);
        $crate::__pass!(@arguments [$($mu)+] $callee $after [$($done)* __al_argument,] $($($rest)*)?)
    }};
    (@arguments [$($mu:tt)+] $callee:tt $after:tt [$($done:tt)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::__pass!(@arguments [$($mu)+] $callee $after [$($done)* $value,] $($($rest)*)?)
    };
    ($($wrong:tt)*) => {
        $crate::rt::core::compile_error!(
            "pass! takes a call whose first argument is the mutator, `pass!(f(mu, =bare, other)?)`, or says it \
             first, `pass!(self.mu => self.f(=bare)?)`"
        )
    };
}
