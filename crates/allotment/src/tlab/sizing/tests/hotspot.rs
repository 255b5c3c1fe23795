//! HotSpot's sizing before and after JDK-8381834.

use super::*;
use crate::tlab::sizing::{Average, Cycle, HeapCycle, Request};

const BEFORE: TlabPolicy = TlabPolicy::Hotspot;
const AFTER: TlabPolicy = TlabPolicy::Hotspot8381834;

#[test]
fn the_average_starts_fast_and_slows_down() {
    // weight, samples, average after each
    let table: &[(u8, &[f32], &[f32])] = &[
        // e = 100, 50, max(35, 33) = 35, 35: 0.5 * 0.65 = 0.325, 0.325 * 0.65 + 0.35 = 0.56125
        (35, &[1.0, 0.0, 0.0, 1.0], &[1.0, 0.5, 0.325, 0.561_25]),
        // e = 100, 50, 33, 25, 20: 0.5 * 0.67 = 0.335, * 0.75 = 0.25125, * 0.8 = 0.201
        (10, &[1.0, 0.0, 0.0, 0.0, 0.0], &[1.0, 0.5, 0.335, 0.251_25, 0.201]),
        // e = 100, 90, 90
        (90, &[1.0, 0.0, 1.0], &[1.0, 0.1, 0.91]),
        (100, &[1.0, 7.0, -3.0], &[1.0, 7.0, -3.0]),
    ];
    for (weight, samples, expected) in table {
        let mut average = Average::new(*weight);
        for (sample, expected) in samples.iter().zip(*expected) {
            average.sample(*sample);
            assert!((average.value() - expected).abs() < 1e-6, "{weight} %: {average:?} is not {expected}");
        }
    }
}

#[test]
fn after_a_hundred_samples_only_the_weight_counts() {
    let mut average = Average::new(0);
    (0..100).for_each(|_| average.sample(1.0));
    assert_eq!((average.value(), average.samples()), (1.0, 100));
    (0..1000).for_each(|_| average.sample(0.0));
    assert_eq!((average.value(), average.samples()), (1.0, 101));
    // The hundredth still counts 100 / 100 = 1 %.
    let mut average = Average::new(0);
    (0..99).for_each(|_| average.sample(1.0));
    average.sample(0.0);
    assert_eq!(average.value(), 0.99);
}

#[test]
fn what_is_no_number_is_no_sample() {
    let mut average = Average::new(35);
    average.sample(f32::NAN);
    average.sample(f32::INFINITY);
    assert_eq!((average.value(), average.samples()), (0.0, 0));
}

#[test]
fn target_refills_follow_from_the_waste_target() {
    for (waste_target_percent, expected) in
        [(1, 50), (2, 25), (3, 16), (5, 10), (10, 5), (16, 3), (17, 2), (25, 2), (50, 2), (100, 2)]
    {
        let config = Config::new(&Settings { waste_target_percent, ..Settings::default() });
        assert_eq!(config.target_refills, expected, "{waste_target_percent} %");
    }
}

#[test]
fn the_first_buffer_of_a_cold_heap() {
    let table = [
        // 1 GiB = 134,217,728 words; / 50 = 2,684,354 words
        (BEFORE, GIB, 32 * MIB, 0, 2_684_354 * 8),
        // 0.1 in 32 bits is 13,421,773 / 2^27, of 2^30 bytes 107,374,184; / 1 / 50 = 2,147,483; / 8
        // = 268,435 words
        (AFTER, GIB, 32 * MIB, 0, 268_435 * 8),
        // 100 GiB: 2 % is 2 GiB and 0.2 % is 205 MiB, and a region caps both
        (BEFORE, 100 * GIB, 32 * MIB, 0, 32 * MIB),
        (AFTER, 100 * GIB, 32 * MIB, 0, 32 * MIB),
        // 64 KiB: 8,192 words / 50 = 163 words, less than the smallest buffer
        (BEFORE, 64 * KIB, 256 * KIB, 0, 2 * KIB),
        // TLABSize wins, within the bounds, and is a multiple of 8
        (BEFORE, GIB, 32 * MIB, 65_533, 65_536),
        (AFTER, GIB, 32 * MIB, 65_536, 65_536),
        (BEFORE, GIB, 256 * KIB, MIB, 256 * KIB),
    ];
    for (policy, capacity, region_size, tlab_size, expected) in table {
        let (_, _, sizing) = start(&Settings { tlab_size, ..settings(policy, capacity, region_size) });
        assert_eq!(sizing.desired_size, expected, "{policy}, capacity {capacity}, TLABSize {tlab_size}");
        assert_eq!(sizing.refill_waste_limit, expected / 64);
    }
}

