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
        for key in 0..10_000_000 {
            list = if key % 1000 == 0 { None } else { Some(alloc!(mu, NewPair { next: list, key })?) };
        }
        Ok::<u64, OutOfMemory>(std::iter::successors(list, |at| at.next.load(mu)).map(|at| at.key).sum())
    })??;
    println!("{sum}; {}", heap.collections().pauses);
    Ok(())
}
