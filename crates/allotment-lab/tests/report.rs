//! `allotment report` and `allotment compare`, from the outside.

mod own_folder;

use allotment_lab::command::parse;
use allotment_lab::experiments;
use allotment_lab::format::Samples;
use own_folder::{VARIABLE, own_folder};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod pages;

fn allotment(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).args(arguments).output().unwrap()
}

/// The exit code and the one line on standard error.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = allotment(arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    (output.status.code().unwrap(), line)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A directory with the results of [`pages::rows`] in `r.json`.
fn results() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    fs::write(&path, pages::json(&pages::rows())).unwrap();
    (directory, path)
}

#[test]
fn a_report_is_written_in_all_forms() {
    let (directory, results) = results();
    let (page, markdown, charts) =
        (directory.path().join("r.html"), directory.path().join("r.md"), directory.path().join("charts/svg"));
    let output = allotment(&[
        "report",
        text(&results),
        "-o",
        text(&page),
        "--markdown",
        text(&markdown),
        "--svg",
        text(&charts),
        "--title",
        "A <title>",
    ]);
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<title>A &#60;title&#62;</title>"), "askama escapes");
    for foreign in ["<script", "http://", "https://", "url(", "@import", "onerror"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(foreign), "a page needs nothing else: {foreign}");
    }
    for expected in ["tlab against cas", "org.foreign.Bench", "id=\"tlab\"", "as fast as JDK 25 Parallel"] {
        assert!(page.contains(expected), "{expected}");
    }
    let markdown = fs::read_to_string(markdown).unwrap();
    assert!(markdown.starts_with("# A \\<title>\n\n## Answers\n\n- tlab: *What does"), "{markdown}");
    assert_eq!(page.matches("class=\"answer\"").count(), markdown.matches("  - **").count());
    for answer in markdown.lines().filter_map(|line| line.strip_prefix("  - **")) {
        let plain = answer.trim_end_matches("**").replace('\\', "");
        assert_eq!(markdown.replace('\\', "").matches(&plain).count(), 1, "told once: {answer}");
    }
    let mut files: Vec<String> =
        fs::read_dir(charts).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files.first().map(String::as_str), Some("api-1.svg"));
    assert_eq!(files.len(), page.matches("<figure>").count());
}

