//! A message as labelled numbers: `slow allocs: 3  refill waste: 16B` is (`slow allocs`, 3),
//! (`refill waste`, 16, `B`).
//!
//! All dialects have this form, so one reader handles all of them. A field that a new release adds
//! is a label that no code asks for.

/// From this value on, a float cannot represent all whole numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A number with the text before it and directly after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Token<'a> {
    /// The text between the previous number and this one, without blanks, colons and brackets at
    /// its ends.
    pub(super) label: &'a [u8],
    /// The number without its fraction; the largest `u64` if it is larger.
    pub(super) whole: u64,
    /// The number with its fraction.
    pub(super) value: f64,
    /// The letters or the percent sign after it.
    pub(super) unit: &'a [u8],
    /// Whether the text ends with the number's last digit.
    pub(super) at_end: bool,
}

impl Token<'_> {
    /// The digits after the point.
    pub(super) fn fraction(&self) -> f64 {
        if self.value < MOST_EXACT { (self.value - self.whole as f64).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The number as bytes, by its unit; `None` if the unit is missing, or is not one of sizes.
    pub(super) fn bytes(&self) -> Option<u64> {
        let shift = match self.unit {
            b"B" => 0,
            b"K" | b"KB" => 10,
            b"M" | b"MB" => 20,
            b"G" | b"GB" => 30,
            _ => return None,
        };
        Some(self.whole.saturating_mul(1 << shift))
    }
}

/// The tokens of a text.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(b' ')
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let from = self.at;
        // A digit within a word is part of the label.
        let mut in_word = false;
        let start = loop {
            let byte = *self.text.get(self.at)?;
            if byte.is_ascii_digit() && !in_word {
                break self.at;
            }
            in_word = byte.is_ascii_alphanumeric() || byte == b'_';
            self.at += 1;
        };
        let label = trimmed(&self.text[from..start]);
        let (mut whole, mut value) = (0_u64, 0.0);
        if self.byte(start) == b'0' && self.byte(start + 1) == b'x' {
            self.at = start + 2;
            while let Some(digit) = char::from(self.byte(self.at)).to_digit(16) {
                whole = whole.wrapping_shl(4) | u64::from(digit);
                self.at += 1;
            }
        } else {
            while self.byte(self.at).is_ascii_digit() {
                whole = whole.saturating_mul(10).saturating_add(u64::from(self.byte(self.at) - b'0'));
                self.at += 1;
            }
            value = whole as f64;
            // Some locales write a comma.
            if matches!(self.byte(self.at), b'.' | b',') && self.byte(self.at + 1).is_ascii_digit() {
                let mut place = 0.1;
                self.at += 1;
                while self.byte(self.at).is_ascii_digit() {
                    value += f64::from(self.byte(self.at) - b'0') * place;
                    place /= 10.0;
                    self.at += 1;
                }
            }
        }
        let unit = self.at;
        let at_end = unit == self.text.len();
        while self.byte(self.at).is_ascii_alphabetic() || self.byte(self.at) == b'%' {
            self.at += 1;
        }
        Some(Token { label, whole, value, unit: &self.text[unit..self.at], at_end })
    }
}

/// A label without separators at its ends.
fn trimmed(label: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !b" :[]()\t".contains(byte);
    let from = label.iter().position(is_text).unwrap_or(label.len());
    let end = label.iter().rposition(is_text).map_or(from, |last| last + 1);
    &label[from..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_numbers_and_units() {
        let text = b" thread: 0x00ff [id: 12] desired_size: 3KB alloc: 0.50000   7KB waste  2.5% gc: 6B(1.0%) 5 -> 9";
        let found: Vec<(String, u64, String)> = Tokens::new(text)
            .map(|token| {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                (text(token.label), token.whole, text(token.unit))
            })
            .collect();
        let expected = [
            ("thread", 255, ""),
            ("id", 12, ""),
            ("desired_size", 3, "KB"),
            ("alloc", 0, ""),
            ("", 7, "KB"),
            ("waste", 2, "%"),
            ("gc", 6, "B"),
            ("", 1, "%"),
            ("", 5, ""),
            ("->", 9, ""),
        ];
        let expected = expected.map(|(label, whole, unit)| (label.to_string(), whole, unit.to_string()));
        assert_eq!(found, expected);
    }

    #[test]
    fn fractions_and_huge_numbers() {
        let token = Tokens::new(b"waste: 12.25%").next().unwrap();
        assert!((token.value - 12.25).abs() < 1e-9 && !token.at_end);
        let huge = Tokens::new(b"gc: 99999999999999999999999GB").next().unwrap();
        assert_eq!((huge.whole, huge.bytes()), (u64::MAX, Some(u64::MAX)));
        assert!(Tokens::new(b"refills: 12").next().unwrap().at_end);
        assert_eq!(Tokens::new(b"no number, a1").next(), None);
    }
}
