//! `call!` and `enter!`.

/// Calls a function that takes bare arguments and may collect, without making roots: `call!(mu,
/// f(a, b))`. Operations after the call run before the result is rebound: `call!(mu, f(a, b)?)`,
/// `call!(mu, f(a, b).unwrap())`.
///
/// The function takes one [`Call`](crate::Call) and opens it with [`enter!`](crate::enter).
/// [`pass!`](crate::pass) is simpler.
///
/// ```
/// use allotment::{Call, Gc, Heap, NewStr, OutOfMemory, Str, alloc, call, enter};
///
/// fn longer<'m>(call: Call<'m, (Gc<'_, Str>, Gc<'_, Str>)>) -> Gc<'m, Str> {
///     enter!(call => mu, (a, b));
///     if a.len() > b.len() { a } else { b }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut one = alloc!(mu, NewStr::from("one"))?;
///     let three = alloc!(mu, [one] => NewStr::from("three"))?;
///     assert_eq!(&*call!(mu, longer(one, three)), "three");
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! call {
    ($mu:ident $(. $field:tt)?, $($call:tt)+) => {
        $crate::__find_call!(any [__call [$mu $(. $field)?]] [] [] [] [] $($call)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __call {
    ([$($mu:tt)+] [$($callee:tt)+] ($($argument:expr),* $(,)?) [$($after:tt)*]) => {{
        let __al_arguments = ($($argument,)*);
        // SAFETY: good now, and nothing happens before the call holds them and the mutator:
        // `__exact!` checks this.
        let __al_arguments = unsafe { $crate::rt::arguments(__al_arguments) };
        $crate::__exact!($($mu)+);
        let __al_mutator = &mut *$($mu)+;
        // SAFETY: as above.
        let __al_call = unsafe { $crate::rt::Call::new(__al_mutator, __al_arguments) };
        // The callee may be an expression. It runs while the call holds the mutator.
        let __al_value = $crate::rt::carried($($callee)+(__al_call) $($after)*);
        // SAFETY: good now, and nothing happens before it is restored.
        let __al_value = unsafe { $crate::rt::erase(__al_value) };
        let __al_span = &*$($mu)+;
        // SAFETY: as above.
        unsafe { $crate::rt::restore(__al_value, __al_span) }
    }};
    ($($wrong:tt)*) => {
        $crate::rt::core::compile_error!("call! takes a mutator and a call with bare arguments, `call!(mu, f(a, b)?)`")
    };
}

/// Opens a [`Call`](crate::Call): `enter!(call => mu, (a, b));` declares the mutator and the
/// arguments. The example at [`call!`](crate::call) uses both.
#[macro_export]
macro_rules! enter {
    ($call:ident => $mu:ident, $arguments:pat) => {
        let __al_call = $call;
        // SAFETY: restored below, with nothing in between.
        let ($mu, __al_arguments) = unsafe { $crate::rt::Call::split(__al_call) };
        let __al_span = &*$mu;
        // SAFETY: the call held the mutator until now.
        let $arguments = unsafe { $crate::rt::restore(__al_arguments, __al_span) };
    };
}