#[test]
fn the_commands_of_a_report_can_be_read() {
    let (directory, results) = results();
    let markdown = directory.path().join("r.md");
    assert!(allotment(&["report", text(&results), "--markdown", text(&markdown)]).status.success());
    let markdown = fs::read_to_string(markdown).unwrap();
    let commands: Vec<&str> = markdown.lines().filter(|line| line.starts_with("allotment run")).collect();
    assert!(commands.len() >= 3, "{markdown}");
    // The flags of JVMs are not those of this test's rows.
    for command in commands.iter().filter(|command| !command.contains("--jvm")) {
        let words = command.split_whitespace().map(OsString::from);
        assert!(parse(words, experiments::all()).is_ok(), "{command}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    let (directory, results) = results();
    let whole = fs::read_to_string(&results).unwrap();
    let page = directory.path().join("r.html");
    for (name, contents, hint) in [
        ("empty", "", "is empty"),
        ("cut", &whole[..whole.len() / 2], "in the middle of a result"),
        ("foreign", "{\"a\": 1}", "expected an array"),
        ("none", "[]", "there are no results"),
        ("csv", "\"Benchmark\",\"Mode\"\n", "line 1, column 1"),
    ] {
        let path = directory.path().join(name);
        fs::write(&path, contents).unwrap();
        let (code, line) = failure(&["report", text(&path), "-o", text(&page)]);
        assert_eq!(code, 1);
        assert!(line.contains(text(&path)) && line.contains(hint), "{line}");
        assert!(!page.exists(), "nothing is left where nothing could be written");
    }
    let bytes = directory.path().join("bytes");
    // Latin-1, and the mark of a text in UTF-16 that has nothing else.
    for (contents, hint) in
        [(&b"[{\"name\": \"caf\xe9\"}]"[..], "not UTF-8 at line 1"), (b"\xff\xfe", "is empty")]
    {
        fs::write(&bytes, contents).unwrap();
        let line = failure(&["report", text(&bytes), "-o", text(&page)]).1;
        assert!(line.contains(hint), "{line}");
    }
    assert!(failure(&["report", "/no/such.json", "-o", text(&page)]).1.contains("/no/such.json"));
    assert_eq!(failure(&["report", text(&results)]).0, 2, "it asks for an output");
    assert_eq!(failure(&["report", text(&results), "-o", "x", "--markdown", "x"]).0, 2);
    assert!(failure(&["report", text(&results), "-o", "/dev/full"]).1.contains("cannot write `/dev/full`"));
    assert!(failure(&["report", text(&results), "-o", "/no/such/r.html"]).1.contains("/no/such/r.html"));
}

#[test]
fn the_rows_of_two_files_are_compared() {
    let (directory, old) = results();
    let new = directory.path().join("new.json");
    let mut rows = pages::rows();
    rows.retain(|row| !row.benchmark.starts_with("api."));
    let slow = rows.iter_mut().find(|row| row.benchmark == "tlab.tlab").unwrap();
    let Samples::Values(forks) = &mut slow.primary.samples else { panic!("{slow:?}") };
    forks.iter_mut().flatten().for_each(|value| *value *= 0.5);
    fs::write(&new, pages::json(&rows)).unwrap();

    let output = allotment(&["compare", text(&old), text(&new)]);
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(table.matches("SLOWER").count(), 1, "{table}");
    assert!(table.lines().any(|line| line.contains("tlab.tlab") && line.contains("SLOWER")), "{table}");
    for columns in [80_usize, 100, 120] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
        command.env(VARIABLE, own_folder());
        command.args(["compare", text(&old), text(&new)]).env("COLUMNS", columns.to_string());
        let narrow = String::from_utf8(command.output().unwrap().stdout).unwrap();
        // A word that is longer than a line stays whole.
        let lines = narrow.lines().filter(|line| !line.contains("aVeryLongName"));
        let longest = lines.map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= columns && narrow.contains("SLOWER"), "{columns}: {narrow}");
    }
    assert!(table.contains("only old: api.") && table.contains(" 1 slower, "), "{table}");

    let limited = |limit: &str| allotment(&["compare", text(&old), text(&new), "--fail-on-slower", limit]);
    assert!(limited("60").status.success());
    let failed = limited("40%");
    assert_eq!(failed.status.code(), Some(1));
    let line = String::from_utf8(failed.stderr).unwrap();
    assert!(line.contains("by more than 40 %, tlab.tlab") && line.contains("by 50.0 %"), "{line}");
    assert!(!failed.stdout.is_empty(), "the table comes first");

    assert_eq!(failure(&["compare", text(&old), text(&new), "--fail-on-slower", "-1"]).0, 2);
    let other = directory.path().join("other.json");
    fs::write(&other, pages::json(&pages::rows()[..1])).unwrap();
    fs::write(&new, pages::json(&rows[3..4])).unwrap();
    let (code, line) = failure(&["compare", text(&other), text(&new)]);
    assert!(code == 1 && line.contains("no row in common"), "{line}");
}

#[test]
fn a_comparison_is_written_for_programs() {
    let (directory, old) = results();
    let (new, json) = (directory.path().join("new.json"), directory.path().join("changes.json"));
    let rows = pages::rows();
    fs::write(&new, pages::json(&rows[1..])).unwrap();
    let output = allotment(&["compare", text(&old), text(&new), "--json", text(&json)]);
    assert!(output.status.success() && !output.stdout.is_empty(), "{output:?}");
    let found: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(found.len(), rows.len());
    let (last, both) = found.split_last().unwrap();
    assert_eq!(
        (&last["verdict"], &last["benchmark"]),
        (&"only-old".into(), &rows[0].benchmark.as_str().into())
    );
    for (one, row) in both.iter().zip(&rows[1..]) {
        assert_eq!(
            (&one["benchmark"], &one["ratio"]["value"]),
            (&row.benchmark.as_str().into(), &1.0.into())
        );
        assert!(one["verdict"] == "same" || one["verdict"] == "unknown", "{one}");
    }

    fs::remove_file(&json).unwrap();
    let (code, line) = failure(&["compare", "/no/such.json", text(&new), "--json", "/no/such/changes.json"]);
    assert!(
        code == 1 && line.contains("cannot write `/no/such/changes.json`"),
        "before anything is read: {line}"
    );
    let (_, line) = failure(&["compare", "/no/such.json", text(&new), "--json", text(&json)]);
    assert!(line.contains("cannot read `/no/such.json`") && !json.exists(), "{line}");
    let full = allotment(&["compare", text(&old), text(&new), "--json", "/dev/full"]);
    assert!(full.status.code() == Some(1) && !full.stdout.is_empty(), "{full:?}");
}

