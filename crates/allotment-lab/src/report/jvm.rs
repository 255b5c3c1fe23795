//! The lab against a JVM, for any experiment that has rows of one.

use crate::format::ScoreRow;
use crate::format::coordinates::{mode, value};
use crate::format::phrase::{self, Better, ratios};
use crate::harness::{JVM, ours_beside};
use crate::statistics::Ratio;

/// A sentence for each mode and each JVM: the lab's row over the JVM's at equal coordinates.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let mut found: Vec<(String, &str, Vec<Ratio>)> = Vec::new();
    for theirs in rows {
        let Some((jvm, _)) = value(theirs, JVM) else { continue };
        let Some(ours) = ours_beside(rows, theirs) else { continue };
        let ratio = Ratio::of(&ours.primary.summary(), &theirs.primary.summary());
        let name = format!("{} here against {}", mode(ours), phrase::jvm(&jvm));
        let unit = ours.primary.unit.as_str();
        match found.iter_mut().find(|(known, of, _)| *known == name && *of == unit) {
            Some((_, _, all)) => all.push(ratio),
            None => found.push((name, unit, vec![ratio])),
        }
    }
    found.iter().map(|(name, unit, all)| format!("{name}: {}.", ratios(all, Better::of(unit)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    fn row(size: &str, jvm: Option<&str>, score: f64) -> ScoreRow {
        let parameter = |(name, value): (&str, &str)| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let mut parameters = vec![parameter(("size", size))];
        parameters.extend(jvm.map(|jvm| parameter((JVM, jvm))));
        let primary = examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]);
        ScoreRow { benchmark: "tlab.tlab".into(), parameters, primary, ..examples::row() }
    }

    #[test]
    fn rows_are_compared_at_equal_coordinates() {
        let rows = [
            row("16", None, 30.0),
            row("64", None, 10.0),
            row("16", Some("25-parallel"), 20.0),
            row("64", Some("25-parallel"), 20.0),
            row("16", Some("17-g1"), 15.0),
            row("144", Some("17-g1"), 15.0),
        ];
        let expected = [
            "tlab here against JDK 25 Parallel: 0.50 to 1.50 times as fast, beyond the error in 2 of 2.",
            "tlab here against JDK 17 G1: 2.00 times as fast (2.00 to 2.00).",
        ];
        assert_eq!(verdicts(&rows), expected);
        assert_eq!(verdicts(&rows[..2]), [""; 0]);
    }
}
