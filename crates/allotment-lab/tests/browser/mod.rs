//! A page in a browser without a head.
//!
//! Chromium loads a page that holds the page in question in a frame of the width in question (its own
//! window has a minimum), looks at the frame with a script, and prints what it found. A protocol over
//! a socket was refused: one look needs no conversation. Without a browser a test says so and passes;
//! with `ALLOTMENT_REQUIRE_BROWSER=1`, as `.ci/run` sets it, it fails.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// The browser's command; `None` if there is none, which is printed.
pub(crate) fn browser() -> Option<&'static str> {
    let works = |name: &&&str| {
        let version = Command::new(name).arg("--version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    let found = BROWSERS.iter().find(works).copied();
    let required = std::env::var("ALLOTMENT_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    assert!(found.is_some() || !required, "none of {BROWSERS:?} is installed, and one is required");
    if found.is_none() {
        println!("skipped: none of {BROWSERS:?} is installed");
    }
    found
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// What the function `look` of a script returns, when `html` is shown in a frame of that width.
pub(crate) fn looked_at(
    browser: &str,
    directory: &Path,
    html: &str,
    script: &str,
    width: u32,
    dark: bool,
) -> Value {
    let frame = directory.join(format!("frame-{width}-{dark}.html"));
    // The page is an attribute and not a file, for files are strangers to each other.
    let page = format!(
        "<!doctype html><meta charset=utf-8><body><script>{script}</script>\
         <iframe style=\"width:{width}px;height:800px;border:0\" srcdoc=\"{}\"></iframe>\
         <script>document.querySelector('iframe').addEventListener('load', () => {{ try {{ \
         const found = JSON.stringify(look()); document.title = 'done'; \
         document.body.innerHTML = '<pre id=found></pre>'; \
         document.getElementById('found').textContent = 'FOU' + 'ND' + found + 'EN' + 'D' }} \
         catch (error) {{ document.body.textContent = 'FAILED ' + error }} }})</script></body>",
        escape(html)
    );
    fs::write(&frame, page).unwrap();
    let profile = directory.join(format!("profile-{width}-{dark}"));
    let scheme = if dark { "0" } else { "1" };
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-extensions"])
        .args(["--virtual-time-budget=20000", "--window-size=1400,900", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", frame.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.split_once("FOUND").and_then(|(_, rest)| rest.split_once("END"));
    let (found, _) = found.unwrap_or_else(|| {
        let tail: String = text.chars().rev().take(400).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("the browser told nothing: {tail} {}", String::from_utf8_lossy(&output.stderr))
    });
    serde_json::from_str(&unescape(found)).unwrap()
}
