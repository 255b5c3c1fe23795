//! Failures that the random programs found, each as a test of its own.

use super::{COLLECTORS, heap, verified};
use crate::mutator::{ArraySite, PerObject, RootHandle};
use crate::object::{Element, Shape};
use std::ptr::NonNull;

/// Regression: a run of regions was freed with its first object, though it had been reserved for
/// several.
#[test]
fn a_run_that_several_objects_share_lives_as_long_as_any_of_them() {
    let modes = ["", "+ZealMove", "+ZealPoison,+ZealProtect"];
    for mode in modes.iter().flat_map(|mode| COLLECTORS.map(|kind| format!("Collector={kind},{mode}"))) {
        let heap = heap(4096, 16, &verified(&mode));
        let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).unwrap();
        heap.attach(|mutator| {
            let mut room = mutator.make_room(3 * 4096).unwrap();
            let mut alloc = |length| {
                let site = ArraySite::<PerObject>::new(bytes);
                // SAFETY: the shape is the heap's, and what is used across a safepoint is rooted.
                unsafe { mutator.raw().alloc_in_array_raw(&mut room, site, length) }.expect("it was reserved")
            };
            let objects = [alloc(100), alloc(5000), alloc(48), alloc(3000)];
            // SAFETY: live objects.
            let mut roots =
                objects.map(|object| Some(unsafe { mutator.raw().new_root(object.addr().get() as u64) }));
            let regions = |heap: &crate::Heap| heap.shared.space.free.occupancy().used_bytes.div_ceil(4096);
            for dead in [0, 3, 1] {
                roots[dead] = None;
                assert!(mutator.collect());
                assert_eq!(regions(&heap), 3);
                // The run stays, or moves as it is.
                let moved = |root: &RootHandle, object: NonNull<u8>| {
                    (object.addr().get() as u64).wrapping_sub(root.get(mutator).expect("of this heap"))
                };
                let alive =
                    roots.iter().zip(objects).filter_map(|(root, object)| Some((root.as_ref()?, object)));
                let distances: Vec<u64> = alive.map(|(root, object)| moved(root, object)).collect();
                assert!(distances.iter().all(|distance| *distance == distances[0]), "{distances:?}");
                assert!(distances[0] == 0 || mode.contains("+ZealMove"));
            }
            roots[2] = None;
            assert!(mutator.collect());
            assert_eq!(regions(&heap), 0);
        })
        .unwrap();
        assert_eq!(heap.verify().unwrap().all_objects(), 0);
    }
}
