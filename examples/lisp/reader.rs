//! From text to values.
//!
//! Lists under construction lie on the machine's stack, where a collection finds them. A `Vec` of
//! plain data records the open lists. So memory limits the nesting, not the stack of Rust.
//!
//! Refused: recursive descent, whose depth is that of the text.

use crate::fault::Fault;
use crate::lisp::{Lisp, list, vector};
use crate::numbers::{self, Number};
use crate::value::{NewFloat, NewPair, Val, Value};
use allotment::{Local, Mutator, NewStr, alloc, pass, rebind, ret, root};

/// Reads one datum after the other from a text.
pub struct Reader<'s> {
    text: &'s str,
    /// Bytes read.
    position: usize,
    line: u32,
    file: &'s str,
}

/// A form that has begun and not ended.
struct Open {
    what: What,
    /// The number of values on the stack at its start.
    height: usize,
    line: u32,
}

enum What {
    List,
    /// A list after its dot, with the number of values on the stack there.
    Dotted(usize),
    Vector,
    /// `'x` is `(quote x)`, and so on.
    Prefix(&'static str),
}

enum Token<'s> {
    Begin(What),
    End,
    Dot,
    Text(String),
    Word(&'s str),
}

impl<'s> Reader<'s> {
    pub fn new(text: &'s str, file: &'s str) -> Reader<'s> {
        Reader { text, position: 0, line: 1, file }
    }

    /// The next datum, or nothing at the end of the text.
    pub fn datum<'m>(
        &mut self,
        mu: &'m mut Mutator<'_>,
        lisp: &mut Lisp<'_, '_>,
    ) -> Result<Option<Val<'m>>, Fault> {
        let height = lisp.stack.len();
        match pass!(mu => self.read(mu, lisp)) {
            Ok(datum) => Ok(rebind!(mu, datum)),
            Err(fault) => {
                lisp.stack.truncate(mu, height);
                Err(fault.at(self.file, self.line))
            }
        }
    }

    fn read<'m>(
        &mut self,
        mu: &'m mut Mutator<'_>,
        lisp: &mut Lisp<'_, '_>,
    ) -> Result<Option<Val<'m>>, Fault> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let Some(token) = self.token()? else {
                let Some(last) = open.last() else { return Ok(None) };
                let message = format!("the text ends within what begins in line {}", last.line);
                return Err(Fault::incomplete(message));
            };
            let mut value = match token {
                Token::Begin(what) => {
                    open.push(Open { what, height: lisp.stack.len(), line: self.line });
                    continue;
                }
                Token::Dot => {
                    let height = lisp.stack.len();
                    match open.last_mut() {
                        Some(Open { what: what @ What::List, height: start, .. }) if height > *start => {
                            *what = What::Dotted(height);
                            continue;
                        }
                        _ => {
                            return Err(Fault::new(
                                "a dot is allowed only before the last element of a list",
                            ));
                        }
                    }
                }
                Token::End => {
                    let ended = open.pop().ok_or_else(|| Fault::new("this ) closes nothing"))?;
                    rebind!(close(mu, lisp, &ended)?)
                }
                Token::Text(text) => Val::Text(alloc!(mu, NewStr::from(&*text))?),
                Token::Word(word) => rebind!(atom(mu, lisp, word)?),
            };
            // A datum is complete, and so are the prefixes before it.
            while let Some(Open { what: What::Prefix(name), .. }) = open.last() {
                value = pass!(prefixed(mu, lisp, name, =value)?);
                open.pop();
            }
            if open.is_empty() {
                ret!(mu, Ok(Some(value)));
            }
            lisp.stack.push(mu, value);
        }
    }

    fn token(&mut self) -> Result<Option<Token<'s>>, Fault> {
        self.skip_blanks();
        let rest = &self.text[self.position..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (token, bytes) = match first {
            '(' => (Token::Begin(What::List), 1),
            ')' => (Token::End, 1),
            '\'' => (Token::Begin(What::Prefix("quote")), 1),
            '`' => (Token::Begin(What::Prefix("quasiquote")), 1),
            ',' if rest.starts_with(",@") => (Token::Begin(What::Prefix("unquote-splicing")), 2),
            ',' => (Token::Begin(What::Prefix("unquote")), 1),
            '#' if rest.starts_with("#(") => (Token::Begin(What::Vector), 2),
            '"' => return self.text_token().map(Some),
            _ => {
                // `#\(` is a character, although a bracket ends words.
                let character =
                    rest.strip_prefix("#\\").map(|rest| rest.chars().next().map_or(0, char::len_utf8));
                let least = character.map_or(1, |bytes| 2 + bytes);
                let ends = |c: char| c.is_whitespace() || "()\"';`,".contains(c);
                let bytes = rest
                    .char_indices()
                    .find(|&(at, c)| at >= least && ends(c))
                    .map_or(rest.len(), |(at, _)| at);
                let word = &rest[..bytes];
                (if word == "." { Token::Dot } else { Token::Word(word) }, bytes)
            }
        };
        self.position += bytes;
        Ok(Some(token))
    }

    fn skip_blanks(&mut self) {
        let mut comment = false;
        for c in self.text[self.position..].chars() {
            match c {
                '\n' => {
                    self.line += 1;
                    comment = false;
                }
                ';' => comment = true,
                c if comment || c.is_whitespace() => {}
                _ => return,
            }
            self.position += c.len_utf8();
        }
    }

    fn text_token(&mut self) -> Result<Token<'s>, Fault> {
        let began = self.line;
        let mut text = String::new();
        let mut chars = self.text[self.position + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.position += at + 2;
                    return Ok(Token::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some((_, c)) => {
                        return Err(Fault::new(format!(
                            "\\{c} is not an escape: \\n, \\t, \\\" and \\\\ are"
                        )));
                    }
                    None => break,
                },
                c => {
                    self.line += u32::from(c == '\n');
                    text.push(c);
                }
            }
        }
        let message = format!("the text ends within the string that begins in line {began}");
        Err(Fault::incomplete(message))
    }
}

