//! The verdict on prefetch for each kind of object: it helps, it harms, or no difference was seen.
//!
//! A setting helps where the whole interval of its ratio lies above 1, and harms where it lies
//! below. Everything else is no difference that this run could see. Many settings are compared at
//! once. The intervals are of 99.9 %, so of ten grids with a hundred settings without any effect,
//! one grid shows an effect.

use crate::format::answer::within;
use crate::format::coordinates::value;
use crate::format::phrase::{Better, Effect, count, ratio_within};
use crate::format::{Comparison, ScoreRow};
use crate::harness::{Baseline, JVM, compare};
use crate::statistics::Ratio;

/// The axes of the prefetch itself, not of the program.
const SETTINGS: &[&str] = &["style", "distance", "lines", "step", "instr"];

/// In how many programs prefetch helps, and in how many it harms.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let programs = programs(rows, &against_none(rows));
    let with = |effect| -> Vec<(&String, Ratio)> {
        let of = |(_, settings): &'_ (String, Vec<(&ScoreRow, Ratio)>)| {
            let found = settings.iter().map(|(_, ratio)| *ratio).filter(|ratio| Effect::of(ratio) == effect);
            let distance = |ratio: &Ratio| ratio.value.ln().abs();
            found.max_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        programs.iter().filter_map(|one| Some((&one.0, of(one)?))).collect()
    };
    let (helped, harmed) = (with(Effect::Above), with(Effect::Below));
    let most = helped.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let least = harmed.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let helps = most.map(|(program, ratio)| {
        let (count, all) = (helped.len(), programs.len());
        format!("helps in {count} of {all} programs, at best {} times as fast ({program})", within(ratio))
    });
    let harms = least.map(|(program, ratio)| {
        let (count, all, time) = (harmed.len(), programs.len(), within(&ratio.inverse()));
        format!("harms in {count} of {all} with some setting, at worst {time} times the time ({program})")
    });
    let said: Vec<String> = helps.into_iter().chain(harms).collect();
    match programs.len() {
        0 => Vec::new(),
        all if said.is_empty() => {
            let all = count(all, "program");
            vec![format!("Prefetch (ahead): no difference from none was measured in any of {all}.")]
        }
        _ => vec![format!("Prefetch (ahead) {}.", said.join("; it "))],
    }
}

/// A line for each object, eden, work and number of threads.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    lines(rows, &against_none(rows))
}

fn lines(rows: &[ScoreRow], comparison: &Comparison) -> Vec<String> {
    programs(rows, comparison)
        .iter()
        .map(|(program, settings)| format!("ahead, {program}: {}", verdict(settings)))
        .collect()
}

/// The rows against those without prefetch, whatever baseline the user has chosen.
fn against_none(rows: &[ScoreRow]) -> Comparison {
    compare(rows, &Baseline::mode("none"))
}

