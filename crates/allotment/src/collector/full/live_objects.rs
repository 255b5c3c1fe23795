//! The live objects of a region, from the map of live words and the sizes in their headers.

use super::Subject;
use super::broken::broken;
use super::live_map::LiveMap;
use crate::object::{Header, Kind, Shape, size_of_object};
use crate::region::State;

/// The shape of the object at `address`; aborts where none is.
///
/// # Safety
/// - `address` is a readable word of the heap.
#[inline(always)]
pub(super) unsafe fn shape_of<'h, B>(subject: Subject<'h, B>, address: usize) -> &'h Shape {
    // SAFETY: the caller's predicate.
    let header = Header::from_bits(unsafe { (address as *const u64).read() });
    match header.kind() {
        Kind::Object(id) => match subject.shapes.get(id) {
            Some(shape) => shape,
            None => broken(address, "an object of a shape that this heap does not know"),
        },
        _ => broken(address, "something refers to it, and no object is there"),
    }
}

/// Calls `visit` with every live object of region `index` from `from` on, in order of address: its address,
/// shape and size in bytes. `from` is not inside an object.
///
/// # Safety
/// - What is marked in the map is objects, whole and unmoved.
#[inline]
pub(super) unsafe fn for_each_live<'h, B: crate::region::Backing>(
    subject: Subject<'h, B>,
    map: &LiveMap,
    index: usize,
    from: usize,
    mut visit: impl FnMut(usize, &'h Shape, usize),
) {
    let table = subject.free.table();
    let end = match table.get(index).state() {
        State::Free | State::Uncommitted | State::HumongousContinuation => return,
        // Its header is all that is marked, and it is the only object.
        State::HumongousStart => table.bottom(index) + crate::object::WORD,
        State::Shared | State::Exclusive => table.get(index).top(),
    };
    let mut at = map.next_live(from.max(table.bottom(index)), end);
    while at < end {
        // SAFETY: the first live word behind an object is a header.
        let shape = unsafe { shape_of(subject, at) };
        // SAFETY: as above.
        let bytes = unsafe { size_of_object(at, shape) };
        visit(at, shape, bytes);
        at = map.next_live(at.saturating_add(bytes), end);
    }
}
