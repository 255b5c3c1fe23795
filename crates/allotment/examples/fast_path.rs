//! The allocation sequences that `tests/fast_path` disassembles, each in a function of its own.
//!
//! `cargo rustc --release -p allotment --example fast_path -- --emit asm` shows them.

use allotment::Mutator;
use allotment::raw::{Ahead, ArraySite, ByCaller, BySize, NoPrefetch, PerObject, Site};
use allotment::raw::{Element, Shape};
use allotment::{Field, Gc, Heap, Local, Object, OutOfMemory, alloc, root};
use std::ptr::NonNull;

/// Keeps an object that no code uses: the compiler assumes a use, and no instruction is emitted.
#[inline(always)]
fn keep(object: NonNull<u8>) {
    // SAFETY: nothing is executed.
    unsafe { std::arch::asm!("/* {0} */", in(reg) object.as_ptr(), options(nostack, preserves_flags)) };
}

/// A loop of allocations, as in code that keeps its mutator in a register.
macro_rules! probe {
    ($(#[$doc:meta])* $name:ident, $site:ty) => {
        probe!($(#[$doc])* $name, $site, &Mutator<'_>);
    };
    ($(#[$doc:meta])* $name:ident, $site:ty, $mutator:ty) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`RawMutator::try_alloc_raw`].
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe fn $name(mutator: $mutator, site: $site, objects: usize) -> usize {
            let mut allocated = 0;
            for _ in 0..objects {
                // SAFETY: the caller's predicates.
                let Some(object) = (unsafe { mutator.raw().try_alloc_raw(site) }) else { break };
                keep(object);
                allocated += 1;
            }
            allocated
        }
    };
}

probe!(
    /// A typed object, no prefetch: the sequence and nothing else.
    probe_by_caller, Site<24, ByCaller, NoPrefetch>
);
probe!(
    /// In code that may reach safepoints at other places.
    probe_unique, Site<24, ByCaller, NoPrefetch>, &mut Mutator<'_>
);
probe!(
    /// The default: one more prefetch.
    probe_default, Site<24, ByCaller, BySize>
);
probe!(
    /// An object that takes part of two lines.
    probe_default_two_lines, Site<96, ByCaller, BySize>
);
probe!(
    /// An object that takes part of three lines.
    probe_default_three_lines, Site<144, ByCaller, BySize>
);
probe!(
    /// Zeroed by the allocation.
    probe_per_object, Site<64, PerObject, NoPrefetch>
);
probe!(
    /// Zeroed by the window.
    probe_ahead, Site<64, Ahead, NoPrefetch>
);
probe!(
    /// Zeroed by the allocation, in a function compiled for AVX2: stores of 32 bytes.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    probe_per_object_avx2, Site<64, PerObject, NoPrefetch>
);

/// A burst's loop: top and limit stay in registers.
macro_rules! probe_burst {
    ($(#[$doc:meta])* $name:ident, $site:ty) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As for [`RawMutator::try_alloc_raw`].
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe fn $name(mutator: &mut Mutator<'_>, site: $site, objects: usize) -> usize {
            mutator.raw_mut().burst(|burst| {
                let mut allocated = 0;
                for _ in 0..objects {
                    // SAFETY: the caller's predicates.
                    let Some(object) = (unsafe { burst.try_alloc_raw(site) }) else { break };
                    keep(object);
                    allocated += 1;
                }
                allocated
            })
        }
    };
}

probe_burst!(
    /// A typed object.
    probe_burst, Site<16, ByCaller, NoPrefetch>
);
probe_burst!(
    /// The default, for an object smaller than a line.
    probe_burst_default_small, Site<56, ByCaller, BySize>
);
probe_burst!(
    /// The default, for an object of one line.
    probe_burst_default_line, Site<64, ByCaller, BySize>
);
probe_burst!(
    /// Zeroed by the allocation: the header is in a vector, which stays in its register too.
    probe_burst_per_object, Site<16, PerObject, NoPrefetch>
);

/// An array of bytes whose length is known at run time.
///
/// # Safety
/// As for [`RawMutator::try_alloc_raw`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_array(mutator: &Mutator<'_>, site: ArraySite, length: usize) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.raw().try_alloc_array_raw(site, length) }
}

/// The same, many of them, and a safepoint after each.
///
/// # Safety
/// As for [`RawMutator::try_alloc_raw`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_poll(mutator: &mut Mutator<'_>, site: ArraySite<ByCaller>, lengths: &[usize]) -> usize {
    let mut allocated = 0;
    for length in lengths {
        // SAFETY: the caller's predicates.
        let Some(array) = (unsafe { mutator.raw().try_alloc_array_raw(site, *length) }) else { break };
        keep(array);
        mutator.safepoint();
        allocated += 1;
    }
    allocated
}

/// An object of the safe API.
#[derive(Object)]
pub struct Node {
    /// The rest of the list.
    pub next: Field<Option<Node>>,
    /// Plain data.
    pub key: u64,
}

/// One allocation with a live pointer beside the initialiser.
///
/// # Errors
/// [`OutOfMemory`].
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_alloc(
    mutator: &mut Mutator<'_>,
    list: Local<'_, Option<Node>>,
    key: u64,
) -> Result<u64, OutOfMemory> {
    let mut old = list.get(mutator);
    let new = alloc!(mutator, [old] => NewNode { next: old, key })?;
    Ok(old.map_or(0, |old| old.key) + new.key)
}

/// Allocations in a loop.
///
/// # Errors
/// [`OutOfMemory`].
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_alloc_loop(mutator: &mut Mutator<'_>, nodes: u64) -> Result<u64, OutOfMemory> {
    let mut list = None;
    for key in 0..nodes {
        list = Some(alloc!(mutator, [] => NewNode { next: list, key })?);
    }
    Ok(list.map_or(0, |first| first.key))
}

/// A load of a slot.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_load<'g>(mutator: &'g Mutator<'_>, node: Gc<'g, Node>) -> Option<Gc<'g, Node>> {
    node.next.load(mutator)
}

/// A store to a slot.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_store(mutator: &Mutator<'_>, node: Gc<'_, Node>, next: Option<Gc<'_, Node>>) {
    node.next.store(mutator, next);
}

/// Stores in a loop: the card table and the slot's address are in registers.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_fill(mutator: &Mutator<'_>, slots: &[Field<Option<Node>>], value: Option<Gc<'_, Node>>) {
    for slot in slots {
        slot.store(mutator, value);
    }
}

