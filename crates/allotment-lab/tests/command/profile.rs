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

   flat     %      cum      %  function
3145728  75.0  3145728   75.0  serve
1048576  25.0  4194304  100.0  main

   flat     %  shape
3145728  75.0  Session
1048576  25.0  Str
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
    let row = said.lines().find(|row| row.ends_with("  serve")).unwrap();
    let columns: Vec<&str> = row.split_whitespace().collect();
    assert!(code == 0 && columns[0] == "+3145728" && columns[1].starts_with('+'), "{said}");
    for (file, cause) in [
        ("cut", "it ends at byte"),
        ("packed-cut", "ends too early"),
        ("text", "it is not a profile in pprof's form"),
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
    assert!(code_and_text(&["profile"]).1.contains("allotment profile top, diff, symbolize or html"));
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
    assert!(code == 1 && said.contains("have different values"), "{said}");
    assert!(said.contains("alloc_objects (count)") && said.contains("alloc_abjects (count)"), "{said}");
    // Standard input is not a path, and has no backticks.
    let input = File::open(path("other")).unwrap();
    let (code, said) = with_input(&["profile", "diff", &one, "-"], input);
    let said = on_one_line(said);
    assert!(
        code == 1 && said.contains(&format!("cannot compare `{one}` with standard input: the two")),
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

/// Regression: what has grown came first and what has shrunk last, so a large loss was below small
/// growth, or not shown.
#[test]
fn differences_are_sorted_by_size_and_have_percentages_of_what_was_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("one"), SMALL).unwrap();
    fs::write(path("none"), without_samples()).unwrap();
    let (code, said) = code_and_text(&["profile", "diff", &path("one"), &path("none")]);
    let expected = "\
inuse_space: -4194304 bytes (4194304 before, 0 after)
percentages are of the 4194304 before

    flat      %       cum       %  function
-3145728  -75.0  -3145728   -75.0  serve
-1048576  -25.0  -4194304  -100.0  main

    flat      %  shape
-3145728  -75.0  Session
-1048576  -25.0  Str
";
    assert_eq!((code, &*said), (0, expected));
    // Of nothing there is no share.
    let (code, said) = code_and_text(&["profile", "diff", &path("none"), &path("one"), "--top=1"]);
    let row = "+3145728  -  +3145728  -  serve";
    assert!(code == 0 && said.contains(row) && !said.contains("percentages"), "{said}");
}

/// The profile without its samples, which are field 2.
fn without_samples() -> Vec<u8> {
    let (mut kept, mut rest) = (Vec::new(), SMALL);
    while let [key, tail @ ..] = rest {
        // All fields of this file with a length are short; the others are numbers.
        let mut length = 1 + tail.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        if key & 7 == 2 {
            assert_eq!(length, 2, "a length of one byte");
            length += usize::from(tail[0]);
        }
        if key >> 3 != 2 {
            kept.extend(&rest[..length]);
        }
        rest = &rest[length..];
    }
    kept
}

/// Regression: kilobytes and bytes were other values.
#[test]
fn units_of_one_kind_are_compared() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let place = SMALL.windows(7).rposition(|part| part == b"\x32\x05bytes").unwrap();
    let in_kilobytes = [&SMALL[..place], b"\x32\x02kB", &SMALL[place + 7..]].concat();
    fs::write(path("bytes"), SMALL).unwrap();
    fs::write(path("kilobytes"), in_kilobytes).unwrap();
    let (code, said) = code_and_text(&["profile", "diff", &path("bytes"), &path("kilobytes")]);
    assert!(
        code == 0 && said.starts_with("inuse_space: +4290772992 bytes (4194304 before, 4294967296 after)"),
        "{said}"
    );
    let (code, said) = code_and_text(&["profile", "diff", &path("kilobytes"), &path("bytes")]);
    assert!(
        code == 0 && said.starts_with("inuse_space: -4290772992 bytes (4294967296 before, 4194304 after)"),
        "{said}"
    );
}

