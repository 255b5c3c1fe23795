//! The calls of generated code, called as it calls them: by address, with numbers.

use crate::Heap;
use crate::mutator::{
    AfterAccess, BarrierKind, GeneratedCalls, GeneratedFrame, Hot, RootProvider, RootVisitor,
};
use crate::object::{Element, Header, Shape, ShapeRef, SlotKind};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const CALLS: GeneratedCalls = GeneratedCalls::new();

fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(16 << 20).use_transparent_huge_pages(false);
    builder.options(options).expect(options).build().expect(options)
}

/// Makes an object of that header of fresh memory.
unsafe fn make(memory: *mut u8, header: Header, bytes: usize) -> *mut u64 {
    assert!(!memory.is_null());
    let object = memory.cast::<u64>();
    // SAFETY: the memory is the caller's, of that many bytes.
    unsafe {
        object.write(header.bits());
        object.add(1).write_bytes(0, bytes / 8 - 1);
    }
    object
}

fn pair(heap: &Heap) -> ShapeRef {
    heap.register(Shape::fixed("Pair", 24).slot("next", 8, SlotKind::Strong)).unwrap()
}

#[test]
fn memory_comes_in_any_size_and_zeroed_where_that_is_asked() {
    let heap = heap("Collector=epsilon,MinTLABSize=256,TLABSize=512,ZeroWindowSize=64");
    let words = heap.register(Shape::array("Words", 16, Element::Plain { bytes: 8 })).unwrap();
    heap.attach(|mutator| {
        for bytes in (16..2048).step_by(8).chain([1 << 20]) {
            let length = (bytes - 16) / 8;
            // SAFETY: this thread's hot part, sizes that are words, and objects made before the
            // next safepoint.
            unsafe {
                let plain = (CALLS.allocate)(mutator.raw().hot(), bytes);
                make(plain, words.header(), bytes).add(1).write(length as u64);
                // The next buffer's memory was written to before.
                plain.add(16).write_bytes(0xA5, bytes - 16);
                for zeroed in [
                    (CALLS.allocate_zeroed)(mutator.raw().hot(), bytes),
                    (CALLS.allocate_array_zeroed)(mutator.raw().hot(), length, 8, 16),
                ] {
                    let memory = std::slice::from_raw_parts(zeroed, bytes);
                    assert!(memory.iter().all(|byte| *byte == 0), "{bytes}");
                    make(zeroed, words.header(), bytes).add(1).write(length as u64);
                }
            }
        }
    })
    .unwrap();
    assert_eq!(heap.verify().unwrap().objects(words.id()), 3 * 255);
}

#[test]
fn what_no_heap_has_is_null() {
    let heap = heap("Collector=epsilon");
    heap.attach(|mutator| {
        for bytes in [0, 8, 17, 1 << 30, usize::MAX, usize::MAX - 7] {
            // SAFETY: this thread's hot part.
            assert!(unsafe { (CALLS.allocate)(mutator.raw().hot(), bytes) }.is_null(), "{bytes}");
        }
        for length in [1 << 28, 1 << 43, (1 << 43) + 1, usize::MAX] {
            // SAFETY: as above.
            let array = unsafe { (CALLS.allocate_array)(mutator.raw().hot(), length, 8, 16) };
            assert!(array.is_null(), "{length}");
        }
    })
    .unwrap();
    heap.verify().unwrap();
}

/// What the provider received of frames, and one slot.
#[derive(Default)]
struct Told {
    frames: Mutex<Vec<(usize, usize, bool)>>,
    slot: AtomicU64,
}

struct Asked(Arc<Told>);

// SAFETY: the one slot is visited; nothing else is done.
unsafe impl RootProvider for Asked {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        let told = |frame: &GeneratedFrame| {
            (frame.return_address(), frame.stack_pointer(), frame.previous().is_some())
        };
        *self.0.frames.lock().unwrap() = roots.generated_frames().map(told).collect();
        roots.slot(self.0.slot.as_ptr());
    }
}

