//! A mean and a deviation in which old samples fade.
//!
//! The caller says how much a sample counts, because samples of rates cover different times.
//! Refused: a window of the last hundred samples, HotSpot's second average. It needs memory for
//! each sample, and a sample that leaves the window changes the deviation at once.

/// An exponentially weighted mean with its variance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Decayed {
    /// The mean; 0 before the first sample.
    pub(super) mean: f64,
    variance: f64,
    known: bool,
}

impl Decayed {
    /// Adds a sample that counts `weight`, between 0 and 1. The first sample is the mean.
    pub(super) fn add(&mut self, sample: f64, weight: f64) {
        if !self.known {
            *self = Decayed { mean: sample, variance: 0.0, known: true };
            return;
        }
        let distance = sample - self.mean;
        let step = weight * distance;
        self.mean += step;
        self.variance = (1.0 - weight) * (self.variance + distance * step);
    }

    /// The standard deviation; 0 before the second sample.
    pub(super) fn deviation(&self) -> f64 {
        self.variance.max(0.0).sqrt()
    }

    /// How many deviations `sample` is above the mean, or below it if negative. Any distance from
    /// samples that were all the same is infinite.
    pub(super) fn score(&self, sample: f64) -> f64 {
        let (distance, deviation) = (sample - self.mean, self.deviation());
        if distance == 0.0 || !self.known { 0.0 } else { distance / deviation }
    }
}
