//! The example of the README: a linked list in the heap, which then dies at once.

use allotment::Heap;
use allotment::mutator::{ByCaller, Site};
use allotment::object::{Shape, SlotKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    let pair = heap.register(Shape::fixed("Pair", 24).slot("next", 8, SlotKind::Strong))?;
    let site: Site<24, ByCaller> = Site::new(pair).ok_or("a pair has 24 bytes")?;
    let length = heap.attach(|mutator| {
        let mut list = std::ptr::null_mut::<u8>();
        for key in 0..1000_u64 {
            // SAFETY: the shape is this heap's, and nothing resets it meanwhile.
            let Some(new) = (unsafe { mutator.try_alloc_raw(site) }) else { break };
            // SAFETY: a pair has two words behind its header.
            unsafe { new.byte_add(8).cast::<*mut u8>().write(list) };
            // SAFETY: as above.
            unsafe { new.byte_add(16).cast::<u64>().write(key) };
            list = new.as_ptr();
        }
        let mut length = 0;
        while !list.is_null() {
            length += 1;
            // SAFETY: a pair of the list is alive, and its first word was written.
            list = unsafe { list.add(8).cast::<*mut u8>().read() };
        }
        length
    })?;
    println!("{length} pairs; {}", heap.tlab_totals());
    heap.reset()?;
    Ok(())
}