#[test]
fn profiles_in_other_forms_are_named_with_what_helps() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("profile").to_str().unwrap().to_owned();
    for (text, is, helps) in [
        ("heap profile: 1: 1024 [2: 2048] @ heap/524288\n", "Go as text", "without `debug=1`"),
        ("heap_v2/524288\n  t*: 1: 2 [0: 0]\n", "jemalloc", "jemalloc_pprof"),
        ("heap profile:  1:  2 [ 3: 4] @ heapprofile\n", "gperftools", "go tool pprof -proto"),
        ("main;serve 4\nmain;read 5\n", "folded stacks", "Speedscope"),
    ] {
        fs::write(&path, text).unwrap();
        for arguments in [&["profile", "top"][..], &["profile", "symbolize"], &["profile", "html", "-o-"]] {
            let (code, said) = code_and_text(&[arguments, &[&path]].concat());
            assert!(code == 1 && said.contains(is) && said.contains(helps), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_profile_is_symbolized_in_its_place_or_elsewhere_and_mistakes_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    // A mapping whose file is not here, and an address in it.
    let mapping = b"\x1a\x0b\x08\x01\x10\x80\x20\x18\x80\x80\x01\x28\x01";
    let location = b"\x22\x07\x08\x63\x10\x01\x18\x80\x30";
    fs::write(path("addresses"), [SMALL, &mapping[..], location].concat()).unwrap();
    fs::write(path("named"), SMALL).unwrap();
    let before = fs::read(path("addresses")).unwrap();
    let (code, said) = code_and_text(&["profile", "symbolize", &path("addresses")]);
    assert!(code == 1 && said.contains("no address of") && said.contains("0 of 1 addresses named"), "{said}");
    assert!(said.contains("name it with --binary"), "{said}");
    assert_eq!(fs::read(path("addresses")).unwrap(), before);
    let program = env!("CARGO_BIN_EXE_allotment");
    let (code, said) = code_and_text(&["profile", "symbolize", &path("addresses"), "--binary", program]);
    assert!(code == 1 && said.contains("no code of the profile is of it"), "{said}");
    for (binary, cause) in
        [(path("missing"), "No such file"), (path("named"), "not an ELF program or library")]
    {
        let (code, said) = code_and_text(&["profile", "symbolize", &path("addresses"), "--binary", &binary]);
        assert!(code == 1 && said.contains(cause), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (code, said) = code_and_text(&["profile", "symbolize", &path("named")]);
    assert_eq!((code, &*said), (0, "every address already has a name\n"));
    assert_eq!(fs::read(path("named")).unwrap(), SMALL);
    let (code, said) = code_and_text(&["profile", "symbolize", &path("named"), "-o", &path("copy.pb.gz")]);
    assert!(code == 0, "{said}");
    let told = |file: &str| code_and_text(&["profile", "top", &path(file)]);
    assert_eq!(told("copy.pb.gz"), told("named"));
}

#[test]
fn a_flame_graph_is_a_page_and_is_not_written_over_its_profile() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("profile"), SMALL).unwrap();
    let (code, said) = code_and_text(&["profile", "html", &path("profile"), "-o", &path("page")]);
    assert_eq!((code, &*said), (0, ""));
    let page = fs::read_to_string(path("page")).unwrap();
    assert!(
        page.contains("<title>profile</title>")
            && page.contains("\"Session\"")
            && page.contains("inuse_space")
    );
    assert!(
        !page.contains("http:") && !page.contains("https:") && !page.contains(" src="),
        "nothing is fetched"
    );
    let (code, said) = code_and_text(&["profile", "html", &path("profile"), "-o", &path("profile")]);
    assert!(code == 2 && said.contains("--output"), "{said}");
    assert_eq!(fs::read(path("profile")).unwrap(), SMALL);
    let (code, said) =
        code_and_text(&["profile", "html", &path("profile"), "-o", &path("page"), "--sample-type=cpu"]);
    assert!(code == 1 && said.contains("no sample type `cpu`"), "{said}");
    assert_eq!(fs::read_to_string(path("page")).unwrap(), page);
    let (code, said) = code_and_text(&["profile", "html", &path("profile"), "-o", "/dev/full"]);
    assert!(code == 1 && said.contains("No space left"), "{said}");
    assert_eq!(code_and_text(&["profile", "html", &path("profile")]).0, 2);
}
