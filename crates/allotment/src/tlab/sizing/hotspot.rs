//! HotSpot's sizing, before and after JDK-8381834.
//!
//! Both aim at about [`Config::target_refills`] refills of a thread between two cycles. The cycle
//! ends a thread's last buffer half full on average, so that buffer wastes 1 / (2 * refills) of the
//! thread's allocation. The expected allocation of a thread is an average over the cycles before,
//! as a fraction of the capacity.
//!
//! The two differ in their assumption about an unknown thread. Before: the thread shares all of the
//! capacity with the other threads. After: all threads together request a tenth of it, until cycles
//! say otherwise. A thread that needs more than it was given doubles within the cycle.
//!
//! Sizes are computed in words of 8 bytes, as in the source, because its divisions round there.

use super::averages::{fraction, representative};
use super::{Average, Averages, Config, Cycle, align_down};
use crate::object::WORD;
use crate::options::TlabPolicy;

/// Refills beyond the target between two doublings within a cycle.
const REFILLS_PER_BOOST: usize = 8;
/// Doublings within a cycle.
const MAX_BOOSTS: usize = 4;

/// Whether the policy is HotSpot's since JDK-8381834.
#[inline]
fn is_8381834(config: &Config) -> bool {
    config.policy == TlabPolicy::Hotspot8381834
}

/// A new thread's first size, in bytes.
///
/// `TLABSize` if the user gave one. Otherwise, with n threads and t target refills: before,
/// capacity / (n * t); after, requested fraction * capacity / n / t.
pub(super) fn initial_size(config: &Config, averages: &Averages) -> usize {
    if config.tlab_size != 0 {
        return config.clamp(config.tlab_size);
    }
    let threads = averages.allocating_threads();
    let words = if is_8381834(config) {
        let requested = (averages.requested.value() * averages.capacity as f32) as usize;
        requested / threads / config.target_refills / WORD
    } else {
        averages.capacity / WORD / threads.saturating_mul(config.target_refills)
    };
    config.clamp(words.saturating_mul(WORD))
}

/// A new thread's allocation fraction.
///
/// Before: one sample that would lead to the first size again, size * target refills / capacity.
/// After: no sample.
pub(super) fn initial_fraction(config: &Config, averages: &Averages, size: usize) -> Average {
    let mut average = Average::new(config.allocation_weight);
    if !is_8381834(config) {
        let words = (size / WORD).saturating_mul(config.target_refills);
        average.sample(words as f32 / (averages.capacity / WORD).max(1) as f32);
    }
    average
}

/// The size to ask for at a refill, in bytes, before the pending object is added.
///
/// After JDK-8381834 a thread with more refills than the target doubles every 8 further refills, up
/// to x16. The thread's own size stays. The result never exceeds the largest buffer.
#[inline]
pub(super) fn boosted(config: &Config, size: usize, refills: usize) -> usize {
    if !config.resize || refills <= config.target_refills || !is_8381834(config) {
        return size;
    }
    let boosts = ((refills - config.target_refills) / REFILLS_PER_BOOST).min(MAX_BOOSTS);
    // Compared before shifted: the shift could overflow.
    if size > config.max_tlab_size >> boosts { config.max_tlab_size } else { size << boosts }
}

/// The sample from a cycle for a thread that refilled `refills` times in it, if there is one.
///
/// Only a representative cycle gives a sample. Before: bytes allocated / bytes used, for a thread
/// that refilled. After: bytes allocated / capacity, for a thread that allocated.
pub(super) fn cycle_fraction(config: &Config, cycle: &Cycle, refills: usize) -> Option<f32> {
    if !representative(cycle.used, cycle.capacity) {
        None
    } else if is_8381834(config) {
        (cycle.allocated > 0).then(|| fraction(cycle.allocated, cycle.capacity))
    } else {
        (refills > 0).then(|| fraction(cycle.allocated, cycle.used))
    }
}

/// A thread's size for the next cycle, in bytes: average fraction * capacity / target refills.
///
/// After JDK-8381834 a thread without samples is treated as an average one.
pub(super) fn cycle_size(config: &Config, averages: &Averages, average: &Average, capacity: usize) -> usize {
    let fraction = match average.value() {
        0.0 if is_8381834(config) => averages.requested_per_thread(),
        value => value,
    };
    let words = (fraction * (capacity / WORD) as f32) as usize / config.target_refills;
    align_down(config.clamp(words.saturating_mul(WORD)))
}
