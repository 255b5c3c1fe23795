//! Prefetch as a compile-time policy of an allocation.
//!
//! After the bump, the allocation prefetches lines ahead of the new top, so that the core owns them
//! when the thread gets there. A run-time switch would cost 0.7 to 1.0 ns on an object of 16 bytes;
//! a type parameter costs nothing when prefetch is off. HotSpot's `AllocatePrefetchStyle=1` is
//! [`Write`].

use crate::platform::prefetch_write;

/// The prefetch of an allocation.
///
/// Sealed: the policies are those of this module.
pub trait Prefetch: sealed::Sealed + Copy {
    /// Prefetches lines ahead of `top`, the new top after an allocation of `bytes`.
    #[doc(hidden)]
    fn ahead(top: usize, bytes: usize);

    /// Prefetches lines in a burst, which finishes an object of a few words before a prefetch has
    /// left the core.
    #[doc(hidden)]
    #[inline(always)]
    fn ahead_in_burst(top: usize, bytes: usize) {
        Self::ahead(top, bytes);
    }
}

/// No prefetch: HotSpot's `AllocatePrefetchStyle=0`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrefetch;

/// Prefetches `LINES` lines of 64 bytes for writing. The first is `DISTANCE` bytes past the new
/// top.
#[derive(Clone, Copy, Debug, Default)]
pub struct Write<const DISTANCE: usize, const LINES: usize>;

/// The default: prefetches for writing, 256 bytes ahead, as many lines as the object has, at most
/// 3. If the size is known only at run time it prefetches one line. In a burst it prefetches none
/// for objects smaller than a line.
///
/// On Emerald Rapids one line for objects of up to 64 bytes gave 1.6x in an eden that fits L2. For
/// 144 bytes one line lost 10 %, and three gained 60 %: lines without a prefetch miss while the
/// prefetched ones queue. On Zen 3 and 4, whose own prefetcher keeps up, prefetch gains nothing.
/// There it costs objects of 16 bytes up to a tenth. With a third load in each turn of a loop, an
/// unpredicted end of the buffer takes 50 ns instead of 5 (any load has this effect, one of the
/// stack too). [`NoPrefetch`] is for these processors. A program for both compiles its loops twice,
/// as the lab does (`allotment run tlab --prefetch by-size,none`):
///
/// ```
/// use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};
/// use allotment::{raw::{ByCaller, BySize, NoPrefetch, Prefetch, Site}, Mutator};
/// # use allotment::{Heap, raw::Shape};
///
/// fn work<P: Prefetch>(mutator: &Mutator<'_>, site: Site<32, ByCaller, P>) -> usize {
///     // SAFETY: the shape is this heap's and has no slots.
///     (0..100).filter(|_| unsafe { mutator.raw().try_alloc_raw(site) }.is_some()).count()
/// }
///
/// # let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
/// # let shape = heap.register(Shape::fixed("object", 32)).unwrap();
/// let pays = PrefetchSettings::recommended(&Processor::detect()).style != PrefetchStyle::None;
/// let made = heap.attach(|mutator| match pays {
///     true => work::<BySize>(mutator, Site::new(shape).unwrap()),
///     false => work::<NoPrefetch>(mutator, Site::new(shape).unwrap()),
/// });
/// assert_eq!(made.unwrap(), 100);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct BySize;

impl Prefetch for NoPrefetch {
    #[inline(always)]
    fn ahead(_top: usize, _bytes: usize) {}
}

impl<const DISTANCE: usize, const LINES: usize> Prefetch for Write<DISTANCE, LINES> {
    #[inline(always)]
    fn ahead(top: usize, _bytes: usize) {
        // A constant operand cannot be a loop variable, so lines beyond the first are unrolled by
        // hand.
        const { assert!(LINES >= 1 && LINES <= 4, "1 to 4 lines; none is `NoPrefetch`") };
        prefetch_write::<DISTANCE>(top);
        if LINES > 1 {
            prefetch_write::<64>(top.wrapping_add(DISTANCE));
        }
        if LINES > 2 {
            prefetch_write::<128>(top.wrapping_add(DISTANCE));
        }
        if LINES > 3 {
            prefetch_write::<192>(top.wrapping_add(DISTANCE));
        }
    }
}

impl Prefetch for BySize {
    #[inline(always)]
    fn ahead(top: usize, bytes: usize) {
        // `bytes` is a constant where the size is constant, so the branches fold.
        Write::<256, 1>::ahead(top, bytes);
        if bytes > 64 {
            prefetch_write::<{ 256 + 64 }>(top);
        }
        if bytes > 128 {
            prefetch_write::<{ 256 + 128 }>(top);
        }
    }

    #[inline(always)]
    fn ahead_in_burst(top: usize, bytes: usize) {
        // Four prefetches of one line cost more than the stores of four objects of 16 bytes.
        if bytes >= 64 {
            Self::ahead(top, bytes);
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::NoPrefetch {}
    impl<const DISTANCE: usize, const LINES: usize> Sealed for super::Write<DISTANCE, LINES> {}
    impl Sealed for super::BySize {}
}
