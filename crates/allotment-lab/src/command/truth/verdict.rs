//! Whether two programs with the same task take the same time.
//!
//! A round measures both, one directly after the other, so the ratio does not depend on the
//! machine's state an hour later. The median of the ratios decides, since a round in which another
//! process had the CPU moves the median little.
//!
//! Refused: a confidence interval. With enough rounds it finds a difference of 3 % significant, and
//! the question is only whether a row measures what it claims.

/// The largest allowed difference of two programs: a fifth, in either direction.
pub(super) const FIFTH: f64 = 0.2;

/// The rounds of one row, as the lab's score over that of the program in C.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ratios(Vec<f64>);

impl Ratios {
    /// Adds a round.
    pub(super) fn push(&mut self, ratio: f64) {
        self.0.push(ratio);
        self.0.sort_by(f64::total_cmp);
    }

    /// The number of rounds.
    pub(super) fn rounds(&self) -> usize {
        self.0.len()
    }

    /// The median; `None` without a round.
    pub(super) fn median(&self) -> Option<f64> {
        let (below, above) = (self.0.len().checked_sub(1)? / 2, self.0.len() / 2);
        Some((self.0[below] + self.0[above]) / 2.0)
    }

    /// The least and the greatest.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        Some((*self.0.first()?, *self.0.last()?))
    }

    /// Whether the median is more than a fifth away from 1: the larger score is more than 1.2 times
    /// the smaller.
    pub(super) fn differ(&self) -> bool {
        self.median().is_some_and(|median| median.max(1.0 / median) > 1.0 + FIFTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rounds: &[f64]) -> Ratios {
        let mut ratios = Ratios::default();
        rounds.iter().for_each(|&round| ratios.push(round));
        ratios
    }

    #[test]
    fn a_fifth_either_way_is_too_much() {
        for (median, differ) in
            [(1.0, false), (1.19, false), (1.21, true), (0.84, false), (0.83, true), (0.19, true)]
        {
            assert_eq!(of(&[median]).differ(), differ, "{median}");
        }
        assert!(!Ratios::default().differ());
    }

    #[test]
    fn the_median_decides() {
        assert_eq!(of(&[9.0, 1.0, 1.1]).median(), Some(1.1));
        assert_eq!(of(&[2.0, 1.0, 1.2, 0.1]).median(), Some(1.1));
        assert_eq!((of(&[]).median(), of(&[]).range()), (None, None));
        let ratios = of(&[9.0, 1.0, 1.1]);
        assert_eq!((ratios.range(), ratios.rounds(), ratios.differ()), (Some((1.0, 9.0)), 3, false));
    }
}
