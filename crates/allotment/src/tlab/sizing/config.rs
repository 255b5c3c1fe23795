//! The settings of a sizing policy: options turned into numbers that need no further checks.
//!
//! [`Settings`] has the choices of a user, with 0 and `None` for "by policy". [`Config`] has the
//! resulting numbers. They are two types because the refill path divides by some of the numbers. A
//! `Config` is built in one way only and never changed. No `Config` makes a policy panic or
//! overflow, for any settings.

use super::{adaptive, align_down, epsilon, shenandoah};
use crate::object::WORD;
use crate::options::TlabPolicy;

/// The smallest buffer that can be asked for, in bytes.
const SMALLEST: usize = 64;

/// The heap's input for its sizing: the options, and the size of a region.
///
/// ```
/// use allotment::internals::tlab::{Config, Settings};
///
/// let settings = Settings { region_size: 2 << 20, capacity: 4 << 30, ..Settings::default() };
/// let config = Config::new(&settings);
/// assert_eq!((config.floor(), config.max_tlab_size), (16 << 10, 2 << 20));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `TLABPolicy`.
    pub policy: TlabPolicy,
    /// Bytes of a region; no buffer is larger.
    pub region_size: usize,
    /// Bytes that can be allocated between two cycles, or in total if nothing is ever collected.
    pub capacity: usize,
    /// `TLABSize` in bytes, 0 for the policy's own. A thread starts with this size. With `adaptive`
    /// it never shrinks below it.
    pub tlab_size: usize,
    /// `MinTLABSize` in bytes.
    pub min_tlab_size: usize,
    /// `MaxTLABSize` in bytes, 0 for the policy's own.
    pub max_tlab_size: usize,
    /// `ResizeTLAB`: whether a thread's size follows its allocation, in every policy.
    pub resize: bool,
    /// `TLABWasteTargetPercent`, from which the target number of refills follows.
    pub waste_target_percent: usize,
    /// `TLABRefillWasteFraction`: a buffer is kept if more than size / this is free.
    pub refill_waste_fraction: usize,
    /// `TLABWasteIncrement` in words of 8 bytes: the rise of the limit each time a buffer is kept.
    pub waste_increment: usize,
    /// `TLABAllocationWeight` in percent, `None` for the policy's own.
    pub allocation_weight: Option<u8>,
    /// `TLABElasticity` (`EpsilonTLABElasticity`): growth per refill; read by `epsilon`.
    pub elasticity: f64,
    /// `TLABDecayTime` (`EpsilonTLABDecayTime`) in ms; read by `adaptive` and `epsilon`.
    pub decay_ms: u64,
}

impl Default for Settings {
    /// HotSpot's defaults with the `adaptive` policy, for a heap of 512 MiB with regions of 256
    /// KiB.
    fn default() -> Self {
        Self {
            policy: TlabPolicy::Adaptive,
            region_size: 256 << 10,
            capacity: 512 << 20,
            tlab_size: 0,
            min_tlab_size: 2 << 10,
            max_tlab_size: 0,
            resize: true,
            waste_target_percent: 1,
            refill_waste_fraction: 64,
            waste_increment: 4,
            allocation_weight: None,
            elasticity: 1.1,
            decay_ms: 1000,
        }
    }
}

/// The constants that all threads' sizing reads; one per heap.
///
/// ```text
/// 64 <= min_tlab_size <= max_tlab_size <= max(region, 64)    both multiples of 8
/// tlab_size == 0  or  min_tlab_size <= tlab_size <= max_tlab_size, a multiple of 8
/// target_refills >= 2    refill_waste_fraction >= 1    decay_ms >= 1    elasticity >= 1
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The policy.
    pub policy: TlabPolicy,
    /// The size that a thread starts with, in bytes. With 0 the size follows from the averages over
    /// cycles.
    pub tlab_size: usize,
    /// The smallest useful buffer, in bytes. If less is left, a thread allocates outside a buffer.
    pub min_tlab_size: usize,
    /// The largest buffer, in bytes. An object larger than this never lies in a buffer.
    pub max_tlab_size: usize,
    /// Whether a thread's size follows its allocation.
    pub resize: bool,
    /// Refills of a thread between two cycles that HotSpot's policies aim at.
    pub target_refills: usize,
    /// A buffer is kept if more than size / this is free.
    pub refill_waste_fraction: usize,
    /// The rise of that limit each time a buffer is kept, in bytes.
    pub waste_increment: usize,
    /// The share that a new sample counts in an average, in percent.
    pub allocation_weight: u8,
    /// Growth per refill; read by `epsilon`.
    pub elasticity: f64,
    /// Time without a refill after which a thread counts as idle, in ms.
    pub decay_ms: u64,
    /// Bytes between two cycles, as assumed before the first cycle ends.
    pub capacity: usize,
}

