//! Allocation by run-time numbers, and the same call for every way to allocate.
//!
//! The API fixes sizes and policies at compile time. A random test chooses them at run time, so
//! every combination is instantiated here once. Anything that hands out memory (the mutator, a
//! burst, a reservation) is a [`Source`].

use crate::Heap;
use crate::mutator::{
    Ahead, ArraySite, Burst, ByCaller, Mutator, PerObject, Prefetch, Reservation, Site, Zeroing,
};
use crate::object::{Element, Shape, ShapeRef};
use std::ptr::NonNull;

/// Sizes in bytes of the objects without a tail; the last ones exceed a page.
pub(super) const SIZES: [usize; 7] = [16, 24, 40, 136, 1032, 4096, 5000];

/// Fixed part and element in bytes of the objects with a tail.
pub(super) const ARRAYS: [(usize, usize); 3] = [(16, 1), (20, 4), (24, 8)];

/// The party that initialises the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Caller,
    Object,
    Window,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of [`SIZES`].
    Fixed(usize),
    /// One of [`SIZES`], allocated as a size known only at run time.
    Unknown(usize),
    /// One of [`ARRAYS`], and its length in elements.
    Array(usize, usize),
}

/// An object to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct What {
    pub(super) kind: Kind,
    pub(super) by: By,
}

/// A source of memory.
pub(super) trait Source {
    /// # Safety
    /// As for [`RawMutator::try_alloc_raw`].
    unsafe fn fixed<const BYTES: usize, Z: Zeroing, P: Prefetch>(
        &mut self,
        site: Site<BYTES, Z, P>,
    ) -> Option<NonNull<u8>>;

    /// # Safety
    /// As for [`RawMutator::try_alloc_array_raw`].
    unsafe fn array<Z: Zeroing, P: Prefetch>(
        &mut self,
        site: ArraySite<Z, P>,
        length: usize,
    ) -> Option<NonNull<u8>>;
}

macro_rules! source {
    (<$($lifetime:lifetime),*> $source:ty, $self:ident, $site:ident, $fixed:expr, $length:ident, $array:expr) => {
        impl<$($lifetime),*> Source for $source {
            unsafe fn fixed<const BYTES: usize, Z: Zeroing, P: Prefetch>(
                &mut $self,
                $site: Site<BYTES, Z, P>,
            ) -> Option<NonNull<u8>> {
                // SAFETY: the caller's predicates.
                unsafe { $fixed }
            }

            unsafe fn array<Z: Zeroing, P: Prefetch>(
                &mut $self,
                $site: ArraySite<Z, P>,
                $length: usize,
            ) -> Option<NonNull<u8>> {
                // SAFETY: the caller's predicates.
                unsafe { $array }
            }
        }
    };
}
source!(<'m, 't> &'m Mutator<'t>, self, site, self.raw().try_alloc_raw(site), length, self.raw().try_alloc_array_raw(site, length));
source!(<'b, 'm, 't> &'b Burst<'m, 't>, self, site, self.try_alloc_raw(site), length, self.try_alloc_array_raw(site, length));
source!(<'r, 'm, 't> (&'m Mutator<'t>, &'r mut Reservation<'t>), self, site,
    self.0.raw().alloc_in_raw(self.1, site), length, self.0.raw().alloc_in_array_raw(self.1, site, length));

/// The shapes of one heap.
#[derive(Clone)]
pub(super) struct Kit {
    fixed: [ShapeRef; SIZES.len()],
    arrays: [ShapeRef; ARRAYS.len()],
}

impl Kit {
    pub(super) fn new(heap: &Heap) -> Kit {
        let register = |shape| heap.register(shape).expect("a shape that can be registered");
        Kit {
            fixed: SIZES.map(|bytes| register(Shape::fixed(format!("Fixed{bytes}"), bytes))),
            arrays: ARRAYS.map(|(fixed, bytes)| {
                register(Shape::array(format!("Array{bytes}"), fixed, Element::Plain { bytes }))
            }),
        }
    }

    pub(super) fn shape(&self, kind: Kind) -> ShapeRef {
        match kind {
            Kind::Fixed(index) | Kind::Unknown(index) => self.fixed[index],
            Kind::Array(index, _) => self.arrays[index],
        }
    }

    /// The size of the object in bytes.
    pub(super) fn bytes(&self, kind: Kind) -> usize {
        self.shape(kind).bytes_for(kind.length()).expect("a size")
    }

    /// Allocates it.
    pub(super) fn allocate(&self, mut from: impl Source, what: What) -> Option<NonNull<u8>> {
        let shape = self.shape(what.kind);
        match what.kind {
            Kind::Fixed(0) => fixed::<16>(&mut from, shape, what.by),
            Kind::Fixed(1) => fixed::<24>(&mut from, shape, what.by),
            Kind::Fixed(2) => fixed::<40>(&mut from, shape, what.by),
            Kind::Fixed(3) => fixed::<136>(&mut from, shape, what.by),
            Kind::Fixed(4) => fixed::<1032>(&mut from, shape, what.by),
            Kind::Fixed(5) => fixed::<4096>(&mut from, shape, what.by),
            Kind::Fixed(_) => fixed::<5000>(&mut from, shape, what.by),
            Kind::Unknown(_) | Kind::Array(..) => array(&mut from, shape, what.kind.length(), what.by),
        }
    }
}

impl Kind {
    /// Elements of the tail.
    pub(super) fn length(self) -> usize {
        match self {
            Kind::Array(_, length) => length,
            Kind::Fixed(_) | Kind::Unknown(_) => 0,
        }
    }
}

fn fixed<const BYTES: usize>(from: &mut impl Source, shape: ShapeRef, by: By) -> Option<NonNull<u8>> {
    fn site<const BYTES: usize, Z: Zeroing>(shape: ShapeRef) -> Site<BYTES, Z> {
        Site::new(shape).expect("the size is in the table")
    }
    // SAFETY: the shape is the heap's, whose tests use objects only until they recycle or reset
    // them.
    unsafe {
        match by {
            By::Caller => from.fixed(site::<BYTES, ByCaller>(shape)),
            By::Object => from.fixed(site::<BYTES, PerObject>(shape)),
            By::Window => from.fixed(site::<BYTES, Ahead>(shape)),
        }
    }
}

fn array(from: &mut impl Source, shape: ShapeRef, length: usize, by: By) -> Option<NonNull<u8>> {
    // SAFETY: as for `fixed`.
    unsafe {
        match by {
            By::Caller => from.array(ArraySite::<ByCaller>::new(shape), length),
            By::Object => from.array(ArraySite::<PerObject>::new(shape), length),
            By::Window => from.array(ArraySite::<Ahead>::new(shape), length),
        }
    }
}
