//! `allotment heap` from the outside: files that are there, are packed, are cut, or are none.

use super::code_and_text;
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
        assert!(code == 0 && said.contains("Pair #2, held by roots"), "{said}");
        assert!(said.contains("1 more; --top 0 shows all"), "{said}");
        let (code, said) = code_and_text(&["heap", "diff", &path(file), &path("whole")]);
        assert!(code == 0 && said.contains("+0 objects, +0 bytes"), "{said}");
    }
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
}
