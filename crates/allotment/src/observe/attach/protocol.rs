//! The protocol of the socket, version 1: a line of text, and an answer with its length.
//!
//! ```text
//! allotment/1 census retained=true\n         the question: a word, then names with values
//! allotment/1 ok 523\n...                    the answer: 523 bytes of text
//! allotment/1 failed 17\nthe heap is gone\n  or the reason why there is none
//! ```
//!
//! A question that wants a file brings its descriptor along. The first word of both is the version,
//! and stays what it is in all versions: so two that do not understand each other can say so. An
//! answer has its length, since a connection that ends early must not look like a whole answer.
//! Refused: JSON. A line needs no library in the heap, and a person can type it.

use super::super::{SnapshotFormat, SnapshotSettings};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// The version of the protocol.
const VERSION: &str = "1";

/// The first word is this and the version.
const GREETING: &str = "allotment/";

/// The longest question, in bytes.
pub(super) const LINE_BYTES: usize = 512;

/// The longest line before the text of an answer, in bytes.
const HEAD_BYTES: u64 = 100;

/// The longest answer that a caller takes, in bytes.
const ANSWER_BYTES: usize = 64 << 20;

/// The most seconds of a [`Question::Profile`]: a day.
const MOST_SECONDS: u64 = 86_400;

/// The kind of a value that is a number.
const A_NUMBER: &str = "a whole number";

/// A question of another process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Question {
    /// Collector, sizes, regions.
    Heap,
    /// The attached threads, and what each does.
    Threads,
    /// All numbers for monitoring.
    Metrics,
    /// The options in force, and where they come from.
    Options,
    /// A full collection.
    Gc,
    /// Live objects by shape.
    Census {
        /// With retained bytes.
        retained: bool,
    },
    /// A snapshot, to the file that comes along.
    Snapshot(SnapshotSettings),
    /// An allocation profile, to the file that comes along.
    Profile {
        /// Seconds from now on; `None` for the time since the heap was made.
        seconds: Option<u64>,
        /// Bytes from one sample to the next; `None` for the interval in force, or the
        /// default.
        interval: Option<usize>,
    },
}

impl Question {
    /// Reads a line, or says what is wrong with it.
    pub(super) fn parse(line: &[u8]) -> Result<Question, String> {
        let line = std::str::from_utf8(line).map_err(|_| "the question is not text".to_owned())?;
        let mut words = line.split_ascii_whitespace();
        match words.next().and_then(|word| word.strip_prefix(GREETING)) {
            Some(VERSION) => {}
            Some(other) => return Err(version_differs("this process", other)),
            None => return Err(format!("this is not a question; write {GREETING}{VERSION} and a word")),
        }
        let word = words.next().unwrap_or_default();
        let mut values = Values::read(words)?;
        let question = match word {
            "heap" => Question::Heap,
            "threads" => Question::Threads,
            "metrics" => Question::Metrics,
            "options" => Question::Options,
            "gc" => Question::Gc,
            "census" => {
                Question::Census { retained: values.take("retained", "true or false")?.unwrap_or(false) }
            }
            "snapshot" => {
                let format = match values.text("format") {
                    None | Some("heapsnapshot") => SnapshotFormat::HeapSnapshot,
                    Some("hprof") => SnapshotFormat::Hprof,
                    Some(other) => return Err(format!("format={other} is neither heapsnapshot nor hprof")),
                };
                let string_bytes = values.take("string-bytes", A_NUMBER)?.unwrap_or(0);
                Question::Snapshot(SnapshotSettings::default().format(format).string_bytes(string_bytes))
            }
            "profile" => {
                let (seconds, interval) =
                    (values.take("seconds", A_NUMBER)?, values.take("interval", A_NUMBER)?);
                match (seconds, interval) {
                    (Some(seconds), _) if !(1..=MOST_SECONDS).contains(&seconds) => {
                        return Err(format!("seconds={seconds} is not within 1..{MOST_SECONDS}"));
                    }
                    (_, Some(0)) => return Err("interval=0 samples nothing".into()),
                    (None, Some(_)) => return Err("interval= is for a profile of the next seconds=".into()),
                    _ => Question::Profile { seconds, interval },
                }
            }
            other => {
                return Err(format!(
                    "there is no question {other:?}; ask heap, threads, metrics, options, gc, census, snapshot or profile"
                ));
            }
        };
        values.end(word)?;
        Ok(question)
    }

