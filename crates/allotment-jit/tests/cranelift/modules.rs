//! The embedder's own modules: slow paths that are symbols, and stack maps that are added and
//! removed by hand.

use crate::kit::{
    COLLECTORS, Kit, LEFT, NUMBER, RIGHT, ZEAL, define_list, get, heap, new_node, node, number, numbers, set,
    word,
};
use allotment::Heap;
use allotment::raw::{Element, GeneratedCalls, Hot, Shape};
use allotment_jit::cranelift::{Callee, Calls, FunctionMaps, Lowering, Program, StackMapError, StackMaps};
use allotment_jit::{Allocation, CodeBuffer, Emitter, Initialise, Machine};
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::CallConv;
use cranelift_module::{Linkage, Module};
use std::mem::transmute;

#[test]
fn slow_paths_may_be_symbols() {
    let library = GeneratedCalls::new();
    let symbols = [
        ("allocate", library.allocate as *const u8),
        ("allocate_zeroed", library.allocate_zeroed as *const u8),
        ("allocate_array", library.allocate_array as *const u8),
        ("allocate_array_zeroed", library.allocate_array_zeroed as *const u8),
        ("safepoint", library.safepoint as *const u8),
    ];
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::of(&heap, Program::new(&symbols).unwrap());
        // `pair(mutator)`: a node with another one to its left.
        let pair = kit.function("pair", 1, |kit, builder, heap, _| {
            let mut import = |name, arguments, results| {
                let mut signature = Signature::new(CallConv::SystemV);
                signature.params = vec![AbiParam::new(I64); arguments];
                signature.returns = vec![AbiParam::new(I64); results];
                let module = kit.program.module();
                let function = module.declare_function(name, Linkage::Import, &signature).unwrap();
                Callee::Function(module.declare_func_in_func(function, builder.func))
            };
            let calls = Calls {
                allocate: import("allocate", 2, 1),
                allocate_zeroed: import("allocate_zeroed", 2, 1),
                allocate_array: import("allocate_array", 4, 1),
                allocate_array_zeroed: import("allocate_array_zeroed", 4, 1),
                safepoint: import("safepoint", 1, 0),
                load_hook: None,
            };
            heap.calls(calls);
            let no_room = builder.create_block();
            let (one, two) = (number(builder, 1), number(builder, 2));
            let first = new_node(builder, heap, shape, two, no_room);
            heap.poll(builder);
            let second = new_node(builder, heap, shape, one, no_room);
            set(builder, second, LEFT, first);
            builder.ins().return_(&[second]);
            builder.switch_to_block(no_room);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            // SAFETY: this thread's hot part.
            let head = unsafe { ready.get(pair)(mutator.raw().hot(), 0, 0) };
            assert_eq!(numbers(head), [1, 2], "{collector}");
        })
        .unwrap();
    }
}

