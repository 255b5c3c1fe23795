//! A day of quotes: the program keeps each quote for an hour, looks up the quote at a time, and
//! sums up by minutes.
//!
//! `cargo run --release --example day`

#![forbid(unsafe_code)]

use allotment::{Heap, OutOfMemory, root};
use allotment_ticks::{Key, Quote, Store, Tick};

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// The number of instruments.
const INSTRUMENTS: u32 = 20;

/// A price that wanders.
fn price(instrument: u32, tick: u64) -> i64 {
    let mixed = (tick / 50 + u64::from(instrument)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
    10_000 + i64::from(instrument) * 100 + mixed as i64 / 20
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    heap.attach(|mu| {
        root!(mu, store = Store::make(mu, 4096)?);
        // Eight hours, ten quotes of each instrument in a second.
        for tick in 0..8 * 3600 * 10 {
            let time = tick * SECOND / 10;
            for instrument in 0..INSTRUMENTS {
                let quote = Quote { price: price(instrument, tick), size: 100, flags: 0 };
                Store::put(mu, store, Tick { key: Key::new(instrument, time), quote })?;
            }
            // Once a minute, quotes older than an hour are removed.
            if tick % 600 == 0 {
                for instrument in 0..INSTRUMENTS {
                    let old = time.saturating_sub(3600 * SECOND);
                    Store::remove(mu, store, Key::new(instrument, 0)..Key::new(instrument, old));
                }
            }
        }
        let store = store.get(mu);
        let asked = 8 * 3600 * SECOND - 1800 * SECOND;
        if let Some(known) = store.at_or_before(mu, Key::new(3, asked + 1)) {
            println!("instrument 3, half an hour ago: {}", known.quote.price);
        }
        println!("minute   open   high    low  close");
        for minute in 0..5 {
            let from = asked + minute * 60 * SECOND;
            let range = Key::new(3, from)..Key::new(3, from + 60 * SECOND);
            let mut prices = store.range(mu, range).map(|tick| tick.quote.price);
            let Some(open) = prices.next() else { continue };
            let first = (open, open, open);
            let (high, low, close) =
                prices.fold(first, |(high, low, _), price| (high.max(price), low.min(price), price));
            println!("{minute:>6} {open:>6} {high:>6} {low:>6} {close:>6}");
        }
        println!("{} quotes are kept", store.len());
        Ok::<(), OutOfMemory>(())
    })??;
    println!("{}", heap.collections().pauses);
    Ok(())
}
