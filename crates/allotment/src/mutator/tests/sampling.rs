//! Sampling points: their number is what was allocated.

use super::kit::{By, Kind, Kit, What};
use super::{OPTION_SETS, heap};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Regression: each point was placed an interval behind the end of the object that passed the
    /// last one. So objects of 100 bytes passed a point every 200 bytes at an interval of 150.
    #[test]
    fn points_passed_are_bytes_allocated_by_the_interval(
        options in prop::sample::select(OPTION_SETS),
        interval in prop_oneof![1..64_usize, 64..5000_usize],
        lengths in proptest::collection::vec(prop_oneof![9 => 0..300_usize, 1 => 0..9000_usize], 1..200),
    ) {
        let heap = heap(4096, 512, options);
        let kit = Kit::new(&heap);
        heap.attach(|mutator| {
            mutator.set_sampling_interval(interval);
            let mark = mutator.mark();
            let mut bytes = 0;
            for (turn, length) in lengths.iter().enumerate() {
                let what = What { kind: Kind::Array(0, *length), by: By::Window };
                let object = match turn % 3 {
                    0 => kit.allocate(&*mutator, what),
                    1 => mutator.burst(|burst| kit.allocate(burst, what)),
                    _ => {
                        let mut room = mutator.make_room(kit.bytes(what.kind)).unwrap();
                        kit.allocate((&*mutator, &mut room), what)
                    }
                };
                prop_assert!(object.is_some());
                bytes += kit.bytes(what.kind);
                if turn % 50 == 49 {
                    // SAFETY: nothing is used.
                    unsafe { mutator.recycle(mark) };
                }
                let exact = (bytes / interval) as u64;
                prop_assert!(exact.abs_diff(mutator.sampling_points()) <= 1);
            }
            Ok(())
        }).unwrap()?;
    }
}

#[test]
fn without_an_interval_nothing_is_passed_and_counting_starts_with_it() {
    let heap = heap(4096, 64, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(0), by: By::Object };
    for _ in 0..2 {
        heap.attach(|mutator| {
            let passed = |count, mutator: &mut crate::mutator::Mutator<'_>| {
                (0..count).for_each(|_| assert!(kit.allocate(&*mutator, what).is_some()));
                mutator.sampling_points()
            };
            assert_eq!(passed(1000, mutator), 0);
            mutator.set_sampling_interval(160);
            assert_eq!(passed(10, mutator), 0, "as many bytes as the interval are not more");
            assert_eq!(passed(1, mutator), 1);
            assert_eq!(passed(100, mutator), 11);
            mutator.set_sampling_interval(0);
            assert_eq!(passed(100, mutator), 11);
            mutator.set_sampling_interval(usize::MAX);
            assert_eq!(passed(100, mutator), 11);
        })
        .unwrap();
    }
}
