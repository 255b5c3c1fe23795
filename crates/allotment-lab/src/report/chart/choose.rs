//! From rows to charts: what runs along x, what is a series, what gets a chart of its own.
//!
//! The coordinate with the most numbers runs along x; what is compared (the mode, the baseline's coordinate,
//! the JVM) becomes series; each combination of what is left gets a chart beside the others. A row that lacks
//! a coordinate belongs to all of its values: a line across, and in every chart. Without a coordinate of at
//! least three numbers there is nothing to draw a line along, and bars say it better.
//! Whatever coordinates a row lacks, it is drawn.

use super::names::Names;
use super::{Axis, Chart, Point, Scale, Series};
use crate::format::ScoreRow;
use crate::format::coordinates::{Coordinate, MODE, mode, number as parsed, value, varying};
use crate::format::number;
use crate::format::phrase::{self, Better};
use crate::harness::{Baseline, Charts, JVM};
use crate::statistics::Ratio;
use std::collections::BTreeMap;

/// More charts than these of one kind nobody looks at; the table has all rows.
const MOST_CHARTS: usize = 24;

/// With more combinations than these, coordinates of few values become series.
const MANY_PANELS: usize = 12;

/// A chart of bars has the bars of one combination; several, if they are no more than these together.
const MOST_BARS: usize = 12;

/// Charts that belong together: of one unit, with one legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What the charts show; empty if there is only one group.
    pub title: String,
    /// The charts.
    pub charts: Vec<Chart>,
    /// Charts that were too many.
    pub left_out: usize,
}

/// A row with what was computed of it.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// The row.
    pub row: &'a ScoreRow,
    /// Its score.
    pub score: f64,
    /// The error of it; NaN if unknown.
    pub error: f64,
    /// Against its baseline, if it has one.
    pub ratio: Option<Ratio>,
}

/// The charts of an experiment's rows.
pub fn charts(rows: &[Scored<'_>], wanted: Charts, baseline: Option<&Baseline>) -> Vec<Group> {
    let mut parts: Vec<(Vec<&str>, Vec<Scored<'_>>)> = Vec::new();
    for &scored in rows {
        let row = scored.row;
        let own = if wanted.by_mode { mode(row) } else { "" };
        let key = vec![own, row.jmh_mode.as_str(), row.primary.unit.as_str()];
        match parts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, part)) => part.push(scored),
            None => parts.push((key, vec![scored])),
        }
    }
    let several = parts.len() > 1;
    let title = |key: &[&str]| match key {
        [_, jmh_mode, _] if several && !wanted.by_mode => way(jmh_mode).to_string(),
        _ => String::new(),
    };
    let groups = parts.iter().map(|(key, part)| (key[0], group(part, title(key), wanted, baseline)));
    if !wanted.by_mode {
        return groups.map(|(_, group)| group).collect();
    }
    // Modes have a chart or two each, which are put beside each other.
    let mut all = Group { title: String::new(), charts: Vec::new(), left_out: 0 };
    for (mode, group) in groups {
        all.left_out += group.left_out;
        for mut chart in group.charts {
            chart.title =
                if chart.title.is_empty() { mode.into() } else { format!("{mode}: {}", chart.title) };
            all.charts.push(chart);
        }
    }
    vec![all]
}

/// JMH's modes in words.
fn way(jmh_mode: &str) -> &str {
    match jmh_mode {
        "thrpt" => "throughput",
        "avgt" => "average time",
        "sample" => "time of single calls",
        "ss" => "single shots",
        other => other,
    }
}

/// What each coordinate does.
struct Plan {
    /// What runs along x, if anything does.
    along: Option<Coordinate>,
    /// What is compared.
    series: Vec<String>,
    /// What has charts of its own.
    panels: Vec<Coordinate>,
}

