//! The store against the standard library's map, by random operations, in all collectors, with
//! forced collections that move everything.

use crate::{Extent, Key, MIN_BLOCK_BYTES, Quote, Store, TICK_BYTES, Tick};
use allotment::{Heap, Local, Mutator, OutOfMemory, root};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Options of the heaps that the store is tested in. The last one has no collections, so there only
/// the tree can be wrong.
const HEAPS: [&str; 5] = [
    "Collector=parallel,ZealInterval=3,+ZealMove,+ZealPoison",
    "Collector=mark-compact,ZealInterval=3,+ZealMove,+ZealPoison",
    "Collector=shenandoah,ZealInterval=3,+ZealMove,+ZealPoison",
    "Collector=shenandoah,ShenandoahGCMode=generational,ZealInterval=3,+ZealMove,+ZealPoison",
    "Collector=epsilon",
];

type Model = BTreeMap<Key, Quote>;

fn heap(options: &str) -> Heap {
    Heap::builder().max_heap_size(16 << 20).options(options).unwrap().build().unwrap()
}

fn quote(price: i64) -> Quote {
    Quote { price, size: price as u32 ^ 5, flags: 1 }
}

#[derive(Clone, Debug)]
enum Operation {
    Put(Key, i64),
    /// A number of ticks of an instrument, each newer than its newest, as far as there are times.
    Append(u32, u8),
    Get(Key),
    AtOrBefore(Key),
    Range(Bound<Key>, Bound<Key>),
    Remove(Bound<Key>, Bound<Key>),
    Collect,
}

fn instruments() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..4_u32, 1 => Just(u32::MAX)]
}

/// Keys of few instruments and times, so that they meet; and those at the end of the order, which
/// have few successors or none.
fn keys() -> impl Strategy<Value = Key> {
    let times = prop_oneof![16 => 0..60_u64, 1 => u64::MAX - 2..=u64::MAX];
    prop_oneof![
        16 => (instruments(), times).prop_map(|(instrument, time)| Key::new(instrument, time)),
        1 => Just(Key::new(u32::MAX, u64::MAX)),
    ]
}

fn bounds() -> impl Strategy<Value = (Bound<Key>, Bound<Key>)> {
    let bound = || {
        prop_oneof![
            1 => Just(Bound::Unbounded),
            4 => keys().prop_map(Bound::Included),
            4 => keys().prop_map(Bound::Excluded),
        ]
    };
    (bound(), bound())
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (keys(), any::<i64>()).prop_map(|(key, price)| Operation::Put(key, price)),
        3 => (instruments(), 1..20_u8).prop_map(|(instrument, count)| Operation::Append(instrument, count)),
        4 => keys().prop_map(Operation::Get),
        4 => keys().prop_map(Operation::AtOrBefore),
        4 => bounds().prop_map(|(from, to)| Operation::Range(from, to)),
        3 => bounds().prop_map(|(from, to)| Operation::Remove(from, to)),
        1 => Just(Operation::Collect),
    ]
}

/// The model's ticks of a range that may be empty or reversed, which the map would not take.
fn of_range(model: &Model, from: Bound<Key>, to: Bound<Key>) -> Vec<(Key, Quote)> {
    let behind = |key: &Key| match from {
        Bound::Unbounded => true,
        Bound::Included(from) => *key >= from,
        Bound::Excluded(from) => *key > from,
    };
    let before = |key: &Key| match to {
        Bound::Unbounded => true,
        Bound::Included(to) => *key <= to,
        Bound::Excluded(to) => *key < to,
    };
    model.iter().map(|(key, quote)| (*key, *quote)).filter(|(key, _)| behind(key) && before(key)).collect()
}

fn put(
    mu: &mut Mutator<'_>,
    store: Local<'_, Store>,
    model: &mut Model,
    tick: Tick,
) -> Result<(), OutOfMemory> {
    assert_eq!(Store::put(mu, store, tick)?, model.insert(tick.key, tick.quote));
    Ok(())
}

