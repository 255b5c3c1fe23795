//! Several threads in generated code, and stops that they come to.

use crate::kit::{COLLECTORS, Kit, NUMBER, ZEAL, define_list, get, heap, new_node, node, number, numbers};
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn threads_move_each_others_lists() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = define_list(&mut kit, shape);
        let mut ready = kit.ready();
        // SAFETY: called below with the thread's own hot part.
        let list = unsafe { ready.get(list) };
        std::thread::scope(|scope| {
            for count in [60, 90] {
                let heap = &heap;
                scope.spawn(move || {
                    heap.attach(|mutator| {
                        let mut left = 0_usize;
                        // SAFETY: this thread's hot part, and an address to write to.
                        let head =
                            unsafe { list(mutator.raw().hot(), count, (&raw mut left).expose_provenance()) };
                        assert_eq!(numbers(head), (1..=count).collect::<Vec<_>>(), "{collector}");
                    })
                    .unwrap();
                });
            }
        });
    }
}

#[test]
fn a_poll_comes_to_every_stop_with_its_references() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        // `spin(mutator, end)`: polls until the word at `end` is set. Returns the number of a node
        // that lived meanwhile.
        let spin = kit.function("spin", 2, |_, builder, heap, arguments| {
            let no_room = builder.create_block();
            let value = number(builder, 99);
            let kept = new_node(builder, heap, shape, value, no_room);
            // Cranelift must not join a poll before the loop with the poll in it.
            heap.poll(builder);
            let (turn, done) = (builder.create_block(), builder.create_block());
            builder.ins().jump(turn, &[]);
            builder.switch_to_block(turn);
            heap.poll(builder);
            let end = builder.ins().atomic_load(I32, MemFlagsData::trusted(), arguments[1]);
            builder.ins().brif(end, done, &[], turn, &[]);
            builder.switch_to_block(done);
            let result = get(builder, kept, NUMBER);
            builder.ins().return_(&[result]);
            builder.switch_to_block(no_room);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let mut ready = kit.ready();
        // SAFETY: called below with the thread's own hot part.
        let spin = unsafe { ready.get(spin) };
        let (end, attached) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let spinner = scope.spawn(|| {
                heap.attach(|mutator| {
                    attached.store(1, Ordering::Release);
                    // SAFETY: this thread's hot part, and an address to read from.
                    unsafe { spin(mutator.raw().hot(), end.as_ptr().expose_provenance(), 0) }
                })
                .unwrap()
            });
            while attached.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            let mut stops = 0;
            while stops < 3 {
                stops += usize::from(heap.stop_the_world(|world| world.threads()).unwrap() == Some(1));
            }
            heap.attach(|mutator| {
                for _ in 0..3 {
                    mutator.collect();
                }
            })
            .unwrap();
            end.store(1, Ordering::Release);
            assert_eq!(spinner.join().unwrap(), 99, "{collector}");
        });
        heap.verify().unwrap();
    }
}
