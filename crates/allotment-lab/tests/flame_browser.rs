//! A flame graph in a browser: drawn, zoomed, searched and walked through, by pointer and by keys.

use browser::{browser, looked_at};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

mod browser;

/// 3 MiB of `Session` by `serve`, which `main` calls, and 1 MiB of `Str` by `main` itself.
const SMALL: &[u8] = include_bytes!("../../../fuzz/seeds/profiles/small.pb");

/// What the page looks like after each of some actions.
const SCRIPT: &str = r##"
function look() {
  const frame = document.querySelector("iframe"), view = frame.contentWindow, page = frame.contentDocument;
  const found = { errors: [] };
  view.addEventListener("error", event => found.errors.push(String(event.message)));
  const boxes = () => [...page.querySelectorAll(".box")];
  const named = name => boxes().find(box => box.getAttribute("aria-label").startsWith(name + ":"));
  const whole = () => page.getElementById("graph").clientWidth;
  const shares = () => Object.fromEntries(boxes().map(box =>
    [box.getAttribute("aria-label").split(":")[0], Math.round(box.getBoundingClientRect().width / whole() * 100)]));
  const told = () => page.getElementById("told").textContent;
  const key = (key, target = page.activeElement) =>
    target.dispatchEvent(new view.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const search = text => {
    const field = page.getElementById("search");
    field.value = text;
    field.dispatchEvent(new view.Event("input", { bubbles: true }));
  };
  found.first = shares();
  found.told = told();
  found.types = [...page.querySelectorAll("option")].map(option => option.textContent);
  found.overflow = page.documentElement.scrollWidth > view.innerWidth;
  found.scripts = page.scripts.length;
  const narrow = boxes()[0].cloneNode();
  narrow.style.width = "3px";
  page.getElementById("graph").append(narrow);
  found.narrow = narrow.getBoundingClientRect().width;
  narrow.remove();
  const light = colour => { const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map(v => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4) }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05) };
  const style = box => view.getComputedStyle(box);
  found.faint = boxes().filter(box => contrast(style(box).color, style(box).backgroundColor) < 4.5).length;
  found.paper = style(page.documentElement).backgroundColor;
  named("serve").dispatchEvent(new view.PointerEvent("pointermove", { bubbles: true, clientX: 40, clientY: 40 }));
  found.tip = page.getElementById("tip").innerText;
  named("serve").click();
  found.zoomed = shares();
  found.zoomedTold = told();
  key("Escape");
  found.back = shares();
  key("Home");
  key("ArrowDown");
  key("ArrowDown");
  key("ArrowRight");
  found.walked = told();
  key("Enter");
  found.entered = shares();
  page.getElementById("reset").click();
  search("SERVE");
  found.searched = boxes().filter(box => box.classList.contains("found")).map(box => box.textContent);
  found.searchedTold = told();
  search("/^(serve|Session)$/");
  found.expression = told();
  search("");
  const type = page.getElementById("type");
  type.value = "0";
  type.dispatchEvent(new view.Event("change", { bubbles: true }));
  found.switched = told();
  return found;
}
"##;

#[test]
fn a_flame_graph_answers_pointer_and_keys_in_light_and_dark() {
    let Some(browser) = browser() else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let [profile, page] = ["small.pb", "flame.html"].map(|name| directory.path().join(name));
    fs::write(&profile, SMALL).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    let done = command.args(["profile", "html"]).arg(&profile).arg("-o").arg(&page).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let html = fs::read_to_string(page).unwrap();
    let mut papers = Vec::new();
    for (width, dark) in [(1200, false), (390, true)] {
        let found = looked_at(browser, directory.path(), &html, SCRIPT, width, dark);
        let is =
            |name: &str, expected: Value| assert_eq!(found[name], expected, "{name}, {width} px: {found:#}");
        is("errors", json!([]));
        is("overflow", json!(false));
        is("scripts", json!(2));
        is("faint", json!(0));
        // Regression: a margin inside made narrow boxes wider than their share, over their neighbours.
        is("narrow", json!(3));
        is("first", json!({ "all": 100, "main": 100, "serve": 75, "Session": 75, "Str": 25 }));
        is("told", json!("inuse_space. all: 4 MiB, 100.0 % of all"));
        is(
            "types",
            json!([
                "alloc_objects (count)",
                "alloc_space (bytes)",
                "inuse_objects (count)",
                "inuse_space (bytes)"
            ]),
        );
        let tip = found["tip"].as_str().unwrap();
        assert!(
            tip.starts_with("serve") && tip.contains("alloc_objects") && tip.contains("3 MiB\t75.0 %"),
            "{tip}"
        );
        is("zoomed", json!({ "all": 100, "main": 100, "serve": 100, "Session": 100 }));
        is("zoomedTold", json!("inuse_space. serve: 3 MiB, 75.0 % of all"));
        is("back", found["first"].clone());
        is("walked", json!("inuse_space. Str: 1 MiB, 25.0 % of all, 25.0 % of main"));
        is("entered", json!({ "all": 100, "main": 100, "Str": 100 }));
        is("searched", json!(["serve"]));
        is("searchedTold", json!("inuse_space. all: 4 MiB, 100.0 % of all. Found: 75.0 % of all, in 1 box"));
        // A box inside another that was found counts once.
        is("expression", json!("inuse_space. all: 4 MiB, 100.0 % of all. Found: 75.0 % of all, in 2 boxes"));
        assert!(
            found["switched"].as_str().unwrap().starts_with("alloc_objects. all: 98,305 count"),
            "{found:#}"
        );
        papers.push(found["paper"].clone());
    }
    assert_ne!(papers[0], papers[1], "dark paper is another");
}
