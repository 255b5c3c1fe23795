//! The command `allotment-tools` from the outside: it has the verbs that read files, and needs no
//! lab.

use std::process::{Command, Output, Stdio};

fn tools(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_allotment-tools")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn seed(path: &str) -> String {
    format!("{}/../../fuzz/seeds/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn each_kind_of_file_is_read() {
    let log = format!("{}/tests/logs/zgc-25.log", env!("CARGO_MANIFEST_DIR"));
    for (arguments, told) in [
        (["heap", "summary", &seed("snapshots/small.heapsnapshot")].as_slice(), "objects"),
        (&["profile", "top", &seed("profiles/small.pb")], "Session"),
        (&["tlab-log", &log], "Refills"),
    ] {
        let output = tools(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(told), "{arguments:?}: {text}");
    }
}

#[test]
fn what_is_wrong_is_a_line_and_an_exit_code() {
    for (arguments, code, told) in [
        (&[][..], 2, "write allotment-tools tlab-log, ask, heap or profile"),
        (&["heap"], 2, "summary, dominators, path, diff or layout"),
        (&["profile"], 2, "top, diff, symbolize or html"),
        (&["run"], 2, "unrecognized subcommand"),
        (&["heap", "summary", "not-there"], 1, "cannot read `not-there`"),
    ] {
        let output = tools(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(
            text.split_whitespace().collect::<Vec<_>>().join(" ").contains(told),
            "{arguments:?}: {text}"
        );
    }
}
