//! `allotment profile` from the outside: files that are there, are packed, are cut, or are none.

use super::{code_and_text, with_input};
use std::fs::{self, File};
use std::io::Write;

/// 3 MiB of `Session` by `serve`, which `main` calls, and 1 MiB of `Str` by `main` itself.
const SMALL: &[u8] = include_bytes!("../../../../fuzz/seeds/profiles/small.pb");

/// A heap profile that a Go program wrote.
const GOS: &[u8] = include_bytes!("../../../../fuzz/seeds/profiles/go.pb.gz");

#[test]
fn files_are_told_and_broken_ones_are_named_with_exit_code_1() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(SMALL).unwrap();
    let packed = packed.finish().unwrap();
    for (name, bytes) in [
        ("whole", SMALL),
        ("packed", &packed),
        ("packed-cut", &packed[..packed.len() / 2]),
        ("cut", &SMALL[..SMALL.len() / 2]),
        ("text", b"no profile"),
        ("empty", b""),
        ("go", GOS),
    ] {
        fs::write(path(name), bytes).unwrap();
    }
    for file in ["whole", "packed"] {
        let (code, said) = code_and_text(&["profile", "top", &path(file)]);
        let expected = "\
inuse_space: 4194304 bytes; a sample in 524288 bytes
3 samples of 96 bytes together are missing

            flat      %              cum      %  function
         3145728   75.0          3145728   75.0  serve
         1048576   25.0          4194304  100.0  main

            flat      %  shape
         3145728   75.0  Session
         1048576   25.0  Str
";
        assert_eq!((code, &*said), (0, expected));
        let (code, said) =
            code_and_text(&["profile", "top", &path(file), "--sample-type=alloc_objects", "--top=1"]);
        assert!(code == 0 && said.starts_with("alloc_objects: 98305 count"), "{said}");
        assert_eq!(said.matches("1 more; --top 0 shows all").count(), 2, "{said}");
        let (code, said) = code_and_text(&["profile", "top", &path(file), "--cum"]);
        assert!(code == 0 && said.find("main").unwrap() < said.find("serve").unwrap(), "{said}");
        let (code, said) = code_and_text(&["profile", "diff", &path(file), &path("whole")]);
        assert!(code == 0 && said.contains("+0 bytes (4194304 before, 4194304 after)"), "{said}");
        assert!(!said.contains("serve"), "{said}");
    }
    // Go's has the same sample types and another program.
    let (code, said) = code_and_text(&["profile", "diff", &path("go"), &path("whole")]);
    let serve = "        +3145728         +3145728  serve";
    assert!(code == 0 && said.contains(serve) && said.contains("-"), "{said}");
    for (file, cause) in [
        ("cut", "it ends at byte"),
        ("packed-cut", "ends too early"),
        ("text", "it is no profile of pprof"),
        ("empty", "it has no sample types"),
        ("missing", "No such file"),
        (".", "directory"),
    ] {
        let (code, said) = code_and_text(&["profile", "top", &path(file)]);
        assert!(code == 1 && said.contains("cannot read `") && said.contains(cause), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(code_and_text(&["profile", "diff", &path("whole"), &path(file)]).0, 1);
    }
    let (code, said) = code_and_text(&["profile", "top", &path("whole"), "--sample-type=cpu"]);
    assert!(code == 1 && said.contains("no sample type `cpu`; it has alloc_objects (count)"), "{said}");
    assert_eq!(code_and_text(&["profile", "top"]).0, 2);
    assert!(code_and_text(&["profile"]).1.contains("allotment profile top or diff"));
}

#[test]
fn profiles_of_other_values_are_not_compared() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let with = |from: &[u8], to: &[u8]| {
        let place = SMALL.windows(from.len()).rposition(|part| part == from).unwrap();
        [&SMALL[..place], to, &SMALL[place + from.len()..]].concat()
    };
    fs::write(path("one"), SMALL).unwrap();
    fs::write(path("other"), with(b"alloc_objects", b"alloc_abjects")).unwrap();
    fs::write(path("lacking"), with(b"inuse_space", b"inuse_spice")).unwrap();
    let one = path("one");
    let on_one_line = |said: String| said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (code, said) = code_and_text(&["profile", "diff", &one, &path("other")]);
    let said = on_one_line(said);
    assert!(code == 1 && said.contains("they have other values"), "{said}");
    assert!(said.contains("alloc_objects (count)") && said.contains("alloc_abjects (count)"), "{said}");
    // Standard input is no path, and has no backticks.
    let input = File::open(path("other")).unwrap();
    let (code, said) = with_input(&["profile", "diff", &one, "-"], input);
    let said = on_one_line(said);
    assert!(
        code == 1 && said.contains(&format!("cannot compare `{one}` with standard input: they")),
        "{said}"
    );
    let (code, said) = code_and_text(&["profile", "diff", &one, &path("lacking")]);
    let said = on_one_line(said);
    assert!(code == 1 && said.contains("lacking`: it has no sample type `inuse_space`"), "{said}");
    assert!(said.contains("inuse_spice (bytes)"), "{said}");
}

/// Regression: two profiles of the same types and other defaults were compared by their defaults,
/// so values in use were subtracted from allocated ones.
#[test]
fn profiles_with_other_defaults_are_compared_by_one_sample_type() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let inuse = path("inuse");
    fs::write(&inuse, SMALL).unwrap();
    // One more default_sample_type: string 1, which is alloc_objects.
    fs::write(path("objects"), [SMALL, &[14 << 3, 1]].concat()).unwrap();
    let objects = path("objects");
    let (code, said) = code_and_text(&["profile", "top", &objects]);
    assert!(code == 0 && said.starts_with("alloc_objects: 98305 count"), "{said}");
    for (before, after, first) in [
        (&inuse, &objects, "inuse_space: +0 bytes (4194304 before, 4194304 after)\n"),
        (&objects, &inuse, "alloc_objects: +0 count (98305 before, 98305 after)\n"),
    ] {
        let (code, said) = code_and_text(&["profile", "diff", before, after]);
        assert!(code == 0 && said.starts_with(first), "{said}");
    }
    let (code, said) = code_and_text(&["profile", "diff", &inuse, &objects, "--sample-type=alloc_objects"]);
    assert!(code == 0 && said.starts_with("alloc_objects: +0"), "{said}");
}

#[test]
fn standard_input_is_read_once() {
    for command in ["profile", "heap"] {
        let (code, said) = code_and_text(&[command, "diff", "-", "-"]);
        assert!(code == 2 && said.contains("both files are standard input"), "{said}");
    }
}
