//! The common parts of the tests: heaps, functions that are built and run, and the shape of a node.

use allotment::Heap;
use allotment::raw::{Hot, Shape, ShapeRef, SlotKind};
use allotment_jit::Allocation;
use allotment_jit::cranelift::{Lowering, Program};
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module};
use std::mem::transmute;
use std::ptr;

/// Everything moves at each allocation, and is checked.
pub(crate) const ZEAL: &str = "ZealInterval=1,+ZealMove,+VerifyAfterGC";

/// The collectors that move objects.
pub(crate) const COLLECTORS: [&str; 2] = ["Collector=parallel", "Collector=mark-compact"];

pub(crate) fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(16 << 20).use_transparent_huge_pages(false);
    builder.options(options).expect(options).build().expect(options)
}

/// Two references and a number, in words 1 to 3.
pub(crate) fn node(heap: &Heap) -> ShapeRef {
    let shape = Shape::fixed("Node", 32).slot("left", 8, SlotKind::Strong);
    heap.register(shape.slot("right", 16, SlotKind::Strong)).unwrap()
}

pub(crate) const LEFT: i32 = 8;
pub(crate) const RIGHT: i32 = 16;
pub(crate) const NUMBER: i32 = 24;

/// Functions of 1 to 3 numbers, the first one a mutator.
pub(crate) struct Kit {
    pub(crate) program: Program,
}

impl Kit {
    /// Functions that allocate from that heap.
    pub(crate) fn new(heap: &Heap) -> Kit {
        Kit::of(heap, Program::new(&[]).unwrap())
    }

    /// As `new`, in a program that knows symbols.
    pub(crate) fn of(heap: &Heap, program: Program) -> Kit {
        heap.add_root_provider(Box::new(program.stack_maps().clone()));
        Kit { program }
    }

