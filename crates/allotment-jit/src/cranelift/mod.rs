//! Allocations, barriers and polls as Cranelift IR, for embedders whose compiler is Cranelift.
//! Feature `cranelift`.
//!
//! | to | use |
//! |---|---|
//! | allocate, store, load, exchange, poll in a function that is being built | [`Lowering`] |
//! | let a collection find the function's references | [`FunctionMaps`], [`StackMaps`] |
//! | have both in one step, with `cranelift-jit` | [`Program`] |
//!
//! An allocation is described as for the [`Emitter`](crate::Emitter): an
//! [`Allocation`](crate::Allocation) with a header and a size. Cranelift assigns the registers
//! itself; a size that is not a constant is a value.
//!
//! # No prefetch
//!
//! Cranelift has no prefetch instruction, so `AllocatePrefetch` options have no effect here.
//! Instead, memory is zeroed a window ahead, which brings it into the first-level cache before its
//! use: [`Initialise::Ahead`](crate::Initialise) is the default of this form. An embedder that
//! wants HotSpot's prefetches calls a [`stub`](crate::Emitter::stub):
//! [`Lowering::allocate_by_stub`].
//!
//! # References
//!
//! Objects move in the call of a slow path. Around every call, Cranelift spills the values that
//! were declared to need a stack map, and loads them again after it. Values that [`Lowering`]
//! allocates and loads are declared. The embedder declares the others: a function's parameters,
//! results of its own calls ([`declare_value_needs_stack_map`][values]), and variables
//! ([`declare_var_needs_stack_map`][variables]). A value computed from a reference, such as a
//! slot's address, must not live across a call.
//!
//! While a thread is in a slow path, its hot part names the frame that made the call. [`StackMaps`]
//! looks up the frame's return address and visits the slots. It goes on with the callers through
//! their frame pointers until it meets an unknown function. Generated code may call the embedder's
//! functions in Rust. But it must not be on the stack below a Rust function that reaches a
//! safepoint by itself: the walk ends at the Rust frame, and the frames beyond it are not visited.
//! [`StackMaps::add`] states this as predicates.
//!
//! [values]: cranelift_frontend::FunctionBuilder::declare_value_needs_stack_map
//! [variables]: cranelift_frontend::FunctionBuilder::declare_var_needs_stack_map
//!
//! ```
//! use allotment::{Heap, raw::{Hot, Shape, SlotKind}};
//! use allotment_jit::{Allocation, cranelift::{Lowering, Program}};
//! use cranelift_codegen::{ir::{AbiParam, InstBuilder, MemFlagsData, types::I64}, isa::CallConv};
//! use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
//! use cranelift_module::{Linkage, Module};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Everything moves at each allocation.
//! let heap =
//!     Heap::builder().max_heap_size(16 << 20).options("ZealInterval=1,+ZealMove")?.build()?;
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
//! let mut lowering = Lowering::new(program.module().isa(), builder.block_params(entry)[0]);
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
//!     let two: unsafe extern "C" fn(*const Hot) -> *const [u64; 2] =
//!         unsafe { std::mem::transmute(code) };
//!     // SAFETY: this thread's hot part. Every reference was declared, and calls are those of the
//!     // lowering.
//!     let second = unsafe { two(mutator.raw().hot()) };
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
mod barriers;
mod lowering;
mod program;
mod stack_maps;
mod zeroes;

pub use lowering::{Callee, Calls, Lowering};
pub use program::{Program, ProgramError};
pub use stack_maps::{FunctionMaps, StackMapError, StackMaps};
