//! Files of each kind: each is read, or refused with its true cause.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

fn of(bytes: &[u8]) -> Result<String, String> {
    let input = Input::of("x", Cursor::new(bytes.to_vec())).map_err(|error| error.to_string())?;
    input.text().map_err(|error| error.to_string())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(of).collect()
}

#[test]
fn encodings_are_read_with_and_without_marks() {
    let text = "[0.1s][trace] wörk 🦀\nsecond line, all of it in letters that most texts have\n";
    assert_eq!(of(text.as_bytes()).unwrap(), text);
    assert_eq!(of(&[b"\xef\xbb\xbf", text.as_bytes()].concat()).unwrap(), text);
    for (mark, order) in [
        (&b"\xff\xfe"[..], u16::to_le_bytes as fn(u16) -> [u8; 2]),
        (&b"\xfe\xff"[..], u16::to_be_bytes as fn(u16) -> [u8; 2]),
    ] {
        assert_eq!(of(&utf16(text, order)).unwrap(), text);
        let marked = [mark, &utf16(text, order)].concat();
        assert_eq!(of(&marked).unwrap(), text);
        assert_eq!(of(&gzip(&marked)).unwrap(), text);
        // Longer than the inspected head, with the boundary in the middle of a character.
        let long = text.repeat(500);
        assert_eq!(of(&[mark, &utf16(&long, order)].concat()).unwrap(), long);
    }
    assert_eq!(of(b"").unwrap(), "");
    assert_eq!(of(b"[").unwrap(), "[");
}

#[test]
fn gzip_is_unpacked_in_members_and_layers() {
    let long = "a line of a log\n".repeat(10_000);
    assert_eq!(of(&gzip(long.as_bytes())).unwrap(), long);
    assert_eq!(of(&[gzip(b"one\n"), gzip(b"two\n"), gzip(b"")].concat()).unwrap(), "one\ntwo\n");
    assert_eq!(of(&gzip(&gzip(b"twice"))).unwrap(), "twice");
    let mut bomb = b"x".to_vec();
    (0..MOST_LAYERS + 1).for_each(|_| bomb = gzip(&bomb));
    assert!(of(&bomb).unwrap_err().contains("times over"));
    // Zeros behind the data are padding. Anything else is named, however short it is.
    assert_eq!(
        of(&[gzip(b"one\n"), vec![0; 20_000], gzip(b"two\n"), vec![0; 3]].concat()).unwrap(),
        "one\ntwo\n"
    );
    for other in [&b"x"[..], b"garbage", b"\0\0something longer than a header is"] {
        let error = of(&[&gzip(b"one\n"), other].concat()).unwrap_err();
        assert!(error.contains("something else follows it"), "{error}");
    }
    let packed = gzip(long.as_bytes());
    for cut in [3, 9, 12, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
        let error = of(&packed[..cut]).unwrap_err();
        assert!(error.contains("ends too early"), "{cut}: {error}");
    }
    let damaged = |at: usize| {
        let mut bytes = packed.clone();
        bytes[at] ^= 0xff;
        of(&bytes).unwrap_err()
    };
    assert!(damaged(packed.len() - 5).contains("damaged"), "the checksum");
    assert!(damaged(12).contains("damaged"), "{}", damaged(12));
    let more = [packed.clone(), b"and a log that was not packed".to_vec()].concat();
    assert!(of(&more).unwrap_err().contains("something else follows it"));
}

#[test]
fn a_cut_off_file_gives_what_it_has_and_says_so_as_often_as_it_is_asked() {
    let packed = gzip("a line\n".repeat(5000).as_bytes());
    let mut input = Input::of("x", Cursor::new(packed[..packed.len() - 4].to_vec())).unwrap();
    let mut found = Vec::new();
    assert_eq!(input.read_to_end(&mut found).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(found.len(), 5000 * 7);
    assert!(input.read(&mut [0; 8]).is_err());
}

#[test]
fn other_kinds_are_refused_by_name() {
    let mut tar = vec![b'a'; 257];
    tar.extend(b"ustar\0");
    for (bytes, cause, hint) in [
        (&b"\x28\xb5\x2f\xfd\x24\0"[..], "packed by zstd", "zstd -d"),
        (b"\xfd7zXZ\0\0\x04", "packed by xz", "xz -dk"),
        (b"BZh91AY&SY", "packed by bzip2", "bzip2 -dk"),
        (b"PK\x03\x04\x14\0", "zip archive", "unzip"),
        (b"\x1f\x9d\x90", "packed by compress", "uncompress"),
        (b"FLR\0\0\x02", "Flight Recorder", "jfr print"),
        (b"\x7fELF\x02\x01\x01", "a program", "file of text"),
        (b"\xca\xfe\xba\xbe\0\0\0\x3d", "a Java class", "file of text"),
        (&tar, "a tar archive", "tar -xf"),
        (b"\xff\xfe\0\0[\0\0\0", "UTF-32", "iconv"),
        (b"\x01\x02\x03\x04\x05\x06\x07", "binary data", "file of text"),
        (&[0; 100], "nothing but zeros", "copy it again"),
        (b"caf\xe9 au lait\n", "not UTF-8 at line 1", "iconv"),
    ] {
        for packed in [bytes.to_vec(), gzip(bytes)] {
            let error = of(&packed).unwrap_err();
            assert!(error.starts_with("cannot read `x`: "), "{error}");
            assert!(error.contains(cause) && error.contains(hint), "{error}");
        }
    }
    // Truncating a log while it is written leaves a hole at the beginning.
    assert_eq!(of(b"\0\0\0\0line\n").unwrap(), "\0\0\0\0line\n");
}

#[test]
fn paths_that_name_no_file_are_refused_by_what_they_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    symlink(path("gone"), path("dangling")).unwrap();
    symlink(path("loop"), path("loop")).unwrap();
    let _listener = UnixListener::bind(path("socket")).unwrap();
    fs::write(path("file"), "text").unwrap();
    for (name, cause) in [
        ("gone", "No such file or directory"),
        ("dangling", "it is a link to `"),
        ("socket", "it is a socket"),
        (".", "it is a directory"),
        ("file/below", "Not a directory"),
        ("loop", "symbolic links"),
    ] {
        let error = read_text(&path(name)).unwrap_err().to_string();
        assert!(error.contains(cause) && !error.contains("os error"), "{name}: {error}");
        assert!(error.contains(&path(name).display().to_string()), "{error}");
    }
    assert!(read_text(Path::new("/dev/zero")).unwrap_err().to_string().contains("it is a device"));
    assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
    fs::set_permissions(path("file"), fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read the file all the same.
    match read_text(&path("file")) {
        Ok(text) => assert_eq!(text, "text"),
        Err(error) => assert!(error.to_string().contains("Permission denied; make it readable"), "{error}"),
    }
}

#[test]
fn a_pipe_with_a_name_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, gzip(b"through a pipe\n")).unwrap()
    });
    assert_eq!(read_text(&path).unwrap(), "through a pipe\n");
    writer.join().unwrap();
}

proptest::proptest! {
    #[test]
    fn whatever_the_bytes_are_they_are_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600), packed in proptest::prelude::any::<bool>()) {
        let bytes = if packed { gzip(&bytes) } else { bytes };
        if let Err(error) = of(&bytes) {
            proptest::prop_assert!(error.len() > "cannot read `x`: ".len());
        }
    }
}
