//! The gain of several threads over one as their sets grow: whether the speed-up falls, and whether
//! it recovers.
//!
//! A valley is a set whose speed-up is lower than at some smaller set and lower than at some larger
//! one. In both cases the intervals must not touch. The depth of a valley is measured against the
//! lower of the two shoulders.
//!
//! Refused: a test of the difference of the two means. Over some hundred pairs, such a test finds
//! the best pair significant too often.

use super::curve::{Curve, NOTICEABLE, Point};
use crate::statistics::Ratio;

/// The speed of all threads together over that of one, at one set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpeedUp {
    /// Bytes of each thread.
    pub(super) set: usize,
    /// The ratio; equal to the number of threads where nothing is lost.
    pub(super) ratio: Ratio,
}

/// The course of the speed-up as sets grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Course {
    /// The speed-up falls nowhere by more than its errors and a tenth.
    Level,
    /// The speed-up falls, and does not recover by more than its errors and a tenth.
    Falls {
        /// The set where the fall begins.
        from: SpeedUp,
        /// The set where the fall ends.
        to: SpeedUp,
    },
    /// The speed-up falls, and recovers.
    Valley {
        /// The best set before the bottom.
        from: SpeedUp,
        /// The worst set.
        bottom: SpeedUp,
        /// The best set after the bottom.
        to: SpeedUp,
        /// The lower of the shoulders minus the bottom.
        depth: f64,
        /// The error of the depth; the errors of shoulder and bottom are independent.
        error: f64,
    },
}

/// The speed-ups of `threads` threads over one at the sets that both curves have.
pub(super) fn speed_ups(one: &Curve, many: &Curve, threads: usize) -> Vec<SpeedUp> {
    let factor = threads as f64;
    let of = |point: &Point| {
        let single = one.points.iter().find(|other| other.set == point.set)?;
        let (single, point_score) = (&single.score, &point.score);
        let ratio = if many.throughput {
            Ratio::of(point_score, single)
        } else {
            // The scores are each thread's time for an element, so the joint speed is the number of
            // threads over that time.
            Ratio::of(single, point_score).scaled(factor)
        };
        Some(SpeedUp { set: point.set, ratio })
    };
    many.points.iter().filter_map(of).collect()
}

/// The course of a series of speed-ups.
pub(super) fn course(all: &[SpeedUp]) -> Course {
    let mut deepest: Option<(f64, Course)> = None;
    let mut steepest: Option<(f64, Course)> = None;
    for (index, &bottom) in all.iter().enumerate() {
        let Some(from) = best_above(&all[..index], bottom) else { continue };
        let fall = from.ratio.value - bottom.ratio.value;
        if steepest.is_none_or(|(known, _)| fall > known) {
            steepest = Some((fall, Course::Falls { from, to: bottom }));
        }
        let Some(to) = best_above(&all[index + 1..], bottom) else { continue };
        let shoulder = if from.ratio.value < to.ratio.value { from } else { to };
        let depth = shoulder.ratio.value - bottom.ratio.value;
        if deepest.is_none_or(|(known, _)| depth > known) {
            let error = half(shoulder.ratio).hypot(half(bottom.ratio));
            deepest = Some((depth, Course::Valley { from, bottom, to, depth, error }));
        }
    }
    deepest.or(steepest).map_or(Course::Level, |(_, course)| course)
}

/// Half the width of an interval. The depth of a valley is a difference, so its error is not on a
/// logarithmic scale.
fn half(ratio: Ratio) -> f64 {
    (ratio.high - ratio.low) / 2.0
}

/// The best of some speed-ups that exceeds `bottom` by more than both intervals and the noticeable
/// change.
fn best_above(some: &[SpeedUp], bottom: SpeedUp) -> Option<SpeedUp> {
    let above = |other: &&SpeedUp| {
        other.ratio.low > bottom.ratio.high
            && other.ratio.value - bottom.ratio.value > NOTICEABLE * other.ratio.value
    };
    some.iter().filter(above).max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value)).copied()
}

#[cfg(test)]
mod tests {
    use super::super::curve::examples::curve;
    use super::*;
    use proptest::prelude::*;

    fn series(values: &[f64], error: f64) -> Vec<SpeedUp> {
        let one = |(index, &value): (usize, &f64)| SpeedUp {
            set: 1 << index,
            ratio: Ratio { value, low: value - error, high: value + error },
        };
        values.iter().enumerate().map(one).collect()
    }

