//! Programs in generated code while collections move their objects: with a concurrent collector,
//! cycles are under way at most accesses.

use crate::kit::{COLLECTORS, Kit, LEFT, NUMBER, RIGHT, ZEAL, get, heap, new_node, number, repeat, set};
use allotment::Heap;
use allotment::raw::{Hot, Shape, ShapeRef, SlotKind};
use allotment_jit::cranelift::{Callee, Calls, Lowering};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use std::collections::VecDeque;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Nodes of a queue.
const LENGTH: usize = 20;
const ROUNDS: usize = 600;
/// Collections that a run has to survive.
const COLLECTIONS: u64 = 25;

/// Cycles come all the time, and nearly everything moves. One option set makes freed memory
/// inaccessible, one leaves each fifth object in its place.
const CONCURRENT: [&str; 4] = [
    "Collector=shenandoah,ZealInterval=1,+ZealMove,+VerifyAfterGC",
    "Collector=shenandoah,ZealInterval=7,+ZealMove,+ZealPoison,ConcGCThreads=2,ParallelGCThreads=2",
    "Collector=shenandoah,ZealInterval=3,ZealSeed=5,+ZealMove,+ZealProtect,ZealQuarantine=2",
    "Collector=shenandoah,ZealInterval=5,+ZealMove,ZealEvacuationFailure=5,+VerifyAfterGC",
];

/// A node whose right slot is weak.
fn queue_node(heap: &Heap) -> ShapeRef {
    let shape = Shape::fixed("QueueNode", 32).slot("left", 8, SlotKind::Strong);
    heap.register(shape.slot("right", 16, SlotKind::Weak)).unwrap()
}

/// The way to cut a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Store,
    CompareExchange,
}

/// Adds to `sum`.
fn add(builder: &mut FunctionBuilder<'_>, sum: cranelift_frontend::Variable, more: Value) {
    let before = builder.use_var(sum);
    let after = builder.ins().iadd(before, more);
    builder.def_var(sum, after);
}

/// `queue(mutator, rounds, errors)`: a queue of [`LENGTH`] nodes. Each round adds a node at the
/// front, follows all nodes, and cuts the last one off. Both slots of a node refer to the next
/// one. Returns the sum of all numbers on the way; `errors` receives a sum that is 0 if all
/// references were equal that should be.
fn define_queue(kit: &mut Kit, shape: ShapeRef, cut: Cut, hook: Option<Callee>) -> FuncId {
    kit.function("queue", 3, |_, builder, heap, arguments| {
        heap.calls(Calls { load_hook: hook, ..Calls::default() });
        let no_room = builder.create_block();
        let [head, at] = [(); 2].map(|()| {
            let variable = builder.declare_var(I64);
            builder.declare_var_needs_stack_map(variable);
            let zero = number(builder, 0);
            builder.def_var(variable, zero);
            variable
        });
        let [sum, errors] = [(); 2].map(|()| {
            let variable = builder.declare_var(I64);
            let zero = number(builder, 0);
            builder.def_var(variable, zero);
            variable
        });
        let put = |builder: &mut FunctionBuilder<'_>, heap: &mut Lowering, value| {
            let object = new_node(builder, heap, shape, value, no_room);
            let next = builder.use_var(head);
            // A new object's slots need no barrier.
            set(builder, object, LEFT, next);
            set(builder, object, RIGHT, next);
            builder.def_var(head, object);
        };
        let length = number(builder, LENGTH as i64);
        repeat(builder, length, |builder, index| {
            let value = builder.ins().iadd(arguments[1], index);
            put(builder, heap, value);
        });
        repeat(builder, arguments[1], |builder, round| {
            put(builder, heap, round);
            let first = builder.use_var(head);
            builder.def_var(at, first);
            let steps = number(builder, LENGTH as i64 - 1);
            repeat(builder, steps, |builder, _| {
                heap.poll(builder);
                let object = builder.use_var(at);
                let found = get(builder, object, NUMBER);
                add(builder, sum, found);
                let weak = heap.load_weak(builder, object, RIGHT);
                let next = heap.load(builder, object, LEFT);
                let difference = builder.ins().bxor(weak, next);
                add(builder, errors, difference);
                builder.def_var(at, next);
            });
            let last = builder.use_var(at);
            let found = get(builder, last, NUMBER);
            add(builder, sum, found);
            let zero = number(builder, 0);
            match cut {
                Cut::Store => heap.store(builder, last, LEFT, zero),
                Cut::CompareExchange => {
                    let next = heap.load(builder, last, LEFT);
                    // The node refers to another one, so not to itself.
                    let held = heap.compare_exchange(builder, last, LEFT, last, zero);
                    let difference = builder.ins().bxor(held, next);
                    add(builder, errors, difference);
                    let held = heap.compare_exchange(builder, last, LEFT, next, zero);
                    let difference = builder.ins().bxor(held, next);
                    add(builder, errors, difference);
                    let now = heap.load(builder, last, LEFT);
                    add(builder, errors, now);
                }
            }
        });
        let wrong = builder.use_var(errors);
        set(builder, arguments[2], 0, wrong);
        let result = builder.use_var(sum);
        builder.ins().return_(&[result]);
        builder.switch_to_block(no_room);
        let none = number(builder, -1);
        builder.ins().return_(&[none]);
    })
}

