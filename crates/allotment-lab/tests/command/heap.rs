//! `allotment heap` from the outside: files that are there, are packed, are cut, or are none.

use super::{allotment, code_and_text, failure};
use std::fs;
use std::io::Write;

/// A list of two pairs that a handle holds.
const SNAPSHOT: &str = include_str!("../../../../fuzz/seeds/snapshots/small.heapsnapshot");

#[test]
fn files_are_told_and_broken_ones_are_named_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("whole"), SNAPSHOT).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(SNAPSHOT.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(path("packed"), &packed).unwrap();
    fs::write(path("packed-cut"), &packed[..packed.len() / 2]).unwrap();
    fs::write(path("cut"), &SNAPSHOT[..SNAPSHOT.len() / 2]).unwrap();
    fs::write(path("text"), "no snapshot").unwrap();
    fs::write(path("empty"), "").unwrap();
    for file in ["whole", "packed"] {
        let (code, said) = code_and_text(&["heap", "summary", &path(file)]);
        assert!(code == 0 && said.contains("2 objects of 56 bytes, 1 references"), "{said}");
        let (code, said) = code_and_text(&["heap", "dominators", &path(file), "--top=1"]);
        assert!(code == 0 && said.contains("Pair @3, held by (GC roots)"), "{said}");
        assert!(said.contains("1 more; --top 0 shows all"), "{said}");
        let (code, said) = code_and_text(&["heap", "diff", &path(file), &path("whole")]);
        assert!(code == 0 && said.contains("+0 objects, +0 bytes"), "{said}");
    }
    let (code, said) = code_and_text(&["heap", "path", &path("packed"), "@4"]);
    assert!(code == 0 && said.contains("--cdr--> "), "{said}");
    for (file, cause) in [
        ("cut", "it was not written to its end"),
        ("packed-cut", "cannot read `"),
        ("text", "neither a V8 heap snapshot"),
        ("empty", "neither a V8 heap snapshot"),
        ("missing", "No such file"),
        (".", "directory"),
    ] {
        for verb in ["summary", "dominators", "layout"] {
            let (code, said) = code_and_text(&["heap", verb, &path(file)]);
            assert!(code == 1 && said.contains("cannot read `") && said.contains(cause), "{said}");
            assert!(said.lines().count() == 1 || said.lines().all(|line| line.len() <= 120), "{said}");
        }
        assert_eq!(code_and_text(&["heap", "diff", &path("whole"), &path(file)]).0, 1);
    }
    assert_eq!(code_and_text(&["heap", "summary"]).0, 2);
    assert_eq!(code_and_text(&["heap", "path", &path("whole")]).0, 2);
    for (object, cause) in [("@99", "no object has the id `@99`"), ("Pair", "`Pair` names no object")] {
        let (code, line) = failure(&["heap", "path", &path("whole"), object]);
        assert!(code == 1 && line.contains(cause) && line.contains("such as @"), "{line}");
    }
}

#[test]
fn formats_that_count_in_different_ways_are_not_compared() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a.heapsnapshot", "b.hprof"].map(|name| directory.path().join(name));
    fs::write(&paths[0], SNAPSHOT).unwrap();
    fs::write(&paths[1], include_bytes!("../../../../fuzz/seeds/snapshots/small.hprof")).unwrap();
    let [a, b] = paths.each_ref().map(|path| path.to_str().unwrap());
    let (code, line) = failure(&["heap", "diff", a, b]);
    assert!(code == 1 && line.contains("their formats, V8 heap snapshot and HPROF"), "{line}");
    assert_eq!(code_and_text(&["heap", "diff", b, b]).0, 0);
}

#[test]
fn lines_fit_into_40_columns() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/snapshots/jvm.hprof");
    for arguments in
        [&["summary", file][..], &["dominators", file], &["path", file, "0x1080"], &["diff", file, file]]
    {
        let output = allotment().env("COLUMNS", "40").arg("heap").args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
