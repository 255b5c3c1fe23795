//! Averages, rates and sizes in words, by table.

use super::super::bytes::{Shown, percent_of};
use super::super::decayed::Decayed;
use super::super::rate::Rate;
use super::*;

#[test]
fn sizes_are_shown_in_the_unit_of_which_there_are_ten() {
    for (bytes, expected) in [
        (0, "0B"),
        (10 * KIB - 1, "10239B"),
        (10 * KIB, "10K"),
        (10 * MIB - 1, "10239K"),
        (48 * MIB, "48M"),
        (10 << 30, "10G"),
    ] {
        assert_eq!(Shown(bytes).to_string(), expected);
    }
}

#[test]
fn percentages_are_rounded_down_and_never_overflow() {
    for (bytes, percent, expected) in
        [(0, 10, 0), (999, 10, 99), (MIB, 100, MIB), (usize::MAX, 100, usize::MAX), (usize::MAX, 0, 0)]
    {
        assert_eq!(percent_of(bytes, percent), expected);
    }
}

#[test]
fn old_samples_fade() {
    let mut decayed = Decayed::default();
    assert_eq!((decayed.mean, decayed.deviation(), decayed.score(7.0)), (0.0, 0.0, 0.0));
    decayed.add(4.0, 0.5);
    assert_eq!((decayed.mean, decayed.deviation(), decayed.score(4.0)), (4.0, 0.0, 0.0));
    assert_eq!((decayed.score(5.0), decayed.score(3.0)), (f64::INFINITY, f64::NEG_INFINITY));
    decayed.add(8.0, 0.5);
    assert_eq!((decayed.mean, decayed.deviation(), decayed.score(10.0)), (6.0, 2.0, 2.0));
    for _ in 0..60 {
        decayed.add(1.0, 0.5);
    }
    assert!((decayed.mean - 1.0).abs() < 1e-9 && decayed.deviation() < 1e-6, "{decayed:?}");
}

#[test]
fn a_sample_ends_after_one_to_ten_milliseconds() {
    let capacity = 64 * MIB;
    let part = (capacity / 64) as u64;
    let mut rate = Rate::default();
    // The first look begins the first sample.
    rate.look(ms(1000), 7, capacity);
    rate.look(Duration::from_micros(1_000_999), 7 + 50 * part, capacity);
    assert_eq!(rate.latest, 0.0, "too short");
    rate.look(ms(1002), 7 + 50 * part, capacity);
    assert_eq!(rate.latest, 50.0 * part as f64 / 0.002);
    rate.look(ms(1011), 6 + 51 * part, capacity);
    assert_eq!(rate.latest, 50.0 * part as f64 / 0.002, "too little, and too short for so little");
    rate.look(ms(1012), 6 + 51 * part, capacity);
    assert_eq!(rate.latest, (part - 1) as f64 / 0.01);
    assert_eq!(rate.score, f64::NEG_INFINITY, "there was but one sample before");
}

#[test]
fn the_time_of_stops_is_no_part_of_a_rate() {
    let mut rate = Rate::default();
    rate.look(ms(1000), 0, 64 * MIB);
    rate.leave_out(ms(50));
    rate.look(ms(1060), 10 * MIB as u64, 64 * MIB);
    assert_eq!(rate.latest, 10.0 * MIB as f64 / 0.01);
}

#[test]
fn the_rate_of_an_idle_heap_falls() {
    let mut rate = Rate::default();
    for tick in 0..100 {
        rate.look(ms(10 * tick), tick * MIB as u64, 64 * MIB);
    }
    let busy = rate.padded(1.8);
    assert!((busy / (100 * MIB) as f64 - 1.0).abs() < 0.001, "{busy}");
    for tick in 100..200 {
        rate.look(ms(10 * tick), 99 * MIB as u64, 64 * MIB);
    }
    assert!(rate.padded(1.8) < 0.01 * busy, "{rate:?}");
}
