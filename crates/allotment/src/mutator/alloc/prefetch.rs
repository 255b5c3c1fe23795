//! Prefetch as a compile-time policy of an allocation.
//!
//! After the bump, lines ahead of the new top are asked for, so that they are owned when the thread
//! gets there. A run-time switch would cost 0.7 to 1.0 ns on an object of 16 bytes; a type parameter
//! costs nothing where it is off. HotSpot's `AllocatePrefetchStyle=1` is [`Write`].

use crate::platform::prefetch_write;

/// What an allocation asks the caches for.
///
/// Sealed: a policy is one of this module's.
pub trait Prefetch: sealed::Sealed + Copy {
    /// Asks for lines ahead of `top`, the new top after an allocation of `bytes`.
    #[doc(hidden)]
    fn ahead(top: usize, bytes: usize);

    /// The same in a burst, which is done with an object of some words before a prefetch has left the core.
    #[doc(hidden)]
    #[inline(always)]
    fn ahead_in_burst(top: usize, bytes: usize) {
        Self::ahead(top, bytes);
    }
}

/// Nothing: HotSpot's `AllocatePrefetchStyle=0`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrefetch;

/// `LINES` lines of 64 bytes, the first `DISTANCE` bytes behind the new top, for writing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Write<const DISTANCE: usize, const LINES: usize>;

/// The default: for writing, 256 bytes ahead, as many lines as the object has, at most 3. Where the
/// size is known only at run time, one line. In a burst none for objects smaller than a line.
///
/// One line for objects of up to 64 bytes gave 1.6x in an eden that fits L2, and one line for 144 bytes
/// lost 10 %, where three gained 60 %: what is not asked for is missed while what is asked for queues. That was
/// on Emerald Rapids. On Zen 3 and 4, whose own prefetcher keeps up, it gains nothing. It costs objects of 16 bytes up to a
/// tenth: with a third load in each turn of a loop an end of the buffer that the processor did not foresee takes 50 ns
/// instead of 5 (any load does that, one of the stack too). [`NoPrefetch`] is for these; a program for both compiles its
/// loops twice, as the lab does (`allotment run tlab --prefetch by-size,none`):
///
/// ```
/// use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};
/// use allotment::{raw::{ByCaller, BySize, NoPrefetch, Prefetch, Site}, Mutator};
/// # use allotment::{Heap, raw::Shape};
///
/// fn work<P: Prefetch>(mutator: &Mutator<'_>, site: Site<32, ByCaller, P>) -> usize {
///     // SAFETY: the shape is this heap's and has no slots.
///     (0..100).filter(|_| unsafe { mutator.try_alloc_raw(site) }.is_some()).count()
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
        // A constant operand cannot be a loop's variable: lines beyond the first are unrolled by hand.
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
        // `bytes` is a constant where the size is: the branches fold.
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
