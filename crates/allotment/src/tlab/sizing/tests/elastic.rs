//! Epsilon's elastic buffers.

use super::*;
use crate::tlab::sizing::{Request, epsilon};

/// 4 GiB, of which 2 % exceed Epsilon's 4 MiB: every thread is bound for the largest buffer.
fn settings() -> Settings {
    super::settings(TlabPolicy::Epsilon, 4 * GIB, 32 * MIB)
}

fn refill(config: &Config, sizing: &mut Sizing, now_ms: u64) -> usize {
    let Request { size, .. } = sizing.request(config, 48, usize::MAX, now_ms).expect("48 bytes fit");
    sizing.granted(config, size, now_ms);
    size
}

fn refills(config: &Config, sizing: &mut Sizing, count: usize, now_ms: u64) {
    for _ in 0..count {
        refill(config, sizing, now_ms);
    }
}

#[test]
fn a_thread_grows_by_a_tenth_per_refill_to_the_largest_buffer() {
    let (config, _, mut sizing) = start(&settings());
    assert_eq!((config.max_tlab_size, sizing.desired_size), (4 * MIB, 4 * MIB));
    // in words: 256, 281 (281.6), 309 (309.1), 339 (339.9)
    let sizes: Vec<_> = (0..200).map(|_| refill(&config, &mut sizing, 0)).collect();
    assert_eq!(sizes[..4], [256 * 8, 281 * 8, 309 * 8, 339 * 8]);
    // ln(4 MiB / 2 KiB) / ln(1.1) = 80.0
    let first_largest = sizes.iter().position(|size| *size == 4 * MIB);
    assert!(matches!(first_largest, Some(79..=82)), "{first_largest:?}");
    assert!(sizes[82..].iter().all(|size| *size == 4 * MIB));
}

#[test]
fn growth_never_stalls_above_ten_words() {
    let config = Config::new(&Settings { min_tlab_size: 64, ..settings() });
    let grown = |words: usize| epsilon::elastic_size(&config, words * 8, usize::MAX, 64) / 8;
    assert_eq!((grown(8), grown(9)), (8, 9));
    (10..4 * MIB / 8).for_each(|words| assert!(grown(words) > words, "{words} words"));
}

#[test]
fn a_thread_that_idles_longer_than_the_decay_time_starts_over() {
    let (config, _, mut sizing) = start(&settings());
    refills(&config, &mut sizing, 20, 5);
    let grown = sizing.ergo;
    assert!(refill(&config, &mut sizing, 1005) > grown, "1000 ms are not longer than 1000 ms");
    assert_eq!(refill(&config, &mut sizing, 2006), 2 * KIB);
    assert_eq!(refill(&config, &mut sizing, 2007), 281 * 8);
}

#[test]
fn a_refused_thread_asks_for_the_smallest_buffer_next() {
    let (config, _, mut sizing) = start(&settings());
    refills(&config, &mut sizing, 20, 0);
    sizing.refused();
    assert_eq!(sizing.ergo, 0);
    assert_eq!(refill(&config, &mut sizing, 0), 2 * KIB);
}

#[test]
fn the_object_counts_before_the_elasticity() {
    let (config, _, mut sizing) = start(&settings());
    let request = sizing.request(&config, 10_000, usize::MAX, 0);
    assert_eq!(request, Some(Request { min: 10_000, size: 10_000 }));
    assert_eq!(sizing.request(&config, 4 * MIB + 8, usize::MAX, 0), None);
}

#[test]
fn a_thread_that_has_grown_to_the_request_grows_no_further() {
    let config = Config::new(&settings());
    let size = |ergo, requested| epsilon::elastic_size(&config, ergo, requested, 2 * KIB);
    assert_eq!(size(100 * KIB, 100 * KIB), 100 * KIB);
    assert_eq!(size(200 * KIB, 100 * KIB), 100 * KIB);
    // A tenth more than the thread had, even if that is more than it asked for: 12,799 words * 1.1
    // = 14,078.9
    assert_eq!(size(100 * KIB - 8, 100 * KIB), 14_078 * 8);
}

#[test]
fn a_cycle_changes_nothing_and_without_resize_nothing_is_elastic() {
    let (config, averages, mut sizing) = start(&settings());
    refills(&config, &mut sizing, 20, 0);
    let grown = sizing.ergo;
    sizing.end_cycle(&config, &averages, &Default::default());
    assert_eq!((sizing.ergo, sizing.desired_size), (grown, 4 * MIB));

    let (config, _, mut sizing) = start(&Settings { resize: false, ..settings() });
    assert_eq!(refill(&config, &mut sizing, 0), 4 * MIB);
}
