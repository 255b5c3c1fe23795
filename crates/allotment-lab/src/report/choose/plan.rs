//! The role of each coordinate of the rows, and the places: combinations of the remaining values,
//! with a chart each.

use super::Scored;
use crate::format::coordinates::{Coordinate, MODE, value, varying};
use crate::format::{ScoreRow, distinct};
use crate::harness::{Baseline, Charts, JVM};

/// With more combinations than this, coordinates of few values become series.
const MANY_PANELS: usize = 12;

/// The role of each coordinate.
pub(super) struct Roles {
    /// The coordinate along x, if there is one.
    pub(super) along: Option<Coordinate>,
    /// The compared coordinates.
    pub(super) series: Vec<String>,
    /// The coordinates with a chart for each value.
    pub(super) panels: Vec<Coordinate>,
}

impl Roles {
    pub(super) fn of(rows: &[&ScoreRow], wanted: Charts, baseline: Option<&Baseline>) -> Roles {
        let mut all = varying(rows);
        let compared = |name: &str| is_compared(name, baseline);
        let numbers = |one: &Coordinate| one.numbers().is_some();
        let named = all.iter().position(|one| wanted.along == Some(one.name.as_str()) && numbers(one));
        let most = || {
            let free = all.iter().enumerate().filter(|(_, one)| !compared(&one.name) && numbers(one));
            // The first of equals is taken, since experiments name their main coordinate first.
            let most = free.rev().max_by_key(|(_, one)| one.values.len())?;
            (most.1.values.len() > 2).then_some(most.0)
        };
        let along = named.or_else(most).map(|index| all.remove(index));
        let (series, mut panels): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| compared(&one.name));
        let mut series: Vec<String> = series.into_iter().map(|one| one.name).collect();
        while panels.iter().map(|one| one.values.len()).product::<usize>() > MANY_PANELS {
            let fewest = panels.iter().enumerate().filter(|(_, one)| one.values.len() <= 3);
            let Some((index, _)) = fewest.min_by_key(|(_, one)| one.values.len()) else { break };
            series.push(panels.remove(index).name);
        }
        Roles { along, series, panels }
    }

    /// The combinations of the panels' values that occur in rows. A row that lacks some values gets
    /// a place of its own only if it belongs to no other row's place. So every row has a chart.
    pub(super) fn places(&self, rows: &[Scored<'_>]) -> Vec<Place> {
        let mut all = distinct(rows.iter().map(|scored| self.place(scored.row)));
        let lacking = |place: &Place| place.iter().filter(|value| value.is_none()).count();
        // A place that includes another has fewer gaps, so it comes first.
        all.sort_by_key(lacking);
        let mut found: Vec<Place> = Vec::new();
        for place in all {
            if !found.iter().any(|whole| is_part(&place, whole)) {
                found.push(place);
            }
        }
        let rank = |place: &Place| -> Vec<usize> {
            let of = |(one, own): (&Coordinate, &PlaceValue)| {
                one.values.iter().position(|value| Some(value) == own.as_ref()).unwrap_or(usize::MAX)
            };
            self.panels.iter().zip(place).map(of).collect()
        };
        found.sort_by_key(rank);
        found
    }

    fn place(&self, row: &ScoreRow) -> Place {
        self.panels.iter().map(|one| value(row, &one.name)).collect()
    }

    pub(super) fn belongs(&self, row: &ScoreRow, place: &[PlaceValue]) -> bool {
        is_part(&self.place(row), place)
    }
}

/// Whether the values of a coordinate are compared with each other: then they are series.
pub(super) fn is_compared(name: &str, baseline: Option<&Baseline>) -> bool {
    name == MODE || name == JVM || baseline.is_some_and(|baseline| baseline.coordinate == name)
}

/// A value with its label; `None` where rows lack the coordinate.
pub(super) type PlaceValue = Option<(String, String)>;

/// One value for each panel.
pub(super) type Place = Vec<PlaceValue>;

/// Whether `whole` has all values of `place`.
fn is_part(place: &[PlaceValue], whole: &[PlaceValue]) -> bool {
    place.iter().zip(whole).all(|(own, other)| own.is_none() || own == other)
}

/// `size = 16, threads = 2`
pub(super) fn spelled(panels: &[Coordinate], place: &[PlaceValue]) -> String {
    let one = |(panel, own): (&Coordinate, &PlaceValue)| {
        own.as_ref().map(|(_, label)| format!("{} = {label}", panel.name))
    };
    panels.iter().zip(place).filter_map(one).collect::<Vec<_>>().join(", ")
}