#[test]
fn a_collection_is_told_where_generated_code_called_from() {
    let heap = heap("ZealInterval=1,+ZealMove");
    let pair = pair(&heap);
    let told = Arc::new(Told::default());
    heap.add_root_provider(Box::new(Asked(told.clone())));
    heap.attach(|mutator| {
        let mut last = 0;
        for _ in 0..10 {
            // SAFETY: this thread's hot part; the only reference is in the provider's slot, and
            // objects are made at once.
            let object = unsafe { make((CALLS.allocate)(mutator.raw().hot(), 24), pair.header(), 24) };
            let frames = told.frames.lock().unwrap().clone();
            let [(return_address, stack_pointer, previous)] = frames[..] else { panic!("{frames:?}") };
            let here = 0_u8;
            assert!(stack_pointer.abs_diff((&raw const here).addr()) < 1 << 16 && !previous);
            assert_ne!(return_address, 0);
            // SAFETY: a slot of the new object.
            unsafe { object.add(1).write(told.slot.load(Ordering::Relaxed)) };
            told.slot.store(object.addr() as u64, Ordering::Relaxed);
            last = object.addr();
        }
        mutator.collect();
        assert!(told.frames.lock().unwrap().is_empty(), "no call is under way");
        let mut at = told.slot.load(Ordering::Relaxed);
        assert_ne!(at, last as u64, "it has moved");
        let mut length = 0;
        while at != 0 {
            // SAFETY: a slot of a live object.
            at = unsafe { mutator.raw().load(ptr::with_exposed_provenance::<u64>(at as usize).add(1)) };
            length += 1;
        }
        assert_eq!(length, 10);
    })
    .unwrap();
    told.slot.store(0, Ordering::Relaxed);
    heap.verify().unwrap();
}

#[test]
fn a_frame_within_a_frame_leads_to_it() {
    thread_local! {
        static HOT: AtomicUsize = const { AtomicUsize::new(0) };
    }
    let told = Arc::new(Told::default());
    let heap = Heap::builder()
        .max_heap_size(16 << 20)
        .on_heap_limit(move |_| {
            // A hook that runs generated code, on a thread with a call of such code under way.
            let hot = HOT.with(|hot| hot.swap(0, Ordering::Relaxed));
            if hot != 0 {
                let hot: *const Hot = ptr::with_exposed_provenance(hot);
                // SAFETY: this thread's hot part.
                assert!(unsafe { (CALLS.allocate)(hot, 1 << 30) }.is_null());
            }
            false
        })
        .build()
        .unwrap();
    heap.add_root_provider(Box::new(Asked(told.clone())));
    heap.attach(|mutator| {
        HOT.with(|hot| hot.store(mutator.raw().hot().expose_provenance(), Ordering::Relaxed));
        // SAFETY: this thread's hot part.
        assert!(unsafe { (CALLS.allocate)(mutator.raw().hot(), 1 << 30) }.is_null());
        let frames = told.frames.lock().unwrap().clone();
        assert!(matches!(frames[..], [(_, _, true)]), "{frames:?}");
        mutator.collect();
        assert!(told.frames.lock().unwrap().is_empty());
    })
    .unwrap();
}

#[test]
fn a_poll_waits_for_a_stop() {
    let heap = heap("");
    let polled = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| {
            heap.attach(|mutator| {
                // SAFETY: a word of this thread's hot part.
                let requested = unsafe {
                    AtomicU32::from_ptr(mutator.raw().hot().byte_add(Hot::REQUESTED_OFFSET).cast_mut().cast())
                };
                while polled.load(Ordering::Acquire) < 3 {
                    if requested.load(Ordering::Acquire) != 0 {
                        // SAFETY: this thread's hot part; it holds no reference.
                        unsafe { (CALLS.safepoint)(mutator.raw().hot()) };
                    }
                }
            })
            .unwrap();
        });
        while polled.load(Ordering::Relaxed) < 3 {
            if heap.stop_the_world(|world| world.threads()).unwrap() == Some(1) {
                polled.fetch_add(1, Ordering::Release);
            }
        }
        poller.join().unwrap();
    });
}

/// A word of the calling thread's hot part.
fn word(hot: *const Hot, offset: usize) -> usize {
    // SAFETY: the offset of a word of the hot part.
    unsafe { hot.byte_add(offset).cast::<usize>().read() }
}

