//! `root!`.

/// Roots values in this block: `root!(mu, name = value)` declares `name`, a
/// [`Local`](crate::Local).
///
/// `root!(mu, mut name = value)` declares a [`LocalMut`](crate::LocalMut), which can be set. One
/// list may contain several. The value needs no `rebind!`.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, alloc, root};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     root!(mu, one = alloc!(mu, NewStr::from("one"))?, mut last = one.get(mu));
///     let two = alloc!(mu, NewStr::from("two"))?;
///     last.set(mu, two);
///     mu.safepoint();
///     assert_eq!(format!("{} {}", one.get(mu), last.get(mu)), "one two");
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! root {
    ($mu:ident $(. $field:tt)?, $($roots:tt)+) => {
        $crate::__root!([$mu $(. $field)?] $($roots)+);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __root {
    ([$($mu:tt)+]) => {};
    ([$($mu:tt)+] mut $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        // A separate statement: the temporaries of the user's expression are dropped before the
        // span is forgotten.
        let __al_value = $value;
        let __al_cell = $crate::rt::RootCell::new(__al_value);
        $crate::__exact!($($mu)+);
        let __al_span = &*$($mu)+;
        // SAFETY: hygiene hides the cell and its link, so the cell stays here and is unlinked on
        // the way out. No user code ran since the cell was made: `__exact!` checks this.
        let __al_linked = unsafe { $crate::rt::RootCell::link(&__al_cell, __al_span) };
        // SAFETY: it is linked for the rest of this block; no other handle is made.
        let mut $name = unsafe { $crate::rt::RootCell::local_mut(&__al_cell) };
        $crate::__root!([$($mu)+] $($($rest)*)?);
    };
    ([$($mu:tt)+] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        // As above.
        let __al_value = $value;
        let __al_cell = $crate::rt::RootCell::new(__al_value);
        $crate::__exact!($($mu)+);
        let __al_span = &*$($mu)+;
        // SAFETY: as above.
        let __al_linked = unsafe { $crate::rt::RootCell::link(&__al_cell, __al_span) };
        // SAFETY: it is linked for the rest of this block.
        let $name = unsafe { $crate::rt::RootCell::local(&__al_cell) };
        $crate::__root!([$($mu)+] $($($rest)*)?);
    };
}