    /// The line, with its end.
    #[must_use]
    pub fn encode(&self) -> String {
        format!("{GREETING}{VERSION} {self}\n")
    }
}

/// The question as it stands in its line.
impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Heap => out.write_str("heap"),
            Question::Threads => out.write_str("threads"),
            Question::Metrics => out.write_str("metrics"),
            Question::Options => out.write_str("options"),
            Question::Gc => out.write_str("gc"),
            Question::Census { retained } => write!(out, "census retained={retained}"),
            Question::Snapshot(SnapshotSettings { format, string_bytes }) => {
                let format = match format {
                    SnapshotFormat::HeapSnapshot => "heapsnapshot",
                    SnapshotFormat::Hprof => "hprof",
                };
                write!(out, "snapshot format={format} string-bytes={string_bytes}")
            }
            Question::Profile { seconds, interval } => {
                out.write_str("profile")?;
                seconds.map_or(Ok(()), |seconds| write!(out, " seconds={seconds}"))?;
                interval.map_or(Ok(()), |interval| write!(out, " interval={interval}"))
            }
        }
    }
}

/// Names with values that were not taken yet.
struct Values<'l>(Vec<(&'l str, &'l str)>);

impl<'l> Values<'l> {
    fn read(words: impl Iterator<Item = &'l str>) -> Result<Values<'l>, String> {
        let split = |word: &'l str| word.split_once('=').ok_or_else(|| format!("{word:?} has no value"));
        Ok(Values(words.map(split).collect::<Result<_, String>>()?))
    }

    fn text(&mut self, name: &str) -> Option<&'l str> {
        let place = self.0.iter().position(|(own, _)| *own == name)?;
        Some(self.0.remove(place).1)
    }

    /// Takes a value, which the message of an error calls `kind`.
    fn take<T: std::str::FromStr>(&mut self, name: &str, kind: &str) -> Result<Option<T>, String> {
        let parse = |text: &str| text.parse().map_err(|_| format!("{name}={text} is not {kind}"));
        self.text(name).map(parse).transpose()
    }

    /// Refuses what nothing took.
    fn end(self, word: &str) -> Result<(), String> {
        self.0
            .first()
            .map_or(Ok(()), |(name, _)| Err(format!("{word} takes no {name:?}, or takes it only once")))
    }
}

fn version_differs(who: &str, other: &str) -> String {
    let other: String = other.chars().take(20).collect();
    format!(
        "{who} (allotment {}) speaks version {VERSION} of the protocol, and the other side version {other:?}; use the \
         `allotment` command of the version with which the program was built",
        env!("CARGO_PKG_VERSION")
    )
}

/// The answer of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The heap did what was asked. This is its text.
    Done(String),
    /// The heap did not do what was asked, for this reason.
    Failed(String),
}

/// The reason why there is no whole answer.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The other side ended within its answer, or before.
    #[error("the heap, or its process, ended before it answered")]
    Ended,
    /// The connection cannot be read.
    #[error("the answer cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The bytes that came are not an answer.
    #[error("{0}")]
    Other(String),
}
crate::debug::debug_is_display!(AnswerError);