/// A traversal.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn probe_list<'g>(mutator: &'g Mutator<'_>, mut list: Option<Gc<'g, Node>>) -> u64 {
    let mut sum = 0;
    while let Some(node) = list {
        sum += node.key;
        list = node.next.load(mutator);
    }
    sum
}

fn safe(mutator: &mut Mutator<'_>) -> Result<u64, OutOfMemory> {
    root!(mutator, mut list = None);
    let mut sum = 0;
    for key in 0..100 {
        sum += probe_alloc(mutator, list.local(), key)?;
        let node = alloc!(mutator, NewNode { next: None, key })?;
        probe_store(mutator, node, list.get(mutator));
        probe_fill(mutator, std::slice::from_ref(&node.next), list.get(mutator));
        list.set(mutator, Some(node));
        sum += probe_load(mutator, node).map_or(0, |next| next.key);
    }
    Ok(sum + probe_list(mutator, list.get(mutator)) + probe_alloc_loop(mutator, 100)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    let small = heap.register(Shape::fixed("Small", 24))?;
    let line = heap.register(Shape::fixed("Line", 64))?;
    let cell = heap.register(Shape::fixed("Cell", 16))?;
    let below_line = heap.register(Shape::fixed("BelowLine", 56))?;
    let two_lines = heap.register(Shape::fixed("TwoLines", 96))?;
    let three_lines = heap.register(Shape::fixed("ThreeLines", 144))?;
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 }))?;
    let missing = || "the site has the shape's size";
    let (by_caller, default) = (Site::new(small).ok_or_else(missing)?, Site::new(small).ok_or_else(missing)?);
    let (per_object, ahead) = (Site::new(line).ok_or_else(missing)?, Site::new(line).ok_or_else(missing)?);
    let (burst, zeroed) = (Site::new(cell).ok_or_else(missing)?, Site::new(cell).ok_or_else(missing)?);
    let (two_lines, three_lines) =
        (Site::new(two_lines).ok_or_else(missing)?, Site::new(three_lines).ok_or_else(missing)?);
    let (burst_small, burst_line) =
        (Site::new(below_line).ok_or_else(missing)?, Site::new(line).ok_or_else(missing)?);
    let array = ArraySite::new(bytes);
    let (objects, sum) = heap.attach(|mutator| {
        // SAFETY: the shapes are this heap's, and nothing resets it.
        let raw = unsafe {
            probe_by_caller(mutator, by_caller, 100)
                + probe_unique(mutator, by_caller, 100)
                + probe_default(mutator, default, 100)
                + probe_default_two_lines(mutator, two_lines, 100)
                + probe_default_three_lines(mutator, three_lines, 100)
                + probe_per_object(mutator, per_object, 100)
                + probe_ahead(mutator, ahead, 100)
                + if has_widest_stores() { probe_per_object_avx2(mutator, per_object, 100) } else { 0 }
                + probe_burst(mutator, burst, 100)
                + probe_burst_default_small(mutator, burst_small, 100)
                + probe_burst_default_line(mutator, burst_line, 100)
                + probe_burst_per_object(mutator, zeroed, 100)
                + usize::from(probe_array(mutator, array, 100).is_some())
                + probe_poll(mutator, ArraySite::new(bytes), &[100; 100])
        };
        safe(mutator).map(|sum| (raw, sum))
    })??;
    println!("{objects} objects allocated, and keys that sum to {sum}");
    Ok(())
}

/// Whether this processor has the stores of `probe_per_object_avx2`.
fn has_widest_stores() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    true
}