/// The queue in Rust.
fn queue(rounds: usize) -> usize {
    let mut queue: VecDeque<usize> = (rounds..rounds + LENGTH).collect();
    (0..rounds)
        .rev()
        .map(|round| {
            queue.push_front(round);
            queue.pop_back();
            queue.iter().sum::<usize>()
        })
        .sum()
}

/// Loads of one run that pass the hook.
fn loads(rounds: usize, cut: Cut) -> usize {
    rounds * (2 * (LENGTH - 1) + if cut == Cut::CompareExchange { 2 } else { 0 })
}

static HOOKED: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls, and checks that the value is what the library would load.
unsafe extern "C" fn hook(_: *const Hot, slot: *const u64, value: u64) -> u64 {
    HOOKED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the slot that was loaded from; no other thread stores to it.
    let held = unsafe { slot.read() };
    // A dead referent of a weak slot is still in the slot.
    assert!(value == 0 || held == value, "{held:#x} {value:#x}");
    value
}

fn run(options: &str, cut: Cut, threads: usize, hooked: bool) {
    let heap = heap(options);
    let shape = queue_node(&heap);
    let mut kit = Kit::new(&heap);
    let callee = hooked.then_some(Callee::Address(hook as *const () as usize));
    let function = define_queue(&mut kit, shape, cut, callee);
    let mut ready = kit.ready();
    // SAFETY: called below with the thread's own hot part.
    let function = unsafe { ready.get(function) };
    if hooked {
        heap.stop_the_world(|world| world.set_load_hook(true)).unwrap();
        HOOKED.store(0, Ordering::Relaxed);
    }
    let (begun, runs) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                heap.attach(|mutator| {
                    while heap.collections().count < COLLECTIONS {
                        let mut errors = usize::MAX;
                        let at = ptr::from_mut(&mut errors).expose_provenance();
                        // SAFETY: this thread's hot part, and an address to write to.
                        let sum = unsafe { function(mutator.raw().hot(), ROUNDS, at) };
                        assert_eq!((sum, errors), (queue(ROUNDS), 0), "{options}, {cut:?}");
                        runs.fetch_add(1, Ordering::Relaxed);
                        assert!(begun.elapsed() < Duration::from_secs(120), "{options}: too few collections");
                    }
                })
                .unwrap();
            });
        }
    });
    let runs = runs.into_inner();
    if hooked {
        assert_eq!(HOOKED.load(Ordering::Relaxed), runs * loads(ROUNDS, cut));
    }
    println!("{options}, {cut:?}: {runs} runs, {} collections", heap.collections().count);
    heap.verify().unwrap();
}

#[test]
fn a_queue_is_intact_while_its_nodes_move() {
    for options in CONCURRENT {
        run(options, Cut::Store, 1, false);
        run(options, Cut::CompareExchange, 1, false);
    }
    for collector in COLLECTORS {
        run(&format!("{collector},{ZEAL}"), Cut::Store, 1, false);
        run(&format!("{collector},{ZEAL}"), Cut::CompareExchange, 1, false);
    }
}

#[test]
fn queues_of_several_threads_are_intact() {
    for options in CONCURRENT {
        run(options, Cut::CompareExchange, 2, false);
    }
}

#[test]
fn the_hook_is_given_references_behind_the_barrier() {
    for options in CONCURRENT.into_iter().chain(["Collector=parallel,ZealInterval=1,+ZealMove"]) {
        run(options, Cut::CompareExchange, 1, true);
    }
}
