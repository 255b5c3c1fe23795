//! The start table against a list of objects.

use crate::object::WORD;
use crate::region::card_bytes::CARD_BYTES;
use crate::region::starts::StartTable;
use proptest::prelude::*;
use std::cell::Cell;

/// The address where the heap would be. The tests never access it.
const BASE: usize = 5 << 40;

/// Sizes in bytes: fillers of a word, small objects, about a card, many cards, humongous.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => Just(1_usize),
        20 => 2_usize..20,
        8 => 56_usize..73,
        4 => 64_usize..2000,
        1 => 2000_usize..300_000,
    ]
    .prop_map(|words| words * WORD)
}

/// Objects that follow each other from [`BASE`] on, and the range that contains them.
struct Objects {
    /// The start of each.
    starts: Vec<usize>,
    end: usize,
}

impl Objects {
    fn new(sizes: &[usize]) -> Objects {
        let mut end = BASE;
        let starts = sizes.iter().map(|bytes| {
            end += bytes;
            end - bytes
        });
        let starts = starts.collect();
        Objects { starts, end }
    }

    fn table(&self) -> StartTable {
        StartTable::new(BASE, self.end - BASE).expect("a table")
    }

    fn at(&self, address: usize) -> usize {
        self.starts[self.starts.partition_point(|&start| start <= address) - 1]
    }

    fn bytes(&self, start: usize) -> usize {
        let index = self.starts.binary_search(&start).expect("only starts are asked for a size");
        self.starts.get(index + 1).unwrap_or(&self.end) - start
    }

    /// The object that covers an address, and how many were walked.
    fn look_up(&self, table: &StartTable, address: usize) -> (usize, usize) {
        let walked = Cell::new(0);
        let size_of = |start| {
            walked.set(walked.get() + 1);
            self.bytes(start)
        };
        (table.object_at(address, BASE, size_of), walked.get())
    }

    fn record(&self, range: std::ops::Range<usize>, mut record: impl FnMut(usize, usize)) {
        self.starts[range].iter().for_each(|&start| record(start, self.bytes(start)));
    }

    /// Checks the first and last word of each card and of each object up to `end`.
    fn check(&self, table: &StartTable, end: usize) {
        let cards = (BASE..end).step_by(CARD_BYTES);
        let starts = self.starts.iter().copied().filter(|&start| start < end);
        for border in cards.chain(starts).chain([end]) {
            for address in [border.saturating_sub(WORD), border, border + WORD + 1] {
                if (BASE..end).contains(&address) {
                    let found = table.object_at(address, BASE, |start| self.bytes(start));
                    assert_eq!(found, self.at(address), "{address:#x}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn every_address_finds_its_object(sizes in prop::collection::vec(size(), 1..300)) {
        let objects = Objects::new(&sizes);
        let table = objects.table();
        objects.record(0..sizes.len(), |start, bytes| table.record(start, bytes));
        objects.check(&table, objects.end);
    }

    /// Mutators that copy into one region record in any order.
    #[test]
    fn every_address_finds_its_object_in_any_order_of_records(
        order in prop::collection::vec(size(), 1..300).prop_flat_map(|sizes| {
            let order: Vec<usize> = (0..sizes.len()).collect();
            (Just(sizes), Just(order).prop_shuffle())
        }),
    ) {
        let (sizes, order) = order;
        let objects = Objects::new(&sizes);
        let table = objects.table();
        for &index in &order {
            objects.record(index..index + 1, |start, bytes| table.record(start, bytes));
        }
        objects.check(&table, objects.end);
    }

    /// A region that is filled in two turns, then emptied and filled with other objects.
    #[test]
    fn a_region_is_filled_on_and_filled_anew(
        old in prop::collection::vec(size(), 2..100),
        new in prop::collection::vec(size(), 1..100),
        turn in any::<prop::sample::Index>(),
    ) {
        let objects = Objects::new(&old);
        let other = Objects::new(&new);
        let end = objects.end.max(other.end).next_multiple_of(CARD_BYTES);
        let table = StartTable::new(BASE, end - BASE).expect("a table");
        let turn = turn.index(old.len());
        objects.record(0..turn, |start, bytes| table.record(start, bytes));
        objects.check(&table, objects.starts[turn]);
        objects.record(turn..old.len(), |start, bytes| table.record(start, bytes));
        objects.check(&table, objects.end);
        table.clear_range(BASE, end);
        other.record(0..new.len(), |start, bytes| table.record(start, bytes));
        other.check(&table, other.end);
    }
}

#[test]
fn without_a_record_the_walk_begins_at_the_bottom() {
    let objects = Objects::new(&[24, 5000, 40, 8, 700]);
    objects.check(&objects.table(), objects.end);
}

#[test]
fn a_long_object_is_found_without_a_walk() {
    let objects = Objects::new(&[CARD_BYTES + 16, 1 << 30, 64]);
    let table = objects.table();
    objects.record(0..3, |start, bytes| table.record(start, bytes));
    for address in (objects.starts[1]..objects.end - 64).step_by((1 << 20) + 8) {
        assert_eq!(objects.look_up(&table, address), (objects.starts[1], 1));
    }
}
