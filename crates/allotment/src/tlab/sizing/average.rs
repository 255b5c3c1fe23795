//! The averaging primitive of HotSpot's sizing: an exponentially weighted mean that adapts quickly
//! at the start.
//!
//! It has the same arithmetic, in the same 32-bit floats, as `AdaptiveWeightedAverage` in HotSpot's
//! `gcUtil.hpp`, because a reader compares our sizes with a JVM's. Refused: a mean in `f64`. It
//! would be more exact, but further from HotSpot's.

/// An exponentially weighted moving average.
///
/// The n-th sample x counts e = max(weight, floor(100 / n)) percent. After the hundredth, only the
/// weight counts:
///
/// ```text
/// average = ((100 - e) * average + e * x) / 100
/// ```
///
/// So the first sample replaces the average, and the second counts at least half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Average {
    /// The average; 0 before the first sample.
    value: f32,
    /// The least share that a new sample counts, in percent: 0..=100.
    weight: u8,
    /// Samples taken so far. Stops at [`OLD`], from where the count no longer matters.
    samples: u8,
}

/// The sample count from which only the weight counts.
const OLD: u8 = 101;

impl Average {
    /// An average without samples; a `weight` above 100 percent means 100.
    #[must_use]
    pub(crate) const fn new(weight: u8) -> Self {
        Self { value: 0.0, weight: if weight > 100 { 100 } else { weight }, samples: 0 }
    }

    /// Adds one sample. A sample that is not a finite number is ignored.
    pub(crate) fn sample(&mut self, sample: f32) {
        if !sample.is_finite() {
            return;
        }
        self.samples = self.samples.saturating_add(1).min(OLD);
        let counts = f32::from(self.weight.max(100 / self.samples));
        self.value = ((100.0 - counts) * self.value + counts * sample) / 100.0;
    }

    /// The average; 0 before the first sample.
    #[must_use]
    pub(crate) const fn value(&self) -> f32 {
        self.value
    }

    /// Samples taken so far; 101 stands for "more than 100".
    #[must_use]
    pub(crate) const fn samples(&self) -> u8 {
        self.samples
    }
}
