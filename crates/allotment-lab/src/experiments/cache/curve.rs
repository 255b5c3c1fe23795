//! Finds where a curve of cost over working set rises.
//!
//! A threshold is applied to the sets in ascending order. A level ends at the first set that costs
//! at least a tenth more than the cheapest set of the level, for the whole interval of the ratio.
//! The rise continues as long as each step costs a tenth more than the step before. Then the next
//! level begins. The reference is the cheapest set and not the first, since the smallest set mostly
//! measures the loop around it.
//!
//! Refused: fitting pieces to the curve by least squares. With a dozen points it finds pieces in
//! noise, and its answer has no error.

use crate::statistics::{Ratio, Summary};

/// A smaller change is not reported, however small its error.
pub(super) const NOTICEABLE: f64 = 0.1;

/// The cost at one set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Bytes of each thread.
    pub(super) set: usize,
    /// The score.
    pub(super) score: Summary,
}

/// The cost over the set, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The points; at least one.
    pub(super) points: Vec<Point>,
    /// Whether a higher score is a lower cost.
    pub(super) throughput: bool,
}

/// A rise from one level to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knee {
    /// The last set of the lower level.
    pub(super) from: usize,
    /// The first set of the higher level.
    pub(super) to: usize,
    /// The score at `to`.
    pub(super) after: f64,
    /// The cost at `to` over the cost of the cheapest set of the lower level.
    pub(super) rise: Ratio,
}

impl Curve {
    /// The rises of the curve, by set.
    pub(super) fn knees(&self) -> Vec<Knee> {
        let Some((mut cheapest, rest)) = self.points.split_first() else { return Vec::new() };
        let (mut knees, mut last) = (Vec::<Knee>::new(), cheapest);
        let mut rising = false;
        for point in rest {
            let step = self.cost(point, last);
            let rise = self.cost(point, cheapest);
            if rising && is_rise(&step) {
                if let Some(knee) = knees.last_mut() {
                    *knee = Knee { from: knee.from, rise, ..self.knee(last, point, rise) };
                }
            } else if !rising && is_rise(&rise) {
                knees.push(self.knee(last, point, rise));
                rising = true;
            } else {
                let lowest = if rising { last } else { cheapest };
                cheapest = if self.cost(point, lowest).value < 1.0 { point } else { lowest };
                rising = false;
            }
            last = point;
        }
        knees
    }

    fn knee(&self, from: &Point, to: &Point, rise: Ratio) -> Knee {
        Knee { from: from.set, to: to.set, after: to.score.mean, rise }
    }

    /// The cost of `point` as a multiple of the cost of `other`.
    fn cost(&self, point: &Point, other: &Point) -> Ratio {
        let (point, other) = (&point.score, &other.score);
        if self.throughput { Ratio::of(other, point) } else { Ratio::of(point, other) }
    }
}

/// Whether the whole interval lies above the noticeable change; false if the interval is unknown.
fn is_rise(ratio: &Ratio) -> bool {
    ratio.low > 1.0 + NOTICEABLE
}

#[cfg(test)]
pub(super) mod examples {
    use super::*;

    /// Six values around a mean, with the given spread.
    pub(in super::super) fn summary(mean: f64, spread: f64) -> Summary {
        Summary::of(&[-1.0, 1.0, -0.5, 0.5, -0.2, 0.2].map(|part| mean * (1.0 + part * spread)))
    }

    /// A curve over sets that double from 16k on.
    pub(in super::super) fn curve(costs: &[f64], spread: f64) -> Curve {
        let point =
            |(index, &cost): (usize, &f64)| Point { set: 16 << 10 << index, score: summary(cost, spread) };
        Curve { points: costs.iter().enumerate().map(point).collect(), throughput: false }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::{curve, summary};
    use super::*;
    use proptest::prelude::*;

    /// The rises: their sets in KiB, and the cost ratio.
    fn knees(curve: &Curve) -> Vec<(usize, usize, f64)> {
        curve
            .knees()
            .iter()
            .map(|k| (k.from >> 10, k.to >> 10, (k.rise.value * 100.0).round() / 100.0))
            .collect()
    }

    #[test]
    fn rises_are_found_between_levels() {
        let table: [(&[f64], f64, &[(usize, usize, f64)]); 10] = [
            (&[1.0, 1.0, 1.0, 1.0], 0.01, &[]),
            (&[1.0, 1.0, 3.0, 3.0], 0.01, &[(32, 64, 3.0)]),
            // A rise of several steps is one.
            (&[1.0, 1.0, 2.0, 4.0, 4.1], 0.01, &[(32, 128, 4.0)]),
            // Two levels above the first.
            (&[1.0, 1.0, 3.0, 3.0, 3.1, 9.0, 9.0], 0.01, &[(32, 64, 3.0), (256, 512, 3.0)]),
            // A slow drift is a rise where it has become noticeable.
            (&[1.0, 1.06, 1.12, 1.18], 0.001, &[(32, 64, 1.12)]),
            // The smallest set measures the loop.
            (&[1.5, 1.0, 1.0, 1.3, 1.3], 0.01, &[(64, 128, 1.3)]),
            // Below a tenth.
            (&[1.0, 1.0, 1.08, 1.08], 0.001, &[]),
            // The errors reach further than the rise.
            (&[1.0, 1.0, 1.4, 1.4], 0.3, &[]),
            // A noisy curve with a large rise still has that rise.
            (&[1.0, 1.1, 0.9, 5.0, 5.5], 0.1, &[(64, 128, 5.56)]),
            (&[1.0], 0.01, &[]),
        ];
        for (costs, spread, expected) in table {
            assert_eq!(knees(&curve(costs, spread)), expected, "{costs:?}");
        }
    }

    #[test]
    fn a_throughput_rises_in_cost_where_it_falls() {
        let falling = Curve { throughput: true, ..curve(&[9.0, 9.0, 3.0, 3.0], 0.01) };
        assert_eq!(knees(&falling), [(32, 64, 3.0)]);
        assert_eq!(knees(&Curve { throughput: true, ..curve(&[3.0, 3.0, 9.0], 0.01) }), []);
    }

    #[test]
    fn too_few_values_show_nothing() {
        let points = [1.0, 5.0].map(|cost| Summary::of(&[cost, cost]));
        let points =
            points.into_iter().zip([16, 32]).map(|(score, set)| Point { set, score }).collect::<Vec<_>>();
        assert_eq!(Curve { points, throughput: false }.knees(), []);
    }

    proptest! {
        /// Noise around a constant, with the errors that belong to it, has no knee.
        #[test]
        fn noise_is_no_rise(values in prop::collection::vec(0.97..1.03_f64, 2..20)) {
            let points = values.iter().enumerate();
            let points = points.map(|(i, &mean)| Point { set: 16 << i, score: summary(mean, 0.03) }).collect();
            prop_assert_eq!(Curve { points, throughput: false }.knees(), []);
        }

        #[test]
        fn one_step_is_one_knee(before in 1..8_usize, after in 1..8_usize, height in 1.5..20.0_f64) {
            let costs: Vec<f64> =
                std::iter::repeat_n(1.0, before).chain(std::iter::repeat_n(height, after)).collect();
            let found = curve(&costs, 0.02).knees();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(found[0].to, 16 << 10 << before);
        }
    }
}
