//! `allotment simulate`: a table that is always the same, or why there is none.

use super::{failure, stdout};

#[test]
fn simulate_prints_a_table_that_is_the_same_every_time() {
    let arguments = [
        "simulate",
        "coherence",
        "--cores=1,3",
        "--protocol=mesi,moesi",
        "--pattern=cas,fetch-add",
        "--operations=100",
        "--size=48",
        "--buffer=1k",
        "--hitm=100",
    ];
    let text = stdout(&arguments);
    assert!(text.starts_with("A model, not a measurement"), "{text}");
    assert!(text.contains("hitm 100") && text.contains("objects of 48 bytes"), "{text}");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .skip_while(|row: &Vec<&str>| row.first() != Some(&"Pattern"))
        .collect();
    assert_eq!(rows.len(), 1 + 2 * 2 * 3, "{text}");
    assert_eq!(rows[1][..3], ["tlab", "mesi", "1"]);
    assert_eq!((rows[1][4], rows[1][6]), ("1.00x", "1.00x"));
    assert_eq!(rows[12][..3], ["fetch-add", "moesi", "3"]);
    assert_eq!(stdout(&arguments), text);
}

#[test]
fn simulate_refuses_what_it_cannot() {
    let refused = |arguments: &[&str], expected: &str| {
        let (code, line) = failure(&[&["simulate", "coherence", "--operations=10"], arguments].concat());
        assert!(code == 2 && line.contains(expected), "{arguments:?}: {line}");
    };
    refused(&["--cores=0"], "1..=256");
    refused(&["--cores=2,257"], "1..=256");
    refused(&["--protocol=dragon"], "possible values: mesi, mesif, moesi");
    refused(&["--pattern=malloc"], "possible values: tlab, cas");
    refused(&["--size=20"], "multiples of 8 from 16 to 65536");
    refused(&["--buffer=8"], "buffer of 8 bytes");
    refused(&["--hitm=0"], "latency of 0 cycles");
    let (code, line) = failure(&["simulate", "coherence", "--operations=0"]);
    assert!(code == 2 && line.contains("0 operations per core"), "{line}");
    let (code, line) = failure(&["simulate"]);
    assert!(code == 2 && line.contains("allotment simulate coherence"), "{line}");
}

#[test]
fn simulate_measures_or_says_why_not() {
    let text = stdout(&["simulate", "coherence", "--cores=1", "--operations=10", "--calibrate"]);
    assert!(text.contains("scaled to a hand-over between CPU") || text.contains("only one CPU"), "{text}");
}
