//! Programs that know what they allocate: each of a kind that a sampler can get wrong.

use super::super::memory::advised;
use crate::harness::keep;
use allotment::raw::{Shape, ShapeRef};
use allotment::{Heap, Mutator, OutOfMemory};
use std::thread;

/// The values of the axis `program`.
///
/// - `sizes`: objects of 16 bytes to 1 MiB, as many bytes of each size. Large objects hold several
///   sampling points.
/// - `threads`: threads that end after 64 KiB. A sampler that places a thread's first point at the
///   end of an interval never sees them.
/// - `outside`: every object outside a thread's buffer, small and large ones.
/// - `periodic`: four sizes in turn, 256 bytes together. Points at equal distances that are a
///   multiple of that would meet the same object each time.
pub(super) const PROGRAMS: &[&str] = &["sizes", "threads", "outside", "periodic"];

/// The least bytes that a program can allocate: each has some objects of each size.
pub(super) const LEAST_BYTES: usize = 16 << 20;

/// The message for a heap that is full.
pub(super) const FULL: &str = "all objects are garbage, so this is an error of the heap";

/// Objects of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// Bytes of an object, header included.
    pub(super) bytes: usize,
    /// How many were allocated.
    pub(super) objects: u64,
}

/// The name of the shape of objects of `bytes` bytes.
pub(super) fn name(bytes: usize) -> String {
    format!("object of {bytes}")
}

/// Options of the heap that a program wants.
pub(super) fn options(program: &str) -> &'static str {
    if program == "outside" { "-UseTLAB" } else { "" }
}

/// Runs a program that allocates about `allocated` bytes. Returns its objects.
pub(super) fn run(program: &str, heap: &Heap, allocated: usize) -> anyhow::Result<Vec<Made>> {
    match program {
        "sizes" => {
            let sizes = [16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
            one_after_the_other(heap, &sizes, allocated)
        }
        "outside" => one_after_the_other(heap, &[64, 96 << 10], allocated),
        "threads" => short_threads(heap, allocated),
        _ => periodic(heap, allocated),
    }
}

fn shape(heap: &Heap, bytes: usize) -> anyhow::Result<ShapeRef> {
    Ok(heap.register(Shape::fixed(name(bytes), bytes))?)
}

fn allocate(mutator: &mut Mutator<'_>, shape: ShapeRef, objects: u64) -> Result<(), OutOfMemory> {
    for _ in 0..objects {
        // SAFETY: the shape is the heap's and has no slots. The object is not used.
        keep(unsafe { mutator.raw_mut().alloc_raw(shape, 0) }?.as_ptr());
    }
    Ok(())
}

/// Objects of each size, with as many bytes of each.
fn one_after_the_other(heap: &Heap, sizes: &[usize], allocated: usize) -> anyhow::Result<Vec<Made>> {
    let one = |&bytes: &usize| {
        let (shape, objects) = (shape(heap, bytes)?, (allocated / sizes.len() / bytes) as u64);
        advised(heap.attach(|mutator| allocate(mutator, shape, objects))?, FULL)?;
        Ok(Made { bytes, objects })
    };
    sizes.iter().map(one).collect()
}

fn short_threads(heap: &Heap, allocated: usize) -> anyhow::Result<Vec<Made>> {
    const BYTES: usize = 64;
    const OBJECTS: u64 = 1024;
    let shape = shape(heap, BYTES)?;
    let threads = (allocated / (BYTES * OBJECTS as usize)) as u64;
    for _ in 0..threads {
        let life = || heap.attach(|mutator| allocate(mutator, shape, OBJECTS));
        let ended = thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, life)?;
            Ok::<_, std::io::Error>(thread.join())
        })?;
        advised(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?, FULL)?;
    }
    Ok(vec![Made { bytes: BYTES, objects: threads * OBJECTS }])
}

fn periodic(heap: &Heap, allocated: usize) -> anyhow::Result<Vec<Made>> {
    const SIZES: [usize; 4] = [24, 40, 64, 128];
    let turns = (allocated / SIZES.iter().sum::<usize>()) as u64;
    let mut shapes = Vec::new();
    for bytes in SIZES {
        shapes.push(shape(heap, bytes)?);
    }
    let outcome = heap.attach(|mutator| {
        (0..turns).try_for_each(|_| shapes.iter().try_for_each(|shape| allocate(mutator, *shape, 1)))
    })?;
    advised(outcome, FULL)?;
    Ok(SIZES.map(|bytes| Made { bytes, objects: turns }).to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::heap;
    use super::*;

    /// At an interval of a byte nearly every object is sampled: of 16 bytes all but one in nine
    /// million.
    #[test]
    fn programs_allocate_what_they_say() {
        for program in PROGRAMS {
            let heap = heap(&format!("AllocationSampleMemory=1g,{}", options(program))).unwrap();
            heap.set_allocation_sample_interval(1);
            let made = run(program, &heap, LEAST_BYTES).unwrap();
            let bytes: u64 = made.iter().map(|made| made.objects * made.bytes as u64).sum();
            assert!(bytes as f64 > 0.85 * LEAST_BYTES as f64, "{program}: {bytes}");
            let profile = heap.allocation_profile();
            for Made { bytes, objects } in made {
                let sites = profile.sites().iter().filter(|site| *site.type_name == name(bytes));
                let found: u64 = sites.map(|site| site.samples).sum();
                let missing = objects.checked_sub(found).expect("no object is sampled twice");
                assert!(found > 0 && missing <= 3, "{program}, {bytes}: {found} of {objects}");
            }
        }
    }
}
