//! Stores that young collections must know, loads that a hook sees, and the cost of barriers.

use crate::kit::{
    COLLECTORS, Kit, LEFT, NUMBER, ZEAL, define_list, get, heap, new_node, node, number, numbers, repeat,
};
use allotment::raw::Hot;
use allotment_jit::cranelift::{Callee, Calls, Lowering};
use allotment_jit::{Machine, disassemble};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_only_an_old_object_refers_to_survives_young_collections() {
    let heap = heap("Collector=parallel,NewSize=2m,MaxNewSize=2m,MaxTenuringThreshold=1,+VerifyAfterGC");
    let shape = node(&heap);
    let mut kit = Kit::new(&heap);
    let list = define_list(&mut kit, shape);
    // `survivors(mutator, rounds, left)`: the sum of the numbers in nodes to which only an old
    // object referred.
    let survivors = kit.function("survivors", 3, |kit, builder, heap, arguments| {
        let &[mutator, rounds, left] = arguments else { panic!("{arguments:?}") };
        let no_room = builder.create_block();
        let list = kit.callee(builder, list);
        let sum = builder.declare_var(I64);
        let zero = number(builder, 0);
        builder.def_var(sum, zero);
        let old = new_node(builder, heap, shape, zero, no_room);
        let garbage = number(builder, 200_000);
        repeat(builder, rounds, |builder, round| {
            builder.ins().call(list, &[mutator, garbage, left]);
            let young = new_node(builder, heap, shape, round, no_room);
            heap.store(builder, old, LEFT, young);
            builder.ins().call(list, &[mutator, garbage, left]);
            let young = heap.load(builder, old, LEFT);
            let found = get(builder, young, NUMBER);
            let before = builder.use_var(sum);
            let after = builder.ins().iadd(before, found);
            builder.def_var(sum, after);
        });
        let result = builder.use_var(sum);
        builder.ins().return_(&[result]);
        builder.switch_to_block(no_room);
        let none = number(builder, -1);
        builder.ins().return_(&[none]);
    });
    let mut ready = kit.ready();
    heap.attach(|mutator| {
        let mut left = 0_usize;
        // SAFETY: this thread's hot part, and an address to write to.
        let sum =
            unsafe { ready.get(survivors)(mutator.raw().hot(), 8, (&raw mut left).expose_provenance()) };
        assert_eq!((sum, left), ((0..8).sum(), 0));
    })
    .unwrap();
    assert!(heap.collections().count >= 16, "{}", heap.collections().count);
}

static LOADED: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls, and checks its arguments.
unsafe extern "C" fn hook(_: *const Hot, slot: *const u64, value: u64) -> u64 {
    // SAFETY: the slot that was loaded from.
    assert_eq!(unsafe { slot.read() }, value);
    LOADED.fetch_add(1, Ordering::Relaxed);
    value
}

#[test]
fn loads_are_handed_to_the_hook_while_it_is_on() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = define_list(&mut kit, shape);
        // `walk(mutator, count, left)`: makes a list and follows it to its end. Returns the sum of
        // its numbers.
        let walk = kit.function("walk", 3, |kit, builder, heap, arguments| {
            heap.calls(Calls {
                load_hook: Some(Callee::Address(hook as *const () as usize)),
                ..Calls::default()
            });
            let list = kit.callee(builder, list);
            let (at, sum) = (builder.declare_var(I64), builder.declare_var(I64));
            builder.declare_var_needs_stack_map(at);
            let head = builder.ins().call(list, arguments);
            let head = builder.inst_results(head)[0];
            builder.def_var(at, head);
            let zero = number(builder, 0);
            builder.def_var(sum, zero);
            repeat(builder, arguments[1], |builder, _| {
                let object = builder.use_var(at);
                let found = get(builder, object, NUMBER);
                let before = builder.use_var(sum);
                let after = builder.ins().iadd(before, found);
                builder.def_var(sum, after);
                let next = heap.load(builder, object, LEFT);
                builder.def_var(at, next);
            });
            let result = builder.use_var(sum);
            builder.ins().return_(&[result]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            for (on, expected) in [(false, 0), (true, 50), (false, 0)] {
                mutator.raw_mut().stop_the_world(|world| world.set_load_hook(on)).unwrap();
                LOADED.store(0, Ordering::Relaxed);
                let mut left = 0_usize;
                // SAFETY: this thread's hot part, and an address to write to.
                let sum =
                    unsafe { ready.get(walk)(mutator.raw().hot(), 50, (&raw mut left).expose_provenance()) };
                assert_eq!((sum, LOADED.load(Ordering::Relaxed)), ((1..=50).sum(), expected), "{collector}");
            }
            let mut left = 0_usize;
            // SAFETY: as above.
            let head =
                unsafe { ready.get(list)(mutator.raw().hot(), 3, (&raw mut left).expose_provenance()) };
            assert_eq!(numbers(head), [1, 2, 3]);
        })
        .unwrap();
    }
}

