//! An average with a margin for variation: HotSpot's padded average.

use crate::tlab::sizing::Average;

/// Percentage that the newest collection weighs in averages of sizes (HotSpot:
/// AdaptiveSizePolicyWeight).
pub(super) const SIZE_WEIGHT: u8 = 10;

/// Percentage that the newest collection weighs in averages of times (HotSpot: AdaptiveTimeWeight).
pub(super) const TIME_WEIGHT: u8 = 25;

/// Deviations to add (HotSpot: PromotedPadding, SurvivorPadding).
const PADDING: f32 = 3.0;

/// An average and the average distance from it (HotSpot's `AdaptivePaddedAverage`, `gcUtil.hpp`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Padded {
    average: Average,
    deviation: Average,
}

impl Padded {
    pub(super) const fn new(weight: u8) -> Padded {
        Padded { average: Average::new(weight), deviation: Average::new(weight) }
    }

    pub(super) fn sample(&mut self, sample: f32) {
        self.average.sample(sample);
        self.deviation.sample((sample - self.average.value()).abs());
    }

    /// The average alone.
    pub(super) fn average(&self) -> f32 {
        self.average.value()
    }

    /// A value that will hardly be exceeded: the average and three deviations.
    pub(super) fn padded(&self) -> f32 {
        self.average.value() + PADDING * self.deviation.value()
    }

    /// Whether there was a sample.
    pub(super) fn known(&self) -> bool {
        self.average.samples() > 0
    }
}
