//! A line without the wrapping of log collectors.
//!
//! | collector | form |
//! |---|---|
//! | Docker (`json-file`), Fluent Bit | `{"log":"...\n","stream":"stdout","time":"..."}` |
//! | `journalctl -o json`, other JSON | `{"MESSAGE":"...","__REALTIME_TIMESTAMP":"..."}` |
//! | containerd, CRI-O | `2024-01-01T00:00:00.000000000Z stdout F ...` |
//! | kubectl, GitHub's actions | `2024-01-01T00:00:00.000000000Z ...` |
//! | journalctl, syslog, Compose | `Jan 01 00:00:00 host java[1]: ...`, `web-1  \| ...` |
//! | terminals | colours |
//! | web pages | `64K -&gt; 32K` |
//!
//! Only changes of the text itself are undone here: JSON, colours, entities, and split lines. The
//! search for the message skips any prefix of a line ([`super::line`]), which also works for
//! unknown prefixes. Of a prefix only the date is taken.
//!
//! Pieces of a split line are joined. Docker does not mark them: a piece has no end of a line, and
//! neither has any line of Fluent Bit. The next line distinguishes the two cases, so such a piece
//! waits for its successor.

use super::document;
use super::markup::{hides_json, without_colours, without_entities};
use super::stamp::{Stamp, date};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The most bytes of a line that is joined from pieces; HotSpot writes no longer lines.
const MOST_JOINED: usize = 256 << 10;

/// The most streams with waiting pieces: two for each container.
const MOST_WAITING: usize = 64;

/// Bytes at which Docker splits lines.
const DOCKER_PIECE: usize = 16 << 10;

/// The most nested wrappers that are undone.
const MOST_LAYERS: usize = 4;

/// Keys of an object's text.
const TEXTS: [&str; 8] =
    ["log", "MESSAGE", "message", "msg", "textPayload", "@message", "line", "short_message"];

/// Keys of an inner object that has the text.
const INNER: [&str; 2] = ["content", "jsonPayload"];

/// Keys of a date.
const DATES: [&str; 6] = ["time", "timestamp", "@timestamp", "ts", "date", "eventTime"];

/// The content of a line.
#[derive(Clone, Debug, PartialEq)]
struct Content<'a> {
    text: Cow<'a, [u8]>,
    /// The time at which the collector received the line, if given.
    stamp: Stamp,
    /// The stream of the line, if given: pieces of two streams may interleave.
    stream: Vec<u8>,
    /// The origin of the line, if given.
    source: Source,
    end: End,
}

impl Content<'_> {
    fn into_owned(self) -> Content<'static> {
        Content { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}

/// The origin of a line, by the fields of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    /// Identifiers that one process, container or pod has, and no other.
    pub(super) id: Vec<u8>,
    /// Labels, which a user chooses.
    pub(super) labels: Vec<u8>,
}

/// Paths of the fields that identify a process, container or pod.
const IDS: [&[&str]; 7] = [
    &["_HOSTNAME"],
    &["_PID"],
    &["CONTAINER_ID"],
    &["kubernetes", "pod_name"],
    &["podName"],
    &["_container_name"],
    &["container", "id"],
];

/// Paths of the labels.
const LABELS: [&[&str]; 2] = [&["labels"], &["resource", "labels"]];

/// The state of a line's end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The line is complete.
    Whole,
    /// The next line of its stream is a part of it.
    Open,
    /// Unknown: the line is complete or not.
    Unsaid,
}

/// A line that waits for its other pieces.
#[derive(Clone, Debug)]
struct Waiting {
    stream: Vec<u8>,
    source: Source,
    text: Vec<u8>,
    stamp: Stamp,
    end: End,
    too_long: bool,
}

/// A line that is passed on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unwrapped<'a> {
    /// The line, without its end.
    pub(super) text: Cow<'a, [u8]>,
    /// The time at which the collector received the line, if given.
    pub(super) stamp: Stamp,
    /// The origin of the line, if the collector gives it.
    pub(super) source: Source,
    /// Whether the end of the line was there.
    pub(super) whole: bool,
    /// The line was longer than the kept part.
    pub(super) too_long: bool,
}

/// Undoes the wrapping of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Unwrapper {
    waiting: Vec<Waiting>,
}

impl Unwrapper {
    /// Takes in a line, and passes on the lines that are then complete.
    pub(super) fn line<'a>(&mut self, line: &'a [u8], whole: bool, mut each: impl FnMut(Unwrapped<'a>)) {
        let found = content(line);
        // A text that is still JSON may be several objects.
        if found.end != End::Whole || !document::opens(&found.text) {
            return self.content(found, whole, &mut each);
        }
        let entries = document::of_line(&found.text);
        if entries.is_empty() {
            return self.content(found, whole, &mut each);
        }
        for entry in entries {
            self.content(content(&entry).into_owned(), true, &mut each);
        }
    }

