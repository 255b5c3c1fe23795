//! The end of an evacuation: regions of the set are freed, and those with objects that stayed
//! become old.

use super::{Evacuation, Role};
use crate::collector::kernel::{KEPT, UNKNOWN_SHAPE, broken, cover};
use crate::object::{Header, Kind, Shapes, size_of_object};
use crate::region::State;

/// Frees the regions of the set in which no object stayed.
///
/// # Safety
/// - Every reachable object was reached, and no slot refers to the original of a copy.
pub(super) unsafe fn finish(heap: &Evacuation<'_>) {
    let free = &heap.space.free;
    for index in free.in_use().filter(|&index| heap.set.role(index).is_in_set()) {
        let region = free.table().get(index);
        let run = region.run().max(1);
        // The loop meets only the first region of a run: the others are outside when their turn
        // comes.
        let kept = (index..index + run).any(|index| heap.set.role(index).has_kept());
        (index..index + run).for_each(|index| heap.set.set(index, Role::OUTSIDE));
        if kept {
            // SAFETY: the caller's predicate.
            unsafe { retain(heap, index) };
            continue;
        }
        if region.state() == State::HumongousStart {
            free.give_humongous(index);
        } else {
            free.retire_region(index, region.home());
        }
    }
}

/// Makes a region or a run old: its dead objects and the originals of copies become fillers.
///
/// # Safety
/// - As for [`finish`].
unsafe fn retain(heap: &Evacuation<'_>, index: usize) {
    let free = &heap.space.free;
    let region = free.table().get(index);
    let (bottom, end) = (free.table().bottom(index), free.object_end(index));
    heap.tables.starts.clear_range(bottom, free.table().end(index + region.run().max(1) - 1));
    let (mut at, mut dead) = (bottom, bottom);
    // SAFETY: the region was parsable; originals are as large as their copies.
    unsafe {
        while at < end {
            let word = at as *mut u64;
            let header = Header::from_bits(word.read());
            let bytes = size_of_original(&heap.space.shapes, at, header);
            if header.mark() == KEPT && matches!(header.kind(), Kind::Object(_)) {
                cover_dead(heap, dead, at);
                word.write(header.with_mark(0).bits());
                heap.tables.starts.record(at, bytes);
                dead = at + bytes;
            }
            at += bytes;
        }
    }
    let top = match region.state() {
        State::HumongousStart => {
            region.set_tenured(true);
            end
        }
        _ => {
            region.raise_dirty(region.top());
            let top = heap.old.round(dead).min(free.table().end(index));
            region.set_top(top);
            region.set_state(State::Old);
            free.poison_room(index);
            top
        }
    };
    // SAFETY: nothing lies after the last object that stayed.
    unsafe { cover_dead(heap, dead, top) };
    if region.state() == State::Old {
        heap.old.offer(free, index);
    }
}

/// Makes a filler of `[start, end)` in an old region, and records its start.
///
/// # Safety
/// - `[start, end)` is whole words of a region, and nothing in it is used.
unsafe fn cover_dead(heap: &Evacuation<'_>, start: usize, end: usize) {
    if start < end {
        // SAFETY: the caller's predicate.
        unsafe { cover(&heap.space.free, start, end) };
        heap.tables.starts.record(start, end - start);
    }
}

/// Bytes of the object, filler or original of a copy at `address`.
///
/// # Safety
/// - An object, filler or original is there.
pub(super) unsafe fn size_of_original(shapes: &Shapes, address: usize, header: Header) -> usize {
    let (at, header) = match header.kind() {
        // SAFETY: a copy begins with the header of an object.
        Kind::Forwarded(to) => (to, Header::from_bits(unsafe { (to as *const u64).read() })),
        _ => (address, header),
    };
    match header.kind() {
        Kind::Filler(bytes) => bytes,
        Kind::Object(id) => match shapes.get(id) {
            // SAFETY: an object of that shape.
            Some(shape) => unsafe { size_of_object(at, shape) },
            None => broken(address, UNKNOWN_SHAPE),
        },
        _ => broken(address, "a young region is not parsable"),
    }
}
