//! Files of each kind given to each command that reads files: all say the same of the same file.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

mod pages;

/// The exit code and what was said, on either of the two.
fn allotment(arguments: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_allotment")).stdin(Stdio::null()).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// The ways to give a file.
fn ways(file: &str) -> [Vec<&str>; 3] {
    [vec!["tlab-log", file], vec!["report", file, "--markdown", "/dev/null"], vec!["compare", file, file]]
}

#[test]
fn what_is_no_text_is_refused_by_its_true_cause_by_every_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::os::unix::fs::symlink(path("gone"), path("dangling")).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    for (name, bytes, cause) in [
        ("zstd.gz", &b"\x28\xb5\x2f\xfd\0"[..], "packed by zstd; unpack it first"),
        ("xz.json", b"\xfd7zXZ\0\0", "packed by xz; unpack it first"),
        ("zip.log", b"PK\x03\x04\x0a", "a zip archive; unpack it first"),
        ("recording.jfr", b"FLR\0\0\x02", "a recording of JDK Flight Recorder"),
        (
            "broken.gz",
            b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff",
            "what follows is damaged",
        ),
        ("binary", b"\x01\x02\x03\x04\x05", "binary data"),
        ("gone", b"", "No such file or directory"),
        ("dangling", b"", "it is a link to"),
        ("socket", b"", "it is a socket"),
        (".", b"", "it is a directory; name a file in it"),
    ] {
        if !bytes.is_empty() {
            fs::write(path(name), bytes).unwrap();
        }
        let file = path(name);
        for way in ways(file.to_str().unwrap()) {
            let (code, said) = allotment(&way);
            assert_eq!(code, 1, "{way:?}: {said}");
            assert!(said.contains("cannot read `") && said.contains(cause), "{way:?}: {said}");
            assert!(said.lines().count() == 1 && !said.contains("os error"), "{said}");
        }
    }
    fs::write(path("empty"), "").unwrap();
    for way in ways(path("empty").to_str().unwrap()) {
        let (code, said) = allotment(&way);
        assert!(code == 1 && said.contains("empty"), "{way:?}: {said}");
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

#[test]
fn results_in_other_encodings_are_compared_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let text = pages::json(&pages::rows());
    let plain = directory.path().join("plain.json");
    fs::write(&plain, &text).unwrap();
    let told = |path: &Path| {
        let (code, said) = allotment(&["compare", plain.to_str().unwrap(), path.to_str().unwrap()]);
        assert_eq!(code, 0, "{said}");
        said
    };
    let expected = told(&plain);
    for (index, bytes) in [
        packed(text.as_bytes()),
        [packed(&text.as_bytes()[..20]), packed(&text.as_bytes()[20..])].concat(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [b"\xfe\xff", &wide(&text)[..]].concat(),
        wide(&text),
        packed(&wide(&text)),
    ]
    .iter()
    .enumerate()
    {
        let path = directory.path().join(format!("{index}.json"));
        fs::write(&path, bytes).unwrap();
        assert_eq!(told(&path), expected, "{index}");
    }
    let cut = directory.path().join("cut.json");
    let all = packed(text.as_bytes());
    fs::write(&cut, &all[..all.len() - 5]).unwrap();
    let (code, said) = allotment(&["report", cut.to_str().unwrap(), "--markdown", "/dev/null"]);
    assert!(code == 1 && said.contains("ends too early: the file was cut off"), "{said}");
}