#[test]
fn a_run_writes_its_report_and_opens_it_first() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("r.html");
    let short =
        ["run", "clock", "--quick", "--forks=1", "--iterations=3", "--warmup-iterations=0", "--time=5ms"];
    let more = ["--mode=tsc,monotonic", "--threads=1", "--report", text(&page)];
    let output = allotment(&[&short[..], &more[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let text_of = fs::read_to_string(&page).unwrap();
    assert!(
        text_of.contains("Reading the clock (monotonic) takes") && text_of.contains("allotment run clock")
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    let last = printed.split("\n\n").last().unwrap();
    assert!(last.starts_with("Reading the clock (monotonic) takes "), "the answer comes last: {printed}");
    assert_eq!(printed.matches("Reading the clock").count(), 1, "and once: {printed}");

    let (code, line) = failure(&["run", "all", "--quick", "--report", "/no/such/r.html"]);
    assert!(code == 1 && line.contains("/no/such/r.html"), "{line}");
    let same = text(&page);
    let (code, line) = failure(&["run", "clock", "--csv", same, "--report", same]);
    assert!(code == 2 && line.contains("--csv and --report both name"), "{line}");
    let (code, line) = failure(&["run", "all", "--mode", "no-such-mode"]);
    assert!(
        code == 2 && line.contains("collected") && line.contains("tsc"),
        "all have their modes told: {line}"
    );
}

#[test]
fn no_file_of_a_command_is_written_over_another() {
    let (directory, results) = results();
    let before = fs::read_to_string(&results).unwrap();
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_string();
    std::os::unix::fs::symlink("r.json", at("link")).unwrap();
    let (r, dotted, link, new, spelled) = (at("r.json"), at("./r.json"), at("link"), at("new"), at("./new"));
    for arguments in [
        ["report", &r, "-o", &dotted].as_slice(),
        &["report", &link, "--markdown", &r],
        &["report", &r, "-o", &new, "--markdown", &spelled],
        &["compare", &r, &link, "--json", &dotted],
        &["tlab-log", &r, "--json", &link],
        &["tlab-log", &r, "--report", &dotted],
        &["tlab-log", &r, "--json", &new, "--report", &spelled],
        &["run", "clock", "--json", &new, "--report", &spelled],
        &["report", &r, "--svg", "-"],
        &["compare", &r, &r, "--json", "-"],
        &["tlab-log", &r, "--json", "-"],
        &["run", "clock", "--csv", "-"],
        &["truth", "--json", "-"],
        &["tune", "--json", "-"],
    ] {
        let (code, line) = failure(arguments);
        let [.., flag, output] = arguments else { panic!("{arguments:?}") };
        assert!(code == 2 && line.contains(flag) && line.contains(output), "{arguments:?}: {line}");
    }
    assert_eq!(fs::read_to_string(&results).unwrap(), before);
    assert!(!Path::new(&new).exists() && !Path::new("-").exists());
    // A chart whose name nobody has written down.
    let chart = at("tlab-1.svg");
    fs::rename(&results, &chart).unwrap();
    let (code, line) = failure(&["report", &chart, "--svg", text(directory.path())]);
    assert!(code == 2 && line.contains("tlab-1.svg"), "{line}");
    assert_eq!(fs::read_to_string(&chart).unwrap(), before);
}

/// `-` is standard output where one text is all that is printed; elsewhere it is refused, and
/// nothing is written.
#[test]
fn a_dash_is_standard_output_or_is_refused() {
    let (directory, results) = results();
    let within = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
        command.env(VARIABLE, own_folder());
        command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).current_dir(directory.path());
        command.args(arguments).output().unwrap()
    };
    let results = text(&results);
    for (flag, name, begin) in [("-o", "r.html", "<!"), ("--markdown", "r.md", "#")] {
        let printed = within(&["report", results, flag, "-"]);
        assert!(printed.status.success() && printed.stderr.is_empty(), "{printed:?}");
        assert!(within(&["report", results, flag, name]).status.success());
        let written = fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), written);
        assert!(written.to_lowercase().starts_with(begin), "{written}");
    }
    for (arguments, cause) in [
        (&["report", results, "--svg", "-"][..], "would make a directory called `-`"),
        (&["report", results, "-o", "-", "--markdown", "-"], "both name one file"),
        (&["compare", results, results, "--json", "-"], "a file called `-`"),
        (&["run", "clock", "--json", "-"], "a file called `-`"),
        (&["run", "clock", "--csv", "-"], "a file called `-`"),
        (&["run", "clock", "--report", "-"], "a file called `-`"),
        (&["tune", "--json", "-"], "a file called `-`"),
        (&["truth", "--json", "-"], "a file called `-`"),
        (&["tlab-log", results, "--json", "-"], "a file called `-`"),
        (&["tlab-log", results, "--report", "-"], "a file called `-`"),
    ] {
        let refused = within(arguments);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(cause) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
    assert!(!directory.path().join("-").exists());
}

