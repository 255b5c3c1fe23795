//! The compile-time policy of an allocation that decides who zeroes the memory.
//!
//! | policy | memory after the header | who should use it |
//! |---|---|---|
//! | [`ByCaller`] | anything | typed objects, whose initialiser writes every word |
//! | [`PerObject`] | zero, written at each allocation | small objects, size known at compile time |
//! | [`Ahead`] | zero, written a window at a time | sizes or types known only at run time |
//!
//! Memory fresh from the system is zero, so the window does not zero it again. A window of 8 KiB
//! stays in the first-level cache until it is used, and has the effect of a prefetch.

/// How the memory after a new header is initialised. Sealed.
pub trait Zeroing: sealed::Sealed + Copy {
    /// Whether the slow path must hand out zeroed memory.
    #[doc(hidden)]
    const WANTS_ZEROES: bool;
    /// Whether the allocation itself zeroes the body.
    #[doc(hidden)]
    const ZEROES_BODY: bool;
}

/// The caller writes every word after the header that any code will read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByCaller;

/// The allocation zeroes the body, with stores of 16 bytes. It uses stores of 32 bytes if the
/// enclosing function is compiled for AVX, in a build with `-C target-cpu` or for that function
/// alone.
///
/// ```
/// use allotment::{Heap, Mutator, raw::{PerObject, Shape, Site}};
///
/// /// Compiled for AVX2: an object of 64 bytes is two stores instead of four.
/// ///
/// /// # Safety
/// /// - The site's shape was registered with the heap of the mutator.
/// #[target_feature(enable = "avx2")]
/// unsafe fn lines(mutator: &Mutator<'_>, site: Site<64, PerObject>, count: usize) -> usize {
///     // SAFETY: the caller's predicate, and the objects are not used.
///     (0..count).filter_map(|_| unsafe { mutator.raw().try_alloc_raw(site) }).count()
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let site = Site::new(heap.register(Shape::fixed("Line", 64))?).ok_or("64 bytes")?;
/// if is_x86_feature_detected!("avx2") {
///     // SAFETY: the processor has AVX2, and the shape is this heap's.
///     assert_eq!(heap.attach(|mutator| unsafe { lines(mutator, site, 1000) })?, 1000);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PerObject;

/// The memory was zeroed before, `ZeroWindowSize` bytes at a time (or the whole buffer at once with
/// `ZeroTLAB`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead;

impl Zeroing for ByCaller {
    const WANTS_ZEROES: bool = false;
    const ZEROES_BODY: bool = false;
}
impl Zeroing for PerObject {
    const WANTS_ZEROES: bool = false;
    const ZEROES_BODY: bool = true;
}
impl Zeroing for Ahead {
    const WANTS_ZEROES: bool = true;
    const ZEROES_BODY: bool = false;
}

/// Zeroes `[from, to)`; does nothing if `to <= from`.
///
/// # Safety
/// - `[from, to)` is committed memory that belongs to the caller.
#[inline]
pub(in crate::mutator) unsafe fn zero(from: usize, to: usize) {
    if from < to {
        // SAFETY: the range is the caller's; the predicate is the same.
        unsafe { (from as *mut u8).write_bytes(0, to - from) };
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ByCaller {}
    impl Sealed for super::PerObject {}
    impl Sealed for super::Ahead {}
}
