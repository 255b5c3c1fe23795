//! The verdict on buffer sizes: the size from which refills no longer show, and whether the
//! policies reach it.

use crate::experiments::saying::{after, contrast, of_mode, ours, place};
use crate::format::ScoreRow;
use crate::format::coordinates::{THREADS, number, value};
use crate::format::phrase::{Better, Effect, NO_RATIO, ratio};
use crate::statistics::Ratio;

/// The size that is enough, in each place: a number of threads and a kind of heap.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let places = places(&ours(rows));
    let several = places.len() > 1;
    let said = |(place, rows): &(String, Vec<ScoreRow>)| {
        let enough = Enough::of(rows)?;
        let place = if several && !place.is_empty() { format!("{place}: ") } else { String::new() };
        Some(format!("{place}refills {}", enough.size))
    };
    let said: Vec<String> = places.iter().filter_map(said).collect();
    let colon = if several { "," } else { ":" };
    let text = format!("Buffers of one size (fixed){colon} {}.", said.join("; "));
    if said.is_empty() { Vec::new() } else { vec![text] }
}

/// A line for each number of threads and kind of heap; then the policies.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let line = |(place, rows): &(String, Vec<ScoreRow>)| {
        let enough = Enough::of(rows)?;
        Some(format!("fixed{}: {}", after(", ", place), enough.span))
    };
    let mut said: Vec<String> = places(&rows).iter().filter_map(line).collect();
    said.extend(contrast(&rows, "mode", "elastic", "adaptive", THREADS));
    said.extend(contrast(&rows, "mode", "no-tlab", "adaptive", THREADS));
    said
}

/// The rows of mode `fixed` by place, by size.
fn places(rows: &[ScoreRow]) -> Vec<(String, Vec<ScoreRow>)> {
    let fixed = of_mode(rows, "fixed");
    let mut places: Vec<(String, Vec<ScoreRow>)> = Vec::new();
    for row in &fixed {
        let place = place(row, &fixed, &["tlab", "mode"]);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, own)) => own.push(row.clone()),
            None => places.push((place, vec![row.clone()])),
        }
    }
    for (_, own) in &mut places {
        own.sort_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    }
    places
}

fn bytes(row: &ScoreRow) -> f64 {
    value(row, "tlab").and_then(|(value, _)| number(&value)).unwrap_or(f64::NAN)
}

/// The smallest size that is not slower than any larger one.
struct Enough {
    /// As the end of `refills`.
    size: String,
    /// The smallest size tried against the largest.
    span: String,
}

impl Enough {
    /// Of rows by size; `None` for fewer than two.
    fn of(rows: &[ScoreRow]) -> Option<Enough> {
        let (first, last) = (rows.first()?, rows.last()?);
        if rows.len() < 2 {
            return None;
        }
        let over =
            |one: &ScoreRow, other: &ScoreRow| Ratio::of(&one.primary.summary(), &other.primary.summary());
        let label = |row: &ScoreRow| value(row, "tlab").map_or(String::new(), |(_, label)| label);
        let whole = over(first, last);
        let shows = |index: usize| {
            rows[index + 1..].iter().any(|larger| Effect::of(&over(&rows[index], larger)) == Effect::Above)
        };
        let enough = (0..rows.len()).rev().find(|&index| shows(index)).map_or(0, |index| index + 1);
        let size = match (Effect::of(&whole), enough) {
            (Effect::NoRatio, _) => format!("cannot be judged ({NO_RATIO})"),
            (Effect::Unknown, _) => "cannot be judged (too few values)".into(),
            (_, 0) => format!("show with no size beyond the error, not even with {}", label(first)),
            (_, index) if index + 1 == rows.len() => {
                format!("show up to {}; {} is the largest tried", label(&rows[index - 1]), label(last))
            }
            (_, index) => format!("do not show from {} on", label(&rows[index])),
        };
        let span = format!("{} against {}: {}.", label(first), label(last), ratio(&whole, Better::Lower));
        Some(Enough { size, span })
    }
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
        assert_eq!(answers(&rows), ["Buffers of one size (fixed): refills do not show from 65536 on."]);
        let span = verdicts(&rows);
        assert!(span[0].starts_with("fixed: 1024 against 1048576: 2.00 times the time"), "{span:?}");
        let equal = answers(&[fixed("1024", 10.0), fixed("4096", 10.0)]);
        assert!(equal[0].contains("refills show with no size"), "{equal:?}");
        let falling = answers(&[fixed("1024", 20.0), fixed("4096", 15.0), fixed("8192", 10.0)]);
        assert!(falling[0].contains("refills show up to 4096; 8192 is the largest"), "{falling:?}");
        assert_eq!(answers(&[fixed("1024", 20.0)]), [""; 0]);
    }

    #[test]
    fn heaps_are_told_apart() {
        let of = |pretouch: &str, tlab: &str| {
            row("tlab-size.fixed", 1, &[("pretouch", pretouch), ("tlab", tlab)], "ms/op", 10.0)
        };
        let rows = [of("on", "1024"), of("on", "4096"), of("off", "1024"), of("off", "4096")];
        let one = answers(&rows);
        assert!(one[0].contains("(fixed), pretouch on: refills show with no size"), "{one:?}");
        assert!(one[0].contains("; pretouch off: refills show with no size"), "{one:?}");
        let said = verdicts(&rows);
        assert!(said[0].starts_with("fixed, pretouch on: "), "{said:?}");
        assert!(said[1].starts_with("fixed, pretouch off: "), "{said:?}");
    }
}
