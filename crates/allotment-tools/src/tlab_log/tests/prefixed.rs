//! Logs as they are delivered: with any text before the lines, any ends of lines, and damage.

use super::*;

const STAMP: &str = "2024-01-01T00:00:00.123456789Z";

/// A function that puts a text before a line.
type Prefix = fn(&str) -> String;

const PREFIXES: [(&str, Prefix); 12] = [
    ("containerd", |line| format!("{STAMP} stdout F {line}")),
    ("cri-o", |line| format!("2024-01-01T02:00:00.123456789+02:00 stderr F {line}")),
    ("kubectl", |line| format!("{STAMP} {line}")),
    ("kubectl, prefix", |line| format!("[pod/web-5s/java] {line}")),
    ("compose", |line| format!("web-1  | {line}")),
    ("compose, coloured", |line| format!("\x1b[36mweb_1  |\x1b[0m {line}")),
    ("journal", |line| format!("Jan 01 00:00:00 host java[123]: {line}")),
    ("journal, iso", |line| format!("2024-01-01T00:00:00+0000 host java[123]: {line}")),
    ("journal, monotonic", |line| format!("[12345.678901] host java[123]: {line}")),
    ("rfc 3164", |line| format!("<30>Jan  1 00:00:00 host java[123]: {line}")),
    ("rfc 5424", |line| format!(r#"<30>1 {STAMP} host java 123 - [x@1 a="b] [c"] {line}"#)),
    ("github", |line| format!("2024-01-01T00:00:00.1234567Z {line}")),
];

#[test]
fn a_log_with_prefixes_is_the_log() {
    for name in ["decorated-17.log", "shenandoah-25.log", "zgc-25.log"] {
        let text = real(name);
        let plain = read(text.as_bytes());
        for (who, prefix) in PREFIXES {
            let prefixed = text.lines().map(|line| prefix(line) + "\n").collect::<String>();
            let log = read(prefixed.as_bytes());
            assert_eq!((log.read, log.skipped), (plain.read, plain.skipped), "{who}, {name}");
            assert_eq!((log.totals, log.difference()), (plain.totals, plain.difference()), "{who}, {name}");
            assert_eq!(log.accounts(), plain.accounts(), "{who}, {name}");
            assert_eq!(log.history.of(0), plain.history.of(0), "{who}, {name}");
            assert_eq!((log.jvms(), log.releases()), (1, plain.releases()), "{who}, {name}");
            // Some lines of the text have no prefix, such as those of a shell before the JVM.
            let mixed = read(format!("starting\n{prefixed}done\n").as_bytes());
            assert_eq!((mixed.accounts(), mixed.skipped.foreign), (plain.accounts(), 2), "{who}, {name}");
        }
    }
}

#[test]
fn a_prefix_s_date_does_where_a_line_has_none() {
    let text = real("shenandoah-25.log");
    let bare = text.lines().map(|line| line.split_once("] ").unwrap().1).collect::<Vec<_>>();
    for (who, prefix) in PREFIXES {
        let prefixed = bare.iter().map(|line| prefix(line) + "\n").collect::<String>();
        let log = read(prefixed.as_bytes());
        let is_dated = prefixed.starts_with("2024-01-01T0");
        assert_eq!(log.untimed == 0, is_dated, "{who}");
        assert_eq!(log.history.of(1).is_empty(), !is_dated, "{who}");
    }
}

#[test]
fn lines_within_json_are_counted_and_not_read() {
    let quoted = serde_json::Value::from(format!("{SLOW}\n"));
    for text in [
        format!(r#"{{"log":{quoted},"stream":"stdout","time":"{STAMP}"}}"#),
        format!("{{\n  \"severity\": \"INFO\",\n  \"message\": {quoted}\n}}"),
        format!(r#"{STAMP} stdout F {{"message":"main {}"}}"#, SLOW),
    ] {
        let log = read(text.as_bytes());
        assert_eq!((log.read, log.json, log.skipped.damaged), (0, 1, 0), "{text}");
        assert_eq!(log.skipped.foreign, text.lines().count() as u64, "{text}");
    }
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
    fn real_logs_with_any_prefix_survive_any_damage(
        which in 0_usize..4,
        prefix in 0..PREFIXES.len() + 1,
        wide in 0_u8..3,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..6), 0..60),
    ) {
        let text = real(["decorated-17.log", "shenandoah-25.log", "zgc-25.log", "stdout-25.log"][which]);
        let with = |line: &str| PREFIXES.get(prefix).map_or(line.to_string(), |(_, with)| with(line)) + "\n";
        let text = text.lines().take(30).map(with).collect::<String>();
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
            let _ = (silence(&log), log.difference(), log.releases(), log.jvms());
            for candidate in Candidate::list(BUILT_IN).unwrap() {
                replayed(&log, &candidate, u64::MAX);
            }
            prop_assert_eq!(log.totals.collections, log.cycles.len() as u64);
        }
    }
}
