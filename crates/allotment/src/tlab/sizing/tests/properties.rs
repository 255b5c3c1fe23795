//! Properties of every policy, for all settings and all actions of a thread.

use super::*;
use crate::object::WORD;
use crate::tlab::budget::Budget;
use crate::tlab::sizing::{Cycle, HeapCycle, Request};
use proptest::prelude::*;

/// Sizes of every magnitude, with the ends of the range often among them.
fn bytes() -> impl Strategy<Value = usize> {
    prop_oneof![
        Just(0),
        Just(usize::MAX),
        (0..64_u32, any::<usize>()).prop_map(|(shift, bits)| bits >> shift),
    ]
}

fn anything() -> impl Strategy<Value = Settings> {
    let sizes = (bytes(), bytes(), bytes(), bytes(), bytes());
    let ratios = (
        any::<bool>(),
        bytes(),
        bytes(),
        bytes(),
        any::<Option<u8>>(),
        prop::num::f64::ANY,
        prop_oneof![0..5_u64, any::<u64>()],
    );
    (prop::sample::select(TlabPolicy::ALL), sizes, ratios).prop_map(|(policy, sizes, ratios)| Settings {
        policy,
        region_size: sizes.0,
        capacity: sizes.1,
        tlab_size: sizes.2,
        min_tlab_size: sizes.3,
        max_tlab_size: sizes.4,
        resize: ratios.0,
        waste_target_percent: ratios.1,
        refill_waste_fraction: ratios.2,
        waste_increment: ratios.3,
        allocation_weight: ratios.4,
        elasticity: ratios.5,
        decay_ms: ratios.6,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Keep { free: usize },
    Refill { object: usize, available: usize, now_ms: u64, granted: u8 },
    Refuse,
    Retire,
    Cycle(HeapCycle, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let refill = (bytes(), bytes(), prop_oneof![0..5000_u64, any::<u64>()], any::<u8>())
        .prop_map(|(object, available, now_ms, granted)| Step::Refill { object, available, now_ms, granted });
    let hungry = (0..100_usize, 0..100_u64).prop_map(|(object, now_ms)| Step::Refill {
        object,
        available: usize::MAX,
        now_ms,
        granted: u8::MAX,
    });
    let cycle = (bytes(), bytes(), bytes(), bytes(), bytes()).prop_map(
        |(used, capacity, requested, threads, allocated)| {
            Step::Cycle(HeapCycle { used, capacity, requested, threads }, allocated)
        },
    );
    prop_oneof![
        1 => bytes().prop_map(|free| Step::Keep { free }),
        1 => refill,
        4 => hungry,
        1 => Just(Step::Refuse),
        1 => Just(Step::Retire),
        1 => cycle,
    ]
}

proptest! {
    #[test]
    fn sizes_stay_in_their_bounds(
        settings in anything(),
        percent in prop::num::f64::ANY,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let (config, mut averages, mut sizing) = start(&settings);
        let (min, max) = (config.min_tlab_size, config.max_tlab_size);
        prop_assert!(64 <= min && min <= max && max <= settings.region_size.max(64));
        let budget = Budget::new(&config, settings.capacity, percent);
        for step in steps {
            match step {
                Step::Keep { free } => {
                    let limit = sizing.refill_waste_limit;
                    prop_assert_eq!(sizing.keep(&config, free), free > limit);
                }
                Step::Refill { object, available, now_ms, granted } => {
                    let _ = budget.settle(&config, &mut sizing, now_ms);
                    let request = sizing.request(&config, object, available, now_ms);
                    if let Some(Request { min: least, size }) = request {
                        prop_assert_eq!(least, object.next_multiple_of(WORD).max(min));
                        prop_assert!(least <= size && size <= max && size <= available);
                        prop_assert!(least % WORD == 0 && size % WORD == 0);
                        let actual = least + (size - least) / 255 / WORD * WORD * usize::from(granted);
                        sizing.granted(&config, actual, now_ms);
                    } else {
                        // A request fails only if there is no room: a buffer with room for
                        // the object is never refused.
                        prop_assert!(object > max || available < object.max(min).next_multiple_of(WORD));
                    }
                }
                Step::Refuse => sizing.refused(),
                Step::Retire => sizing.retired(),
                Step::Cycle(heap, allocated) => {
                    averages.end_cycle(&heap);
                    let cycle = Cycle { used: heap.used, capacity: heap.capacity, allocated };
                    budget.end_cycle(&config, &averages, &mut sizing, &cycle);
                    prop_assert_eq!((sizing.refills, sizing.slow_allocations), (0, 0));
                }
            }
            let desired = sizing.desired_size;
            prop_assert!(min <= desired && desired <= max && desired % WORD == 0, "{}", desired);
            prop_assert!((0.0..=1.0).contains(&averages.requested.value()));
        }
    }
}
