//! The vocabulary of the shop, and the dictionary in the heap.
//!
//! Extremem reads a word list. Which list decides how many products match a word, so the words are
//! generated here: as many as the configuration says, with the lengths of a real list. The entries
//! of the dictionary are the words in turn, so each word occurs as often as every other, or once
//! more.

use super::text::{Dictionary, Text};
use crate::walk::Random;
use allotment::{Local, Mutator, OutOfMemory};
use std::collections::HashSet;
use std::f64::consts::TAU;

/// Mean and deviation of the words' lengths, which are about normally distributed.
const LENGTH: (f64, f64) = (9.35, 2.9);

/// The shortest and the longest word.
const LENGTHS: (f64, f64) = (3.0, 20.0);

/// Different words of lower-case letters.
pub(super) fn words(count: usize) -> Vec<Box<str>> {
    let mut random = Random::new(0);
    let mut known = HashSet::with_capacity(count);
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let length = length(&mut random);
        let word: String = (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
        let word = word.into_boxed_str();
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// A length by the transform of Box and Muller.
fn length(random: &mut Random) -> usize {
    let mut fraction = || ((random.draw() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let normal = (-2.0 * fraction().ln()).sqrt() * (TAU * fraction()).cos();
    (LENGTH.0 + LENGTH.1 * normal).round().clamp(LENGTHS.0, LENGTHS.1) as usize
}

/// Fills a dictionary with a string for each entry.
pub(super) fn fill(
    mutator: &mut Mutator<'_>,
    dictionary: Local<'_, Dictionary>,
    words: &[Box<str>],
) -> Result<(), OutOfMemory> {
    let entries = dictionary.get(mutator).len();
    for (entry, word) in (0..entries).zip(words.iter().cycle()) {
        let made = allotment::rebind!(Text::make(mutator, word)?);
        dictionary.get(mutator).at(entry).store(mutator, Some(made));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use allotment::{Heap, NewArray, alloc, root};

    /// Calls a function with a dictionary of these words, in a heap of its own.
    pub(in super::super) fn with_dictionary(
        words: &[&str],
        body: impl FnOnce(&mut Mutator<'_>, Local<'_, Dictionary>) -> Result<(), OutOfMemory>,
    ) {
        let heap =
            Heap::builder().max_heap_size(32 << 20).options("VerifyBeforeGC=true").unwrap().build().unwrap();
        let words: Vec<Box<str>> = words.iter().map(|word| (*word).into()).collect();
        heap.attach(|mutator| {
            root!(mutator, dictionary = alloc!(mutator, NewArray::new(words.len(), None))?);
            fill(mutator, dictionary, &words)?;
            body(mutator, dictionary)
        })
        .unwrap()
        .unwrap();
        heap.verify().unwrap();
    }

    #[test]
    fn words_differ_and_have_the_lengths_of_a_list() {
        let words = words(20_000);
        let distinct: HashSet<&str> = words.iter().map(AsRef::as_ref).collect();
        assert_eq!(distinct.len(), 20_000);
        let mean = words.iter().map(|word| word.len()).sum::<usize>() as f64 / 20_000.0;
        assert!((mean - LENGTH.0).abs() < 0.1, "{mean}");
        assert!(words.iter().all(|word| (3..=20).contains(&word.len())));
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    #[test]
    fn entries_are_strings_of_their_own() {
        with_dictionary(&["a", "b"], |mutator, short| {
            root!(mutator, long = alloc!(mutator, NewArray::<Option<Text>>::new(5, None))?);
            let words: Vec<Box<str>> = ["a", "b"].map(Box::from).into();
            fill(mutator, long, &words)?;
            let at = |index: usize| long.get(mutator).at(index).load(mutator).unwrap();
            assert_eq!([0, 1, 2, 3, 4].map(|index| at(index).chars(mutator)), ["a", "b", "a", "b", "a"]);
            assert!(!at(0).is_same(at(2)) && short.get(mutator).len() == 2);
            Ok(())
        });
    }
}
