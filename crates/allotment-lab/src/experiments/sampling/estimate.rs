//! The estimates of a profile against what a program knows, in standard deviations.
//!
//! An object of k bytes is sampled with the probability p = 1 - e^(-k/T), independently of all
//! others, and stands for 1/p objects then. So the estimate of N objects has the variance
//! N (1 - p) / p, and that of their bytes k^2 times as much. These are the same formulas as in
//! `docs/observe.md`, and not the library's code: an error in the weights shows.
//!
//! A deviation is judged where the estimate is nearly normally distributed. By Lyapunov's condition
//! that is so where M / V^(3/2) is small, with the sum M of the third absolute moments of the
//! objects and the sum V of their variances. For one small p this is 1/√n with n samples, so
//! (V^(3/2) / M)^2 is a number of samples for any sum.

use super::heap;
use super::programs::{self, Made, name};
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker};
use allotment::stats::AllocationProfile;
use anyhow::ensure;

/// The number of samples, as the module defines it, that a judged estimate has. With 100 a Poisson
/// distribution is off by 5 standard deviations in two of a million cases, with 10 in eighteen.
const LEAST_SAMPLES: f64 = 100.0;

/// Mode `estimate`.
pub(super) fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (program, allocated) = (case.text("program")?, case.size("allocated")?);
    let interval = case.size("interval")?;
    bench.measure(|_| Ok(Running { program, allocated, interval, outcome: None, found: None }))
}

struct Running<'a> {
    program: &'a str,
    allocated: usize,
    interval: usize,
    /// The objects and the profile of the last shot.
    outcome: Option<anyhow::Result<(Vec<Made>, AllocationProfile)>>,
    found: Option<Deviations>,
}

impl Running<'_> {
    fn shot(&self) -> anyhow::Result<(Vec<Made>, AllocationProfile)> {
        let heap = heap(programs::options(self.program))?;
        heap.set_allocation_sample_interval(self.interval);
        let made = programs::run(self.program, &heap, self.allocated)?;
        Ok((made, heap.allocation_profile()))
    }
}

impl Worker for Running<'_> {
    fn batch(&mut self) -> u64 {
        let shot = self.shot();
        let objects = shot.as_ref().map_or(1, |(made, _)| made.iter().map(|made| made.objects).sum());
        self.outcome = Some(shot);
        objects
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let Some(outcome) = self.outcome.take() else { return Ok(()) };
        let (made, profile) = outcome?;
        let dropped = profile.dropped_samples();
        ensure!(dropped == 0, "{dropped} samples had no memory; a larger --interval fits");
        self.found = Some(Deviations::of(&made, &profile, self.interval));
        Ok(())
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        let Some(found) = self.found.take() else { return Vec::new() };
        vec![
            SecondaryValue::average("samples", "counts", found.samples as f64),
            SecondaryValue::average("error.bytes", "%", found.error * 100.0),
            SecondaryValue::average("deviation.bytes", "sd", found.bytes),
            SecondaryValue::average("deviation.objects", "sd", found.objects),
            SecondaryValue::maximum("deviation.max", "sd", found.max),
        ]
    }
}

/// How far the estimates of a profile are from the truth.
#[derive(Clone, Copy, Debug)]
struct Deviations {
    samples: u64,
    /// The sum of all bytes, as a part of the truth, without its sign.
    error: f64,
    /// The sum of all bytes, in its standard deviations; more than 0: estimated too high.
    bytes: f64,
    /// The number of all objects, likewise.
    objects: f64,
    /// The largest of these two, and of those of each size, without sign, as far as there are
    /// enough samples for a judgement; NaN: for none.
    max: f64,
}

/// An estimate: of objects of one size, or a sum of such.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// Estimate minus truth.
    off: f64,
    variance: f64,
    /// The sum of the third absolute moments.
    third: f64,
}

