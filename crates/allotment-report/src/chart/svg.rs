//! A chart as SVG: inside a page, or as a file of its own.
//!
//! A page lays several charts beside each other where there is room.

use super::text::{CHARACTER, LINE, TITLE, WIDTH, escape, text, width, wrapped};
use super::{Chart, Look, Scale, bars, lines, marks};
use std::fmt::Write;

/// The look of the charts' elements, by the colours that [`COLOURS_LIGHT`] and [`COLOURS_DARK`]
/// name.
pub const STYLE: &str = "\
.chart text{font:11px system-ui,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',sans-serif;fill:var(--soft)}\
.chart .title{font-size:12px;font-weight:600;fill:var(--ink)}\
.chart .name{fill:var(--ink)}\
.grid{stroke:var(--grid);fill:none}.axis{stroke:var(--soft);fill:none}\
.ink{color:var(--ink)}.c1{color:var(--k1)}.c2{color:var(--k2)}.c3{color:var(--k3)}.c4{color:var(--k4)}\
.c5{color:var(--k5)}.c6{color:var(--k6)}\
.line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}\
.m{fill:currentColor;stroke:currentColor;stroke-width:1.3}.hollow{fill:var(--paper)}\
.bar{fill:currentColor;fill-opacity:.72}.bar.hollow{fill:var(--paper);stroke:currentColor}\
.err{fill:none;stroke:currentColor;stroke-width:1.1}.bars .err{stroke:var(--ink)}";

/// The palette on light paper.
pub const COLOURS_LIGHT: &str = "--paper:#ffffff;--ink:#1c2128;--soft:#57606a;--grid:#e4e7eb;\
--k1:#0072b2;--k2:#d55e00;--k3:#009e73;--k4:#cc79a7;--k5:#e69f00;--k6:#56b4e9;";

/// The palette on dark paper: Okabe and Ito's yellow instead of their blue, which is too dark
/// there.
pub const COLOURS_DARK: &str = "--paper:#14181d;--ink:#e6e9ed;--soft:#9aa4af;--grid:#2c333b;\
--k1:#f0e442;--k2:#d55e00;--k3:#009e73;--k4:#cc79a7;--k5:#e69f00;--k6:#56b4e9;";

/// The chart as an element for a page that has [`STYLE`] and the colours.
pub fn svg(chart: &Chart) -> String {
    drawn(chart, false)
}

/// The chart as a file, with its style and a legend.
pub fn standalone(chart: &Chart) -> String {
    drawn(chart, true) + "\n"
}

fn drawn(chart: &Chart, whole: bool) -> String {
    let mut body = String::new();
    let mut height = title(&mut body, &chart.title);
    let bars = matches!(chart.x.scale, Scale::Words(_));
    height = if bars { bars::draw(&mut body, chart, height) } else { lines::draw(&mut body, chart, height) };
    if whole && !bars {
        height = legend(&mut body, chart, height);
    }
    let points =
        chart.series.iter().flat_map(|series| &series.points).filter(|point| point.is_marked()).count();
    let name = if chart.title.is_empty() { &chart.y.label } else { &chart.title };
    let mut text = format!(
        "<svg class=\"chart{}\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{}\" \
         data-series=\"{}\" data-points=\"{points}\"",
        if bars { " bars" } else { "" },
        escape(name),
        chart.series.len()
    );
    if whole {
        let _ = write!(
            text,
            " xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\"><style>\
             svg{{{COLOURS_LIGHT}background:var(--paper)}}\
             @media(prefers-color-scheme:dark){{svg{{{COLOURS_DARK}}}}}{STYLE}</style>",
            WIDTH * 2.0,
            height * 2.0
        );
    } else {
        text.push('>');
    }
    text + &body + "</svg>"
}

/// Draws the title in as many lines as it takes, and returns the top of the rest.
fn title(out: &mut String, title: &str) -> f64 {
    let mut y = 0.0;
    for line in wrapped(title, WIDTH / 7.6) {
        y += LINE + 1.0;
        text(out, 0.0, y - 2.0, TITLE, &line);
    }
    y + 4.0
}

/// Draws names with their lines, as many beside each other as fit, and returns the bottom edge.
fn legend(out: &mut String, chart: &Chart, top: f64) -> f64 {
    const SWATCH: f64 = 30.0;
    let (mut x, mut y) = (0.0, top + 6.0);
    for series in &chart.series {
        for (index, line) in wrapped(&series.name, (WIDTH - SWATCH) / CHARACTER).iter().enumerate() {
            let wide = SWATCH + width(line) + 12.0;
            if index > 0 || x > 0.0 && x + wide > WIDTH {
                (x, y) = (0.0, y + LINE + 2.0);
            }
            if index == 0 {
                swatch(out, series.look, x, y + 7.0);
            }
            text(out, x + SWATCH, y + 11.0, "", line);
            x += wide;
        }
    }
    y + LINE + 6.0
}

/// The line and marker of a series, 24 units wide, as an element for a page.
pub fn legend_swatch(look: Look) -> String {
    let mut text = "<svg class=\"chart swatch\" viewBox=\"0 0 26 12\" aria-hidden=\"true\">".to_string();
    swatch(&mut text, look, 1.0, 6.0);
    text + "</svg>"
}

