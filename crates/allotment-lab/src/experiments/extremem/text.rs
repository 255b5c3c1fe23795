//! Text as two objects, a string and its characters, and the three ways in which the workload makes
//! and drops text: concatenation word by word, cut-out pieces, and names.
//!
//! Nearly all bytes that the workload allocates are made here. So the waste is that of the original
//! on purpose: each concatenation makes a new string of all the text so far.
//!
//! Refused: `Str` alone, which is one object. The number of objects and of references would be
//! half.

use super::table::Hashed;
use super::tree::Ordered;
use crate::walk::Random;
use allotment::{Array, Field, Gc, Local, Mutator, NewStr, Object, OutOfMemory, Plain, Str, alloc, rebind};
use std::cmp::Ordering;
use std::ops::Range;

/// A string.
#[derive(Object)]
pub(super) struct Text {
    chars: Field<Str>,
    /// The hash of the characters; 0: not computed yet.
    hash: Plain<u32>,
}

/// The words of the shop. Entries are separate strings, even if their texts are equal.
pub(super) type Dictionary = Array<Option<Text>>;

/// A new object, unless the heap is full.
pub(super) type Made<'m, T> = Result<Gc<'m, T>, OutOfMemory>;

/// A thread's draws from the dictionary, and the texts that it makes of them.
pub(super) struct Draws<'a> {
    pub(super) random: Random,
    /// The words that texts are made of.
    dictionary: Local<'a, Dictionary>,
    /// Text that becomes a string of the heap next.
    scratch: String,
}

impl<'a> Draws<'a> {
    /// The draws of the sequence `seed`.
    pub(super) fn new(seed: u64, dictionary: Local<'a, Dictionary>) -> Draws<'a> {
        Draws { random: Random::new(seed), dictionary, scratch: String::new() }
    }

    /// A number from 0 to 1, without 1.
    pub(super) fn fraction(&mut self) -> f64 {
        (self.random.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A random entry of the dictionary.
    pub(super) fn draw<'g>(&mut self, mutator: &'g Mutator<'_>) -> Gc<'g, Text> {
        let from = self.dictionary.get(mutator);
        let index = self.random.below(from.len());
        from.at(index).load(mutator).expect("the dictionary is full before anything is drawn from it")
    }

    /// `words` random words with spaces between them, made by 2 x `words` - 1 concatenations.
    pub(super) fn concatenation<'m>(&mut self, mutator: &'m mut Mutator<'_>, words: usize) -> Made<'m, Text> {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        for word in 0..words {
            if word > 0 {
                whole.push(' ');
                Text::make(mutator, &whole)?;
            }
            whole.push_str(self.draw(mutator).chars(mutator));
            if word + 1 < words {
                Text::make(mutator, &whole)?;
            }
        }
        let made = Text::make(mutator, &whole);
        self.scratch = whole;
        made
    }

    /// A name of two random words, each with a capital letter.
    pub(super) fn name<'m>(&mut self, mutator: &'m mut Mutator<'_>) -> Made<'m, Text> {
        let mut whole = std::mem::take(&mut self.scratch);
        whole.clear();
        for part in 0..2 {
            if part > 0 {
                whole.push(' ');
            }
            let begin = whole.len();
            whole.push_str(self.draw(mutator).chars(mutator));
            whole[begin..begin + 1].make_ascii_uppercase();
        }
        let made = Text::make(mutator, &whole);
        self.scratch = whole;
        made
    }
}

/// How well a word matches a text: 1 if the text has it. Ever shorter pieces of the word are cut
/// out as strings and searched for, until one is found; each that is not found lowers the score.
pub(super) fn score(
    mutator: &mut Mutator<'_>,
    word: Local<'_, Text>,
    within: Local<'_, Text>,
) -> Result<f32, OutOfMemory> {
    let (mut score, mut penalty) = (1.0, PENALTY);
    let whole = word.get(mutator).chars(mutator).len();
    for length in (1..=whole).rev() {
        for start in 0..=whole - length {
            let found = if length == whole {
                within.get(mutator).chars(mutator).contains(word.get(mutator).chars(mutator))
            } else {
                let piece = rebind!(Text::piece(mutator, word, start..start + length)?);
                within.get(mutator).chars(mutator).contains(piece.chars(mutator))
            };
            if found {
                return Ok(score);
            }
            score *= penalty;
        }
        penalty *= PENALTY;
    }
    Ok(score)
}

/// The factor of the score for a piece that is not found, and of the penalty for a shorter piece.
const PENALTY: f32 = 0.9375;

impl Text {
    /// A string of these characters, which do not lie in the heap.
    pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>, chars: &str) -> Made<'m, Text> {
        let chars = alloc!(mutator, NewStr::from(chars))?;
        alloc!(mutator, NewText { chars, hash: Plain::new(0) })
    }

    /// The bytes `range` of a string of ASCII as a new string.
    pub(super) fn piece<'m>(
        mutator: &'m mut Mutator<'_>,
        of: Local<'_, Text>,
        range: Range<usize>,
    ) -> Made<'m, Text> {
        let chars = of.get(mutator).chars.load(mutator);
        let chars = alloc!(mutator, NewStr::part(chars, range))?;
        alloc!(mutator, NewText { chars, hash: Plain::new(0) })
    }

    /// The string's characters.
    pub(super) fn chars<'g>(&self, mutator: &'g Mutator<'_>) -> &'g str {
        self.chars.load(mutator).as_ref()
    }
}