    fn content<'a>(&mut self, content: Content<'a>, whole: bool, mut each: &mut impl FnMut(Unwrapped<'a>)) {
        let place = self.waiting.iter().position(|waiting| waiting.stream == content.stream);
        let Some(mut waiting) = place.map(|place| self.waiting.swap_remove(place)) else {
            return match content.end {
                End::Whole => hand_on(content.text, content.stamp, &content.source, whole, &mut each),
                _ => self.wait(content, &mut each),
            };
        };
        if waiting.end == End::Unsaid && content.end == End::Unsaid && waiting.text.len() < DOCKER_PIECE {
            // Two lines in a row without an end: this writer omits the ends of complete lines.
            hand_on(waiting.text.into(), waiting.stamp, &waiting.source, true, &mut each);
            return self.wait(content, &mut each);
        }
        waiting.too_long |= waiting.text.len() + content.text.len() > MOST_JOINED;
        if !waiting.too_long {
            waiting.text.extend_from_slice(&content.text);
        }
        if content.end != End::Whole {
            waiting.end = content.end;
            self.waiting.push(waiting);
        } else if waiting.too_long {
            let Waiting { stamp, source, .. } = waiting;
            each(Unwrapped { text: Cow::default(), stamp, source, whole, too_long: true });
        } else {
            hand_on(waiting.text.into(), waiting.stamp, &waiting.source, whole, &mut each);
        }
    }

    /// Ends the log, and passes on all waiting pieces.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Unwrapped<'static>)) {
        for waiting in std::mem::take(&mut self.waiting) {
            let Waiting { text, stamp, source, end, too_long, .. } = waiting;
            if too_long {
                each(Unwrapped { text: Cow::default(), stamp, source, whole: false, too_long });
            } else {
                hand_on(text.into(), stamp, &source, end == End::Unsaid, &mut each);
            }
        }
    }

    fn wait<'a>(&mut self, content: Content<'_>, each: &mut impl FnMut(Unwrapped<'a>)) {
        if self.waiting.len() == MOST_WAITING {
            let Waiting { text, stamp, source, .. } = self.waiting.remove(0);
            hand_on(text.into(), stamp, &source, false, each);
        }
        let Content { text, stamp, stream, source, end } = content;
        self.waiting.push(Waiting { stream, source, text: text.into_owned(), stamp, end, too_long: false });
    }
}

/// Passes on a text, which may be several lines.
fn hand_on<'a>(
    text: Cow<'a, [u8]>,
    stamp: Stamp,
    source: &Source,
    whole: bool,
    each: &mut impl FnMut(Unwrapped<'a>),
) {
    let mut one =
        |text, whole| each(Unwrapped { text, stamp, source: source.clone(), whole, too_long: false });
    match text {
        Cow::Owned(text) if text.contains(&b'\n') => {
            let mut lines = text.split(|byte| *byte == b'\n').peekable();
            while let Some(line) = lines.next() {
                let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
                one(Cow::Owned(line), whole || lines.peek().is_some());
            }
        }
        text => one(text, whole),
    }
}

/// The content of a line, and the time at which its collector received it.
pub(super) fn when(line: &[u8]) -> (Cow<'_, [u8]>, Stamp) {
    let Content { text, stamp, .. } = content(line);
    (text, stamp)
}

fn content(line: &[u8]) -> Content<'_> {
    let text = Cow::Borrowed(line);
    let mut content = Content {
        text,
        stamp: Stamp::default(),
        stream: Vec::new(),
        source: Source::default(),
        end: End::Whole,
    };
    for _ in 0..MOST_LAYERS {
        if content.text.contains(&0x1b) {
            content.text = Cow::Owned(without_colours(&content.text));
        }
        if hides_json(&content.text)
            && let Some(plain) = without_entities(&content.text)
        {
            content.text = Cow::Owned(plain);
        }
        if !unwrap(&mut content) {
            break;
        }
    }
    if let Some(plain) = without_entities(&content.text) {
        content.text = Cow::Owned(plain);
    }
    content
}

/// Undoes one wrapper. Returns whether there was one with a content that may have another.
fn unwrap(content: &mut Content<'_>) -> bool {
    // The zeros are those of a file that was truncated while it was written; 0x1e begins a record
    // of `json-seq`.
    let begins = |byte: &u8| !matches!(byte, 0 | 0x1e | b' ' | b'\t');
    let start = content.text.iter().position(begins).unwrap_or(content.text.len());
    let text = &content.text[start..];
    match text.first() {
        Some(b'{') => {
            let Some(found) = object(text) else { return false };
            set(content, found);
            true
        }
        Some(byte) if byte.is_ascii_digit() => {
            let Some((ns, rest)) = date(text) else { return false };
            content.stamp = content.stamp.or(Stamp { uptime: None, epoch: Some(ns) });
            let Some((stream, tag, rest)) = container(rest) else {
                // Behind a date there may be an object. Another prefix stays in place.
                let rest = rest.trim_ascii_start();
                let from = content.text.len() - rest.len();
                let is_object = rest.first() == Some(&b'{');
                if is_object {
                    drop_front(&mut content.text, from);
                }
                return is_object;
            };
            content.stream = stream.to_vec();
            content.end = if tag.starts_with(b"P") { End::Open } else { End::Whole };
            let from = content.text.len() - rest.len();
            drop_front(&mut content.text, from);
            true
        }
        // Any other prefix, and an object behind it.
        Some(_) if without_separator(&content.text).ends_with(b"}") => {
            let Some(at) = content.text.windows(2).position(|pair| pair == b"{\"") else { return false };
            let Some(found) = object(&content.text[at..]) else { return false };
            set(content, found);
            true
        }
        _ => {
            if start > 0 && content.text[..start].contains(&0) {
                drop_front(&mut content.text, start);
            }
            false
        }
    }
}