#[test]
fn the_watermark_is_the_start_of_each_buffer() {
    let heap = heap("Collector=epsilon,TLABSize=4k,MinTLABSize=4k,-ResizeTLAB");
    let pair = pair(&heap);
    heap.attach(|mutator| {
        let mut buffers = 0;
        for _ in 0..1000 {
            // SAFETY: this thread's hot part; objects are made at once.
            let object = unsafe { make((CALLS.allocate)(mutator.raw().hot(), 24), pair.header(), 24) };
            let (top, watermark) = (
                word(mutator.raw().hot(), Hot::TOP_OFFSET),
                word(mutator.raw().hot(), Hot::WATERMARK_OFFSET),
            );
            assert!(watermark <= object.addr() && watermark <= top, "{watermark:#x} {top:#x}");
            if watermark == object.addr() {
                buffers += 1;
                mutator.safepoint();
                // Takes the buffer away.
                heap.request_safepoint();
            }
        }
        assert!(buffers >= 2, "{buffers}");
    })
    .unwrap();
}

#[test]
fn the_load_hook_is_on_for_all_threads_and_later_ones() {
    let heap = heap("");
    let hook = |hot: *const Hot| word(hot, Hot::BARRIERS_OFFSET) as u32;
    heap.attach(|mutator| {
        assert_eq!(hook(mutator.raw().hot()), 0);
        for on in [true, false, true] {
            mutator.raw_mut().stop_the_world(|world| world.set_load_hook(on)).unwrap();
            assert_eq!(hook(mutator.raw().hot()), if on { Hot::HOOK } else { 0 });
        }
    })
    .unwrap();
    heap.attach(|mutator| assert_eq!(hook(mutator.raw().hot()), Hot::HOOK)).unwrap();
}

#[test]
fn the_hot_part_has_the_slow_paths_of_barriers() {
    let heap = heap("");
    heap.attach(|mutator| {
        let calls = CALLS.barriers;
        for (kind, call) in [
            (BarrierKind::Load, calls.load as usize),
            (BarrierKind::LoadWeak, calls.load_weak as usize),
            (BarrierKind::Store, calls.store as usize),
            (BarrierKind::CompareExchange, calls.compare_exchange as usize),
        ] {
            assert_eq!(word(mutator.raw().hot(), kind.slow_offset()), call, "{kind:?}");
        }
    })
    .unwrap();
}

#[test]
fn the_table_of_barriers_says_what_the_barriers_do() {
    use AfterAccess::{DirtyCard, Nothing};
    let rows = BarrierKind::ALL.map(|kind| (kind.name(), kind.bits(), kind.slow_offset(), kind.after()));
    let expected = [
        ("load", 4, 96, Nothing),
        ("load_weak", 7, 104, Nothing),
        ("store", 1, 112, DirtyCard),
        ("compare_exchange", 5, 120, DirtyCard),
    ];
    assert_eq!(rows, expected);
    assert!(BarrierKind::ALL.iter().all(|kind| kind.bits() < 256), "a test of one byte");
}

#[test]
fn the_fields_of_the_layout_are_in_order_and_aligned_and_do_not_overlap() {
    let fields = Hot::layout();
    for pair in fields.windows(2) {
        assert!(pair[0].offset + pair[0].bytes <= pair[1].offset, "{pair:?}");
    }
    for field in fields {
        assert!(field.offset.is_multiple_of(field.bytes) && !field.text.is_empty(), "{field:?}");
    }
    let offset = |name: &str| fields.iter().find(|field| field.name == name).map(|field| field.offset);
    assert_eq!((offset("top"), offset("cards"), offset("links")), (Some(0), Some(56), Some(192)));
    let slow = |kind: BarrierKind| offset(&format!("{}_slow", kind.name())) == Some(kind.slow_offset());
    assert!(BarrierKind::ALL.into_iter().all(slow));
}

