//! The same allocations in Cranelift's intermediate form, for embedders whose compiler is Cranelift. Feature `cranelift`.
//!
//! | to | use |
//! |---|---|
//! | allocate, store, load, poll in a function that is being built | [`Lowering`] |
//! | let a collection find the function's references | [`FunctionMaps`], [`StackMaps`] |
//! | have both in one step, with `cranelift-jit` | [`Program`] |
//!
//! What is allocated is said as it is to the [`Emitter`](crate::Emitter): an [`Allocation`](crate::Allocation) with a header and
//! a size. Registers are Cranelift's own business here; a size that is not a constant is a value.
//!
//! # No prefetch
//!
//! Cranelift has no instruction that prefetches, so `AllocatePrefetch` options say nothing here. In its place memory is
//! zeroed a window ahead, which brings it to the first-level cache before it is used: [`Initialise::Ahead`](crate::Initialise) is
//! the default of this form. Who wants HotSpot's prefetches calls a [`stub`](crate::Emitter::stub):
//! [`Lowering::allocate_by_stub`].
//!
//! # References
//!
//! Objects move in the call of a slow path. Cranelift spills values that were declared to need a stack map around every
//! call, and loads them again behind it; what [`Lowering`] allocates and loads is declared. The embedder declares the
//! others: a function's parameters, results of its own calls
//! ([`declare_value_needs_stack_map`](cranelift_frontend::FunctionBuilder::declare_value_needs_stack_map)), and variables
//! ([`declare_var_needs_stack_map`](cranelift_frontend::FunctionBuilder::declare_var_needs_stack_map)). What is computed from a
//! reference, such as a slot's address, must not live across a call.
//!
//! While a thread is in a slow path, its hot part says which frame it called from. [`StackMaps`] looks the frame's return address
//! up, visits the slots, and goes on with its callers through their frame pointers until one is no function that it knows.
//! Generated code may call functions of the embedder's in Rust, but must not be on the stack below one that reaches a
//! safepoint by itself: the walk ends at the Rust frame, and what lies beyond it is not visited. [`StackMaps::add`] has this
//! as predicates.
//!
//! ```
//! use allotment::{Heap, raw::{Hot, Shape, SlotKind}};
//! use allotment_jit::{Allocation, cranelift::{Lowering, Program}};
//! use cranelift_codegen::{ir::{AbiParam, InstBuilder, MemFlagsData, types::I64}, isa::CallConv};
//! use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
//! use cranelift_module::{Linkage, Module};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Everything moves at each allocation.
//! let heap = Heap::builder().max_heap_size(16 << 20).options("ZealInterval=1,+ZealMove")?.build()?;
//! let cell = heap.register(Shape::fixed("Cell", 16).slot("next", 8, SlotKind::Strong))?;
//! let mut program = Program::new(&[])?;
//! heap.add_root_provider(Box::new(program.stack_maps().clone()));
//!
//! // Two cells, of which the second refers to the first; 0 where the heap has no room.
//! let mut context = program.module().make_context();
//! context.func.signature.call_conv = CallConv::SystemV;
//! context.func.signature.params.push(AbiParam::new(I64));
//! context.func.signature.returns.push(AbiParam::new(I64));
//! let two = program.module().declare_function("two", Linkage::Local, &context.func.signature)?;
//! let mut builders = FunctionBuilderContext::new();
//! let mut builder = FunctionBuilder::new(&mut context.func, &mut builders);
//! let entry = builder.create_block();
//! builder.append_block_params_for_function_params(entry);
//! builder.switch_to_block(entry);
//! let out_of_memory = builder.create_block();
//!
//! let mut lowering = Lowering::new(builder.block_params(entry)[0]);
//! let one = [Allocation::object(cell)?];
//! let first = lowering.allocate(&mut builder, &one, out_of_memory)?[0];
//! let second = lowering.allocate(&mut builder, &one, out_of_memory)?[0];
//! // A new object's slot needs no barrier; `lowering.store` has one.
//! builder.ins().store(MemFlagsData::trusted(), first, second, 8);
//! builder.ins().return_(&[second]);
//!
//! builder.switch_to_block(out_of_memory);
//! let none = builder.ins().iconst(I64, 0);
//! builder.ins().return_(&[none]);
//! builder.seal_all_blocks();
//! builder.finalize(program.module().isa().frontend_config());
//! program.define(two, &mut context)?;
//! program.finish()?;
//!
//! let code = program.module().get_finalized_function(two);
//! heap.attach(|mutator| {
//!     // SAFETY: a function of a mutator that returns an address.
//!     let two: unsafe extern "C" fn(*const Hot) -> *const [u64; 2] = unsafe { std::mem::transmute(code) };
//!     // SAFETY: this thread's hot part. Every reference was declared, and calls are those of the lowering.
//!     let second = unsafe { two(mutator.hot()) };
//!     // SAFETY: a new object of two words.
//!     let [header, first] = unsafe { *second };
//!     assert_eq!(header, cell.header().bits());
//!     assert_ne!(first, 0);
//! })?;
//! heap.verify()?;
//! # Ok(())
//! # }
//! ```

mod allocate;
mod lowering;
mod program;
mod stack_maps;
mod zeroes;

pub use lowering::{Callee, Calls, Lowering};
pub use program::{Program, ProgramError};
pub use stack_maps::{FunctionMaps, StackMapError, StackMaps};