#[test]
fn the_first_buffer_among_other_threads() {
    let cycle = HeapCycle { used: GIB, capacity: GIB, requested: GIB / 2, threads: 4 };
    for (policy, expected) in [
        // threads: (1 + 4) / 2 = 2.5, to the nearest 3; 134,217,728 / 150 = 894,784 words
        (BEFORE, 894_784 * 8),
        // requested: (0.1 + 0.5) / 2 = 0.3, in 32 bits 10,066,330 / 2^25: 322,122,560 bytes; / 3 /
        // 50 = 2,147,483; / 8
        (AFTER, 268_435 * 8),
    ] {
        let (config, mut averages, _) = start(&settings(policy, GIB, 32 * MIB));
        averages.end_cycle(&cycle);
        assert_eq!(averages.allocating_threads(), 3);
        assert!((averages.requested.value() - 0.3).abs() < 1e-6);
        assert_eq!(Sizing::start(&config, &averages).desired_size, expected, "{policy}");
    }
}

#[test]
fn a_cycle_in_which_nobody_allocated_is_no_sample_and_one_half_used_tells_only_the_threads() {
    let (_, mut averages, _) = start(&settings(AFTER, GIB, 32 * MIB));
    averages.end_cycle(&HeapCycle { used: GIB, capacity: 2 * GIB, requested: 0, threads: 0 });
    assert_eq!((averages.allocating_threads(), averages.requested.value()), (1, 0.1));
    assert_eq!(averages.capacity, 2 * GIB);
    averages.end_cycle(&HeapCycle { used: GIB, capacity: 2 * GIB, requested: GIB, threads: 9 });
    assert_eq!((averages.allocating_threads(), averages.requested.value()), (5, 0.1));
}

/// Two refills per cycle and a capacity that is a power of two: every number is exact.
fn halves(policy: TlabPolicy) -> Settings {
    Settings { waste_target_percent: 25, ..settings(policy, 64 * MIB, 64 * MIB) }
}

#[test]
fn before_a_thread_is_taken_to_repeat_its_share_of_what_was_used() {
    let (config, averages, mut sizing) = start(&halves(BEFORE));
    assert_eq!((sizing.desired_size, sizing.allocation_fraction.value()), (32 * MIB, 1.0));
    let mut cycle = |used, allocated, refills| {
        (0..refills).for_each(|_| sizing.granted(&config, 32 * MIB, 0));
        sizing.end_cycle(&config, &averages, &Cycle { used, capacity: 64 * MIB, allocated });
        assert_eq!(sizing.refills, 0);
        (sizing.allocation_fraction.value(), sizing.desired_size)
    };
    // 24 of 48 MiB: 0.5, counted half: 0.75; of 64 MiB, in two buffers
    assert_eq!(cycle(48 * MIB, 24 * MIB, 1), (0.75, 24 * MIB));
    // exactly half used, or no refill: no sample
    assert_eq!(cycle(32 * MIB, 0, 1), (0.75, 24 * MIB));
    assert_eq!(cycle(64 * MIB, 0, 0), (0.75, 24 * MIB));
    // 16 of 64 MiB, counted 35 %: 0.65 * 0.75 + 0.35 * 0.25 = 0.575, in 32 bits 9,646,899 / 2^24;
    // of 8,388,608 words 4,823,449; / 2 = 2,411,724
    assert_eq!(cycle(64 * MIB, 16 * MIB, 1), (0.575, 2_411_724 * 8));
    // more than was used: counts as all
    assert_eq!(cycle(48 * MIB, 100 * MIB, 1).0, 0.65 * 0.575 + 0.35);
}

#[test]
fn after_a_thread_is_taken_to_repeat_its_share_of_the_capacity() {
    let (config, mut averages, mut sizing) = start(&halves(AFTER));
    assert_eq!(sizing.allocation_fraction.samples(), 0);
    // A thread that never allocated is an average one. Requested 0.3, threads 2.5: 0.12; of
    // 8,388,608 words 1,006,632 or 1,006,633; / 2 = 503,316
    averages.end_cycle(&HeapCycle { used: 48 * MIB, capacity: 64 * MIB, requested: 32 * MIB, threads: 4 });
    sizing.end_cycle(&config, &averages, &Cycle { used: 48 * MIB, capacity: 64 * MIB, allocated: 0 });
    assert_eq!((sizing.allocation_fraction.samples(), sizing.desired_size), (0, 503_316 * 8));
    // 24 of 64 MiB, although 48 were used, and although it did not refill: 0.375
    sizing.end_cycle(&config, &averages, &Cycle { used: 48 * MIB, capacity: 64 * MIB, allocated: 24 * MIB });
    assert_eq!((sizing.allocation_fraction.value(), sizing.desired_size), (0.375, 12 * MIB));
    assert_eq!(sizing.refill_waste_limit, 12 * MIB / 64);
}

