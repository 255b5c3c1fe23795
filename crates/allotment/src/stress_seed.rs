//! The seeds of tests that do something at random. `ALLOTMENT_STRESS_SEED` sets them all.
//!
//! Two kinds of tests ask. A hunt does something else in each run ([`of_hunt`]). A sweep does the
//! same in each run, in many parts ([`of_part`]); with the variable set, it goes elsewhere. What
//! fails shows the seed, with which the variable repeats it as far as threads allow.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

/// The number in an environment variable, if it is set.
///
/// # Panics
/// If the variable holds anything else.
pub(crate) fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: a number is wanted")))
}

/// Shows a seed, past what the harness keeps: a broken heap may end the process.
pub(crate) fn show(seed: u64) {
    let _ = writeln!(std::io::stderr(), "ALLOTMENT_STRESS_SEED={seed}");
}

/// The seed of a hunt: another one in each run, unless it is set.
pub(crate) fn of_hunt() -> u64 {
    number("ALLOTMENT_STRESS_SEED").unwrap_or_else(|| RandomState::new().hash_one(0))
}

/// The seed of a part of a sweep: its number, or a mixture of both numbers if the seed is set. The
/// harness shows it if the test fails.
pub(crate) fn of_part(part: u64) -> u64 {
    let Some(seed) = number("ALLOTMENT_STRESS_SEED") else {
        println!("part {part}");
        return part;
    };
    println!("ALLOTMENT_STRESS_SEED={seed}, part {part}");
    // SplitMix64's: 0 stays no seed of xorshift.
    let mixed = (seed ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 32) | 1
}
