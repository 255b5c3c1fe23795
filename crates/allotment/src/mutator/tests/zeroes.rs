//! The zero window: as wide as the option says, and never over memory that is fresh from the
//! system.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::mutator::Mutator;

const PLAIN: What = What { kind: Kind::Fixed(0), by: By::Caller };
const ZEROED: What = What { kind: Kind::Fixed(0), by: By::Window };

/// Bytes above the top that are known to be zero.
fn ahead(mutator: &Mutator<'_>) -> usize {
    mutator.state().hot.zeroed.get().saturating_sub(mutator.state().hot.top())
}

/// A heap whose memory has been written to.
fn used(options: &str) -> (crate::Heap, Kit) {
    let heap = heap(64 << 10, 10, options);
    let kit = Kit::new(&heap);
    let whole = What { kind: Kind::Array(0, (64 << 10) - 16), by: By::Caller };
    heap.attach(|mutator| {
        while let Some(object) = kit.allocate(&*mutator, whole) {
            // SAFETY: the body of the new object.
            unsafe { object.byte_add(16).write_bytes(0xab, (64 << 10) - 16) };
        }
    })
    .unwrap();
    heap.reset().unwrap();
    (heap, kit)
}

#[test]
fn fresh_memory_needs_no_window() {
    let heap = heap(64 << 10, 10, "MinTLABSize=32k,ZeroWindowSize=64");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        kit.allocate(&*mutator, PLAIN).unwrap();
        assert_eq!(ahead(mutator), mutator.state().hot.free());
    })
    .unwrap();
}

#[test]
fn the_window_is_as_wide_as_the_option_says_and_follows_the_top() {
    for window in [64, 256, 4096] {
        let (heap, kit) = used(&format!("MinTLABSize=32k,ZeroWindowSize={window}"));
        heap.attach(|mutator| {
            kit.allocate(&*mutator, PLAIN).unwrap();
            assert_eq!(ahead(mutator), 0, "no caller asked for zeroes");
            kit.allocate(&*mutator, ZEROED).unwrap();
            assert_eq!(ahead(mutator), window);
            for _ in 0..200 {
                let before = ahead(mutator);
                kit.allocate(&*mutator, ZEROED).unwrap();
                // An object that reaches past the window brings the next window.
                let expected = if before >= 16 { before - 16 } else { window };
                assert_eq!(ahead(mutator), expected);
            }
            // Objects that the program initialises pass through the window and leave it where it
            // is.
            (0..window / 16 + 4).for_each(|_| assert!(kit.allocate(&*mutator, PLAIN).is_some()));
            assert_eq!(ahead(mutator), 0);
        })
        .unwrap();
    }
}

#[test]
fn with_zero_tlab_the_whole_buffer_is_zero_from_the_beginning() {
    let (heap, kit) = used("MinTLABSize=32k,+ZeroTLAB");
    heap.attach(|mutator| {
        let first = kit.allocate(&*mutator, PLAIN).unwrap();
        let free = mutator.state().hot.free();
        assert_eq!((ahead(mutator), free), (32 << 10, 32 << 10));
        // SAFETY: the rest of the buffer is this thread's.
        let rest = unsafe { std::slice::from_raw_parts(first.byte_add(16).as_ptr(), free) };
        assert!(rest.iter().all(|byte| *byte == 0));
    })
    .unwrap();
}

#[test]
fn a_heap_that_gave_its_memory_back_needs_no_window_again() {
    let (heap, kit) = used("MinTLABSize=32k");
    assert_eq!(heap.uncommit(), 640 << 10);
    heap.attach(|mutator| {
        kit.allocate(&*mutator, PLAIN).unwrap();
        assert_eq!(ahead(mutator), mutator.state().hot.free());
    })
    .unwrap();
}