fn set(content: &mut Content<'_>, found: Content<'static>) {
    content.text = found.text;
    content.stamp = content.stamp.or(found.stamp);
    content.stream = found.stream;
    content.source.id.extend(found.source.id);
    content.source.labels.extend(found.source.labels);
    content.end = found.end;
}

fn drop_front(text: &mut Cow<'_, [u8]>, count: usize) {
    match text {
        Cow::Borrowed(text) => *text = &text[count..],
        Cow::Owned(text) => drop(text.drain(..count)),
    }
}

/// ` stdout F text`, as the runtimes of Kubernetes write it behind the date: the stream, the tags
/// and the text.
fn container(rest: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let rest = rest.strip_prefix(b" ")?;
    let stream = [&b"stdout"[..], b"stderr"].into_iter().find(|stream| rest.starts_with(stream))?;
    let rest = rest[stream.len()..].strip_prefix(b" ")?;
    let tags = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let (tags, text) = rest.split_at(tags);
    let is =
        tags.first().is_some_and(|tag| matches!(tag, b'F' | b'P')) && (tags.len() == 1 || tags[1] == b':');
    is.then(|| (stream, tags, text.strip_prefix(b" ").unwrap_or(text)))
}

/// The text without the separator between objects of an array.
fn without_separator(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.strip_suffix(b",").or(text.strip_suffix(b"]")).unwrap_or(text).trim_ascii_end()
}

/// The content of a JSON object; `None` if the object is cut or has no text.
fn object(text: &[u8]) -> Option<Content<'static>> {
    let Value::Object(fields) = serde_json::from_slice(without_separator(text)).ok()? else { return None };
    let (key, mut text) = text_of(&fields)?;
    let named = |key: &str| fields.get(key).and_then(Value::as_str);
    let stamp = DATES.iter().find_map(|key| Some(date(named(key)?.as_bytes())?.0));
    let of_journal = || named("__REALTIME_TIMESTAMP")?.parse::<u64>().ok()?.checked_mul(1000);
    let mut end = End::Whole;
    if text.ends_with(b"\n") {
        text.pop();
        if text.ends_with(b"\r") {
            text.pop();
        }
    } else if named("CONTAINER_PARTIAL_MESSAGE") == Some("true") {
        end = End::Open;
    } else if key == "log" && named("stream").is_some() {
        end = End::Unsaid;
    }
    let stream = ["stream", "CONTAINER_ID", "_PID"].iter().filter_map(|key| named(key)).collect::<String>();
    let stamp = Stamp { uptime: None, epoch: stamp.or_else(of_journal) };
    Some(Content { text: Cow::Owned(text), stamp, stream: stream.into_bytes(), source: source(&fields), end })
}

/// The text of an object, and its key.
fn text_of(fields: &Map<String, Value>) -> Option<(&'static str, Vec<u8>)> {
    let of =
        |fields: &Map<String, Value>| TEXTS.iter().find_map(|key| Some((*key, bytes(fields.get(*key)?)?)));
    of(fields).or_else(|| INNER.iter().find_map(|key| of(fields.get(*key)?.as_object()?)))
}

/// Whether an object has a text that may be a line.
pub(super) fn has_text(fields: &Map<String, Value>) -> bool {
    text_of(fields).is_some()
}

/// The origin of a line, by its object's fields.
fn source(fields: &Map<String, Value>) -> Source {
    let at = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(fields.get(*first)?, |value, key| value.get(key))
    };
    let mut source = Source::default();
    for value in IDS.iter().filter_map(|path| at(path)) {
        source.id.extend(value.to_string().bytes());
    }
    for labels in LABELS.iter().filter_map(|path| at(path)?.as_object()) {
        // Fields that differ between the lines of one JVM do not identify it.
        let same = |key: &str| !["level", "severity", "time", "stream"].iter().any(|part| key.contains(part));
        for (key, value) in labels.iter().filter(|(key, _)| same(key)) {
            source.labels.extend(format!("{key}={value}").bytes());
        }
    }
    source
}

/// A text, or the numbers of its bytes, as the journal writes text that is not UTF-8.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Array(bytes) => bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect(),
        _ => None,
    }
}