impl Answer {
    /// The bytes of the answer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (word, text) = match self {
            Answer::Done(text) => ("ok", text),
            Answer::Failed(text) => ("failed", text),
        };
        format!("{GREETING}{VERSION} {word} {}\n{text}", text.len()).into_bytes()
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// [`AnswerError`] if the other side ends first, or speaks another version or something else.
    pub fn read(from: &mut impl Read) -> Result<Answer, AnswerError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => AnswerError::Ended,
            _ => AnswerError::Read(error),
        };
        let (mut from, mut head) = (BufReader::new(from), Vec::new());
        from.by_ref().take(HEAD_BYTES).read_until(b'\n', &mut head).map_err(failed)?;
        let head = String::from_utf8_lossy(&head);
        let no_answer =
            || AnswerError::Other(format!("what listens there is not a heap: it answered {head:?}"));
        if !head.ends_with('\n') {
            return Err(if head.len() < HEAD_BYTES as usize { AnswerError::Ended } else { no_answer() });
        }
        let mut words = head.split_ascii_whitespace();
        match words.next().and_then(|word| word.strip_prefix(GREETING)) {
            Some(VERSION) => {}
            Some(other) => return Err(AnswerError::Other(version_differs("this command", other))),
            None => return Err(no_answer()),
        }
        let answer = match words.next() {
            Some("ok") => Answer::Done,
            Some("failed") => Answer::Failed,
            _ => return Err(no_answer()),
        };
        let bytes = words.next().and_then(|bytes| bytes.parse().ok()).filter(|bytes| *bytes <= ANSWER_BYTES);
        let mut text = vec![0; bytes.ok_or_else(no_answer)?];
        from.read_exact(&mut text).map_err(failed)?;
        String::from_utf8(text).map(answer).map_err(|_| no_answer())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn questions() -> impl Strategy<Value = Question> {
        let format = prop_oneof![Just(SnapshotFormat::HeapSnapshot), Just(SnapshotFormat::Hprof)];
        let snapshot = (format, any::<usize>()).prop_map(|(format, bytes)| {
            Question::Snapshot(SnapshotSettings::default().format(format).string_bytes(bytes))
        });
        let window = proptest::option::of((1..=MOST_SECONDS, proptest::option::of(1..usize::MAX)));
        prop_oneof![
            Just(Question::Heap),
            Just(Question::Threads),
            Just(Question::Metrics),
            Just(Question::Options),
            Just(Question::Gc),
            any::<bool>().prop_map(|retained| Question::Census { retained }),
            snapshot,
            window.prop_map(|window| Question::Profile {
                seconds: window.map(|(seconds, _)| seconds),
                interval: window.and_then(|(_, interval)| interval),
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_question_is_read_as_it_was_written(question in questions()) {
            let line = question.encode();
            prop_assert!(line.len() <= LINE_BYTES && line.ends_with('\n'));
            prop_assert_eq!(Question::parse(line.trim_end().as_bytes()), Ok(question));
        }

        #[test]
        fn an_answer_is_read_as_it_was_written_and_no_part_of_it_is_an_answer(text in ".{0,60}", done: bool) {
            let answer = if done { Answer::Done(text) } else { Answer::Failed(text) };
            let bytes = answer.encode();
            prop_assert_eq!(&Answer::read(&mut &bytes[..]).unwrap(), &answer);
            for end in 0..bytes.len() {
                prop_assert!(matches!(Answer::read(&mut &bytes[..end]), Err(AnswerError::Ended)), "{}", end);
            }
        }

        #[test]
        fn no_bytes_do_harm(bytes: Vec<u8>) {
            let _ = Question::parse(&bytes);
            let _ = Answer::read(&mut &bytes[..]);
        }
    }

    #[test]
    fn what_is_no_question_is_refused_with_what_would_be_one() {
        for (line, expected) in [
            ("", "this is not a question; write allotment/1"),
            ("GET / HTTP/1.1", "this is not a question"),
            ("allotment/1", "there is no question \"\"; ask heap, threads"),
            ("allotment/2 heap", "speaks version 1 of the protocol, and the other side version \"2\""),
            ("allotment/1 heaps", "there is no question \"heaps\""),
            ("allotment/1 gc now", "\"now\" has no value"),
            ("allotment/1 gc when=now", "gc takes no \"when\""),
            ("allotment/1 census retained=1", "retained=1 is not true or false"),
            ("allotment/1 census retained=true retained=true", "or takes it only once"),
            ("allotment/1 snapshot format=pdf", "format=pdf is neither"),
            ("allotment/1 profile seconds=0", "seconds=0 is not within 1..86400"),
            ("allotment/1 profile seconds=x", "seconds=x is not a whole number"),
            ("allotment/1 profile interval=9", "interval= is for"),
            ("allotment/1 profile seconds=1 interval=0", "interval=0 samples nothing"),
        ] {
            let said = Question::parse(line.as_bytes()).expect_err(line);
            assert!(said.contains(expected), "{line}: {said}");
        }
        assert!(Question::parse(b"allotment/1 heap \xff").is_err_and(|said| said.contains("not text")));
    }

    #[test]
    fn answers_of_others_are_refused() {
        let said = |bytes: &[u8]| Answer::read(&mut &*bytes).expect_err("refused").to_string();
        assert!(said(b"allotment/7 ok 3\nabc").contains("the other side version \"7\""));
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\n"[..],
            b"allotment/1 ok\n",
            b"allotment/1 ok -1\n",
            b"allotment/1 ok 99999999999\n",
            b"allotment/1 maybe 0\n",
            b"allotment/1 ok 2\n\xff\xff",
            &[b'x'; 200],
        ] {
            assert!(said(bytes).contains("what listens there is not a heap"), "{}", said(bytes));
        }
    }
}
