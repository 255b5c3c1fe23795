//! Allocation sites: the facts that an allocation knows before it runs.
//!
//! A site is the header that a new object gets, with the size and the policies in its type. A
//! compiler makes one for each place in its code that allocates. The fast path then loads nothing
//! but the buffer.

use crate::mutator::{Ahead, ByCaller, BySize, NoPrefetch, Prefetch, Zeroing};
use crate::object::{Header, MIN_OBJECT_BYTES, ShapeRef, WORD};
use std::marker::PhantomData;

/// Allocates objects of `BYTES` bytes, header included: a multiple of 8, at least 16.
///
/// The size is checked when the site is made, so an allocation need not read the shape:
/// ```
/// use allotment::{Heap, raw::{PerObject, Shape, Site}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let point = heap.register(Shape::fixed("Point", 24))?;
/// assert!(Site::<24, PerObject>::new(point).is_some());
/// assert!(Site::<32, PerObject>::new(point).is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Site<const BYTES: usize, Z: Zeroing = ByCaller, P: Prefetch = BySize> {
    pub(in crate::mutator) header: Header,
    /// The policies are chosen by type; no value of them exists.
    policies: PhantomData<fn() -> (Z, P)>,
}

impl<const BYTES: usize, Z: Zeroing, P: Prefetch> Site<BYTES, Z, P> {
    /// A site for that shape. `None` if its objects have another size, or a tail.
    pub fn new(shape: ShapeRef) -> Option<Self> {
        const { assert!(BYTES.is_multiple_of(WORD) && BYTES >= MIN_OBJECT_BYTES) };
        const { assert!(BYTES <= 1 << 20, "a larger object belongs to a site whose size is not in its type") };
        (!shape.has_tail() && shape.bytes_for(0) == Some(BYTES))
            .then(|| Site { header: Header::new(shape.id()), policies: PhantomData })
    }
}

/// Allocates objects whose size is known only at run time. By default it uses memory that was
/// zeroed ahead. That memory is in the cache already, so a prefetch would gain nothing.
#[derive(Clone, Copy, Debug)]
pub struct ArraySite<Z: Zeroing = Ahead, P: Prefetch = NoPrefetch> {
    pub(in crate::mutator) shape: ShapeRef,
    /// The policies are chosen by type; no value of them exists.
    policies: PhantomData<fn() -> (Z, P)>,
}

impl<Z: Zeroing, P: Prefetch> ArraySite<Z, P> {
    /// A site for that shape, with or without a tail.
    pub fn new(shape: ShapeRef) -> Self {
        ArraySite { shape, policies: PhantomData }
    }
}