#[test]
fn without_resize_a_size_stays() {
    for policy in [BEFORE, AFTER] {
        let (config, averages, mut sizing) = start(&Settings { resize: false, ..halves(policy) });
        let size = sizing.desired_size;
        (0..200).for_each(|_| sizing.granted(&config, size, 0));
        assert_eq!(base(&config, &mut sizing, 0), size.min(64 * MIB - 8));
        sizing.end_cycle(&config, &averages, &Cycle { used: 64 * MIB, capacity: 64 * MIB, allocated: 8 });
        assert_eq!(sizing.desired_size, size, "{policy}");
    }
}

#[test]
fn after_many_refills_in_a_cycle_a_thread_doubles_up_to_sixteenfold() {
    let small = |policy| Settings { tlab_size: 4 * KIB, ..settings(policy, GIB, MIB) };
    let steps = [(50, 1), (57, 1), (58, 2), (65, 2), (66, 4), (73, 4), (74, 8), (81, 8), (82, 16), (999, 16)];
    let (config, averages, mut sizing) = start(&small(AFTER));
    for (refills, times) in steps {
        while sizing.refills < refills {
            sizing.granted(&config, 4 * KIB, 0);
        }
        assert_eq!(base(&config, &mut sizing, 0), times * 4 * KIB, "after {refills} refills");
        assert_eq!(sizing.desired_size, 4 * KIB);
    }
    sizing.end_cycle(&config, &averages, &Cycle::default());
    assert_eq!(sizing.refills, 0);

    let (config, _, mut sizing) = start(&small(BEFORE));
    (0..999).for_each(|_| sizing.granted(&config, 4 * KIB, 0));
    assert_eq!(base(&config, &mut sizing, 0), 4 * KIB);

    // 16 * 16 KiB exceeds the largest buffer, and so would any shift of a size near the top.
    let (config, _, mut sizing) =
        start(&Settings { tlab_size: 16 * KIB, max_tlab_size: 100 * KIB, ..small(AFTER) });
    (0..999).for_each(|_| sizing.granted(&config, 16 * KIB, 0));
    assert_eq!(base(&config, &mut sizing, 0), 100 * KIB - 8);
}

#[test]
fn a_request_adds_the_object_and_heeds_what_there_is() {
    let (config, _, mut sizing) =
        start(&Settings { tlab_size: 64 * KIB, ..settings(BEFORE, GIB, 256 * KIB) });
    let mut request = |object, available| sizing.request(&config, object, available, 0);
    let of = |min, size| Some(Request { min, size });
    assert_eq!(request(100, usize::MAX), of(2 * KIB, 64 * KIB + 104));
    assert_eq!(request(0, usize::MAX), of(2 * KIB, 64 * KIB));
    assert_eq!(request(10_000, usize::MAX), of(10_000, 64 * KIB + 10_000));
    // capped by a region, and by what the heap has, in whole words
    assert_eq!(request(250 * KIB, usize::MAX), of(250 * KIB, 256 * KIB));
    assert_eq!(request(256 * KIB, usize::MAX), of(256 * KIB, 256 * KIB));
    assert_eq!(request(100, 3007), of(2 * KIB, 3000));
    // no buffer would hold the object, or be large enough to be useful
    assert_eq!(request(256 * KIB + 1, usize::MAX), None);
    assert_eq!(request(4000, 3999), None);
    assert_eq!(request(8, 2047), None);
    assert_eq!(request(usize::MAX, usize::MAX), None);
}

#[test]
fn a_kept_buffer_raises_the_limit_until_it_is_dropped() {
    let (config, _, mut sizing) = start(&Settings { tlab_size: 64 * KIB, ..settings(BEFORE, GIB, MIB) });
    // 64 KiB / 64 = 1 KiB; four words more each time
    assert!(!sizing.keep(&config, 1024));
    assert_eq!((sizing.refill_waste_limit, sizing.slow_allocations), (1024, 0));
    assert!(sizing.keep(&config, 1025));
    assert_eq!((sizing.refill_waste_limit, sizing.slow_allocations), (1056, 1));
    // A thread whose objects never fit: (2000 - 1056) / 32 = 29.5, so 30 more of them go outside.
    let outside = (0..).take_while(|_| sizing.keep(&config, 2000)).count();
    assert_eq!((outside, sizing.slow_allocations), (30, 31));
    sizing.granted(&config, 64 * KIB, 0);
    assert_eq!((sizing.refill_waste_limit, sizing.slow_allocations, sizing.refills), (1024, 31, 1));
}
