//! `root!`.

/// Roots values in this block: `root!(mu, name = value)` declares `name`, a [`Local`](crate::Local).
///
/// `root!(mu, mut name = value)` declares a [`LocalMut`](crate::LocalMut), which can be set. Several may stand in one list. The
/// value needs no `rebind!`.
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
    ($mu:ident, $($roots:tt)+) => {
        $crate::__root!([$mu] $($roots)+);
    };
    ($holder:ident . $field:tt, $($roots:tt)+) => {
        $crate::__root!(
            [$holder.$field]
            $($roots)+
        );
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __root {
    ([$($mu:tt)+]) => {};
    ([$($mu:tt)+] mut $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__root_cell!([$($mu)+] __al_cell = $value);
        // SAFETY: as below; no other handle is made.
        let mut $name = unsafe { $crate::rt::RootCell::local_mut(&__al_cell) };
        $crate::__root!([$($mu)+] $($($rest)*)?);
    };
    ([$($mu:tt)+] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::__root_cell!([$($mu)+] __al_cell = $value);
        // SAFETY: hygiene hides the cell and its link, so it stays here and is unlinked on the way out.
        let $name = unsafe { $crate::rt::RootCell::local(&__al_cell) };
        $crate::__root!([$($mu)+] $($($rest)*)?);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __root_cell {
    ([$($mu:tt)+] $cell:ident = $value:expr) => {
        // A statement of its own: temporaries of the user's expression are dropped before the span is forgotten.
        let __al_value = $value;
        let $cell = $crate::rt::RootCell::new(__al_value);
        $crate::__exact!($($mu)+);
        let __al_span = &*$($mu)+;
        // SAFETY: hygiene hides the cell and its link, so it stays here and is unlinked on the way out; nothing
        // happened since it was made.
        let __al_linked = unsafe { $crate::rt::RootCell::link(&$cell, __al_span) };
    };
}
