//! Which call of an expression a macro means: `rebind!(f(mu, x)?.unwrap())`.
//!
//! It is the last group of arguments that can be meant; a receiver may have arguments of its own, `all.of(kind).next(mu)`. Methods of
//! `Option` and `Result` are known by name and never meant, so that `f(mu).unwrap_or(x)` is no call with the mutator `x`. Nothing
//! here is unsafe: tokens are put in groups, and none is changed.

/// `f(mu, x)?.unwrap()` is `[f] (mu, x) [?.unwrap()]` behind what `$then` begins with: a macro, and what it wants to know again.
///
/// With `any` every group can be meant, with `place` one that begins with a mutator: a variable, or a field of one. If there is
/// none, the group is `[]`.
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
    // A group: the one that is meant, as far as it goes.
    (@group any $then:tt [$($done:tt)+] $callee:tt [] $after:tt () $($rest:tt)*) => {
        $crate::__find_call!(any $then [$($done)+ ()] [$($done)+] () [] $($rest)*)
    };
    (@group any $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt ($($arguments:tt)+) $($rest:tt)*) => {
        $crate::__find_call!(any $then [$($done)+ ($($arguments)+)] [$($done)+] ($($arguments)+) [] $($rest)*)
    };
    (
        @group place $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt
        ($mu:ident $(, $($arguments:tt)*)?) $($rest:tt)*
    ) => {
        $crate::__find_call!(
            place $then [$($done)+ ($mu $(, $($arguments)*)?)] [$($done)+] ($mu $(, $($arguments)*)?) [] $($rest)*
        )
    };
    (
        @group place $then:tt [$($done:tt)+] $callee:tt $group:tt $after:tt
        ($holder:ident . $field:tt $(, $($arguments:tt)*)?) $($rest:tt)*
    ) => {
        $crate::__find_call!(
            place $then [$($done)+ ($holder.$field $(, $($arguments)*)?)]
            [$($done)+] ($holder.$field $(, $($arguments)*)?) [] $($rest)*
        )
    };
    // Or not.
    (@group $mode:ident $then:tt [$($done:tt)+] $callee:tt $group:tt [$($after:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__find_call!($mode $then [$($done)+ $next] $callee $group [$($after)* $next] $($rest)*)
    };
}

/// The first for a method of `Option` or `Result` that takes one value or function, else the second.
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