/// What a function of these operations does up to its return: reads of the barriers' word, jumps,
/// and all instructions.
struct InLine {
    reads: usize,
    jumps: usize,
    code: Vec<String>,
}

fn in_line(build: impl FnOnce(&mut FunctionBuilder<'_>, &mut Lowering, &[Value]) -> Value) -> InLine {
    let heap = heap("");
    let mut kit = Kit::new(&heap);
    let function = kit.declare("function", 3);
    let mut context = kit.built(function, |_, builder, heap, arguments| {
        let result = build(builder, heap, arguments);
        builder.ins().return_(&[result]);
    });
    kit.program.define(function, &mut context).unwrap();
    let code = disassemble(Machine::HOST, context.compiled_code().unwrap().code_buffer(), 0);
    let code: Vec<String> =
        code.into_iter().map(|one| one.assembly).take_while(|one| !one.starts_with("ret")).collect();
    let count = |of: &dyn Fn(&str) -> bool| code.iter().filter(|one| of(one)).count();
    let (reads, calls, jumps) = if cfg!(target_arch = "x86_64") {
        (
            count(&|one| one.contains("byte ptr [") && one.contains(" + 0x28]")),
            count(&|one| one.starts_with("call")),
            count(&|one| one.starts_with('j')),
        )
    } else {
        (
            count(&|one| one.starts_with("ldrb") && one.contains("#0x28]")),
            count(&|one| one.starts_with("bl")),
            count(&|one| ["b.", "cb", "tb"].iter().any(|jump| one.starts_with(jump))),
        )
    };
    assert_eq!(calls, 0, "slow paths are out of line: {code:#?}");
    InLine { reads, jumps, code }
}

#[test]
fn a_barrier_is_a_test_and_a_jump_that_is_not_taken() {
    let plain = in_line(|builder, _, arguments| get(builder, arguments[1], LEFT));
    assert_eq!((plain.reads, plain.jumps), (0, 0));
    let load = in_line(|builder, heap, arguments| heap.load(builder, arguments[1], LEFT));
    // Cranelift does not join the read with the test, and moves the result to another register.
    assert!(load.code.len() <= plain.code.len() + 4, "{:#?}, and plainly {:#?}", load.code, plain.code);
    let weak = in_line(|builder, heap, arguments| heap.load_weak(builder, arguments[1], LEFT));
    // `tbnz` of AArch64 tests one bit, as the load does; several bits take a mask.
    let mask = if cfg!(target_arch = "x86_64") { 0 } else { 2 };
    assert!(weak.code.len() <= load.code.len() + mask, "{:#?}, and a load {:#?}", weak.code, load.code);
    let store = in_line(|builder, heap, arguments| {
        heap.store(builder, arguments[1], LEFT, arguments[2]);
        arguments[0]
    });
    let exchange = in_line(|builder, heap, arguments| {
        heap.compare_exchange(builder, arguments[1], LEFT, arguments[2], arguments[1])
    });
    for one in [load, weak, store, exchange] {
        // The exchange of AArch64 without `casal` is a loop.
        let loops = usize::from(one.code.iter().any(|line| line.starts_with("stlxr")));
        assert_eq!((one.reads, one.jumps), (1, 1 + 2 * loops), "{:#?}", one.code);
    }
}

/// Other threads see the reference no later than its card, and no earlier than what was written
/// before.
#[test]
fn a_store_publishes_the_reference_and_then_its_card() {
    let store = in_line(|builder, heap, arguments| {
        heap.store(builder, arguments[1], LEFT, arguments[2]);
        arguments[0]
    });
    let releases: Vec<&str> = store
        .code
        .iter()
        .filter_map(|line| line.split(' ').next().filter(|name| name.starts_with("stl")))
        .collect();
    if cfg!(target_arch = "x86_64") {
        let fence = |line: &String| line.contains("fence") || line.contains("lock") || line.contains("xchg");
        assert!(!store.code.iter().any(fence), "stores are in order already: {:#?}", store.code);
    } else {
        assert_eq!(releases, ["stlr", "stlrb"], "{:#?}", store.code);
    }
}