    /// The kind, its sets (as powers of two), and its depth.
    fn found(values: &[f64], error: f64) -> (&'static str, Vec<u32>, f64) {
        let power = |one: SpeedUp| one.set.ilog2();
        match course(&series(values, error)) {
            Course::Level => ("level", vec![], 0.0),
            Course::Falls { from, to } => {
                ("falls", vec![power(from), power(to)], from.ratio.value - to.ratio.value)
            }
            Course::Valley { from, bottom, to, depth, .. } => {
                ("valley", vec![power(from), power(bottom), power(to)], depth)
            }
        }
    }

    #[test]
    fn valleys_are_told_from_slopes_and_noise() {
        // The first five rows: the model of two and of four threads, with misses that cost as much
        // as five hits, and with memory for all threads and for two.
        let table: [(&[f64], f64, &str, &[u32]); 11] = [
            (&[2.0, 2.0, 2.0, 1.3, 1.0, 1.6, 1.8, 1.9], 0.05, "valley", &[2, 4, 7]),
            (&[4.0, 4.0, 2.6, 1.3, 1.5, 2.8, 3.4, 3.7], 0.05, "valley", &[1, 3, 7]),
            (&[4.0, 4.0, 2.6, 0.7, 0.8, 1.4, 1.7, 1.9], 0.05, "valley", &[1, 3, 7]),
            (&[2.0, 2.0, 2.0, 1.3, 1.0, 1.6, 1.8, 1.9], 0.5, "level", &[]),
            (&[4.0, 4.0, 2.6, 0.7, 0.8, 1.4, 1.7, 1.9], 0.4, "valley", &[1, 3, 7]),
            (&[2.0, 2.0, 1.5, 1.1, 1.0, 1.0], 0.05, "falls", &[1, 4]),
            (&[2.0, 1.95, 2.05, 1.9, 2.0], 0.01, "level", &[]),
            (&[1.0, 1.5, 2.0], 0.05, "level", &[]),
            // A dip of one noisy point, whose interval reaches the others.
            (&[2.0, 2.0, 1.5, 2.0], 0.3, "level", &[]),
            (&[2.0], 0.01, "level", &[]),
            (&[], 0.01, "level", &[]),
        ];
        for (values, error, kind, places) in table {
            let (found, at, _) = found(values, error);
            assert_eq!((found, at.as_slice()), (kind, places), "{values:?} ± {error}");
        }
    }

    #[test]
    fn the_depth_is_against_the_lower_shoulder() {
        let Course::Valley { depth, error, .. } = course(&series(&[4.0, 1.0, 2.0], 0.3)) else { panic!() };
        assert_eq!((depth, error), (1.0, 0.3_f64.hypot(0.3)));
    }

    #[test]
    fn unknown_errors_show_nothing() {
        let mut all = series(&[2.0, 1.0, 2.0], 0.01);
        all[1].ratio = Ratio { value: 1.0, low: f64::NAN, high: f64::NAN };
        assert_eq!(course(&all), Course::Level);
    }

    #[test]
    fn costs_and_throughputs_give_the_same_speed_up() {
        let (one, four) = (curve(&[1.0, 2.0, 8.0], 0.01), curve(&[1.0, 4.0], 0.01));
        let values = |found: Vec<SpeedUp>| found.iter().map(|one| one.ratio.value).collect::<Vec<_>>();
        assert_eq!(values(speed_ups(&one, &four, 4)), [4.0, 2.0]);
        let (one, four) = (Curve { throughput: true, ..one }, Curve { throughput: true, ..four });
        assert_eq!(values(speed_ups(&one, &four, 4)), [1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn noise_within_the_errors_is_level(values in prop::collection::vec(1.9..2.1_f64, 0..20)) {
            prop_assert_eq!(course(&series(&values, 0.1)), Course::Level);
        }

        /// Every course consists of points of the series, in order, that are further apart than
        /// their errors.
        #[test]
        fn what_is_found_is_there(values in prop::collection::vec(0.5..4.0_f64, 0..20), error in 0.001..0.5_f64) {
            match course(&series(&values, error)) {
                Course::Level => prop_assert!(
                    (0..values.len()).all(|j| (0..j).all(|i| values[i] - values[j] <= 2.0 * error + NOTICEABLE * values[i]))
                ),
                Course::Falls { from, to } => {
                    prop_assert!(from.set < to.set && from.ratio.low > to.ratio.high);
                }
                Course::Valley { from, bottom, to, depth, .. } => {
                    prop_assert!(from.set < bottom.set && bottom.set < to.set);
                    prop_assert!(depth > 2.0 * error && from.ratio.low > bottom.ratio.high && to.ratio.low > bottom.ratio.high);
                }
            }
        }
    }
}
