//! Marks: the memory that recycling gives back, and its record of what is zero in that memory.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::Heap;
use crate::mutator::{Mutator, hot_bytes};
use crate::platform::{Vendor, X86_64};
use crate::region::State;
use std::ptr::NonNull;

/// An object of one of the sizes, with a body that is not zero.
fn dirty(kit: &Kit, mutator: &Mutator<'_>, kind: Kind) -> NonNull<u8> {
    let object = kit.allocate(mutator, What { kind, by: By::Caller }).expect("room");
    // SAFETY: the body of the new object, whose length stays as it is.
    unsafe { object.byte_add(16).write_bytes(0xab, kit.bytes(kind) - 16) };
    object
}

/// A zeroed array, whose body is looked at.
fn zeroed(kit: &Kit, mutator: &Mutator<'_>, bytes: usize) -> NonNull<u8> {
    let object =
        kit.allocate(mutator, What { kind: Kind::Array(0, bytes - 16), by: By::Window }).expect("room");
    // SAFETY: the body of the new object.
    let body = unsafe { std::slice::from_raw_parts(object.byte_add(16).as_ptr(), bytes - 16) };
    assert_eq!(body.iter().position(|byte| *byte != 0), None, "of {bytes} bytes");
    object
}

/// Comes to a safepoint.
fn stop(heap: &Heap, mutator: &mut Mutator<'_>) {
    heap.request_safepoint();
    mutator.safepoint();
}

/// Regression: between mark and recycling the thread gave the buffer up, took a smaller one at the
/// same place, and put an object outside buffers after it. The top of the smaller buffer was taken
/// for the end of the written part of the mark's buffer.
#[test]
fn memory_written_outside_the_buffer_since_the_mark_is_not_taken_for_clean() {
    let options =
        "TLABPolicy=hotspot,TLABSize=512,MinTLABSize=256,MaxTLABSize=1112,TLABRefillWasteFraction=1";
    let heap = heap(64 << 10, 16, options);
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        mutator.raw_mut().mark();
        dirty(&kit, mutator, Kind::Fixed(0));
        // Lengthens the buffer, whose rest is then larger than a new buffer.
        dirty(&kit, mutator, Kind::Array(0, 600 - 16));
        let mark = mutator.raw_mut().mark();
        stop(&heap, mutator);
        let small = dirty(&kit, mutator, Kind::Fixed(0));
        let outside = dirty(&kit, mutator, Kind::Array(0, 1120 - 16));
        assert!(outside.addr().get() - small.addr().get() < 1024, "it lies where the mark's buffer was");
        // SAFETY: none of the objects is used any more.
        unsafe { mutator.raw_mut().recycle(mark) };
        assert_eq!(zeroed(&kit, mutator, 960), small);
    })
    .unwrap();
    heap.verify().unwrap();
}

#[test]
fn the_memory_written_last_is_written_first() {
    let heap = heap(4096, 16, "MinTLABSize=256,TLABSize=512");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let fill = |mutator: &Mutator<'_>| {
            (0..300).map(|_| dirty(&kit, mutator, Kind::Fixed(2))).collect::<Vec<_>>()
        };
        let regions = |objects: &[NonNull<u8>]| {
            let mut regions: Vec<_> = objects.iter().map(|object| object.addr().get() / 4096).collect();
            regions.dedup();
            regions
        };
        let mark = mutator.raw_mut().mark();
        let mut before = regions(&fill(mutator));
        let used = heap.memory().used_bytes;
        for _ in 0..20 {
            // SAFETY: none of the objects is used any more.
            unsafe { mutator.raw_mut().recycle(mark) };
            assert_eq!(heap.memory().used_bytes, 0);
            before.reverse();
            assert_eq!(regions(&fill(mutator)), before);
            assert_eq!(heap.memory().used_bytes, used);
        }
    })
    .unwrap();
}

