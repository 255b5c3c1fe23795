//! Reservations: their guarantees, when they lapse, and that their fillers leave no trace.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::object::fill;

const SMALL: What = What { kind: Kind::Fixed(0), by: By::Object };

#[test]
fn a_reservation_outlives_a_request_and_ends_with_the_safepoint() {
    for options in ["", "-UseTLAB", "MinTLABSize=64,TLABSize=64"] {
        let heap = heap(4096, 16, options);
        let kit = Kit::new(&heap);
        heap.attach(|mutator| {
            let mut room = mutator.make_room(100).unwrap();
            assert_eq!(room.bytes(), 104);
            heap.request_safepoint();
            assert_eq!(kit.allocate(&*mutator, SMALL), None, "a stop is requested");
            assert!(kit.allocate((&*mutator, &mut room), SMALL).is_some(), "what is reserved is reserved");
            assert_eq!(room.bytes(), 88);
            mutator.safepoint();
            assert_eq!(kit.allocate((&*mutator, &mut room), SMALL), None, "it lapsed");
            assert!(kit.allocate(&*mutator, SMALL).is_some());
            let mut next = mutator.make_room(16).unwrap();
            assert!(kit.allocate((&*mutator, &mut next), SMALL).is_some());
        })
        .unwrap();
        assert_eq!(heap.verify().unwrap().objects(kit.shape(SMALL.kind).id()), 3);
    }
}

#[test]
fn making_room_answers_a_request_itself() {
    let heap = heap(4096, 16, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        heap.request_safepoint();
        let mut room = mutator.make_room(16).unwrap();
        assert!(kit.allocate((&*mutator, &mut room), SMALL).is_some());
        assert!(kit.allocate(&*mutator, SMALL).is_some());
    })
    .unwrap();
}

/// Regression: no bytes were refused as if the heap were full.
#[test]
fn room_for_nothing_is_always_there_and_holds_nothing() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        for _ in 0..2 {
            let mut room = mutator.make_room(0).unwrap();
            assert_eq!((room.bytes(), kit.allocate((&*mutator, &mut room), SMALL)), (0, None));
            // The second time with a buffer.
            kit.allocate(&*mutator, SMALL).unwrap();
        }
        while kit.allocate(&*mutator, SMALL).is_some() {}
        assert_eq!(mutator.make_room(0).unwrap().bytes(), 0);
        assert!(mutator.make_room(16).is_err());
    })
    .unwrap();
    heap.verify().unwrap();
}

#[test]
fn a_reservation_that_is_dropped_costs_its_bytes_and_is_parsable() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        drop(mutator.make_room(160).unwrap());
        let mut half = mutator.make_room(160).unwrap();
        kit.allocate((&*mutator, &mut half), SMALL).unwrap();
        drop(mutator.make_room(10_000).unwrap());
    })
    .unwrap();
    let census = heap.verify().unwrap();
    assert_eq!((census.object_bytes(), census.fillers), (16, (3, 160 + 144 + 10_000)));
}

/// Regression: several fillers cover a range too long for one filler. Only the header of the first
/// was zeroed before the memory became an object.
#[test]
fn no_header_of_a_filler_stays_in_a_huge_zeroed_object() {
    const MAX_FILLER_BYTES: usize = (u32::MAX as usize) * 8;
    let heap = heap(32 << 20, 1100, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let bytes = 34 << 30;
        let mut room = match mutator.make_room(bytes) {
            Ok(room) => room,
            // A machine that promises no more memory than it has.
            Err(error) => return assert!(error.refused_by_system(), "{error}"),
        };
        let first = kit.allocate((&*mutator, &mut room), SMALL).unwrap().addr().get();
        let rest = What { kind: Kind::Array(0, bytes - 16 - 16), by: By::Window };
        kit.allocate((&*mutator, &mut room), rest).expect("the rest");
        assert_eq!(room.bytes(), 0);
        for address in [first + MAX_FILLER_BYTES, first + 16 + MAX_FILLER_BYTES] {
            // SAFETY: a word of the array.
            assert_eq!(unsafe { (address as *const u64).read() }, 0);
        }
        // The assumption behind the numbers above.
        let mut words = [0_u64; 2];
        let start = words.as_mut_ptr().addr();
        // SAFETY: 16 bytes of the test's own.
        unsafe { fill(start, start + 16) };
        assert_eq!(words, [2 << 32 | 0b10, 0]);
    })
    .unwrap();
}
