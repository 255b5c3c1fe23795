//! The live objects of a region, from the map of live words and the sizes in their headers.

use super::broken::broken;
use super::live_map::LiveMap;
use crate::object::{HEADER_BYTES, Header, Kind, Layout, Shape, ShapeId, Shapes};
use crate::region::Space;
use std::num::NonZeroU32;

/// The finding where a reference leads to no object.
pub(in crate::collector) const NO_OBJECT: &str = "a reference leads to this address, but no object is there";

/// The finding where an object has an unknown shape.
pub(in crate::collector) const UNKNOWN_SHAPE: &str = "this object has a shape that this heap does not know";

/// Finds the shapes of objects. The last shape is kept, because neighbours often share a shape.
pub(crate) struct ShapeCache<'h> {
    shapes: &'h Shapes,
    /// Number of the last shape; greater than the number of any shape if there was none.
    number: u32,
    /// Layout of the last shape.
    layout: Layout<'h>,
}

impl<'h> ShapeCache<'h> {
    pub(crate) fn new(shapes: &'h Shapes) -> ShapeCache<'h> {
        static NONE: Shape = Shape::constant("none", HEADER_BYTES, &[], None);
        ShapeCache { shapes, number: u32::MAX, layout: Layout::of(&NONE) }
    }

    /// The shape of the object at `address`; aborts if none is there.
    ///
    /// # Safety
    /// - `address` is a readable word of the heap.
    #[inline(always)]
    pub(crate) unsafe fn of(&mut self, address: usize) -> &'h Shape {
        // SAFETY: the caller's predicate.
        unsafe { self.layout_of(address) }.shape
    }

    /// The shape together with its most used properties.
    ///
    /// # Safety
    /// - As for [`of`](Self::of).
    #[inline(always)]
    pub(crate) unsafe fn layout_of(&mut self, address: usize) -> &Layout<'h> {
        // SAFETY: the caller's predicate.
        let header = Header::from_bits(unsafe { (address as *const u64).read() });
        match header.kind() {
            Kind::Object(_) => self.layout(header, address),
            _ => broken(address, NO_OBJECT),
        }
    }

    /// The layout of the object at `address`, which has this header; aborts if the heap has no such
    /// shape.
    // By reference: a copy would be stored before it is loaded.
    #[inline(always)]
    pub(crate) fn layout(&mut self, header: Header, address: usize) -> &Layout<'h> {
        let number = header.shape_number();
        if self.number != number {
            self.look_up(address, number);
        }
        &self.layout
    }

    /// The layout of the last request.
    #[inline(always)]
    pub(crate) fn last(&self) -> &Layout<'h> {
        &self.layout
    }

    #[inline(never)]
    fn look_up(&mut self, address: usize, number: u32) {
        let Some(id) = NonZeroU32::new(number) else { broken(address, NO_OBJECT) };
        let Some(shape) = self.shapes.get(ShapeId::from_raw(id)) else {
            broken(address, UNKNOWN_SHAPE);
        };
        (self.number, self.layout) = (number, Layout::of(shape));
    }
}

/// Calls `visit` with every live object of region `index` from `from` on, in order of address: its
/// address, layout and size in bytes. `from` is not inside an object.
///
/// # Safety
/// - Words marked in the map belong to objects, whole and unmoved.
#[inline]
pub(in crate::collector) unsafe fn for_each_live<'h>(
    space: &'h Space,
    map: &LiveMap,
    index: usize,
    from: usize,
    mut visit: impl FnMut(usize, &Layout<'h>, usize),
) {
    let table = space.free.table();
    if !table.get(index).state().begins_objects() {
        return;
    }
    let end = space.free.object_end(index);
    let mut shapes = ShapeCache::new(&space.shapes);
    let mut at = map.next_live(from.max(table.bottom(index)), end);
    while at < end {
        // SAFETY: the first live word after an object is a header.
        let layout = unsafe { shapes.layout_of(at) };
        // SAFETY: as above.
        let bytes = unsafe { layout.size_of(at) };
        visit(at, layout, bytes);
        at = map.next_live(at.saturating_add(bytes), end);
    }
}
