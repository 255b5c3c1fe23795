//! Heaps without room: the function continues in its block for that case, and its references are
//! right.

use crate::kit::{COLLECTORS, Kit, NUMBER, ZEAL, define_list, heap, new_node, node, number, numbers, word};
use allotment::Heap;
use allotment::raw::{Element, Hot, Shape};
use cranelift_codegen::ir::InstBuilder;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn a_list_ends_where_the_heap_does() {
    for collector in COLLECTORS.into_iter().chain(["Collector=epsilon"]) {
        let heap = Heap::builder().max_heap_size(4 << 20).use_transparent_huge_pages(false);
        let heap = heap.options(collector).unwrap().build().unwrap();
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = define_list(&mut kit, shape);
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            let (count, mut left) = (1 << 20, 0);
            // SAFETY: this thread's hot part, and an address to write to.
            let head =
                unsafe { ready.get(list)(mutator.raw().hot(), count, (&raw mut left).expose_provenance()) };
            assert!((1..count).contains(&left), "{collector}: {left}");
            assert_eq!(numbers(head), (left + 1..=count).collect::<Vec<_>>(), "{collector}");
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn sizes_and_lengths_beyond_any_heap_find_no_room() {
    let heap = heap("");
    let words = heap.register(Shape::array("Words", 16, Element::Plain { bytes: 8 })).unwrap();
    let mut kit = Kit::new(&heap);
    // Both return 1 if there is no room, and otherwise the second word of the object.
    let array = kit.function("array", 2, |_, builder, heap, arguments| {
        let no_room = builder.create_block();
        let object = heap.allocate_array(builder, words, arguments[1], no_room).unwrap();
        let length = crate::kit::get(builder, object, 8);
        builder.ins().return_(&[length]);
        builder.switch_to_block(no_room);
        let one = number(builder, 1);
        builder.ins().return_(&[one]);
    });
    let sized = kit.function("sized", 2, |_, builder, heap, arguments| {
        let no_room = builder.create_block();
        let object = heap.allocate_sized(builder, words.header(), arguments[1], no_room);
        let length = crate::kit::get(builder, object, 8);
        builder.ins().return_(&[length]);
        builder.switch_to_block(no_room);
        let one = number(builder, 1);
        builder.ins().return_(&[one]);
    });
    let mut ready = kit.ready();
    heap.attach(|mutator| {
        for length in [0, 2, 1000, 200_000] {
            // SAFETY: this thread's hot part, here and below.
            assert_eq!(unsafe { ready.get(array)(mutator.raw().hot(), length, 0) }, length);
        }
        for length in [1 << 28, 1 << 43, 1 << 60, usize::MAX - 7, usize::MAX] {
            // With a buffer a sum that wraps would be below its limit.
            // SAFETY: as above.
            assert_eq!(unsafe { ready.get(array)(mutator.raw().hot(), 2, 0) }, 2);
            // SAFETY: as above.
            assert_eq!(unsafe { ready.get(array)(mutator.raw().hot(), length, 0) }, 1, "{length}");
        }
        // Zeroes are a length of 0, for any size. So only 16 bytes make an array that may stay in
        // the heap.
        for bytes in [1 << 30, 1 << 62, usize::MAX - 7] {
            // SAFETY: as above.
            assert_eq!(unsafe { ready.get(sized)(mutator.raw().hot(), 16, 0) }, 0);
            // SAFETY: as above.
            assert_eq!(unsafe { ready.get(sized)(mutator.raw().hot(), bytes, 0) }, 1, "{bytes}");
        }
    })
    .unwrap();
    heap.verify().unwrap();
}

thread_local! {
    /// The address of the list function, which the hook below runs once.
    static INNER: AtomicUsize = const { AtomicUsize::new(0) };
    static HOT: AtomicUsize = const { AtomicUsize::new(0) };
}

/// Runs a list on the thread on which the heap asked for room.
fn run_inner(lists: &AtomicUsize) {
    let list = INNER.with(|inner| inner.swap(0, Ordering::Relaxed));
    if list == 0 {
        return;
    }
    // SAFETY: the address of a function of this signature.
    let list: unsafe extern "C" fn(*const Hot, usize, usize) -> usize = unsafe { std::mem::transmute(list) };
    let hot: *const Hot = ptr::with_exposed_provenance(HOT.with(|hot| hot.load(Ordering::Relaxed)));
    let mut left = 0_usize;
    // SAFETY: this thread's hot part, and an address to write to.
    let head = unsafe { list(hot, 300, (&raw mut left).expose_provenance()) };
    assert_eq!(numbers(head), (1..=300).collect::<Vec<_>>());
    lists.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_hook_that_runs_generated_code_leaves_the_frames_of_its_thread_as_they_should_be() {
    for collector in COLLECTORS {
        let lists = Arc::new(AtomicUsize::new(0));
        let heap = Heap::builder().max_heap_size(16 << 20).use_transparent_huge_pages(false).on_heap_limit({
            let lists = lists.clone();
            move |_| {
                run_inner(&lists);
                false
            }
        });
        let heap = heap.options(&format!("{collector},{ZEAL}")).unwrap().build().unwrap();
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = define_list(&mut kit, shape);
        // `outer(mutator, bytes)`: a node that lives while there is no room.
        let outer = kit.function("outer", 2, |_, builder, heap, arguments| {
            let (no_room, never) = (builder.create_block(), builder.create_block());
            let value = number(builder, 77);
            let kept = new_node(builder, heap, shape, value, never);
            heap.allocate_sized(builder, shape.header(), arguments[1], no_room);
            builder.ins().jump(never, &[]);
            builder.switch_to_block(no_room);
            builder.ins().return_(&[kept]);
            builder.switch_to_block(never);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            HOT.with(|hot| hot.store(mutator.raw().hot().expose_provenance(), Ordering::Relaxed));
            // SAFETY: its address only.
            INNER.with(|inner| inner.store(unsafe { ready.get(list) } as usize, Ordering::Relaxed));
            // SAFETY: this thread's hot part.
            let kept = unsafe { ready.get(outer)(mutator.raw().hot(), 1 << 30, 0) };
            assert_eq!(word(kept, 0), shape.header().bits() as usize, "{collector}");
            assert_eq!(word(kept, NUMBER), 77, "{collector}");
        })
        .unwrap();
        assert_eq!(lists.load(Ordering::Relaxed), 1, "{collector}");
        heap.verify().unwrap();
    }
}