fn perform(
    mu: &mut Mutator<'_>,
    store: Local<'_, Store>,
    model: &mut Model,
    operation: &Operation,
) -> Result<(), OutOfMemory> {
    match *operation {
        Operation::Put(key, price) => put(mu, store, model, Tick { key, quote: quote(price) })?,
        Operation::Append(instrument, count) => {
            let own = Key::new(instrument, 0)..=Key::new(instrument, u64::MAX);
            let newest = model.range(own).next_back().map_or(0, |(key, _)| key.time);
            for time in (1..=u64::from(count)).map_while(|behind| newest.checked_add(behind)) {
                put(mu, store, model, Tick { key: Key::new(instrument, time), quote: quote(time as i64) })?;
            }
        }
        Operation::Get(key) => assert_eq!(store.get(mu).get(mu, key), model.get(&key).copied()),
        Operation::AtOrBefore(key) => {
            let expected = model.range(Key::new(key.instrument, 0)..=key).next_back();
            let found = store.get(mu).at_or_before(mu, key).map(|tick| (tick.key, tick.quote));
            assert_eq!(found, expected.map(|(key, quote)| (*key, *quote)));
        }
        Operation::Range(from, to) => {
            let expected = of_range(model, from, to);
            let of = |tick: Tick| (tick.key, tick.quote);
            assert_eq!(store.get(mu).range(mu, (from, to)).map(of).collect::<Vec<_>>(), expected);
            let mut one_by_one = store.get(mu).range(mu, (from, to));
            for tick in expected {
                assert_eq!(one_by_one.next().map(of), Some(tick));
            }
            assert_eq!(one_by_one.next(), None);
        }
        Operation::Remove(from, to) => {
            let expected = of_range(model, from, to);
            assert_eq!(Store::remove(mu, store, (from, to)), expected.len());
            model.retain(|key, _| !expected.iter().any(|(gone, _)| gone == key));
        }
        Operation::Collect => {
            mu.collect();
        }
    }
    let extent = store.get(mu).verify(mu).unwrap();
    assert_eq!((extent.ticks, store.get(mu).is_empty()), (model.len(), model.is_empty()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_store_is_an_ordered_map(
        ticks in 2..8_usize,
        operations in prop::collection::vec(operations(), 1..150),
    ) {
        for options in HEAPS {
            heap(options).attach(|mu| {
                root!(mu, store = Store::make(mu, 8 + ticks * TICK_BYTES)?);
                let mut model = Model::new();
                for operation in &operations {
                    perform(mu, store, &mut model, operation)?;
                }
                let all: Vec<(Key, Quote)> = store.get(mu).range(mu, ..).map(|tick| (tick.key, tick.quote)).collect();
                assert!(all.into_iter().eq(model.into_iter()), "{options}");
                Ok::<(), OutOfMemory>(())
            }).unwrap().unwrap();
        }
    }
}

/// Puts ticks and returns the sizes of the store.
fn filled(block_bytes: usize, keys: impl IntoIterator<Item = Key>) -> Extent {
    heap("Collector=parallel")
        .attach(|mu| {
            root!(mu, store = Store::make(mu, block_bytes)?);
            for key in keys {
                Store::put(mu, store, Tick { key, quote: quote(1) })?;
            }
            Ok::<_, OutOfMemory>(store.get(mu).verify(mu).unwrap())
        })
        .unwrap()
        .unwrap()
}

#[test]
fn instruments_whose_ticks_come_in_order_fill_their_blocks() {
    let in_turn = (0..20_000_u64).map(|tick| Key::new(tick as u32 % 10, tick));
    let extent = filled(1024, in_turn.clone());
    // For each instrument one block that is not full, and one for the ticks after it.
    assert!(extent.blocks <= extent.ticks.div_ceil(31) + 20, "{extent:?}");
    assert!(extent.height > 3, "{extent:?}");
    // In any order a block is between half full and full.
    let scattered = in_turn.map(|key| Key::new(0, key.time.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let extent = filled(1024, scattered);
    let fill = extent.ticks as f64 / extent.room as f64;
    assert!((0.6..0.8).contains(&fill), "{extent:?}");
}

#[test]
fn a_store_gives_its_memory_back_as_it_removes() {
    // Eight times the bytes of the heap go through the store.
    for options in HEAPS.iter().filter(|options| !options.contains("epsilon")) {
        let options = options.replace("ZealInterval=3", "ZealInterval=500");
        let heap = Heap::builder().max_heap_size(4 << 20).options(&options).unwrap().build().unwrap();
        heap.attach(|mu| {
            root!(mu, store = Store::make(mu, 1024)?);
            for time in 0..1_000_000 {
                Store::put(mu, store, Tick { key: Key::new(time as u32 % 3, time), quote: quote(1) })?;
                if time % 1000 == 999 {
                    for instrument in 0..3 {
                        let old = time.saturating_sub(5000);
                        Store::remove(mu, store, Key::new(instrument, 0)..Key::new(instrument, old));
                    }
                }
            }
            assert_eq!(store.get(mu).verify(mu).unwrap().ticks, 5001);
            Store::remove(mu, store, ..);
            assert_eq!(store.get(mu).verify(mu), Ok(Extent::default()));
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}

#[test]
fn a_full_heap_loses_nothing_and_can_be_emptied() {
    let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
    heap.attach(|mu| {
        root!(mu, store = Store::make(mu, MIN_BLOCK_BYTES).unwrap());
        let tick = |time| Tick { key: Key::new(7, time), quote: quote(time as i64) };
        let full = (0..).find(|time| Store::put(mu, store, tick(*time)).is_err()).unwrap();
        let found = store.get(mu).range(mu, ..).zip(0..).filter(|(found, time)| *found == tick(*time));
        assert_eq!((found.count() as u64, store.get(mu).verify(mu).unwrap().ticks as u64), (full, full));
        assert_eq!(Store::remove(mu, store, ..Key::new(7, full - 10)) as u64, full - 10);
        Store::put(mu, store, tick(full)).unwrap();
        assert_eq!(store.get(mu).verify(mu).unwrap().ticks, 11);
    })
    .unwrap();
}

#[test]
#[should_panic(expected = "at least 72 bytes")]
fn a_block_has_two_ticks_at_least() {
    heap("Collector=parallel").attach(|mu| Store::make(mu, MIN_BLOCK_BYTES - 1).is_ok()).unwrap();
}