/// The list or vector whose elements are on the stack.
fn close<'m>(mu: &'m mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, ended: &Open) -> Result<Val<'m>, Fault> {
    root!(mu, mut tail = Val::Nil);
    match ended.what {
        What::List => {}
        What::Vector => return Ok(Val::Vector(vector(mu, &mut lisp.stack, ended.height)?)),
        What::Dotted(height) if lisp.stack.len() == height + 1 => {
            let last = lisp.stack.pop(mu).expect("counted");
            tail.set(mu, last);
        }
        What::Dotted(_) => return Err(Fault::new("exactly one element follows the dot of a list")),
        What::Prefix(name) => return Err(Fault::new(format!("nothing follows the {name}"))),
    }
    root!(mu, list = list(mu, &mut lisp.stack, ended.height, tail.local())?);
    if let Val::Pair(pair) = list.get(mu) {
        root!(mu, pair = pair);
        lisp.set_line(mu, pair, ended.line)?;
    }
    Ok(list.get(mu))
}

/// `(name value)`.
fn prefixed<'m>(
    mu: &'m mut Mutator<'_>,
    lisp: &mut Lisp<'_, '_>,
    name: &str,
    value: Local<'_, Value>,
) -> Result<Val<'m>, Fault> {
    let mut rest = alloc!(mu, NewPair { car: value.get(mu), cdr: Val::Nil })?;
    let name = allotment::keep!(mu, [rest] => rebind!(lisp.intern(mu, name)?));
    Ok(Val::Pair(alloc!(mu, NewPair { car: Val::Symbol(name), cdr: Val::Pair(rest) })?))
}

fn atom<'m>(mu: &'m mut Mutator<'_>, lisp: &mut Lisp<'_, '_>, word: &str) -> Result<Val<'m>, Fault> {
    if let Some(number) = numbers::parse(word) {
        return match number? {
            Number::Int(n) => Ok(Val::Int(n)),
            Number::Float(value) => Ok(Val::Float(alloc!(mu, NewFloat { value })?)),
        };
    }
    if let Some(name) = word.strip_prefix("#\\") {
        let mut chars = name.chars();
        return match (name, chars.next(), chars.next()) {
            ("space", ..) => Ok(Val::Char(' ')),
            ("newline", ..) => Ok(Val::Char('\n')),
            ("tab", ..) => Ok(Val::Char('\t')),
            (_, Some(c), None) => Ok(Val::Char(c)),
            _ => Err(Fault::new(format!("no character is called {word}"))),
        };
    }
    match word {
        "#t" | "#true" => Ok(Val::Bool(true)),
        "#f" | "#false" => Ok(Val::Bool(false)),
        _ if word.starts_with('#') => Err(Fault::new(format!("{word} means nothing"))),
        _ => Ok(Val::Symbol(lisp.intern(mu, word)?)),
    }
}