/// A range as C code makes it: four words, stored to the list's head with a bit.
#[test]
fn a_range_that_other_code_links_is_found_and_taken_off() {
    let heap = heap("Collector=parallel");
    let pair = pair(&heap);
    heap.attach(|mutator| {
        let hot = mutator.raw().hot();
        let head = hot.cast_mut().wrapping_byte_add(Hot::LINKS_OFFSET).cast::<usize>();
        let mut words = [0_u64; 3];
        let words = words.as_mut_ptr();
        // SAFETY: this thread's hot part; the frames and the words outlive their links; the words
        // refer to live objects or to nothing.
        unsafe {
            words.add(1).write(mutator.raw_mut().alloc_raw(pair, 0).unwrap().addr().get() as u64);
            words.add(2).write(5); // an immediate
            let mut outer = [head.read(), hot.addr(), words.expose_provenance(), 3];
            let outer = &raw mut outer;
            head.write(outer.expose_provenance() | 2);
            let mut inner = [head.read(), hot.addr(), 0, 0];
            let inner = &raw mut inner;
            head.write(inner.expose_provenance() | 2);
            let weak = mutator.raw().new_weak_root(words.add(1).read());
            mutator.collect();
            assert_eq!(weak.get(mutator), Some(words.add(1).read()), "found, and updated if it moved");
            assert_ne!(words.add(1).read(), 0);
            assert_eq!((words.read(), words.add(2).read()), (0, 5));
            // The outer one first: not the innermost.
            mutator.raw().unlink_range(NonNull::new(outer).unwrap().cast());
            assert_eq!((inner.cast::<usize>().read(), head.read()), (0, inner.addr() | 2));
            head.write(inner.cast::<usize>().read());
            mutator.collect();
            assert_eq!(weak.get(mutator), Some(0), "nothing holds the object");
        }
    })
    .unwrap();
}

/// The numbers in a hot part are those that the collector tells.
#[test]
fn the_hot_part_has_the_tables_of_a_concurrent_collector() {
    for collector in crate::options::CollectorKind::ALL {
        let heap = heap(&format!("Collector={}", collector.name()));
        let concurrent = heap.shared.collector.concurrent();
        let tables = concurrent.map(|concurrent| concurrent.barrier_tables(&heap.shared.space));
        assert_eq!(tables.is_some(), heap.collector() == "shenandoah");
        let tables = tables.unwrap_or_default();
        heap.attach(|mutator| {
            for (offset, number) in [
                (Hot::HEAP_OFFSET, tables.heap),
                (Hot::HEAP_BYTES_OFFSET, tables.heap_bytes),
                (Hot::REGION_SHIFT_OFFSET, tables.region_shift),
                (Hot::MOVING_OFFSET, tables.moving),
                (Hot::BORDERS_OFFSET, tables.borders),
                (Hot::MARKS_OFFSET, tables.marks),
            ] {
                assert_eq!(word(mutator.raw().hot(), offset), number, "{offset}");
            }
        })
        .unwrap();
    }
}

/// Generated code may test more bits than a barrier has.
#[test]
fn slow_paths_of_barriers_do_the_plain_access_while_no_barrier_is_in_force() {
    for collector in crate::options::CollectorKind::ALL {
        let heap = heap(&format!("Collector={}", collector.name()));
        let shape = Shape::fixed("Pair", 24).slot("strong", 8, SlotKind::Strong);
        let pair = heap.register(shape.slot("weak", 16, SlotKind::Weak)).unwrap();
        heap.attach(|mutator| {
            let (hot, calls) = (mutator.raw().hot(), CALLS.barriers);
            // SAFETY: this thread's hot part, slots of a live object and a reference to it.
            unsafe {
                let object = make((CALLS.allocate)(hot, 24), pair.header(), 24);
                let (strong, weak, bits) = (object.add(1), object.add(2), object.addr() as u64);
                (calls.store)(hot, strong);
                assert_eq!(strong.read(), 0, "it writes nothing");
                assert_eq!((calls.compare_exchange)(hot, strong, bits, bits), 0);
                assert_eq!((calls.compare_exchange)(hot, strong, 0, bits), 0);
                assert_eq!((calls.load)(hot, strong, strong.read()), bits);
                weak.write(bits);
                assert_eq!((calls.load_weak)(hot, weak, weak.read()), bits);
                assert_eq!((strong.read(), weak.read()), (bits, bits));
            }
        })
        .unwrap();
    }
}

#[test]
fn the_load_hook_stays_on_over_cycles_that_a_stop_ends() {
    let heap = heap("Collector=shenandoah,+ZealCycles,ZealInterval=5");
    let pair = pair(&heap);
    heap.attach(|mutator| {
        mutator.raw_mut().stop_the_world(|world| world.set_load_hook(true)).unwrap();
        for turn in 0..20_000 {
            // SAFETY: this thread's hot part; objects are made at once.
            unsafe { make((CALLS.allocate)(mutator.raw().hot(), 24), pair.header(), 24) };
            let bits = word(mutator.raw().hot(), Hot::BARRIERS_OFFSET) as u32;
            assert_eq!(bits & Hot::HOOK, Hot::HOOK, "allocation {turn}");
        }
    })
    .unwrap();
}