impl Estimate {
    /// The estimate of `count` objects, each sampled with the probability `sampled`.
    fn of(estimate: f64, count: f64, sampled: f64) -> Estimate {
        let missed = 1.0 - sampled;
        Estimate {
            off: estimate - count,
            variance: count * missed / sampled,
            third: count * missed * (missed.powi(2) + sampled.powi(2)) / sampled.powi(2),
        }
    }

    /// The sum with another estimate, each object of which counts `weight`.
    fn and(self, other: Estimate, weight: f64) -> Estimate {
        Estimate {
            off: self.off + other.off * weight,
            variance: self.variance + other.variance * weight.powi(2),
            third: self.third + other.third * weight.powi(3),
        }
    }

    /// How far it is off, in standard deviations.
    fn deviation(self) -> f64 {
        // Where every object is sampled the estimate is exact.
        if self.off == 0.0 { 0.0 } else { self.off / self.variance.sqrt() }
    }

    /// The deviation without sign, where there are enough samples for a judgement; else NaN.
    fn judged(self) -> f64 {
        let samples = self.variance.powi(3) / self.third.powi(2);
        if samples >= LEAST_SAMPLES { self.deviation().abs() } else { f64::NAN }
    }
}

impl Deviations {
    fn of(made: &[Made], profile: &AllocationProfile, interval: usize) -> Deviations {
        let (mut bytes, mut objects, mut exact) = (Estimate::default(), Estimate::default(), 0.0);
        let (mut samples, mut max) = (0, f64::NAN);
        for made in made {
            let (size, count) = (made.bytes as f64, made.objects as f64);
            let sites = profile.sites().iter().filter(|site| *site.type_name == name(made.bytes));
            let estimate: f64 = sites.clone().map(|site| site.allocated_objects()).sum();
            samples += sites.map(|site| site.samples).sum::<u64>();
            let sampled = -(-size / interval as f64).exp_m1();
            let own = Estimate::of(estimate, count, sampled);
            // The larger one, or the one that is a number.
            max = max.max(own.judged());
            (objects, bytes) = (objects.and(own, 1.0), bytes.and(own, size));
            exact += count * size;
        }
        Deviations {
            samples,
            error: bytes.off.abs() / exact,
            bytes: bytes.deviation(),
            objects: objects.deviation(),
            max: max.max(bytes.judged()).max(objects.judged()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::programs::{LEAST_BYTES, PROGRAMS};
    use super::*;

    /// 5 standard deviations: two in a million for each of some 20 numbers.
    #[test]
    fn estimates_are_within_their_deviations() {
        for program in PROGRAMS {
            let running =
                Running { program, allocated: LEAST_BYTES, interval: 32 << 10, outcome: None, found: None };
            let (made, profile) = running.shot().unwrap();
            let found = Deviations::of(&made, &profile, running.interval);
            assert!(found.max < 5.0 && found.samples > 100, "{program}: {found:?}");
            // An error is seen: twice the truth is far off.
            let twice: Vec<Made> =
                made.iter().map(|made| Made { objects: made.objects * 2, ..*made }).collect();
            assert!(Deviations::of(&twice, &profile, running.interval).bytes < -5.0, "{program}");
        }
    }

    #[test]
    fn sums_of_few_samples_are_not_judged() {
        let of = |count: f64, sampled: f64| Estimate::of(count * 1.1, count, sampled);
        // 120 and 80 are expected to be sampled, or to be missed.
        for (count, sampled, judged) in [(120e3, 1e-3, true), (80e3, 1e-3, false)] {
            assert_eq!(of(count, sampled).judged().is_finite(), judged, "{count}");
            assert_eq!(of(count, 1.0 - sampled).judged().is_finite(), judged, "{count}");
        }
        // Two sums that are judged are one. Few large objects make a sum of bytes uncertain.
        let small = of(120e3, 1e-3);
        assert!(small.and(small, 1.0).judged().is_finite());
        assert!(small.and(of(80.0, 0.5), 1e6).judged().is_nan());
        assert_eq!(Estimate::of(7.0, 7.0, 1.0).deviation(), 0.0);
    }
}
