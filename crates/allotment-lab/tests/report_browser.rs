//! A report in a browser: on a phone and on a desk, on light and on dark paper.
//!
//! A script looks at the page in a frame, as `browser/mod.rs` says.

use browser::{browser, looked_at};
use std::fs;
use std::process::Command;

mod browser;
mod pages;

/// What the script finds in the frame; a list of complaints for each kind.
const SCRIPT: &str = r#"
const found = { errors: [], overflow: [], cut: [], series: [], faint: [], curves: [], charts: 0, points: 0, texts: 0 };
function look() {
  const frame = document.querySelector("iframe"), view = frame.contentWindow, page = frame.contentDocument;
  view.addEventListener("error", event => found.errors.push(String(event.message)));
  found.width = view.innerWidth;
  found.scripts = page.scripts.length;
  found.alerts = page.querySelectorAll("b, script").length;
  if (page.documentElement.scrollWidth > view.innerWidth)
    found.overflow.push("page: " + page.documentElement.scrollWidth);
  page.querySelectorAll("details").forEach(one => one.open = true);
  if (page.documentElement.scrollWidth > view.innerWidth)
    found.overflow.push("page, unfolded: " + page.documentElement.scrollWidth);
  const paper = view.getComputedStyle(page.documentElement).backgroundColor;
  found.paper = paper;
  const light = colour => { const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map(v => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }); return 0.2126*r + 0.7152*g + 0.0722*b; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
  for (const chart of page.querySelectorAll("figure > svg.chart")) {
    found.charts++;
    const series = chart.querySelectorAll(".series"), marks = chart.querySelectorAll(".m, .bar");
    if (series.length != chart.dataset.series) found.series.push(chart.getAttribute("aria-label"));
    if (marks.length != chart.dataset.points) found.series.push("points of " + chart.getAttribute("aria-label"));
    found.points += marks.length;
    for (const one of series) {
      const colour = view.getComputedStyle(one).color;
      if (contrast(colour, paper) < 1.9) found.faint.push(one.dataset.name + " " + colour);
    }
    // A curve of percentiles rises to the right, reaches its last marker, and has its ticks in their order.
    if (chart.textContent.includes("percentile;")) {
      found.percentiles = (found.percentiles || 0) + 1;
      for (const one of series) {
        const line = one.querySelector(".line"), length = line.getTotalLength();
        const at = Array.from({ length: 50 }, (_, step) => line.getPointAtLength(length * step / 49));
        const falls = at.some((point, index) => index > 0 && (point.y > at[index - 1].y + 0.2 || point.x < at[index - 1].x - 0.2));
        const marks = [...one.querySelectorAll(".m")], last = marks[marks.length - 1].getBBox();
        const end = at[49], near = Math.hypot(last.x + last.width / 2 - end.x, last.y + last.height / 2 - end.y) < 3;
        const longest = marks[marks.length - 1].textContent.includes("longest");
        if (falls || !near || !longest) found.curves.push(one.dataset.name + " " + [falls, near, longest]);
      }
      const texts = [...chart.querySelectorAll("text")].filter(text => text.textContent.endsWith(" %"));
      const names = texts.map(text => text.textContent), lefts = texts.map(text => text.getBBox().x);
      if (names[0] != "0 %" || !names.includes("99 %") && chart.textContent.includes("99 %:")) found.curves.push("ticks " + names);
      if (lefts.some((x, index) => index > 0 && x <= lefts[index - 1])) found.curves.push("ticks " + lefts);
    }
    const legend = chart.parentElement.querySelectorAll(".legend li");
    if (!chart.classList.contains("bars") && legend.length != series.length)
      found.series.push("legend of " + chart.getAttribute("aria-label"));
    const box = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll("text")) {
      found.texts++;
      // A pixel more: boxes of glyphs that hang over by a hair are rounded outward.
      const own = text.getBoundingClientRect();
      if (own.left < box.left - 1.2 || own.right > box.right + 1.2 || own.top < box.top - 1.2 || own.bottom > box.bottom + 1.2)
        found.cut.push(text.textContent);
      if (own.height < 9) found.cut.push("too small: " + text.textContent);
      if (contrast(view.getComputedStyle(text).fill, paper) < 4.5) found.faint.push(text.textContent);
    }
  }
  for (const box of page.querySelectorAll("figure, .scroll, pre, summary, li, p, h1, h2, h3")) {
    const own = box.getBoundingClientRect();
    if (own.right > view.innerWidth + 0.7 && !box.closest(".scroll")) found.overflow.push(box.tagName + ": " + box.textContent.slice(0, 60));
  }
  return found;
}
"#;

#[test]
fn a_report_is_whole_on_phones_and_desks_in_light_and_dark() {
    let Some(browser) = browser() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let (results, page) = (directory.path().join("r.json"), directory.path().join("r.html"));
    let rows = pages::rows();
    fs::write(&results, pages::json(&rows)).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_allotment"))
        .args(["report", results.to_str().unwrap(), "-o", page.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let report = fs::read_to_string(page).unwrap();
    let mut papers = Vec::new();
    for width in [390, 1280] {
        for dark in [false, true] {
            let found = looked_at(browser, directory.path(), &report, SCRIPT, width, dark);
            for complaint in ["errors", "overflow", "cut", "series", "faint", "curves"] {
                let none = found[complaint].as_array().is_some_and(Vec::is_empty);
                assert!(none, "{width} px, dark {dark}: {complaint}: {:#}", found[complaint]);
            }
            assert_eq!(found["width"], width, "the frame is as wide as it should be");
            assert_eq!((&found["scripts"], &found["alerts"]), (&0.into(), &0.into()), "nothing got in");
            let drawn = found["points"].as_u64().unwrap() as usize;
            assert!(drawn >= rows.len(), "every row is in a chart: {drawn} of {}", rows.len());
            assert!(found["charts"].as_u64() > Some(5) && found["texts"].as_u64() > Some(100), "{found:#}");
            assert!(found["percentiles"].as_u64() >= Some(3), "a storm and samples are curves: {found:#}");
            papers.push(found["paper"].as_str().unwrap().to_string());
        }
    }
    assert_eq!((&papers[0], &papers[1]), (&papers[2], &papers[3]));
    assert_ne!(papers[0], papers[1], "dark paper is another");
}
