//! The verdict on buffer sizes: the size from which refills no longer show, and whether the
//! policies reach it.

use crate::experiments::saying::{contrast, of_mode, ours, place};
use crate::format::ScoreRow;
use crate::format::coordinates::{THREADS, number, value};
use crate::format::phrase::{Better, Effect, NO_RATIO, ratio};
use crate::statistics::Ratio;

/// A line for each number of threads and kind of heap; then the policies.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let fixed = of_mode(&rows, "fixed");
    let mut places: Vec<(String, Vec<&ScoreRow>)> = Vec::new();
    for row in &fixed {
        let place = place(row, &fixed, &["tlab", "mode"]);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, own)) => own.push(row),
            None => places.push((place, vec![row])),
        }
    }
    let mut said: Vec<String> = Vec::new();
    for (place, mut own) in places {
        own.sort_by(|a, b| bytes(a).total_cmp(&bytes(b)));
        let before = if place.is_empty() { place } else { format!("{place}: ") };
        said.extend(enough(&own).map(|text| format!("{before}{text}")));
    }
    said.extend(contrast(&rows, "mode", "elastic", "adaptive", THREADS));
    said.extend(contrast(&rows, "mode", "no-tlab", "adaptive", THREADS));
    said
}

fn bytes(row: &ScoreRow) -> f64 {
    value(row, "tlab").and_then(|(value, _)| number(&value)).unwrap_or(f64::NAN)
}

/// The smallest size that is not slower than any larger one; `rows` by size.
fn enough(rows: &[&ScoreRow]) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    if rows.len() < 2 {
        return None;
    }
    let over = |one: &ScoreRow, other: &ScoreRow| Ratio::of(&one.primary.summary(), &other.primary.summary());
    let label = |row: &ScoreRow| value(row, "tlab").map_or(String::new(), |(_, label)| label);
    let whole = over(first, last);
    match Effect::of(&whole) {
        Effect::NoRatio => return Some(NO_RATIO.into()),
        Effect::Unknown => return Some("too few values to say which size is enough".into()),
        _ => {}
    }
    let shows = |index: usize| {
        rows[index + 1..].iter().any(|larger| Effect::of(&over(rows[index], larger)) == Effect::Above)
    };
    let enough = (0..rows.len()).rev().find(|&index| shows(index)).map_or(0, |index| index + 1);
    let span = format!("{} against {}: {}", label(first), label(last), ratio(&whole, Better::Lower));
    Some(match enough {
        0 => format!("refills show with no size beyond the error, not even with {} ({span}).", label(first)),
        index if index + 1 == rows.len() => {
            format!(
                "refills show up to {}; {} is the largest tried ({span}).",
                label(rows[index - 1]),
                label(last)
            )
        }
        index => format!("refills do not show from {} on ({span}).", label(rows[index])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;

    fn fixed(tlab: &str, score: f64) -> ScoreRow {
        row("tlab-size.fixed", 1, &[("tlab", tlab)], "ms/op", score)
    }

    #[test]
    fn the_size_that_is_enough_is_named() {
        let rows = [fixed("65536", 10.0), fixed("1024", 20.0), fixed("4096", 15.0), fixed("1048576", 10.0)];
        let said = verdicts(&rows);
        assert!(
            said[0]
                .starts_with("refills do not show from 65536 on (1024 against 1048576: 2.00 times the time"),
            "{said:?}"
        );
        let equal = verdicts(&[fixed("1024", 10.0), fixed("4096", 10.0)]);
        assert!(equal[0].starts_with("refills show with no size"), "{equal:?}");
        let falling = verdicts(&[fixed("1024", 20.0), fixed("4096", 15.0), fixed("8192", 10.0)]);
        assert!(falling[0].starts_with("refills show up to 4096; 8192 is the largest"), "{falling:?}");
        assert_eq!(verdicts(&[fixed("1024", 20.0)]), [""; 0]);
    }

    #[test]
    fn heaps_are_told_apart() {
        let of = |pretouch: &str, tlab: &str| {
            row("tlab-size.fixed", 1, &[("pretouch", pretouch), ("tlab", tlab)], "ms/op", 10.0)
        };
        let said = verdicts(&[of("on", "1024"), of("on", "4096"), of("off", "1024"), of("off", "4096")]);
        assert!(said[0].starts_with("pretouch on: ") && said[1].starts_with("pretouch off: "), "{said:?}");
    }
}
