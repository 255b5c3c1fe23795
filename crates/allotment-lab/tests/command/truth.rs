//! `allotment truth` from the outside: what it refuses, and what it prints.

use super::{failure, output};

#[test]
fn without_a_compiler_it_fails_and_says_what_to_do() {
    let (code, line) = failure(&["truth", "--quick", "--cc", "/no/such/cc"]);
    assert_eq!(code, 1, "{line}");
    assert!(line.contains("cannot start the C compiler `/no/such/cc`: install one"), "{line}");
    let (code, line) = failure(&["truth", "--cc", "false"]);
    assert_eq!(code, 1, "{line}");
    assert!(line.contains("`false --version` failed"), "{line}");
}

#[test]
fn rows_and_files_that_are_not_there_are_refused() {
    for (arguments, code, hint) in [
        (&["truth", "tlab.csa"][..], 2, "did you mean `tlab.cas`?"),
        (&["truth", "nothing of ours"], 2, "the rows are tlab.bare, "),
        (&["truth", "--rounds", "0"], 2, "1..=1000"),
        (&["truth", "--json", "/no/such/directory/t.json"], 1, "cannot write `/no/such/directory/t.json`"),
    ] {
        let (found, line) = failure(arguments);
        assert_eq!(found, code, "{line}");
        assert!(line.contains(hint), "{hint}: {line}");
    }
}

/// The lab is not optimised here, so whether the rows agree is not the question: each is measured
/// both ways, and the exit code is what the table says.
#[test]
fn rows_are_measured_both_ways() {
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        return;
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let done =
        output(&["truth", "clock.tsc", "tlab.cas", "--quick", "--rounds=1", "--quiet", "--json", path]);
    let table = String::from_utf8(done.stdout).unwrap();
    let rows: Vec<&str> = table.lines().skip(3).collect();
    assert!(rows[0].starts_with("tlab.cas, 16 bytes, 1 thread"), "{table}");
    assert!(rows.iter().any(|row| row.starts_with("clock.tsc, 1 thread")), "{table}");
    assert!(rows.iter().all(|row| row.ends_with("agrees") || row.ends_with("DIFFERS")), "{table}");
    let differ = table.contains("DIFFERS");
    assert_eq!(done.status.code(), Some(i32::from(differ)), "{table}");
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(differ, errors.contains("by more than a fifth"), "{errors}");
    assert_eq!(errors.contains("this is a debug build"), cfg!(debug_assertions), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let found = json["rows"].as_array().unwrap();
    assert_eq!(found.len(), rows.len());
    for row in found {
        let scores = row["lab"].as_array().unwrap().iter().chain(row["c"].as_array().unwrap());
        assert!(scores.map(|score| score.as_f64().unwrap()).all(|score| score > 0.0), "{row}");
    }
}
