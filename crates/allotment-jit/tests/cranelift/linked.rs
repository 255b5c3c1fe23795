//! Lists and trees that are built while all objects move: their references are found in one frame,
//! and in many.

use crate::kit::{
    COLLECTORS, Kit, LEFT, NUMBER, RIGHT, ZEAL, build_list, heap, new_node, node, number, numbers, repeat,
    set, word,
};
use allotment::raw::{Element, Shape, ShapeRef, SlotKind};
use allotment_jit::{Allocation, Initialise};
use cranelift_codegen::ir::InstBuilder;
use cranelift_frontend::FunctionBuilder;
use cranelift_module::FuncId;
use std::ptr;

/// `moved(mutator, at)`: a node whose left one was at the address that is stored at `at`.
fn define_moved(kit: &mut Kit, shape: ShapeRef) -> FuncId {
    kit.function("moved", 2, |_, builder, heap, arguments| {
        let no_room = builder.create_block();
        let zero = number(builder, 7);
        let first = new_node(builder, heap, shape, zero, no_room);
        set(builder, arguments[1], 0, first);
        let second = new_node(builder, heap, shape, zero, no_room);
        set(builder, second, LEFT, first);
        builder.ins().return_(&[second]);
        builder.switch_to_block(no_room);
        let none = number(builder, 0);
        builder.ins().return_(&[none]);
    })
}

#[test]
fn a_reference_that_lives_across_an_allocation_is_updated() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let moved = define_moved(&mut kit, shape);
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            let mut before = 0_usize;
            // SAFETY: this thread's hot part, and an address to write to.
            let second =
                unsafe { ready.get(moved)(mutator.raw().hot(), (&raw mut before).expose_provenance(), 0) };
            let first = word(second, LEFT);
            assert_ne!(first, before, "{collector}: everything moves");
            assert_eq!(word(first, NUMBER), 7);
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

/// The policies that leave zeroes in unwritten words.
const ZEROES: [Initialise; 2] = [Initialise::PerObject, Initialise::Ahead];

#[test]
fn lists_are_intact() {
    for (collector, initialise) in COLLECTORS.into_iter().flat_map(|one| ZEROES.map(|two| (one, two))) {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let list = kit.function("list", 3, |_, builder, heap, arguments| {
            heap.initialise(initialise);
            build_list(builder, heap, arguments, shape);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            let collections = heap.collections().count;
            for count in [0, 1, 2, 100] {
                let mut left = usize::MAX;
                // SAFETY: this thread's hot part, and an address to write to.
                let head = unsafe {
                    ready.get(list)(mutator.raw().hot(), count, (&raw mut left).expose_provenance())
                };
                assert_eq!((numbers(head), left), ((1..=count).collect(), 0), "{collector} {initialise:?}");
            }
            assert!(heap.collections().count >= collections + 103, "{collector}: one for each node");
        })
        .unwrap();
    }
}