fn swatch(out: &mut String, look: Look, x: f64, y: f64) {
    let (colour, dash) = (marks::colour(look), marks::dash(look));
    let _ = write!(out, "<g class=\"{colour}\"><path class=\"line\"{dash} d=\"M{x:.1} {y:.1}h24\"/>");
    marks::marker(out, look, x + 12.0, y, "");
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Point, Series};
    use super::*;
    use proptest::prelude::*;

    fn point(x: f64, y: f64) -> Point {
        Point { x, y, low: y * 0.9, high: y * 1.1, label: format!("{y:.1} ops/us") }
    }

    /// Two series of three points each, the second of a JVM.
    fn chart(x: Scale, y: Scale) -> Chart {
        let series = |name: &str, colour, dash, factor: f64| Series {
            name: name.into(),
            look: Look { colour, dash },
            points: (0..3).map(|index| point(f64::from(index), factor * f64::from(index + 1))).collect(),
        };
        Chart {
            title: "size = 16".into(),
            x: Axis { label: "threads".into(), scale: x },
            ticks: vec![(0.0, "1".into()), (1.0, "2".into()), (2.0, "4".into())],
            y: Axis { label: "ops/us".into(), scale: y },
            series: vec![series("tlab", 0, 0, 100.0), series("cas <x>", 1, 1, 2.0)],
        }
    }

    #[test]
    fn every_series_and_point_is_there() {
        let words = Scale::Words(vec!["a".into(), "b".into(), "c".into()]);
        for (x, y) in [(Scale::Linear, Scale::Linear), (words.clone(), Scale::Linear), (words, Scale::Log)] {
            let chart = chart(x, y);
            let text = svg(&chart);
            assert_eq!(text.matches("data-name=").count(), 2, "{text}");
            assert_eq!(text.matches("<title>").count(), 6, "{text}");
            assert!(text.contains("cas &lt;x&gt;") && text.contains("size = 16"), "{text}");
            assert_eq!(text.matches('<').count(), text.matches('>').count());
            assert!(!text.contains("NaN"), "{text}");
        }
    }

    #[test]
    fn a_logarithmic_axis_says_so_and_no_other_does() {
        let words = || Scale::Words(vec!["a".into(), "b".into(), "c".into()]);
        for (x, y, expected) in [
            (Scale::Linear, Scale::Linear, [false, false]),
            (Scale::Log, Scale::Linear, [true, false]),
            (Scale::Linear, Scale::Log, [false, true]),
            (words(), Scale::Log, [false, true]),
        ] {
            let text = svg(&chart(x, y));
            let found = [">threads, logarithmic</text>", ">ops/us, logarithmic</text>"];
            assert_eq!(found.map(|title| text.contains(title)), expected, "{text}");
        }
    }

    #[test]
    fn a_score_that_holds_everywhere_is_a_line_across() {
        let mut chart = chart(Scale::Linear, Scale::Linear);
        chart.series[1].points = vec![point(f64::NAN, 5.0)];
        let text = svg(&chart);
        assert!(!text.contains("NaN") && text.contains("H348"), "{text}");
    }

    #[test]
    fn markers_that_would_touch_are_left_out() {
        let mut chart = chart(Scale::Linear, Scale::Linear);
        chart.series[1].points = (0..100).map(|x| point(f64::from(x), 5.0)).collect();
        assert_eq!(svg(&chart).matches("class=\"m hollow\"").count(), 2);
    }

    #[test]
    fn the_axis_shows_all_scores_and_of_their_errors_what_leaves_them_room() {
        let mut chart = chart(Scale::Words(vec![String::new()]), Scale::Linear);
        let of =
            |y: f64, error: f64| Point { x: 0.0, y, low: y - error, high: y + error, label: String::new() };
        let most = |chart: &Chart| chart.extent().into_iter().fold(f64::NAN, f64::max);
        chart.series.truncate(1);
        chart.series[0].points = vec![of(10.0, f64::NAN)];
        assert_eq!(most(&chart), 10.0);
        chart.series[0].points = vec![of(10.0, 1.0)];
        assert_eq!(most(&chart), 11.0);
        chart.series[0].points = vec![of(10.0, 1000.0)];
        assert_eq!(most(&chart), 16.0);
        assert!(chart.extent().iter().all(|end| *end >= 0.0));
    }

    #[test]
    fn a_file_of_its_own_has_style_and_legend() {
        let text = standalone(&chart(Scale::Linear, Scale::Log));
        assert!(text.contains("xmlns=") && text.contains("prefers-color-scheme:dark"));
        assert!(text.contains(">cas &lt;x&gt;</text>"), "{text}");
    }

    proptest! {
        #[test]
        fn any_numbers_can_be_drawn(
            values in prop::collection::vec((-1e9f64..1e9, -1e12f64..1e12, -1e12f64..1e12), 0..6), log in any::<bool>(),
        ) {
            let scale = || if log { Scale::Log } else { Scale::Linear };
            let mut chart = chart(scale(), scale());
            chart.series[0].points = values
                .iter()
                .map(|&(x, y, high)| Point { x, y, low: y, high, label: String::new() })
                .collect();
            let drawn = svg(&chart);
            prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
        }
    }
}
