//! The card table against a vector of booleans.

use crate::region::card_bytes::{CARD_BYTES, CARD_SHIFT};
use crate::region::cards::{CardTable, DIRTY};
use proptest::prelude::*;

/// The address where the heap would be. The tests never access it.
const BASE: usize = 5 << 40;

fn address(card: usize) -> usize {
    BASE + card * CARD_BYTES
}

fn table(dirty: &[bool]) -> CardTable {
    let table = CardTable::new(BASE, dirty.len() * CARD_BYTES).expect("a table");
    dirty.iter().enumerate().filter(|card| *card.1).for_each(|card| table.dirty(address(card.0) + 8));
    table
}

fn dirt(table: &CardTable, cards: usize) -> Vec<bool> {
    (0..cards).map(|card| table.is_dirty(address(card) + CARD_BYTES - 8)).collect()
}

/// The runs of true values in `dirty`, as addresses, cut to
/// `[start, end)`.
fn runs(dirty: &[bool], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for card in (0..dirty.len()).filter(|&card| dirty[card]) {
        let (from, to) = (address(card).max(start), address(card + 1).min(end));
        match runs.last_mut() {
            _ if from >= to => {}
            Some(last) if last.1 == from => last.1 = to,
            _ => runs.push((from, to)),
        }
    }
    runs
}

/// Cards, mostly in runs, and a range of addresses in them.
fn cards_and_range() -> impl Strategy<Value = (Vec<bool>, usize, usize)> {
    let piece = (any::<bool>(), prop_oneof![1_usize..4, 1_usize..40, 1_usize..200]);
    prop::collection::vec(piece, 1..12).prop_flat_map(|pieces| {
        let cards: Vec<bool> =
            pieces.into_iter().flat_map(|(dirty, cards)| std::iter::repeat_n(dirty, cards)).collect();
        let words = cards.len() * CARD_BYTES / 8;
        let range = (0..=words, 0..=words).prop_map(|(one, other)| (one.min(other), one.max(other)));
        (Just(cards), range).prop_map(|(cards, (start, end))| (cards, BASE + start * 8, BASE + end * 8))
    })
}

proptest! {
    #[test]
    fn dirty_and_clean_cards_are_found((cards, from, end) in cards_and_range()) {
        let table = table(&cards);
        let first = |wanted: bool| {
            let of = |at: &usize| cards[(at - BASE) / CARD_BYTES] == wanted;
            (from..end).step_by(8).find(of).unwrap_or(end)
        };
        prop_assert_eq!(table.next_dirty(from, end), first(true));
        prop_assert_eq!(table.next_clean(from, end), first(false));
    }

    #[test]
    fn runs_are_cleaned_and_visited_in_order((cards, start, end) in cards_and_range()) {
        let table = table(&cards);
        let mut visited = Vec::new();
        table.dirty_runs(start, end, |run| {
            assert!(run.clone().step_by(8).all(|at| !table.is_dirty(at)), "it is clean when it is visited");
            visited.push((run.start, run.end));
        });
        prop_assert_eq!(visited, runs(&cards, start, end));
        let overlaps = |card: usize| start < end && address(card) < end && address(card + 1) > start;
        let left: Vec<bool> = (0..cards.len()).map(|card| cards[card] && !overlaps(card)).collect();
        prop_assert_eq!(dirt(&table, cards.len()), left);
    }

    #[test]
    fn a_range_is_cleaned_and_nothing_else((cards, start, end) in cards_and_range()) {
        let table = table(&cards);
        let [first, last] = [start, end].map(|at| (at - BASE) / CARD_BYTES);
        table.clean_range(address(first), address(last));
        let left: Vec<bool> =
            (0..cards.len()).map(|card| cards[card] && !(first..last).contains(&card)).collect();
        prop_assert_eq!(dirt(&table, cards.len()), left);
    }
}

#[test]
fn what_a_visit_dirties_stays_dirty_before_it_and_is_visited_ahead() {
    let table = table(&[false, true, false, false]);
    let mut visited = Vec::new();
    table.dirty_runs(address(0), address(4), |run| {
        visited.push((run.start, run.end));
        if visited.len() == 1 {
            [0, 1, 3].into_iter().for_each(|card| table.dirty(address(card)));
        }
    });
    assert_eq!(visited, [(address(1), address(2)), (address(3), address(4))]);
    assert_eq!(dirt(&table, 4), [true, true, false, false]);
}

#[test]
fn the_biased_base_and_a_shifted_address_are_the_address_of_the_card() {
    let table = table(&[false; 3]);
    for (address, card) in [(BASE + 512, 1), (BASE + 1023, 1), (BASE + 1535, 2)] {
        let byte = table.biased().wrapping_add(address >> CARD_SHIFT) as *mut u8;
        // SAFETY: a byte of the table, which only this thread has.
        unsafe { byte.write(DIRTY) };
        assert!(table.is_dirty(BASE + card * 512), "{address:#x}");
        table.clean_range(BASE, BASE + 3 * 512);
        assert!(!table.is_dirty(address));
    }
}

#[test]
#[should_panic(expected = "card 3 of a heap of 3 cards")]
fn an_address_outside_the_heap_has_no_card() {
    table(&[false; 3]).dirty(BASE + 3 * CARD_BYTES);
}
