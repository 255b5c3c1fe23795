//! The example of the README: ten million pairs in a heap that holds a fraction of them.

use allotment::{Field, Heap, Object, OutOfMemory, alloc};

#[derive(Object)]
struct Pair {
    next: Field<Option<Pair>>,
    key: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    let sum = heap.attach(|mu| {
        let mut list = None;
        for key in 1..10_000_000 {
            // A safepoint: everything may move. The initialiser goes along; any other pointer would not compile.
            let pair = alloc!(mu, NewPair { next: list, key })?;
            list = if key % 1000 == 0 { None } else { Some(pair) };
        }
        let last = alloc!(mu, NewPair { next: list, key: 0 })?;
        let (mut sum, mut at) = (0, Some(last));
        while let Some(pair) = at {
            sum += pair.key;
            at = pair.next.load(mu);
        }
        Ok::<u64, OutOfMemory>(sum)
    })??;
    println!("{sum}; {}", heap.collections().pauses);
    Ok(())
}
