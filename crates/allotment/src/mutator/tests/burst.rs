//! Bursts: when they look up, and that nothing of them is lost however they end.

use super::heap;
use super::kit::{By, Kind, Kit, What};

#[test]
fn a_burst_sees_a_request_after_64_kib_at_the_latest() {
    let heap = heap(1 << 20, 10, "MinTLABSize=512k");
    let kit = Kit::new(&heap);
    for kind in [Kind::Fixed(0), Kind::Fixed(4), Kind::Array(2, 300)] {
        for by in [By::Caller, By::Window] {
            let what = What { kind, by };
            heap.attach(|mutator| {
                mutator.raw_mut().burst(|burst| {
                    kit.allocate(burst, what).expect("room");
                    heap.request_safepoint();
                    let objects = std::iter::from_fn(|| kit.allocate(burst, what)).count();
                    assert!(objects * kit.bytes(kind) <= 64 << 10, "{objects} of {what:?}");
                });
                assert_eq!(kit.allocate(&*mutator, what), None);
                mutator.safepoint();
                assert!(mutator.raw_mut().burst(|burst| kit.allocate(burst, what)).is_some());
            })
            .unwrap();
        }
    }
    heap.verify().unwrap();
}

#[test]
fn a_burst_and_the_plain_path_go_on_where_the_other_stopped() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    let what = What { kind: Kind::Fixed(1), by: By::Object };
    heap.attach(|mutator| {
        let first = kit.allocate(&*mutator, what).unwrap().addr().get();
        for turn in 0..10 {
            let in_burst = mutator
                .raw_mut()
                .burst(|burst| (0..5).map(|_| kit.allocate(burst, what).unwrap()).collect::<Vec<_>>());
            let plain = kit.allocate(&*mutator, what).unwrap();
            for (step, object) in in_burst.into_iter().chain([plain]).enumerate() {
                assert_eq!(object.addr().get(), first + (1 + turn * 6 + step) * 24);
            }
        }
    })
    .unwrap();
    assert_eq!(heap.verify().unwrap().object_bytes(), 61 * 24);
}
