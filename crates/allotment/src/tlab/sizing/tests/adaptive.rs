//! Our own policy, without the bound over all threads.

use super::*;
use crate::tlab::sizing::Cycle;

/// 4 GiB in regions of 2 MiB.
fn settings() -> Settings {
    super::settings(TlabPolicy::Adaptive, 4 * GIB, 2 * MIB)
}

/// Refills as a thread does that is alone.
fn refill(config: &Config, sizing: &mut Sizing, now_ms: u64) -> usize {
    let wish = sizing.wish(config, now_ms);
    sizing.set_desired_size(config, wish);
    let size = sizing.request(config, 48, usize::MAX, now_ms).expect("48 bytes fit in a buffer").size;
    sizing.granted(config, size, now_ms);
    wish
}

fn refills(config: &Config, sizing: &mut Sizing, count: usize, now_ms: u64) {
    for _ in 0..count {
        refill(config, sizing, now_ms);
    }
}

#[test]
fn a_hungry_thread_doubles_to_the_largest_buffer() {
    let (config, _, mut sizing) = start(&settings());
    let sizes: Vec<_> = (0..11).map(|_| refill(&config, &mut sizing, 0) / KIB).collect();
    assert_eq!(sizes, [16, 16, 32, 64, 128, 256, 512, 1024, 2048, 2048, 2048]);
    // Its last buffer holds the object too, and is still no larger than a region.
    assert_eq!(sizing.request(&config, 48, usize::MAX, 0).map(|request| request.size), Some(2 * MIB));
}

#[test]
fn the_largest_regions_are_reached_within_sixteen_refills() {
    let (config, _, mut sizing) = start(&Settings { region_size: 32 * MIB, ..settings() });
    let refills = (1..).find(|_| refill(&config, &mut sizing, 0) == 32 * MIB);
    assert_eq!(refills, Some(13));
}

#[test]
fn only_what_was_used_up_quickly_is_followed_by_more() {
    // decay 1000 ms: quick is up to 31.25 ms
    for (lasted_ms, expected) in [(0, 2048), (31, 2048), (32, 16), (1000, 16)] {
        let (config, _, mut sizing) = start(&settings());
        let last = (0..12).map(|n| refill(&config, &mut sizing, n * lasted_ms)).last();
        assert_eq!(last, Some(expected * KIB), "buffers lasted {lasted_ms} ms");
    }
}

#[test]
fn an_idle_thread_loses_half_per_decay_time() {
    for (idle_ms, expected) in
        [(1000, 2048), (1001, 1024), (1999, 1024), (2000, 512), (7000, 16), (8000, 16), (u64::MAX - 5, 16)]
    {
        let (config, _, mut sizing) = start(&settings());
        refills(&config, &mut sizing, 12, 5);
        assert_eq!(refill(&config, &mut sizing, 5 + idle_ms), expected * KIB, "idle for {idle_ms} ms");
    }
}

#[test]
fn a_thread_that_idled_earns_its_growth_anew() {
    let (config, _, mut sizing) = start(&settings());
    refills(&config, &mut sizing, 12, 0);
    let sizes: Vec<_> = (0..4).map(|_| refill(&config, &mut sizing, 5500) / KIB).collect();
    assert_eq!(sizes, [64, 64, 128, 256]);
}

#[test]
fn a_buffer_taken_away_says_nothing_of_hunger() {
    let (config, averages, mut sizing) = start(&settings());
    for _ in 0..50 {
        assert_eq!(refill(&config, &mut sizing, 0), 16 * KIB);
        sizing.retired();
    }
    for _ in 0..50 {
        assert_eq!(refill(&config, &mut sizing, 0), 16 * KIB);
        sizing.end_cycle(&config, &averages, &Cycle { allocated: 100, ..Cycle::default() });
    }
}

#[test]
fn after_a_cycle_a_thread_keeps_what_would_have_held_its_allocation() {
    for (allocated, expected) in [
        (usize::MAX, 2048),
        (3 * MIB, 2048),
        (MIB + 1, 2048),
        (MIB, 1024),
        (100 * KIB, 128),
        (1000, 16),
        (0, 16),
    ] {
        let (config, averages, mut sizing) = start(&settings());
        refills(&config, &mut sizing, 12, 0);
        sizing.end_cycle(&config, &averages, &Cycle { allocated, ..Cycle::default() });
        assert_eq!(sizing.desired_size, expected * KIB, "{allocated} bytes allocated");
    }
}

#[test]
fn tlab_size_is_the_floor_and_without_resize_the_size() {
    let given = Settings { tlab_size: 100 * KIB, ..settings() };
    let (config, averages, mut sizing) = start(&given);
    assert_eq!(config.floor(), 100 * KIB);
    // From 100 KiB x 16 to a region, which is not a multiple of that.
    let sizes: Vec<_> = (0..8).map(|_| refill(&config, &mut sizing, 0) / KIB).collect();
    assert_eq!(sizes, [100, 100, 200, 400, 800, 1600, 2048, 2048]);
    sizing.end_cycle(&config, &averages, &Cycle::default());
    assert_eq!(sizing.desired_size, 100 * KIB);

    let (config, _, mut sizing) = start(&Settings { resize: false, ..given });
    assert!((0..20).all(|_| refill(&config, &mut sizing, 0) == 100 * KIB));
    assert_eq!(refill(&config, &mut sizing, 100_000), 100 * KIB);
}