#[test]
fn the_commands_of_rows_with_neighbours_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let (results, markdown) = (directory.path().join("r.json"), directory.path().join("r.md"));
    for kinds in [
        &["none", "1:1048576:random"][..],
        &["1:1048576:random"],
        &["none", "1:128:random", "2:128:sequential"],
    ] {
        let row = |kind: &&str| {
            pages::row("tlab.cas", 1, &[("size", "16"), ("neighbours", kind)], "ops/us", 5.0, 0.01)
        };
        fs::write(&results, pages::json(&kinds.iter().map(row).collect::<Vec<_>>())).unwrap();
        let made = allotment(&["report", text(&results), "--markdown", text(&markdown)]);
        assert!(made.status.success(), "{made:?}");
        let page = fs::read_to_string(&markdown).unwrap();
        let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("allotment run")).collect();
        for command in &commands {
            assert!(
                parse(command.split_whitespace().map(OsString::from), experiments::all()).is_ok(),
                "{command}"
            );
        }
        for kind in kinds.iter().filter(|kind| **kind != "none") {
            let flag = format!("--neighbours {kind}");
            assert_eq!(commands.iter().filter(|command| command.contains(&flag)).count(), 1, "{page}");
        }
    }
}

#[test]
fn a_comparison_with_a_file_without_results_says_so() {
    let (directory, results) = results();
    let none = directory.path().join("none.json");
    fs::write(&none, "[]").unwrap();
    for (old, new) in [(&none, &results), (&results, &none), (&none, &none)] {
        let (code, line) = failure(&["compare", text(old), text(new)]);
        let expected = format!("there are no results in {}", text(&none));
        assert!(code == 1 && line.contains(&expected), "{line}");
    }
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let (directory, results) = results();
    let (coloured, none) =
        (directory.path().join("\u{1b}[31mred\r.json"), directory.path().join("\u{1b}none"));
    fs::copy(&results, &coloured).unwrap();
    fs::write(&none, "[]").unwrap();
    let mut row = pages::row("tlab.\u{1b}[2Jcas", 1, &[("size", "\u{9b}16")], "ops/us", 5.0, 0.01);
    row.primary.unit = "ops/\u{1b}us".into();
    let foreign = directory.path().join("foreign.json");
    fs::write(&foreign, pages::json(&[row])).unwrap();
    for arguments in [
        ["compare", text(&coloured), text(&none)],
        ["compare", text(&coloured), text(&foreign)],
        ["compare", text(&foreign), text(&foreign)],
        ["tlab-log", text(&coloured), "--top=1"],
        ["tlab-log", "/no/such/\u{1b}log", "--top=1"],
    ] {
        let output = allotment(&arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let control = said.chars().find(|c| c.is_control() && *c != '\n');
        assert!(said.contains("\\u{1b}") && control.is_none(), "{arguments:?}: {said:?}");
    }
}