/// The settings of each program, with ratios above 1 for what is better.
fn programs<'a>(rows: &'a [ScoreRow], comparison: &Comparison) -> Vec<(String, Vec<(&'a ScoreRow, Ratio)>)> {
    let mut programs: Vec<(String, Vec<(&ScoreRow, Ratio)>)> = Vec::new();
    for (row, ratio) in rows.iter().zip(&comparison.ratios) {
        // A JVM's row is compared with a row of the lab, not with a JVM without prefetch.
        let Some(ratio) = ratio.filter(|_| value(row, JVM).is_none()) else { continue };
        // From here on more is better, whatever the unit.
        let ratio = if Better::of(&row.primary.unit) == Better::Lower { ratio.inverse() } else { ratio };
        let program = program(row);
        match programs.iter_mut().find(|(known, _)| *known == program) {
            Some((_, settings)) => settings.push((row, ratio)),
            None => programs.push((program, vec![(row, ratio)])),
        }
    }
    programs
}

fn verdict(settings: &[(&ScoreRow, Ratio)]) -> String {
    let name =
        |(row, ratio): &(&ScoreRow, Ratio)| format!("{} with {}", ratio_within(ratio, ""), setting(row));
    let helping: Vec<_> = settings.iter().filter(|(_, ratio)| Effect::of(ratio) == Effect::Above).collect();
    let harming: Vec<_> = settings.iter().filter(|(_, ratio)| Effect::of(ratio) == Effect::Below).collect();
    let best = helping.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let worst = harming.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let (one, all) = (settings.len() == 1, count(settings.len(), "setting"));
    match (best, worst) {
        (None, None) if one => "no difference outside the error".into(),
        (None, None) => format!("no difference outside the error, with any of {all}"),
        (Some(best), None) => {
            format!("helps with {} of {all}, at best {}", helping.len(), name(best))
        }
        (None, Some(worst)) => {
            format!("harms with {} of {all}, at worst {}", harming.len(), name(worst))
        }
        (Some(best), Some(worst)) => format!(
            "helps with {} of {all}, at best {}; harms with {}, at worst {}",
            helping.len(),
            name(best),
            harming.len(),
            name(worst)
        ),
    }
}

/// The allocated object and its eden, in readable form.
fn program(row: &ScoreRow) -> String {
    let mut text = String::new();
    for parameter in row.parameters.iter().filter(|one| !SETTINGS.contains(&one.name.as_str())) {
        let (name, label) = (parameter.name.as_str(), parameter.label.as_str());
        match (name, parameter.value.as_str()) {
            ("size", _) => text += &format!("{label} bytes"),
            ("work" | "working-set", "0") => {}
            _ => text += &format!(", {name} {label}"),
        }
    }
    format!("{text}, {}", count(row.threads, "thread"))
}

/// The prefetch setting, in readable form.
fn setting(row: &ScoreRow) -> String {
    let of =
        |name: &str| row.parameters.iter().find(|one| one.name == name).map_or("", |one| one.label.as_str());
    format!(
        "style {}, distance {}, lines {}, step {}, {}",
        of("style"),
        of("distance"),
        of("lines"),
        of("step"),
        of("instr")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Parameter, examples};

    fn row(size: &str, style: &str) -> ScoreRow {
        let parameter = |(name, value): (&str, &str)| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let mut parameters = vec![("size", size), ("eden", "256k"), ("work", "0")];
        if style != "0" {
            parameters.extend([
                ("style", style),
                ("distance", "256"),
                ("lines", "1"),
                ("step", "64"),
                ("instr", "w"),
            ]);
        }
        ScoreRow {
            threads: 1,
            parameters: parameters.into_iter().map(parameter).collect(),
            ..examples::row()
        }
    }

    fn ratio(low: f64, value: f64, high: f64) -> Option<Ratio> {
        Some(Ratio { value, low, high })
    }

    #[test]
    fn a_difference_is_one_that_the_whole_interval_shows() {
        let mut on_jvm = row("16", "1");
        on_jvm.parameters.push(Parameter { name: JVM.into(), value: "25-g1".into(), label: String::new() });
        let rows = [
            row("16", "0"),
            row("16", "1"),
            row("16", "2"),
            row("64", "1"),
            row("64", "3"),
            row("144", "1"),
            on_jvm,
        ];
        let ratios = vec![
            None,
            ratio(0.7, 0.8, 0.9),
            ratio(0.9, 1.1, 1.3),
            ratio(1.1, 1.2, 1.3),
            ratio(1.4, 1.5, 1.6),
            ratio(f64::NAN, 1.5, f64::NAN),
            ratio(1.8, 1.9, 2.0),
        ];
        let comparison = Comparison { baseline: "mode=none".into(), ratios };
        let found = lines(&rows, &comparison);
        assert_eq!(
            found,
            [
                "ahead, 16 bytes, eden 256k, 1 thread: harms with 1 of 2 settings, at worst 0.80 (0.70 to 0.90) with style 1, \
                 distance 256, lines 1, step 64, w",
                "ahead, 64 bytes, eden 256k, 1 thread: helps with 2 of 2 settings, at best 1.50 (1.40 to 1.60) with style 3, \
                 distance 256, lines 1, step 64, w",
                "ahead, 144 bytes, eden 256k, 1 thread: no difference outside the error",
            ]
        );
    }
}
