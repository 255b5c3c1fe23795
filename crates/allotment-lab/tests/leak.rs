//! The last chapter of `docs/tutorial` keeps its promises: its commands run, and print what stands
//! below them.
//!
//! The Lisp's modules are compiled into this test, so that no other binary need be built before.
#![allow(unreachable_pub, dead_code)]

include!("../../allotment/tests/lisp/modules.rs");

mod own_folder;

use own_folder::{VARIABLE, own_folder};
use std::process::{Command, Stdio};

const CHAPTER: &str = include_str!("../../../docs/tutorial/10-a-leak.md");
const MANUAL: &str = include_str!("../../../docs/observe.md");
const SERVER: &str = include_str!("../../../examples/lisp/leak/server.lisp");

/// The commands of a page's consoles, each with what stands below it.
fn commands(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut in_console = false;
    for line in page.lines() {
        match (in_console, line.strip_prefix("$ ")) {
            (false, _) => in_console = line == "```console",
            (true, _) if line == "```" => in_console = false,
            (true, Some(command)) => found.push((command.into(), String::new())),
            (true, None) => {
                let (_, output) = found.last_mut().expect("a command comes first");
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    found
}

/// The output of a command. Relative paths start at the current directory.
fn run(line: &str) -> String {
    let mut words = line.split(' ');
    let program = words.next();
    let arguments = words.map(String::from);
    if program == Some("lisp") {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = command::command(arguments, &mut "".as_bytes(), &mut out, &mut err);
        assert_eq!((String::from_utf8_lossy(&err), code), ("".into(), 0), "{line}");
        return String::from_utf8(out).expect("text");
    }
    assert_eq!(program, Some("allotment"), "{line}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The three shapes with most in the last table of a profile, in the order of names: values are
/// estimates, and some are near each other.
fn most(text: &str) -> Vec<&str> {
    let rows = text.trim().rsplit("  shape\n").next().unwrap_or_default();
    let mut names: Vec<&str> = rows.lines().filter_map(|row| row.split_whitespace().nth(2)).take(3).collect();
    names.sort_unstable();
    assert_eq!(names.len(), 3, "{text}");
    names
}

/// The text without the ids of objects (`@12`), which are their places in the heap: which
/// thread allocates on which core decides them.
fn without_places(text: &str) -> String {
    let mut parts = text.split('@');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "@" + part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

#[test]
fn the_commands_of_the_chapter_print_what_stands_below_them() {
    let directory = tempfile::tempdir().expect("a directory");
    std::env::set_current_dir(directory.path()).expect("the directory");
    assert!(CHAPTER.contains(SERVER), "the chapter has the program as it is");
    let (wrong, right) =
        ("(hash-table-set! answers (cons user n) text)", "(hash-table-set! answers user text)");
    assert!(SERVER.contains(wrong) && CHAPTER.contains(right));
    std::fs::write("server.lisp", SERVER).expect("written");
    // The cure writes its snapshots elsewhere: those of the leak are looked at.
    let fixed =
        SERVER.replace(wrong, right).replace("before.", "fixed-before.").replace("after.", "fixed-after.");
    std::fs::write("fixed.lisp", fixed).expect("written");
    let commands = commands(CHAPTER);
    assert_eq!(commands.len(), 7);
    for (line, expected) in commands {
        let printed = run(&line);
        if line.contains("profile top") {
            assert_eq!(most(&printed), most(&expected), "{line}");
        } else if expected != "...\n" {
            assert_eq!(without_places(&printed), without_places(&expected), "{line}");
        }
    }
}

/// The manual has some consoles of the server, without what the server itself prints.
#[test]
fn the_manual_has_consoles_of_the_chapter() {
    let (chapter, manual) = (commands(CHAPTER), commands(MANUAL));
    let of_server = manual
        .into_iter()
        .filter(|(line, _)| line.contains("server.") || line.contains("after.heapsnapshot"));
    let of_server: Vec<_> = of_server.collect();
    assert_eq!(of_server.len(), 4);
    for (line, output) in of_server {
        let output = if output.is_empty() { "...\n".into() } else { output };
        assert!(chapter.contains(&(line.clone(), output)), "{line}");
    }
}