#[test]
fn stubs_that_prefetch_may_be_called() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL},AllocatePrefetchStyle=3"));
        let shape = node(&heap);
        let words = heap.register(Shape::array("Words", 16, Element::Plain { bytes: 8 })).unwrap();
        let emitter = Emitter::for_heap(&heap);
        let nodes = emitter.stub(Allocation::object(shape).unwrap(), Initialise::PerObject).unwrap();
        let arrays = Allocation::array_in(words, Machine::HOST.second_argument()).unwrap();
        let arrays = emitter.stub(arrays, Initialise::PerObject).unwrap();
        let maps = [&nodes, &arrays].map(FunctionMaps::of_stub);
        let mut buffer = CodeBuffer::default();
        let ids = [buffer.add("new_node", nodes), buffer.add("new_words", arrays)];
        let code = buffer.finish(|_| None).unwrap();
        let [new_node, new_words] = ids.map(|id| Callee::Address(code.entry(id).addr()));
        let mut kit = Kit::new(&heap);
        for (function, maps) in code.functions().iter().zip(maps) {
            // SAFETY: the cold part of the stub that the maps were made of.
            unsafe { kit.program.stack_maps().add(function.cold_address, maps) };
        }
        // `pair(mutator)`: a node with another one to its left.
        let pair = kit.function("pair", 1, |_, builder, heap, _| {
            let no_room = builder.create_block();
            let (one, two) = (number(builder, 1), number(builder, 2));
            let first = heap.allocate_by_stub(builder, new_node, None, no_room);
            set(builder, first, NUMBER, two);
            let second = heap.allocate_by_stub(builder, new_node, None, no_room);
            set(builder, second, NUMBER, one);
            heap.store(builder, second, LEFT, first);
            let three = number(builder, 3);
            let words = heap.allocate_by_stub(builder, new_words, Some(three), no_room);
            heap.store(builder, second, RIGHT, words);
            builder.ins().return_(&[second]);
            builder.switch_to_block(no_room);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            // SAFETY: this thread's hot part.
            let head = unsafe { ready.get(pair)(mutator.raw().hot(), 0, 0) };
            assert_eq!(numbers(head), [1, 2], "{collector}");
            assert_eq!(word(word(head, RIGHT), 8), 3);
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

/// Compiles the list without the program's stack maps. Returns its maps and the function.
fn list_by_hand(heap: &Heap) -> (Kit, FunctionMaps, unsafe extern "C" fn(*const Hot, usize, usize) -> usize) {
    let shape = node(heap);
    let mut kit = Kit::of(heap, Program::new(&[]).unwrap());
    let list = kit.declare("list", 3);
    let mut context = kit.built(list, |_, builder, heap, arguments| {
        crate::kit::build_list(builder, heap, arguments, shape);
    });
    let module = kit.program.module();
    module.define_function(list, &mut context).unwrap();
    module.finalize_definitions().unwrap();
    let maps = FunctionMaps::new(context.compiled_code().unwrap()).unwrap();
    let address = module.get_finalized_function(list);
    // SAFETY: a function of this signature.
    let list =
        unsafe { transmute::<*const u8, unsafe extern "C" fn(*const Hot, usize, usize) -> usize>(address) };
    (kit, maps, list)
}

#[test]
fn maps_may_be_added_and_removed_by_hand() {
    let heap = heap(&format!("Collector=parallel,{ZEAL}"));
    let (_kit, found, list) = list_by_hand(&heap);
    let calls: Vec<_> = found.calls().collect();
    let [(return_offset, slots)] = calls[..] else { panic!("one call with references: {calls:?}") };
    assert!((1..found.bytes()).contains(&return_offset));
    assert!(matches!(slots, [below] if below.is_multiple_of(8) && *below >= 8), "{slots:?}");
    let maps = StackMaps::default();
    heap.add_root_provider(Box::new(maps.clone()));
    let address = list as usize;
    // SAFETY: the maps of that function, which calls nothing but the library.
    unsafe { maps.add(address, found) };
    heap.attach(|mutator| {
        let mut left = 0_usize;
        // SAFETY: this thread's hot part, and an address to write to.
        let head = unsafe { list(mutator.raw().hot(), 20, (&raw mut left).expose_provenance()) };
        assert_eq!(numbers(head), (1..=20).collect::<Vec<_>>());
    })
    .unwrap();
    // SAFETY: no thread is in it.
    assert!(unsafe { maps.remove(address) });
    // SAFETY: as above.
    assert!(!unsafe { maps.remove(address) });
}

#[test]
fn what_is_no_reference_has_no_stack_map() {
    let heap = heap("");
    let mut kit = Kit::new(&heap);
    let half = kit.declare("half", 2);
    let mut context = kit.built(half, |_, builder, heap: &mut Lowering, arguments| {
        let value = builder.ins().ireduce(I32, arguments[1]);
        builder.declare_value_needs_stack_map(value);
        heap.poll(builder);
        let value = builder.ins().uextend(I64, value);
        builder.ins().return_(&[value]);
    });
    let refused = kit.program.define(half, &mut context).unwrap_err();
    assert!(refused.to_string().contains("i32"), "{refused}");
    let code = context.compiled_code().unwrap();
    assert_eq!(FunctionMaps::new(code), Err(StackMapError::NoReference(I32)));
}

#[test]
fn references_may_be_passed_in_and_loaded() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = define_list(&mut kit, shape);
        // `tail(mutator, list)`: the rest of the list after its head, loaded after an
        // allocation.
        let tail = kit.function("tail", 2, |_, builder, heap, arguments| {
            let no_room = builder.create_block();
            builder.declare_value_needs_stack_map(arguments[1]);
            let next = heap.load(builder, arguments[1], LEFT);
            let zero = number(builder, 0);
            new_node(builder, heap, shape, zero, no_room);
            let again = get(builder, arguments[1], LEFT);
            // 0 if both are equal.
            let difference = builder.ins().bxor(next, again);
            let result = builder.ins().iadd(next, difference);
            builder.ins().return_(&[result]);
            builder.switch_to_block(no_room);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let both = kit.function("both", 3, |kit, builder, _, arguments| {
            let (list, tail) = (kit.callee(builder, list), kit.callee(builder, tail));
            let head = builder.ins().call(list, arguments);
            let head = builder.inst_results(head)[0];
            let rest = builder.ins().call(tail, &[arguments[0], head]);
            let rest = builder.inst_results(rest)[0];
            builder.ins().return_(&[rest]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            let mut left = 0_usize;
            // SAFETY: this thread's hot part, and an address to write to.
            let rest =
                unsafe { ready.get(both)(mutator.raw().hot(), 5, (&raw mut left).expose_provenance()) };
            assert_eq!(numbers(rest), [2, 3, 4, 5], "{collector}");
        })
        .unwrap();
    }
}
