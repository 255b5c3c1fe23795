//! The search for the call that a macro means: `rebind!(f(mu, x)?.unwrap())`.
//!
//! The macro means the last suitable group of arguments, because a receiver may have arguments too:
//! `all.of(kind).next(mu)`. It never means the argument of a method of `Option` or `Result`; these
//! methods are known by name. In `f(mu).unwrap_or(x)` the mutator is not `x`. Nothing here writes
//! `unsafe`, and no token changes: the macro only groups tokens.

/// `f(mu, x)?.unwrap()` becomes `[f] (mu, x) [?.unwrap()]`, after `$then`: the name of a macro,
/// and the tokens that this macro wants back.
///
/// In mode `any` each group is suitable. In mode `place` a suitable group begins with a mutator: a
/// variable, or a field of one. If there is no such group, it is `[]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __find_call {
    (
        $mode:ident $then:tt [$($done:tt)+] $callee:tt $group:tt [$($after:tt)*]
        . $method:ident ($($arguments:tt)*) $($rest:tt)*
    ) => {
        $crate::__method_of_results! {
            $method
            {
                $crate::__find_call!(
                    $mode $then [$($done)+ . $method ($($arguments)*)] $callee $group
                    [$($after)* . $method ($($arguments)*)] $($rest)*
                )
            }
            {
                $crate::__find_call!(
                    @group $mode $then [$($done)+ . $method] $callee $group [$($after)* . $method] ($($arguments)*) $($rest)*
                )
            }
        }
    };
    ($mode:ident $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt ($($arguments:tt)*) $($rest:tt)*) => {
        $crate::__find_call!(@group $mode $then [$($done)+] $callee $group $after ($($arguments)*) $($rest)*)
    };
    ($mode:ident $then:tt [$($done:tt)*] $callee:tt $group:tt [$($after:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__find_call!($mode $then [$($done)* $next] $callee $group [$($after)* $next] $($rest)*)
    };
    ($mode:ident [$macro:ident $($context:tt)*] $done:tt $callee:tt $group:tt $after:tt) => {
        $crate::$macro!($($context)* $callee $group $after)
    };
    // This group is the one meant, unless a later one is suitable.
    (@group any $then:tt [$($done:tt)+] $callee:tt [] $after:tt () $($rest:tt)*) => {
        $crate::__find_call!(any $then [$($done)+ ()] [$($done)+] () [] $($rest)*)
    };
    (@group any $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt ($($arguments:tt)+) $($rest:tt)*) => {
        $crate::__find_call!(any $then [$($done)+ ($($arguments)+)] [$($done)+] ($($arguments)+) [] $($rest)*)
    };
    (
        @group place $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt
        ($mu:ident $(. $field:tt)? $(, $($arguments:tt)*)?) $($rest:tt)*
    ) => {
        $crate::__find_call!(
            place $then [$($done)+ ($mu $(. $field)? $(, $($arguments)*)?)]
            [$($done)+] ($mu $(. $field)? $(, $($arguments)*)?) [] $($rest)*
        )
    };
    // This group is not suitable.
    (@group $mode:ident $then:tt [$($done:tt)+] $callee:tt $group:tt [$($after:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__find_call!($mode $then [$($done)+ $next] $callee $group [$($after)* $next] $($rest)*)
    };
}

/// Picks the first group for a method of `Option` or `Result` that takes a value or function, else
/// the second.
#[doc(hidden)]
#[macro_export]
macro_rules! __method_of_results {
    (and { $($yes:tt)* } $no:tt) => { $($yes)* };
    (and_then { $($yes:tt)* } $no:tt) => { $($yes)* };
    (expect { $($yes:tt)* } $no:tt) => { $($yes)* };
    (filter { $($yes:tt)* } $no:tt) => { $($yes)* };
    (map { $($yes:tt)* } $no:tt) => { $($yes)* };
    (map_err { $($yes:tt)* } $no:tt) => { $($yes)* };
    (map_or { $($yes:tt)* } $no:tt) => { $($yes)* };
    (map_or_else { $($yes:tt)* } $no:tt) => { $($yes)* };
    (ok_or { $($yes:tt)* } $no:tt) => { $($yes)* };
    (ok_or_else { $($yes:tt)* } $no:tt) => { $($yes)* };
    (or { $($yes:tt)* } $no:tt) => { $($yes)* };
    (or_else { $($yes:tt)* } $no:tt) => { $($yes)* };
    (unwrap_or { $($yes:tt)* } $no:tt) => { $($yes)* };
    (unwrap_or_else { $($yes:tt)* } $no:tt) => { $($yes)* };
    ($method:ident $yes:tt { $($no:tt)* }) => { $($no)* };
}
