//! What snapshots of objects of a size cost the threads that wait: processor time of the stop.
//!
//! `cargo run --release -p allotment --example snapshot_cost -- 64 256` makes 256 MiB of objects of
//! 64 bytes, and prints a line for each kind of snapshot.

use allotment::Heap;
use allotment::raw::{RootHandle, Shape, SlotKind};
use allotment::stats::{SnapshotFormat, SnapshotSettings};
use std::error::Error;
use std::time::Duration;

/// Time that this thread has had on a processor.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = line.split(' ').next().unwrap_or_default();
    Ok(Duration::from_nanos(first.parse()?))
}

/// Prints what `body` takes for each GiB of the bytes that it returns.
fn measure(
    name: &str,
    body: impl FnOnce() -> Result<u64, allotment::stats::SnapshotError>,
) -> Result<(), Box<dyn Error>> {
    let before = processor_time()?;
    let bytes = body()?;
    let took = (processor_time()? - before).as_secs_f64();
    println!("{name:<14} {:.2} s/GiB", took * f64::from(1 << 30) / bytes as f64);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [bytes @ 24..=1_048_576, mib @ 1..=65_536] = arguments[..] else {
        return Err("give the bytes of an object, 24 to 1048576, and how many MiB of them".into());
    };
    let heap = Heap::builder().max_heap_size((3 * mib) << 20).build()?;
    let shape =
        Shape::fixed("Pair", bytes).slot("car", 8, SlotKind::Strong).slot("cdr", 16, SlotKind::Strong);
    let pair = heap.register(shape)?;
    heap.attach(|mu| -> Result<(), Box<dyn Error>> {
        // SAFETY: null refers to nothing.
        let list = unsafe { mu.raw().new_root(0) };
        let count = (mib << 20) / bytes;
        let (mut others, mut random) = (Vec::<RootHandle>::new(), 1_u64);
        for number in 0..count {
            // SAFETY: the shape is the heap's; the words are null, or refer to live objects.
            unsafe {
                let new = mu.raw_mut().alloc_raw(pair, 0)?;
                let word = |root: &RootHandle| root.get(mu).expect("a root of this heap");
                mu.raw().store(new.as_ptr().byte_add(16).cast(), word(&list));
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if let Some(other) = others.get((random >> 33) as usize % others.len().max(1)) {
                    mu.raw().store(new.as_ptr().byte_add(8).cast(), word(other));
                }
                list.set(mu, new.as_ptr() as u64);
                if number % (count / 1000).max(1) == 0 {
                    others.push(mu.raw().new_root(new.as_ptr() as u64));
                }
            }
        }
        mu.collect();
        measure("census", || Ok(mu.census(false)?.bytes))?;
        for format in [SnapshotFormat::HeapSnapshot, SnapshotFormat::Hprof] {
            let settings = SnapshotSettings::default().format(format);
            let name = format!("{format:?}");
            measure(&name, || Ok(mu.snapshot(&mut std::io::sink(), &settings)?.bytes))?;
        }
        Ok(())
    })?
}
