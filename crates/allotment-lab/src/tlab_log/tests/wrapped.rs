//! Logs as containers, services and editors deliver them: the same log in each wrapping.

use super::*;
/// A text as a JSON string.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

const STAMP: &str = "2024-01-01T00:00:00.123456789Z";

/// A function that wraps a line.
type Wrapper = fn(&str) -> String;

const WRAPPERS: [(&str, Wrapper); 26] = [
    ("content", |line| format!(r#"{{"content":{{"message":{}}},"id":"x"}}"#, json(line))),
    ("gcp, json", |line| format!(r#"{{"jsonPayload":{{"message":{}}},"timestamp":"{STAMP}"}}"#, json(line))),
    ("array", |line| format!(r#"[{{"message":{}}},"#, json(line))),
    ("html", |line| line.replace("->", "-&gt;")),
    ("docker", |line| {
        format!(r#"{{"log":{},"stream":"stdout","time":"{STAMP}"}}"#, json(&format!("{line}\n")))
    }),
    ("docker, terminal", |line| {
        format!(r#"{{"log":{},"stream":"stdout","time":"{STAMP}"}}"#, json(&format!("{line}\r\n")))
    }),
    ("fluent bit", |line| format!(r#"{{"log":{},"stream":"stdout"}}"#, json(line))),
    ("containerd", |line| format!("{STAMP} stdout F {line}")),
    ("cri-o", |line| format!("2024-01-01T02:00:00.123456789+02:00 stderr F {line}")),
    ("containerd, pieces", |line| {
        let (first, rest) = line.split_at(line.len() / 3);
        let (second, third) = rest.split_at(rest.len() / 2);
        format!("{STAMP} stdout P {first}\n{STAMP} stdout P {second}\n{STAMP} stdout F {third}")
    }),
    ("docker, pieces", |line| {
        let (first, second) = line.split_at(line.len() / 2);
        let piece = |text: &str| format!(r#"{{"log":{},"stream":"stdout","time":"{STAMP}"}}"#, json(text));
        format!("{}\n{}", piece(first), piece(&format!("{second}\n")))
    }),
    ("kubectl", |line| format!("{STAMP} {line}")),
    ("kubectl, prefix", |line| format!("[pod/web-5s/java] {line}")),
    ("compose", |line| format!("web-1  | {line}")),
    ("compose, old, coloured", |line| format!("\x1b[36mweb_1  |\x1b[0m {line}")),
    ("journal", |line| format!("Jan 01 00:00:00 host java[123]: {line}")),
    ("journal, iso", |line| format!("2024-01-01T00:00:00+0000 host java[123]: {line}")),
    ("journal, monotonic", |line| format!("[12345.678901] host java[123]: {line}")),
    ("journal, json", |line| {
        format!(r#"{{"__REALTIME_TIMESTAMP":"1704067200123456","_PID":"123","MESSAGE":{}}}"#, json(line))
    }),
    ("journal, bytes", |line| format!(r#"{{"MESSAGE":{:?},"_PID":"123"}}"#, line.as_bytes())),
    ("rfc 3164", |line| format!("<30>Jan  1 00:00:00 host java[123]: {line}")),
    ("rfc 5424", |line| format!(r#"<30>1 {STAMP} host java 123 - [x@1 a="b] [c"] {line}"#)),
    ("github", |line| format!("2024-01-01T00:00:00.1234567Z {line}")),
    ("colours", |line| {
        format!("\x1b[1;32m{}\x1b[0m\x1b]0;title\x07", line.replace("TLAB", "\x1b[31mTLAB\x1b[m"))
    }),
    ("gcp", |line| format!(r#"{{"textPayload":{},"timestamp":"{STAMP}","severity":"INFO"}}"#, json(line))),
    ("container in a container", |line| {
        format!(
            r#"{{"log":{},"stream":"stderr","time":"{STAMP}"}}"#,
            json(&format!("{STAMP} stdout F {line}\n"))
        )
    }),
];

#[test]
fn a_wrapped_log_is_the_log() {
    for name in ["decorated-17.log", "shenandoah-25.log", "zgc-25.log"] {
        let text = real(name);
        let plain = read(text.as_bytes());
        for (who, wrapper) in WRAPPERS {
            let wrapped = text.lines().map(|line| wrapper(line) + "\n").collect::<String>();
            let log = read(wrapped.as_bytes());
            assert_eq!((log.read, log.skipped), (plain.read, plain.skipped), "{who}, {name}");
            assert_eq!((log.totals, log.agreement()), (plain.totals, plain.agreement()), "{who}, {name}");
            assert_eq!(log.accounts(), plain.accounts(), "{who}, {name}");
            assert_eq!(log.history.of(0), plain.history.of(0), "{who}, {name}");
            assert_eq!((log.jvms(), log.releases()), (1, plain.releases()), "{who}, {name}");
            // Some lines of the text are not wrapped, such as those of a shell before the JVM.
            let mixed = read(format!("starting\n{wrapped}done\n").as_bytes());
            assert_eq!((mixed.accounts(), mixed.skipped.foreign), (plain.accounts(), 2), "{who}, {name}");
        }
    }
}

#[test]
fn a_wrapper_s_date_does_where_a_line_has_none() {
    let text = real("shenandoah-25.log");
    let bare = text.lines().map(|line| line.split_once("] ").unwrap().1).collect::<Vec<_>>();
    for (who, wrapper) in WRAPPERS {
        let wrapped = bare.iter().map(|line| wrapper(line) + "\n").collect::<String>();
        let log = read(wrapped.as_bytes());
        let dated = wrapped.contains("2024-01-01T0") || wrapped.contains("_TIMESTAMP");
        // A prefix that ends otherwise than the message begins is not one of a date.
        let is_read = dated && who != "rfc 5424";
        assert_eq!(log.untimed == 0, is_read, "{who}");
        assert_eq!(log.history.of(1).is_empty(), !is_read, "{who}");
    }
}

#[test]
fn two_streams_do_not_mix() {
    let (a, b) = (SLOW, NEW_FILL);
    let text = format!(
        "{STAMP} stdout P {}\n{STAMP} stderr P {}\n{STAMP} stderr F {}\n{STAMP} stdout F {}\n",
        &a[..60],
        &b[..30],
        &b[30..],
        &a[60..]
    );
    let log = read(text.as_bytes());
    assert_eq!((log.read, log.skipped), (2, Skipped::default()));
}

#[test]
fn pieces_without_an_end_are_damage_and_never_too_much() {
    let text = format!("{STAMP} stdout P {}\n", &SLOW[..150]);
    assert_eq!(read(text.as_bytes()).skipped, Skipped { damaged: 1, foreign: 0 });
    let piece = format!("{STAMP} stdout P {}\n", "x".repeat(100_000));
    let endless = piece.repeat(50);
    assert_eq!(read(endless.as_bytes()).skipped, Skipped { damaged: 0, foreign: 1 });
    let log = read(format!("{endless}{STAMP} stdout F end\n{SLOW}\n").as_bytes());
    assert_eq!((log.read, log.skipped), (1, Skipped { damaged: 0, foreign: 1 }));
    // Docker's own pieces are long, and more than two.
    let object = |text: &str| format!("{{\"log\":{},\"stream\":\"stdout\"}}\n", json(text));
    let long = "y".repeat(16 << 10);
    let text = object(&long) + &object(&long) + &object(&format!("{SLOW}\n"));
    assert_eq!((read(text.as_bytes()).read, read(text.as_bytes()).skipped.foreign), (1, 0));
    // Streams without end.
    let streams = |n: usize| object("cut").replace("stdout", &format!("s{n}"));
    assert_eq!(read((0..200).map(streams).collect::<String>().as_bytes()).skipped.foreign, 200);
}

#[test]
fn objects_that_are_cut_are_damage_and_others_are_foreign() {
    let whole = format!(r#"{{"log":{},"stream":"stdout"}}"#, json(&format!("{SLOW}\n")));
    assert_eq!(read(&whole.as_bytes()[..whole.len() - 30]).skipped.damaged, 1);
    for other in ["{}", "{", r#"{"log":5}"#, r#"{"a":"b"}"#, r#"{"MESSAGE":[300]}"#, r#"{"message":null}"#] {
        assert_eq!(read(other.as_bytes()).skipped, Skipped { damaged: 0, foreign: 1 }, "{other}");
    }
    // Several lines in one object.
    let two = format!(r#"{{"message":{}}}"#, json(&format!("{SLOW}\r\n{NEW_FILL}\n\n")));
    assert_eq!(read(two.as_bytes()).read, 2);
}

#[test]
fn ends_zeros_and_cuts() {
    let text = real("decorated-17.log");
    let plain = read(text.as_bytes());
    let returns = read(text.replace('\n', "\r\n").as_bytes());
    assert_eq!((returns.accounts(), returns.read), (plain.accounts(), plain.read));
    let lone = read(text.replace('\n', "\r").as_bytes());
    assert_eq!((lone.accounts(), lone.read, lone.skipped), (plain.accounts(), plain.read, plain.skipped));
    let long = read(text.repeat(50).replace('\n', "\r").as_bytes());
    assert_eq!((long.read, long.skipped), (plain.read * 50, plain.skipped));
    // A log that was truncated while it was written begins with zeros.
    let hole = read(&[&[0; 5000][..], text.as_bytes()].concat());
    assert_eq!((hole.accounts(), hole.skipped), (plain.accounts(), plain.skipped));
    let zeros = read(text.replace("] TLAB", "] TL\0AB").as_bytes());
    assert!(zeros.read < plain.read && zeros.skipped.foreign > 0);
    for cut in 0..text.len().min(3000) {
        let log = read(&text.as_bytes()[..cut]);
        let lines = text[..cut].lines().filter(|line| !line.is_empty()).count() as u64;
        assert_eq!(log.read + log.skipped.damaged + log.skipped.foreign, lines, "{cut}");
        assert!(log.skipped.damaged + log.skipped.foreign <= 1, "{cut}");
    }
}

proptest! {
    #[test]
    fn real_logs_in_any_wrapper_survive_any_damage(
        which in 0_usize..4,
        wrapper in 0..WRAPPERS.len() + 1,
        wide in 0_u8..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..6), 0..60),
    ) {
        let text = real(["decorated-17.log", "shenandoah-25.log", "zgc-25.log", "stdout-25.log"][which]);
        let wrap = |line: &str| WRAPPERS.get(wrapper).map_or(line.to_string(), |(_, wrap)| wrap(line)) + "\n";
        let text = text.lines().take(30).map(wrap).collect::<String>();
        let mut bytes: Vec<u8> = match wide {
            0 => text.into_bytes(),
            1 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        };
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
            let end = (at + usize::from(byte)).min(bytes.len());
            match kind {
                _ if bytes.is_empty() => break,
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.drain(at..end)),
                3 => bytes.extend_from_within(at..end),
                4 => bytes[at] = b'9',
                _ => bytes.insert(at, b'\n'),
            }
        }
        let log = super::super::read(&bytes);
        if let Ok(log) = log {
            let _ = (silence(&log), log.agreement(), log.releases(), log.jvms());
            for candidate in Candidate::list(BUILT_IN).unwrap() {
                replay(&log.cycles, &candidate, u64::MAX);
            }
            prop_assert_eq!(log.totals.collections, log.cycles.len() as u64);
        }
    }
}
