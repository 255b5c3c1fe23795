//! `keep!`.

/// Keeps bare variables valid over an expression that may reach a safepoint: `keep!(mu, [a, b] =>
/// expression)`.
///
/// `a` and `b` are `let mut` variables, up to 16, and are updated. The expression can read them
/// until its first safepoint, but cannot assign to them: only their values before the expression
/// count. The macro's value is that of the expression. If that is a bare pointer from a function
/// that collects, it needs a `rebind!`.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, alloc, keep};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// heap.attach(|mu| {
///     let mut text = alloc!(mu, NewStr::from("kept"))?;
///     keep!(mu, [text] => mu.safepoint());
///     assert_eq!(&*text, "kept");
///     Ok::<(), OutOfMemory>(())
/// })??;
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! keep {
    ($mu:ident $(. $field:tt)?, [$($live:ident),* $(,)?] => $body:expr $(,)?) => {
        $crate::__keep!([$mu $(. $field)?] [$($live)*] $body)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __keep {
    ([$($mu:tt)+] [$($live:ident)*] $body:expr) => {{
        $crate::__exact!($($mu)+);
        #[allow(unused_imports)]
        use $crate::rt::ShadowMoved as _;
        // The body sees copies, so that an assignment to one is an error and is not lost silently.
        let __al_shadows = ($($crate::rt::Shadow(&$live).__al_shadow(),)*);
        let mut __al_frame = $crate::rt::Frame::save(($($live,)*));
        // No user code runs before the frame is linked: `__exact!` checks this.
        let __al_span = &*$($mu)+;
        // SAFETY: the frame stays in this block and is unlinked before it is taken.
        let __al_linked = unsafe { $crate::rt::Frame::link(&raw mut __al_frame, __al_span) };
        let __al_value = {
            #[allow(unused_variables, clippy::let_unit_value)]
            let ($($live,)*) = __al_shadows;
            $body
        };
        $crate::rt::drop(__al_linked);
        let __al_span = &*$($mu)+;
        // SAFETY: it was linked at every safepoint of the body.
        let __al_live = unsafe { $crate::rt::restore($crate::rt::Frame::take(__al_frame), __al_span) };
        // The variables were moved from, so nothing is dropped.
        $crate::__assign!(__al_live => $($live)*);
        __al_value
    }};
}