    pub(crate) fn signature(arguments: usize) -> Signature {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(I64); arguments];
        signature.returns = vec![AbiParam::new(I64)];
        signature
    }

    /// A function that is defined later.
    pub(crate) fn declare(&mut self, name: &str, arguments: usize) -> FuncId {
        let signature = Kit::signature(arguments);
        self.program.module().declare_function(name, Linkage::Local, &signature).unwrap()
    }

    /// The function as another one calls it.
    pub(crate) fn callee(&mut self, builder: &mut FunctionBuilder<'_>, function: FuncId) -> FuncRef {
        self.program.module().declare_func_in_func(function, builder.func)
    }

    /// Defines a function that was declared.
    pub(crate) fn define(
        &mut self,
        function: FuncId,
        build: impl FnOnce(&mut Kit, &mut FunctionBuilder<'_>, &mut Lowering, &[Value]),
    ) {
        let mut context = self.built(function, build);
        self.program.define(function, &mut context).unwrap();
    }

    /// Builds a function that was declared: from its arguments on, up to its last return.
    pub(crate) fn built(
        &mut self,
        function: FuncId,
        build: impl FnOnce(&mut Kit, &mut FunctionBuilder<'_>, &mut Lowering, &[Value]),
    ) -> Context {
        let mut context = self.program.module().make_context();
        let module = self.program.module();
        context.func.signature = module.declarations().get_function_decl(function).signature.clone();
        let mut builders = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut builders);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let arguments = builder.block_params(entry).to_vec();
        let mut lowering = Lowering::new(self.program.module().isa(), arguments[0]);
        build(self, &mut builder, &mut lowering, &arguments);
        builder.seal_all_blocks();
        builder.finalize(self.program.module().isa().frontend_config());
        context
    }

    /// Declares and builds a function.
    pub(crate) fn function(
        &mut self,
        name: &str,
        arguments: usize,
        build: impl FnOnce(&mut Kit, &mut FunctionBuilder<'_>, &mut Lowering, &[Value]),
    ) -> FuncId {
        let function = self.declare(name, arguments);
        self.define(function, build);
        function
    }

    /// Functions that can run.
    pub(crate) fn ready(mut self) -> Ready {
        self.program.finish().unwrap();
        Ready { program: self.program }
    }
}

/// Functions that can run.
pub(crate) struct Ready {
    program: Program,
}

impl Ready {
    /// A function of a mutator and two more numbers, of which it may take fewer.
    ///
    /// # Safety
    /// - It is called as the function wants it, with this thread's hot part.
    pub(crate) unsafe fn get(
        &mut self,
        function: FuncId,
    ) -> unsafe extern "C" fn(*const Hot, usize, usize) -> usize {
        let address = self.program.module().get_finalized_function(function);
        // SAFETY: all functions take numbers in registers, of which a callee may leave some unread,
        // and return one.
        unsafe { transmute(address) }
    }
}

impl Ready {
    /// Gives the code's memory back; else it stays.
    pub(crate) fn free(self) {
        // SAFETY: the functions were called through `self` only, and all calls have returned.
        unsafe { self.program.free() };
    }
}

/// A word of an object, an array or memory of the test's.
pub(crate) fn word(address: usize, offset: i32) -> usize {
    // SAFETY: tests give addresses of live objects, between safepoints.
    unsafe { ptr::with_exposed_provenance::<u8>(address).add(offset as usize).cast::<usize>().read() }
}

/// Stores a number, or a reference to a new object.
pub(crate) fn set(builder: &mut FunctionBuilder<'_>, object: Value, offset: i32, value: Value) {
    builder.ins().store(MemFlagsData::trusted(), value, object, offset);
}

/// Loads a number.
pub(crate) fn get(builder: &mut FunctionBuilder<'_>, object: Value, offset: i32) -> Value {
    builder.ins().load(I64, MemFlagsData::trusted(), object, offset)
}

pub(crate) fn number(builder: &mut FunctionBuilder<'_>, number: i64) -> Value {
    builder.ins().iconst(I64, number)
}

/// A node in which only the number is not 0.
pub(crate) fn new_node(
    builder: &mut FunctionBuilder<'_>,
    heap: &mut Lowering,
    shape: ShapeRef,
    value: Value,
    no_room: Block,
) -> Value {
    let object = heap.allocate(builder, &[Allocation::object(shape).unwrap()], no_room).unwrap()[0];
    set(builder, object, NUMBER, value);
    object
}

/// `list(mutator, count, left)`: a list of nodes with the numbers 1 to `count`, from its head on.
/// If the heap has no room, the list is as long as possible, and `left` receives the number of
/// missing nodes.
pub(crate) fn define_list(kit: &mut Kit, shape: ShapeRef) -> FuncId {
    kit.function("list", 3, |_, builder, heap, arguments| build_list(builder, heap, arguments, shape))
}

/// The body of `list`.
pub(crate) fn build_list(
    builder: &mut FunctionBuilder<'_>,
    heap: &mut Lowering,
    arguments: &[Value],
    shape: ShapeRef,
) {
    let (head, left) = (builder.declare_var(I64), builder.declare_var(I64));
    builder.declare_var_needs_stack_map(head);
    let none = number(builder, 0);
    builder.def_var(head, none);
    builder.def_var(left, arguments[1]);
    let (more, body, done) = (builder.create_block(), builder.create_block(), builder.create_block());
    builder.ins().jump(more, &[]);
    builder.switch_to_block(more);
    let missing = builder.use_var(left);
    builder.ins().brif(missing, body, &[], done, &[]);
    builder.switch_to_block(body);
    let object = new_node(builder, heap, shape, missing, done);
    let next = builder.use_var(head);
    set(builder, object, LEFT, next);
    builder.def_var(head, object);
    let missing = builder.ins().iadd_imm_s(missing, -1);
    builder.def_var(left, missing);
    builder.ins().jump(more, &[]);
    builder.switch_to_block(done);
    let missing = builder.use_var(left);
    set(builder, arguments[2], 0, missing);
    let head = builder.use_var(head);
    builder.ins().return_(&[head]);
}

/// The numbers of a list.
pub(crate) fn numbers(mut at: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    while at != 0 {
        numbers.push(word(at, NUMBER));
        at = word(at, LEFT);
    }
    numbers
}

/// Runs `body` with numbers from `count - 1` down to 0.
pub(crate) fn repeat(
    builder: &mut FunctionBuilder<'_>,
    count: Value,
    body: impl FnOnce(&mut FunctionBuilder<'_>, Value),
) {
    let left = builder.declare_var(I64);
    builder.def_var(left, count);
    let (more, turn, done) = (builder.create_block(), builder.create_block(), builder.create_block());
    builder.ins().jump(more, &[]);
    builder.switch_to_block(more);
    let missing = builder.use_var(left);
    let some = builder.ins().icmp_imm_s(IntCC::NotEqual, missing, 0);
    builder.ins().brif(some, turn, &[], done, &[]);
    builder.switch_to_block(turn);
    let missing = builder.ins().iadd_imm_s(missing, -1);
    builder.def_var(left, missing);
    body(builder, missing);
    builder.ins().jump(more, &[]);
    builder.switch_to_block(done);
}