impl Plan {
    fn of(rows: &[&ScoreRow], wanted: Charts, baseline: Option<&Baseline>) -> Plan {
        let mut all = varying(rows);
        let compared = |name: &str| {
            name == MODE || name == JVM || baseline.is_some_and(|baseline| baseline.coordinate == name)
        };
        let numbers = |one: &Coordinate| one.numbers().is_some();
        let named = all.iter().position(|one| wanted.along == Some(one.name.as_str()) && numbers(one));
        let most = || {
            let free = all.iter().enumerate().filter(|(_, one)| !compared(&one.name) && numbers(one));
            // Of equals the first: experiments name what they are about first.
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
        Plan { along, series, panels }
    }

    /// The combinations of the panels' values, as far as rows have them. A row that lacks some has one of its own only where
    /// it belongs to none of another row: every row has a chart.
    fn places(&self, rows: &[Scored<'_>]) -> Vec<Place> {
        let mut all: Vec<Place> = Vec::new();
        for scored in rows {
            let place: Place = self.panels.iter().map(|one| value(scored.row, &one.name)).collect();
            if !all.contains(&place) {
                all.push(place);
            }
        }
        let lacking = |place: &Place| place.iter().filter(|value| value.is_none()).count();
        // Whatever a place is a part of has fewer gaps, so it comes first.
        all.sort_by_key(lacking);
        let mut found: Vec<Place> = Vec::new();
        for place in all {
            if !found.iter().any(|whole| is_part(&place, whole)) {
                found.push(place);
            }
        }
        let rank = |place: &Place| -> Vec<usize> {
            let of = |(one, own): (&Coordinate, &Own)| {
                one.values.iter().position(|value| Some(value) == own.as_ref()).unwrap_or(usize::MAX)
            };
            self.panels.iter().zip(place).map(of).collect()
        };
        found.sort_by_key(rank);
        found
    }

    fn belongs(&self, row: &ScoreRow, place: &[Own]) -> bool {
        let own: Place = self.panels.iter().map(|one| value(row, &one.name)).collect();
        is_part(&own, place)
    }
}

/// A value with its label; none where rows lack the coordinate.
type Own = Option<(String, String)>;

/// One for each panel.
type Place = Vec<Own>;

/// Whether `whole` has all values of `place`.
fn is_part(place: &[Own], whole: &[Own]) -> bool {
    place.iter().zip(whole).all(|(own, other)| own.is_none() || own == other)
}

fn group(rows: &[Scored<'_>], title: String, wanted: Charts, baseline: Option<&Baseline>) -> Group {
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    let plan = Plan::of(&plain, wanted, baseline);
    let names = Names::of(&plain, &plan.series, baseline);
    let places = plan.places(rows);
    let unit = rows.first().map_or("", |scored| scored.row.primary.unit.as_str());
    let mut charts = Vec::new();
    match &plan.along {
        Some(along) => {
            let has_others =
                |place: &[Own]| rows.iter().any(|s| plan.belongs(s.row, place) && !names.is_baseline(s.row));
            for place in &places {
                let parts = names.parts();
                for (index, part) in parts.iter().enumerate() {
                    let inside = |row: &ScoreRow| plan.belongs(row, place) && part.contains(&names.main(row));
                    let own: Vec<Scored<'_>> = rows.iter().filter(|s| inside(s.row)).copied().collect();
                    let series = lines(&own, &along.name, &names);
                    // The baseline is in all parts: where it has no company it is drawn elsewhere, or once.
                    let alone =
                        own.iter().all(|s| names.is_baseline(s.row)) && (index > 0 || has_others(place));
                    if !series.is_empty() && !alone {
                        let title = numbered(spelled(&plan.panels, place), index, parts.len());
                        charts.push(line_chart(unit, title, along, series));
                    }
                }
            }
        }
        None => {
            let most = (MOST_BARS / names.all.len().max(1)).max(1);
            for places in places.chunks(most) {
                charts.push(bar_chart(unit, &plan, places, rows, &names));
            }
        }
    }
    let left_out = charts.len().saturating_sub(MOST_CHARTS);
    charts.truncate(MOST_CHARTS);
    Group { title, charts, left_out }
}

/// `size = 16, threads = 2`
fn spelled(panels: &[Coordinate], place: &[Own]) -> String {
    let one = |(panel, own): (&Coordinate, &Own)| {
        own.as_ref().map(|(_, label)| format!("{} = {label}", panel.name))
    };
    panels.iter().zip(place).filter_map(one).collect::<Vec<_>>().join(", ")
}

/// `size = 16 (1 of 2)`, where series are divided among charts.
fn numbered(title: String, index: usize, all: usize) -> String {
    if all > 1 { format!("{title} ({} of {all})", index + 1).trim_start().into() } else { title }
}

fn point(scored: &Scored<'_>, x: f64) -> Point {
    let row = scored.row;
    let ratio = scored.ratio.map(|ratio| format!(" · {}×", phrase::factor(ratio.value)));
    Point {
        x,
        y: scored.score,
        low: scored.score - scored.error,
        high: scored.score + scored.error,
        label: format!(
            "{}{} {}{}",
            number::score(scored.score),
            match number::error(scored.score, scored.error) {
                error if error.is_empty() => error,
                error => format!(" {error}"),
            },
            row.primary.unit,
            ratio.unwrap_or_default()
        ),
    }
}

fn lines(rows: &[Scored<'_>], along: &str, names: &Names) -> Vec<Series> {
    let mut found: BTreeMap<(usize, usize, String), Series> = BTreeMap::new();
    for scored in rows {
        let (look, name) = (names.look(scored.row), names.whole(scored.row));
        let x = value(scored.row, along).and_then(|(value, _)| parsed(&value)).unwrap_or(f64::NAN);
        let series = found.entry((look.colour, look.dash, name.clone())).or_insert_with(|| Series {
            name,
            look,
            points: Vec::new(),
        });
        series.points.push(point(scored, x));
    }
    let mut series: Vec<Series> = found.into_values().collect();
    series.iter_mut().for_each(|one| one.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    series
}

fn line_chart(unit: &str, title: String, along: &Coordinate, series: Vec<Series>) -> Chart {
    let values = along.numbers().unwrap_or_default();
    let labels = along.values.iter().map(|(_, label)| label.clone());
    let ticks = values.iter().copied().zip(labels).collect();
    Chart {
        title,
        x: Axis { label: along.name.clone(), scale: x_scale(&values) },
        ticks,
        y: Axis { label: y_label(unit), scale: y_scale(&series, 30.0) },
        series,
    }
}

fn bar_chart(unit: &str, plan: &Plan, places: &[Place], rows: &[Scored<'_>], names: &Names) -> Chart {
    let words: Vec<String> = places.iter().map(|place| spelled(&plan.panels, place)).collect();
    let mut series: Vec<Series> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        for scored in rows.iter().filter(|scored| plan.belongs(scored.row, place)) {
            let (look, name) = (names.look(scored.row), names.whole(scored.row));
            let point = point(scored, index as f64);
            match series.iter_mut().find(|known| known.name == name) {
                Some(known) => known.points.push(point),
                None => series.push(Series { name, look, points: vec![point] }),
            }
        }
    }
    let title = match words.as_slice() {
        [only] => only.clone(),
        _ => String::new(),
    };
    let y = Axis { label: y_label(unit), scale: y_scale(&series, 60.0) };
    Chart {
        title,
        x: Axis { label: String::new(), scale: Scale::Words(words) },
        ticks: Vec::new(),
        y,
        series,
    }
}

fn y_label(unit: &str) -> String {
    let better = match Better::of(unit) {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    format!("{unit}, {better}")
}

/// By logarithms where values double or span much.
fn x_scale(values: &[f64]) -> Scale {
    let doubling = values.windows(2).all(|pair| pair[1] >= pair[0] * 1.9);
    let wide = match (values.first(), values.last()) {
        (Some(first), Some(last)) => *first > 0.0 && (doubling || last / first >= 8.0),
        _ => false,
    };
    if wide && values.len() > 1 { Scale::Log } else { Scale::Linear }
}

/// By logarithms where the largest score is more than `most` times the least.
fn y_scale(series: &[Series], most: f64) -> Scale {
    let values = || series.iter().flat_map(|one| &one.points).map(|point| point.y).filter(|y| y.is_finite());
    let (low, high) = phrase::range(values());
    if low > 0.0 && high / low > most { Scale::Log } else { Scale::Linear }
}

#[cfg(test)]
mod tests {
    use super::super::COLOURS;
    use super::*;
    use crate::format::{Combine, Parameter, examples};
    use proptest::prelude::*;

    fn row(mode: &str, params: &[(&str, &str)], threads: usize, score: f64) -> ScoreRow {
        let parameter = |(name, value): &(&str, &str)| Parameter {
            name: (*name).into(),
            value: (*value).into(),
            label: (*value).into(),
        };
        ScoreRow {
            benchmark: format!("tlab.{mode}"),
            threads,
            parameters: params.iter().map(parameter).collect(),
            primary: examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]),
            ..examples::row()
        }
    }

    fn of(rows: &[ScoreRow], wanted: Charts, baseline: Option<&Baseline>) -> Vec<Group> {
        let scored =
            |row| Scored { row, score: row.primary.score(), error: row.primary.error(), ratio: None };
        charts(&rows.iter().map(scored).collect::<Vec<_>>(), wanted, baseline)
    }

    /// Two modes, three sizes, two numbers of threads.
    fn grid() -> Vec<ScoreRow> {
        let mut rows = Vec::new();
        for mode in ["tlab", "bare"] {
            for size in ["144", "16", "64"] {
                for threads in [1, 2] {
                    rows.push(row(mode, &[("size", size)], threads, 10.0));
                }
            }
        }
        rows
    }

    #[test]
    fn the_coordinate_with_most_numbers_runs_along() {
        let groups = of(&grid(), Charts::default(), Some(&Baseline::mode("bare")));
        assert_eq!(groups.len(), 1);
        let charts = &groups[0].charts;
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["threads = 1", "threads = 2"]);
        assert_eq!((charts[0].x.label.as_str(), &charts[0].x.scale), ("size", &Scale::Log));
        let series: Vec<_> = charts[0].series.iter().map(|s| (s.name.as_str(), s.look.colour)).collect();
        assert_eq!(series, [("bare", 0), ("tlab", 1)], "the baseline is first, in ink");
        let xs: Vec<f64> = charts[0].series[0].points.iter().map(|point| point.x).collect();
        assert_eq!(xs, [16.0, 64.0, 144.0]);
    }

    #[test]
    fn an_experiment_may_say_what_runs_along() {
        let wanted = Charts { along: Some("threads"), by_mode: true };
        let groups = of(&grid(), wanted, None);
        let titles: Vec<&str> = groups[0].charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!((groups.len(), titles.len()), (1, 6));
        assert_eq!(titles[2..4], ["tlab: size = 144", "bare: size = 16"]);
        assert_eq!(groups[0].charts[0].x.label, "threads");
    }

    #[test]
    fn a_row_without_the_coordinate_is_a_line_across_in_every_chart() {
        let mut rows = grid();
        rows.push(row("malloc", &[], 1, 5.0));
        let charts = of(&rows, Charts::default(), None).remove(0).charts;
        let malloc: Vec<bool> = charts
            .iter()
            .map(|c| c.series.iter().any(|s| s.name == "malloc" && s.points[0].x.is_nan()))
            .collect();
        assert_eq!(malloc, [true, false], "it was measured with one thread");
    }

    #[test]
    fn without_numbers_there_are_bars() {
        let rows = [row("a", &[], 1, 1.0), row("b", &[], 1, 2.0), row("b", &[], 2, 3.0)];
        let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
        assert_eq!(chart.x.scale, Scale::Words(vec!["threads = 1".into(), "threads = 2".into()]));
        assert_eq!(chart.series.iter().map(|series| series.points.len()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(chart.y.scale, Scale::Linear);
    }

    #[test]
    fn rows_of_a_jvm_have_our_colour_and_a_dash() {
        let mut rows = grid();
        rows.push(row("tlab", &[("size", "16"), ("jvm", "25-parallel")], 1, 5.0));
        rows.push(row("tlab", &[("size", "16"), ("jvm", "17-g1")], 1, 5.0));
        let charts = of(&rows, Charts::default(), Some(&Baseline::mode("bare"))).remove(0).charts;
        let looks: Vec<_> =
            charts[0].series.iter().map(|s| (s.name.as_str(), s.look.colour, s.look.dash)).collect();
        assert_eq!(
            looks,
            [("bare", 0, 0), ("tlab", 1, 0), ("tlab, JDK 25 Parallel", 1, 1), ("tlab, JDK 17 G1", 1, 2)]
        );
    }

    #[test]
    fn rows_with_other_parameters_are_drawn_too() {
        let rows = [
            row("list", &[("size", "1"), ("kind", "array")], 1, 1.0),
            row("list", &[("size", "1"), ("kind", "linked")], 1, 2.0),
            // No row of `size = 2` has a kind.
            row("sort", &[("size", "2")], 1, 3.0),
            row("sort", &[("size", "1")], 1, 4.0),
        ];
        let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
        let words = ["size = 1, kind = array", "size = 1, kind = linked", "size = 2"].map(String::from);
        assert_eq!(chart.x.scale, Scale::Words(words.to_vec()));
        let bars = |name: &str| -> Vec<(f64, f64)> {
            let series = chart.series.iter().find(|series| series.name == name).unwrap();
            series.points.iter().map(|point| (point.x, point.y)).collect()
        };
        assert_eq!(bars("list"), [(0.0, 1.0), (1.0, 2.0)]);
        assert_eq!(bars("sort"), [(0.0, 4.0), (1.0, 4.0), (2.0, 3.0)], "in each chart of its size");
    }

    #[test]
    fn rows_none_of_which_has_all_parameters_are_told_apart() {
        let rows = [
            row("a", &[("x", "1")], 1, 1.0),
            row("a", &[("x", "2")], 1, 2.0),
            row("b", &[("y", "1")], 1, 3.0),
            row("b", &[("y", "2")], 1, 4.0),
        ];
        let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
        let words = ["x = 1", "x = 2", "y = 1", "y = 2"].map(String::from);
        assert_eq!(chart.x.scale, Scale::Words(words.to_vec()));
    }

    #[test]
    fn a_baseline_that_is_alone_somewhere_is_drawn_there() {
        let mut rows = Vec::new();
        for mode in 0..9 {
            for size in ["1", "2", "4"] {
                rows.push(row(&format!("m{mode}"), &[("size", size)], 1, 1.0));
            }
        }
        rows.push(row("m3", &[("size", "1")], 2, 5.0));
        let charts = of(&rows, Charts::default(), Some(&Baseline::mode("m3"))).remove(0).charts;
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        assert_eq!(titles, ["threads = 1 (1 of 2)", "threads = 1 (2 of 2)", "threads = 2 (1 of 2)"]);
    }

    /// A row of one of three modes, with one or two threads and with some of three parameters.
    fn any_row() -> impl Strategy<Value = ScoreRow> {
        (0..3, prop::array::uniform3(0..4), 1..3_usize).prop_map(|(mode, values, threads)| {
            let texts = values.map(|value: i32| value.to_string());
            let all = ["a", "b", "c"].into_iter().zip(&texts).map(|(name, text)| (name, text.as_str()));
            let params: Vec<(&str, &str)> = all.filter(|(_, text)| *text != "0").collect();
            row(&format!("m{mode}"), &params, threads, 1.0)
        })
    }

    proptest! {
        #[test]
        fn every_row_is_drawn(
            mut rows in prop::collection::vec(any_row(), 1..24),
            along in any::<bool>(),
            baseline in any::<bool>(),
        ) {
            // By its score each is found again.
            for (index, row) in rows.iter_mut().enumerate() {
                let score = 1.0 + index as f64;
                row.primary = examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]);
            }
            let wanted = Charts { along: along.then_some("b"), ..Charts::default() };
            let baseline = baseline.then(|| Baseline::mode("m0"));
            let group = of(&rows, wanted, baseline.as_ref()).remove(0);
            let series = || group.charts.iter().flat_map(|chart| &chart.series);
            for row in &rows {
                let drawn = series().flat_map(|one| &one.points).any(|point| point.y == row.primary.score());
                prop_assert!(drawn || group.left_out > 0, "{} is in no chart", row.full_name());
            }
        }
    }

    #[test]
    fn many_series_are_divided_and_the_baseline_is_in_each() {
        let mut rows = Vec::new();
        for mode in 0..9 {
            for threads in [1, 2, 4] {
                rows.push(row(&format!("m{mode}"), &[], threads, 1.0));
            }
        }
        let charts = of(&rows, Charts::default(), Some(&Baseline::mode("m3"))).remove(0).charts;
        assert_eq!(charts.iter().map(|chart| chart.series.len()).collect::<Vec<_>>(), [5, 5]);
        assert_eq!((charts[0].title.as_str(), charts[1].title.as_str()), ("(1 of 2)", "(2 of 2)"));
        assert!(charts.iter().all(|chart| chart.series[0].name == "m3"));
        assert!(charts.iter().flat_map(|c| &c.series).all(|s| s.look.colour <= COLOURS));
    }

    #[test]
    fn many_combinations_become_series_and_the_rest_is_counted() {
        let mut rows = Vec::new();
        for a in 0..9 {
            for b in 0..9 {
                for c in ["on", "off"] {
                    for x in 0..10 {
                        let values = [a.to_string(), b.to_string(), x.to_string()];
                        let params = [("a", &*values[0]), ("b", &*values[1]), ("c", c), ("x", &*values[2])];
                        rows.push(row("m", &params, 1, 1.0));
                    }
                }
            }
        }
        let group = of(&rows, Charts::default(), None).remove(0);
        assert_eq!((group.charts.len(), group.left_out), (MOST_CHARTS, 81 - MOST_CHARTS));
        let names: Vec<&str> = group.charts[0].series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["on", "off"]);
    }
}
