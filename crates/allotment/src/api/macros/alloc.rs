//! `alloc!`.

/// Allocates: `alloc!(mu, NewNode { .. })` is a `Result<Gc<Node>, OutOfMemory>`.
///
/// The call is a safepoint, so bare pointers end here. Those in the initialiser and in the list of
/// live variables survive: `alloc!(mu, [x, y] => NewNode { .. })` keeps up to 16 `let mut`
/// variables. Only the slow path writes the list to memory. The list is the stack map of this call:
/// a variable that is left out and used later is error E0502 (see `docs/E0502.md` in the
/// repository).
///
/// The mutator is a variable, or a field of a `&mut` such as `self.mu`.
///
/// ```
/// use allotment::{Field, Heap, Object, OutOfMemory, alloc};
///
/// #[derive(Object)]
/// struct Node {
///     next: Field<Option<Node>>,
///     key: u64,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let sum = heap.attach(|mu| {
///     let mut one = alloc!(mu, NewNode { next: None, key: 1 })?;
///     let two = alloc!(mu, [one] => NewNode { next: Some(one), key: 2 })?;
///     Ok::<u64, OutOfMemory>(one.key + two.key)
/// })??;
/// assert_eq!(sum, 3);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! alloc {
    ($mu:ident $(. $field:tt)?, [$($live:ident),* $(,)?] => $new:expr $(,)?) => {
        $crate::__alloc!([$mu $(. $field)?] [$($live)*] $new)
    };
    ($mu:ident $(. $field:tt)?, $new:expr $(,)?) => { $crate::alloc!($mu $(. $field)?, [] => $new) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __alloc {
    ([$($mu:tt)+] [$($live:ident)*] $new:expr) => {{
        let __al_new = $crate::rt::initialiser($new);
        // SAFETY: good now, and nothing happens before it is restored. `__exact!` checks that no
        // user code reaches the mutator.
        let __al_new = unsafe { $crate::rt::erase(__al_new) };
        $crate::__exact!($($mu)+);
        let __al_span = &*$($mu)+;
        // SAFETY: as above.
        let __al_new = unsafe { $crate::rt::restore(__al_new, __al_span) };
        let __al_object = match $crate::rt::alloc_fast(__al_span, __al_new) {
            // SAFETY: restored below, with nothing in between.
            $crate::rt::Ok(__al_object) => $crate::rt::Ok(unsafe { $crate::rt::erase(__al_object) }),
            $crate::rt::Err(__al_new) => {
                // SAFETY: handed to the slow path, with nothing in between.
                let __al_new = unsafe { $crate::rt::erase(__al_new) };
                let __al_live = ($($live,)*);
                // SAFETY: as above; restored below.
                let __al_live = unsafe { $crate::rt::erase(__al_live) };
                let mut __al_kept = $crate::rt::core::mem::MaybeUninit::uninit();
                let __al_mutator = &mut *$($mu)+;
                // SAFETY: erased just above; the results are restored next.
                let __al_object = unsafe {
                    $crate::rt::alloc_slow(__al_mutator, __al_new, __al_live, &mut __al_kept)
                };
                let __al_span = &*$($mu)+;
                // SAFETY: the slow path wrote it, and it is good now.
                let __al_live = unsafe {
                    $crate::rt::restore($crate::rt::core::mem::MaybeUninit::assume_init(__al_kept), __al_span)
                };
                // The variables were moved from, so nothing is dropped.
                $crate::__assign!(__al_live => $($live)*);
                __al_object
            }
        };
        let __al_span = &*$($mu)+;
        match __al_object {
            $crate::rt::Ok(__al_object) => {
                // SAFETY: no safepoint since it was allocated.
                $crate::rt::Ok(unsafe { $crate::rt::restore(__al_object, __al_span) })
            }
            $crate::rt::Err(__al_error) => $crate::rt::Err::<_, $crate::OutOfMemory>(__al_error),
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __assign {
    ($from:ident => ) => { let () = $from; };
    ($from:ident => $($live:ident)+) => { ($($live,)+) = $from; };
}
