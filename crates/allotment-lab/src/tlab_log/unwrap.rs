//! A line without what collectors of logs put around it.
//!
//! | who | how |
//! |---|---|
//! | Docker (`json-file`), Fluent Bit | `{"log":"...\n","stream":"stdout","time":"..."}` |
//! | `journalctl -o json`, other JSON | `{"MESSAGE":"...","__REALTIME_TIMESTAMP":"..."}` |
//! | containerd, CRI-O | `2024-01-01T00:00:00.000000000Z stdout F ...` |
//! | kubectl, GitHub's actions | `2024-01-01T00:00:00.000000000Z ...` |
//! | journalctl, syslog, Compose | `Jan 01 00:00:00 host java[1]: ...`, `web-1  \| ...` |
//! | terminals | colours |
//! | web pages | `64K -&gt; 32K` |
//!
//! Only what changes the text itself is undone here: JSON, colours, entities, and lines that were
//! split. What stands before a line, whoever wrote it, is passed over when the message is looked
//! for ([`super::line`]), which also does for prefixes that nobody has thought of. Of those only
//! the date is taken.
//!
//! Pieces of a split line are joined. Docker does not mark them: a piece has no end of a line, as no line
//! of Fluent Bit's has. What follows tells them apart, so that such a piece waits for its successor.

use super::document;
use super::markup::{hides_json, without_colours, without_entities};
use super::stamp::{Stamp, date};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Bytes of a line that is joined from pieces; a longer one is nothing that HotSpot writes.
const MOST_JOINED: usize = 256 << 10;

/// Streams of which pieces may wait at once: two of each container.
const MOST_WAITING: usize = 64;

/// Bytes at which Docker splits lines.
const DOCKER_PIECE: usize = 16 << 10;

/// Wrappers within wrappers that are undone.
const MOST_LAYERS: usize = 4;

/// Keys under which objects have their text.
const TEXTS: [&str; 8] =
    ["log", "MESSAGE", "message", "msg", "textPayload", "@message", "line", "short_message"];

/// Keys under which they have an object that has the text.
const INNER: [&str; 2] = ["content", "jsonPayload"];

/// Keys under which they have a date.
const DATES: [&str; 6] = ["time", "timestamp", "@timestamp", "ts", "date", "eventTime"];

/// What a line holds.
#[derive(Clone, Debug, PartialEq)]
struct Content<'a> {
    text: Cow<'a, [u8]>,
    /// When the collector got it, where it says.
    stamp: Stamp,
    /// Which stream it is of, where it says: pieces of two of them may interleave.
    stream: Vec<u8>,
    /// Whose it is, where it says.
    source: Source,
    end: End,
}

impl Content<'_> {
    fn into_owned(self) -> Content<'static> {
        Content { text: Cow::Owned(self.text.into_owned()), ..self }
    }
}

/// Whose a line is, as the fields of an object say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    /// By what one process, container or pod has, and no other.
    pub(super) id: Vec<u8>,
    /// By labels, which a user chooses.
    pub(super) labels: Vec<u8>,
}

/// Where objects say which process, container or pod it was.
const IDS: [&[&str]; 7] = [
    &["_HOSTNAME"],
    &["_PID"],
    &["CONTAINER_ID"],
    &["kubernetes", "pod_name"],
    &["podName"],
    &["_container_name"],
    &["container", "id"],
];

/// Where they have labels.
const LABELS: [&[&str]; 2] = [&["labels"], &["resource", "labels"]];

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// It is whole.
    Whole,
    /// The next of its stream is a part of it.
    Open,
    /// Either.
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

/// What is handed on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unwrapped<'a> {
    /// The line, without its end.
    pub(super) text: Cow<'a, [u8]>,
    /// When the collector got it, where it says.
    pub(super) stamp: Stamp,
    /// Whose it is, where the collector says.
    pub(super) source: Source,
    /// Whether its end was there.
    pub(super) whole: bool,
    /// It was longer than what is kept.
    pub(super) too_long: bool,
}

/// Undoes what was done to lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Unwrapper {
    waiting: Vec<Waiting>,
}

impl Unwrapper {
    /// Takes in a line and hands on what is then whole.
    pub(super) fn line<'a>(&mut self, line: &'a [u8], whole: bool, mut each: impl FnMut(Unwrapped<'a>)) {
        let found = content(line);
        // What still is JSON may be several objects.
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
            // Two in a row without an end: that is how whole lines are written here.
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

    /// The log has ended: hands on what still waits.
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

/// Hands on a text, which may be several lines.
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

/// What a line holds, and when its collector got it.
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

/// Undoes one wrapper; whether there was one whose content may have another.
fn unwrap(content: &mut Content<'_>) -> bool {
    // The zeros are those of a file that was truncated while it was written, 0x1e begins a record of `json-seq`.
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
                // Behind a date there may be an object; another prefix stays where it is.
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

/// ` stdout F text`, as the runtimes of Kubernetes write behind the date: the stream, the tags and the text.
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

/// Without what separates an object from the next of an array.
fn without_separator(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    text.strip_suffix(b",").or(text.strip_suffix(b"]")).unwrap_or(text).trim_ascii_end()
}

/// What an object of JSON has to say; none if it is cut or has no text.
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

/// Whose a line is, by its object's fields.
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
        // What differs between the lines of one JVM says nothing.
        let same = |key: &str| !["level", "severity", "time", "stream"].iter().any(|part| key.contains(part));
        for (key, value) in labels.iter().filter(|(key, _)| same(key)) {
            source.labels.extend(format!("{key}={value}").bytes());
        }
    }
    source
}

/// A text, or the numbers of its bytes, as the journal writes what is no UTF-8.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Array(bytes) => bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect(),
        _ => None,
    }
}
