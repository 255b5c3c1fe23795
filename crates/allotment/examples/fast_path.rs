//! The allocation sequences that `tests/fast_path.rs` disassembles, each in a function of its own.
//!
//! `cargo rustc --release -p allotment --example fast_path -- --emit asm` shows them.

use allotment::Heap;
use allotment::mutator::{Ahead, ArraySite, ByCaller, BySize, Mutator, NoPrefetch, PerObject, Site};
use allotment::object::{Element, Shape};
use std::ptr::NonNull;

/// A typed object of 24 bytes, no prefetch: the six instructions and nothing else.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_by_caller(
    mutator: &Mutator<'_>,
    site: Site<24, ByCaller, NoPrefetch>,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.try_alloc(site) }
}

/// The default: one prefetch more.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_default(mutator: &Mutator<'_>, site: Site<24, ByCaller, BySize>) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.try_alloc(site) }
}

/// Zeroed by the allocation.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_per_object(
    mutator: &Mutator<'_>,
    site: Site<64, PerObject, NoPrefetch>,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.try_alloc(site) }
}

/// Zeroed by the window.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_ahead(mutator: &Mutator<'_>, site: Site<64, Ahead, NoPrefetch>) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.try_alloc(site) }
}

/// A burst's loop: top and limit stay in registers.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_burst(
    mutator: &mut Mutator<'_>,
    site: Site<16, ByCaller, NoPrefetch>,
    objects: usize,
) -> usize {
    mutator.burst(|burst| {
        let mut allocated = 0;
        for _ in 0..objects {
            // SAFETY: the caller's predicates.
            let Some(object) = (unsafe { burst.try_alloc(site) }) else { break };
            // SAFETY: nothing is executed; the address only has to exist.
            unsafe { std::arch::asm!("/* {0} */", in(reg) object.as_ptr(), options(nostack, preserves_flags)) };
            allocated += 1;
        }
        allocated
    })
}

/// An array of bytes whose length is known at run time.
///
/// # Safety
/// As for [`Mutator::try_alloc`].
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe fn probe_array(mutator: &Mutator<'_>, site: ArraySite, length: usize) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe { mutator.try_alloc_array(site, length) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    let small = heap.register(Shape::fixed("Small", 24))?;
    let line = heap.register(Shape::fixed("Line", 64))?;
    let cell = heap.register(Shape::fixed("Cell", 16))?;
    let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 }))?;
    let missing = || "the site has the shape's size";
    let (by_caller, default) = (Site::new(small).ok_or_else(missing)?, Site::new(small).ok_or_else(missing)?);
    let (per_object, ahead) = (Site::new(line).ok_or_else(missing)?, Site::new(line).ok_or_else(missing)?);
    let (burst, array) = (Site::new(cell).ok_or_else(missing)?, ArraySite::new(bytes));
    let all = heap.attach(|mutator| {
        // SAFETY: the shapes are this heap's, and nothing resets it.
        unsafe {
            probe_by_caller(mutator, by_caller).is_some()
                && probe_default(mutator, default).is_some()
                && probe_per_object(mutator, per_object).is_some()
                && probe_ahead(mutator, ahead).is_some()
                && probe_array(mutator, array, 100).is_some()
                && probe_burst(mutator, burst, 100) == 100
        }
    })?;
    println!("{}", if all { "allocated one of each" } else { "the heap is full" });
    Ok(())
}