#[test]
fn arrays_of_references_are_intact_while_they_are_filled() {
    for (collector, initialise) in COLLECTORS.into_iter().flat_map(|one| ZEROES.map(|two| (one, two))) {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let references =
            heap.register(Shape::array("References", 16, Element::Reference(SlotKind::Strong))).unwrap();
        let mut kit = Kit::new(&heap);
        // `filled(mutator, count)`: an array of nodes with the numbers from 0 on, filled from its
        // end on.
        let filled = kit.function("filled", 2, |_, builder, heap, arguments| {
            let no_room = builder.create_block();
            heap.initialise(initialise);
            let array = heap.allocate_array(builder, references, arguments[1], no_room).unwrap();
            repeat(builder, arguments[1], |builder, index| {
                let object = new_node(builder, heap, shape, index, no_room);
                // After the allocation: an address within an object must not live across one.
                let bytes = builder.ins().ishl_imm_u(index, 3);
                let element = builder.ins().iadd(array, bytes);
                heap.store(builder, element, 16, object);
            });
            builder.ins().return_(&[array]);
            builder.switch_to_block(no_room);
            let none = number(builder, 0);
            builder.ins().return_(&[none]);
        });
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            for count in [0, 1, 70, 300] {
                // SAFETY: this thread's hot part.
                let array = unsafe { ready.get(filled)(mutator.raw().hot(), count, 0) };
                assert_eq!(word(array, 8), count);
                let found: Vec<usize> =
                    (0..count).map(|index| word(word(array, 16 + 8 * index as i32), NUMBER)).collect();
                assert_eq!(found, (0..count).collect::<Vec<_>>(), "{collector} {initialise:?}");
            }
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

/// `tree(mutator, depth, number)`: a tree in which the nodes below `number` are `2 * number` and
/// `2 * number + 1`.
fn define_tree(kit: &mut Kit, shape: ShapeRef) -> FuncId {
    // With 9 numbers some are passed on the stack, between a frame's slots and its stack pointer.
    let inner = kit.declare("inner", 9);
    kit.define(inner, |kit, builder, heap, arguments| {
        let (mutator, depth, path) = (arguments[0], arguments[1], arguments[8]);
        let (some, leaf) = (builder.create_block(), builder.create_block());
        builder.ins().brif(depth, some, &[], leaf, &[]);
        builder.switch_to_block(some);
        let this = kit.callee(builder, inner);
        let depth = builder.ins().iadd_imm_s(depth, -1);
        let branch = |builder: &mut FunctionBuilder<'_>, path| {
            let call = builder.ins().call(this, &[mutator, depth, path, path, path, path, path, path, path]);
            let branch = builder.inst_results(call)[0];
            builder.declare_value_needs_stack_map(branch);
            branch
        };
        let left_path = builder.ins().ishl_imm_u(path, 1);
        let left = branch(builder, left_path);
        let right_path = builder.ins().iadd_imm_s(left_path, 1);
        let right = branch(builder, right_path);
        let object = new_node(builder, heap, shape, path, leaf);
        set(builder, object, LEFT, left);
        set(builder, object, RIGHT, right);
        builder.ins().return_(&[object]);
        builder.switch_to_block(leaf);
        let none = number(builder, 0);
        builder.ins().return_(&[none]);
    });
    kit.function("tree", 3, |kit, builder, _, arguments| {
        let inner = kit.callee(builder, inner);
        let path = arguments[2];
        let all = [arguments, &[path; 6]].concat();
        let tree = builder.ins().call(inner, &all);
        let tree = builder.inst_results(tree)[0];
        builder.ins().return_(&[tree]);
    })
}

/// Checks a tree against its definition; its nodes.
fn check_tree(at: usize, depth: usize, path: usize) -> usize {
    if depth == 0 {
        assert_eq!(at, 0);
        return 0;
    }
    assert_eq!(word(at, NUMBER), path);
    let children = [(LEFT, 2 * path), (RIGHT, 2 * path + 1)];
    1 + children.map(|(slot, path)| check_tree(word(at, slot), depth - 1, path)).iter().sum::<usize>()
}

#[test]
fn trees_are_intact_though_their_branches_lie_in_many_frames() {
    for collector in COLLECTORS {
        let heap = heap(&format!("{collector},{ZEAL}"));
        let shape = node(&heap);
        let mut kit = Kit::new(&heap);
        let tree = define_tree(&mut kit, shape);
        let mut ready = kit.ready();
        heap.attach(|mutator| {
            for depth in [1, 2, 8] {
                // SAFETY: this thread's hot part.
                let root = unsafe { ready.get(tree)(mutator.raw().hot(), depth, 1) };
                assert_eq!(check_tree(root, depth, 1), (1 << depth) - 1, "{collector}");
            }
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn folded_allocations_lie_one_behind_the_other_and_move_apart() {
    for collector in COLLECTORS {
        for initialise in [Initialise::ByCaller, Initialise::PerObject, Initialise::Ahead] {
            let heap = heap(&format!("{collector},{ZEAL}"));
            let shape = node(&heap);
            let mut kit = Kit::new(&heap);
            // `three(mutator, at)`: a node with two others; `at` receives the first addresses of
            // the three.
            let three = kit.function("three", 2, |_, builder, heap, arguments| {
                let no_room = builder.create_block();
                let one = Allocation::object(shape).unwrap();
                heap.initialise(initialise);
                let nodes = heap.allocate(builder, &[one, one, one], no_room).unwrap();
                for (index, node) in nodes.iter().enumerate() {
                    let zero = number(builder, 0);
                    let value = number(builder, 100 + index as i64);
                    set(builder, *node, LEFT, zero);
                    set(builder, *node, RIGHT, zero);
                    set(builder, *node, NUMBER, value);
                    set(builder, arguments[1], index as i32 * 8, *node);
                }
                heap.allocate(builder, &[one], no_room).unwrap().iter().for_each(|garbage| {
                    let zero = number(builder, 0);
                    set(builder, *garbage, LEFT, zero);
                    set(builder, *garbage, RIGHT, zero);
                });
                heap.store(builder, nodes[0], LEFT, nodes[1]);
                heap.store(builder, nodes[0], RIGHT, nodes[2]);
                builder.ins().return_(&[nodes[0]]);
                builder.switch_to_block(no_room);
                let none = number(builder, 0);
                builder.ins().return_(&[none]);
            });
            let mut ready = kit.ready();
            heap.attach(|mutator| {
                let mut before = [0_usize; 3];
                let at = ptr::from_mut(&mut before).expose_provenance();
                // SAFETY: this thread's hot part, and an address to write to.
                let root = unsafe { ready.get(three)(mutator.raw().hot(), at, 0) };
                assert_eq!((before[1] - before[0], before[2] - before[0]), (32, 64));
                assert_ne!(root, before[0]);
                let numbers = [root, word(root, LEFT), word(root, RIGHT)].map(|node| word(node, NUMBER));
                assert_eq!(numbers, [100, 101, 102], "{collector} {initialise:?}");
            })
            .unwrap();
            heap.verify().unwrap();
        }
    }
}