impl Hashed for Text {
    fn hash<'g>(mutator: &'g Mutator<'_>, text: Gc<'g, Text>) -> u32 {
        let known = text.hash.get();
        if known != 0 {
            return known;
        }
        let add = |hash: u32, byte: u8| hash.wrapping_mul(31).wrapping_add(u32::from(byte));
        let hash = text.chars(mutator).bytes().fold(0, add);
        text.hash.set(hash);
        hash
    }

    fn same<'g>(mutator: &'g Mutator<'_>, one: Gc<'g, Text>, other: Gc<'g, Text>) -> bool {
        one.chars(mutator) == other.chars(mutator)
    }
}

impl Ordered for Text {
    fn order<'g>(mutator: &'g Mutator<'_>, one: Gc<'g, Text>, other: Gc<'g, Text>) -> Ordering {
        one.chars(mutator).cmp(other.chars(mutator))
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::with_dictionary;
    use super::*;
    use allotment::root;

    #[test]
    fn a_concatenation_makes_a_string_for_each_step() {
        with_dictionary(&["one"], |mutator, dictionary| {
            let draws = &mut Draws::new(1, dictionary);
            let made = rebind!(draws.concatenation(mutator, 3)?);
            assert_eq!(made.chars(mutator), "one one one");
            let named = rebind!(draws.name(mutator)?);
            assert_eq!(named.chars(mutator), "One One");
            Ok(())
        });
    }

    #[test]
    fn a_score_falls_with_each_piece_that_is_not_found() {
        with_dictionary(&["abc", "xx ab yy", "c", "zz", "abcd"], |mutator, dictionary| {
            let mut of = |word: usize, within: usize| -> Result<f32, OutOfMemory> {
                let at = |index: usize| dictionary.get(mutator).at(index).load(mutator).unwrap();
                root!(mutator, word = at(word));
                let at = |index: usize| dictionary.get(mutator).at(index).load(mutator).unwrap();
                root!(mutator, within = at(within));
                score(mutator, word, within)
            };
            assert_eq!(of(0, 4)?, 1.0, "the whole word is there");
            assert_eq!(of(0, 1)?, PENALTY, "abc is not there, ab is");
            // Not found are abc, ab, bc, a and b; c is.
            let expected = PENALTY.powi(1 + 2 + 2 + 3 + 3);
            assert!((of(0, 2)? / expected - 1.0).abs() < 1e-5);
            let none = of(2, 3)?;
            assert_eq!(none, PENALTY, "one piece, not found");
            Ok(())
        });
    }
}