#[test]
fn in_the_buffer_of_the_mark_only_what_was_written_is_zeroed_again() {
    let heap = heap(64 << 10, 10, "MinTLABSize=32k");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        mutator.raw_mut().mark();
        dirty(&kit, mutator, Kind::Fixed(0));
        for _ in 0..3 {
            let outer = mutator.raw_mut().mark();
            dirty(&kit, mutator, Kind::Fixed(3));
            let inner = mutator.raw_mut().mark();
            let last = dirty(&kit, mutator, Kind::Fixed(3));
            // SAFETY: none of the objects is used any more.
            unsafe {
                mutator.raw_mut().recycle(inner);
                mutator.raw_mut().recycle(outer);
            }
            assert_eq!(mutator.state().hot.clean.get(), last.addr().get() + 136);
        }
        zeroed(&kit, mutator, 1024);
    })
    .unwrap();
}

#[test]
fn regions_and_humongous_runs_taken_since_the_mark_are_given_back() {
    let heap = heap(4096, 16, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let mark = mutator.raw_mut().mark();
        for _ in 0..100 {
            dirty(&kit, mutator, Kind::Fixed(6));
            dirty(&kit, mutator, Kind::Fixed(6));
            dirty(&kit, mutator, Kind::Fixed(5));
            dirty(&kit, mutator, Kind::Fixed(4));
            // SAFETY: none of the objects is used any more.
            unsafe { mutator.raw_mut().recycle(mark) };
        }
        assert_eq!(heap.memory().used_bytes, 0);
    })
    .unwrap();
    let census = heap.verify().unwrap();
    assert_eq!((census.object_bytes(), census.fillers), (0, (0, 0)));
    let table = heap.shared.space.free.table();
    assert!((0..16).all(|index| matches!(table.get(index).state(), State::Free | State::Uncommitted)));
}

#[test]
fn what_was_filled_last_comes_first_unless_it_is_more_than_caches_hold() {
    // Four regions are what caches hold.
    for (regions, next) in [(4, 3), (5, 0)] {
        let heap = heap(4096, 16, "");
        let kit = Kit::new(&heap);
        heap.attach(|mutator| {
            let mark = mutator.raw_mut().mark();
            let fill = |mutator: &mut Mutator<'_>| dirty(&kit, mutator, Kind::Array(0, 4096 - 16));
            let filled: Vec<_> = (0..regions).map(|_| fill(mutator)).collect();
            // SAFETY: none of the objects is used any more.
            unsafe { mutator.raw_mut().recycle(mark) };
            assert_eq!(fill(mutator), filled[next], "{regions} regions");
        })
        .unwrap();
    }
}

#[test]
fn what_a_thread_filled_alone_is_everybodys_after_it_detached() {
    let heap = heap(4096, 10, "-UseTLAB");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        mutator.raw_mut().mark();
        // Takes a region for each object, and leaves most of each.
        for _ in 0..10 {
            dirty(&kit, mutator, Kind::Array(0, 2200));
        }
        assert_eq!(kit.allocate(&*mutator, What { kind: Kind::Array(0, 2200), by: By::Caller }), None);
    })
    .unwrap();
    let left = heap.attach(|mutator| {
        std::iter::from_fn(|| kit.allocate(&*mutator, What { kind: Kind::Fixed(0), by: By::Caller })).count()
    });
    assert_eq!(left, Ok(10 * (4096 - 2216) / 16 - 10 / 2));
    heap.verify().unwrap();
}

#[test]
fn how_much_is_used_from_its_end_depends_on_the_processor() {
    for (vendor, family, times) in
        [(Vendor::Intel, 6, 8), (Vendor::Amd, 0x15, 8), (Vendor::Amd, 0x19, 1), (Vendor::Hygon, 0x18, 1)]
    {
        let processor = X86_64 {
            vendor,
            family,
            sse3: true,
            sse4_2: true,
            hyper_threading: true,
            avx2: true,
            prefetchw: true,
            line_bytes: 64,
        };
        assert_eq!(hot_bytes(&processor.into(), 1 << 20), times << 20, "{vendor:?} {family:#x}");
    }
}
