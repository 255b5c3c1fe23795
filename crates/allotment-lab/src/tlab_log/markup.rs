//! Markup in a line for human readers: colours for terminals, entities for web pages.

/// Characters as HTML writes them.
const ENTITIES: [(&[u8], u8); 9] = [
    (b"&gt;", b'>'),
    (b"&lt;", b'<'),
    (b"&amp;", b'&'),
    (b"&quot;", b'"'),
    (b"&#39;", b'\''),
    (b"&#34;", b'"'),
    (b"&#38;", b'&'),
    (b"&#60;", b'<'),
    (b"&#62;", b'>'),
];

/// The text without entities. `None` if it has none, or is not HTML's: HTML text has no `<` and no
/// `>`.
pub(super) fn without_entities(text: &[u8]) -> Option<Vec<u8>> {
    let mut at = text.iter().position(|byte| *byte == b'&')?;
    // The arrow of a changed size is enough, whatever precedes the line.
    let has_arrow = || contains(text, b"-&gt;") || contains(text, b"-&#62;");
    if text.iter().any(|byte| matches!(byte, b'<' | b'>')) && !has_arrow() {
        return None;
    }
    let mut plain = text[..at].to_vec();
    while at < text.len() {
        let rest = &text[at..];
        let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        let (length, byte) = entity.map_or((1, rest[0]), |(entity, byte)| (entity.len(), *byte));
        plain.push(byte);
        at += length;
    }
    (plain.len() < text.len()).then_some(plain)
}

/// Whether a text is JSON whose quotes are entities.
pub(super) fn hides_json(text: &[u8]) -> bool {
    text.contains(&b'&') && !text.contains(&b'"') && contains(text, b"{&quot;")
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The text without terminal colour sequences.
pub(super) fn without_colours(text: &[u8]) -> Vec<u8> {
    const ESCAPE: u8 = 0x1b;
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == ESCAPE) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let length = match rest.first() {
            // ESC [ parameters letter
            Some(b'[') => {
                let last = |byte: &u8| (0x40..=0x7e).contains(byte);
                rest[1..].iter().position(last).map_or(1, |at| at + 2)
            }
            // ESC ] text BEL, or ESC \
            Some(b']') => {
                let last = |byte: &u8| matches!(*byte, 0x07 | ESCAPE);
                let end = rest.iter().position(last).unwrap_or(0);
                end + 1 + usize::from(rest.get(end..).is_some_and(|rest| rest.starts_with(b"\x1b\\")))
            }
            Some(_) => 1,
            None => 0,
        };
        rest = &rest[length..];
    }
    plain.extend_from_slice(rest);
    plain
}