impl Config {
    /// The numbers that follow from `settings`.
    ///
    /// Never fails: a size beyond its bounds is moved to the nearest bound (region first, then
    /// largest, then smallest buffer). A user may choose sizes without knowing the region that the
    /// heap will choose. Choices that a user should be told about are refused earlier, where
    /// options are read.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let policy = settings.policy;
        let region = align_down(settings.region_size).max(SMALLEST);
        let given = |size: usize, otherwise: usize| {
            let size = if size == 0 { otherwise } else { size };
            size.checked_next_multiple_of(WORD).unwrap_or(region).clamp(SMALLEST, region)
        };
        let min_tlab_size = given(settings.min_tlab_size, SMALLEST);
        let policy_max = match policy {
            TlabPolicy::Shenandoah8359947 => shenandoah::max_tlab_size_8359947(region),
            TlabPolicy::Epsilon => epsilon::MAX_TLAB_SIZE,
            _ => region,
        };
        let max_tlab_size = given(settings.max_tlab_size, policy_max).max(min_tlab_size);
        let policy_size = match policy {
            TlabPolicy::Shenandoah8359947 => shenandoah::tlab_size_8359947(region),
            TlabPolicy::Adaptive => adaptive::FLOOR,
            _ => 0,
        };
        let tlab_size = match (settings.tlab_size, policy_size) {
            (0, 0) => 0,
            (size, otherwise) => given(size, otherwise).clamp(min_tlab_size, max_tlab_size),
        };
        Self {
            policy,
            tlab_size,
            min_tlab_size,
            max_tlab_size,
            resize: settings.resize,
            target_refills: target_refills(settings.waste_target_percent),
            refill_waste_fraction: settings.refill_waste_fraction.max(1),
            waste_increment: settings.waste_increment.saturating_mul(WORD),
            allocation_weight: settings.allocation_weight.unwrap_or(policy_weight(policy)).min(100),
            // `max` also turns NaN into 1.
            elasticity: settings.elasticity.max(1.0),
            decay_ms: settings.decay_ms.max(1),
            capacity: settings.capacity,
        }
    }

    /// Bytes that every thread may hold under the `adaptive` policy without asking: `TLABSize` if
    /// the user gave one, 16 KiB otherwise. A thread's first buffer has this size.
    #[must_use]
    pub const fn floor(&self) -> usize {
        if self.tlab_size == 0 { self.min_tlab_size } else { self.tlab_size }
    }

    /// Whether sizes depend on the time of a thread's last refill. If not, callers may pass any
    /// time.
    #[must_use]
    pub const fn looks_at_time(&self) -> bool {
        self.resize && matches!(self.policy, TlabPolicy::Adaptive | TlabPolicy::Epsilon)
    }

    /// `size` moved into the bounds of a buffer.
    pub(super) fn clamp(&self, size: usize) -> usize {
        size.clamp(self.min_tlab_size, self.max_tlab_size)
    }
}

/// Refills per thread and cycle at which half-full buffers cost `waste_target_percent` of the
/// capacity: max(2, 100 / (2 * percent)), rounded down.
fn target_refills(waste_target_percent: usize) -> usize {
    (100 / waste_target_percent.saturating_mul(2).max(1)).max(2)
}

/// `TLABAllocationWeight` if the user gives none. Shenandoah gave newer cycles 90 %. Since
/// JDK-8359947 it leaves HotSpot's 35 % in its generational mode, for which that change was made.
const fn policy_weight(policy: TlabPolicy) -> u8 {
    match policy {
        TlabPolicy::Shenandoah => 90,
        _ => 35,
    }
}
