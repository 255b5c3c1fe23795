//! The allocation sequence in Cranelift's form. It is the emitter's sequence without the prefetch,
//! for which Cranelift has no instruction.
//!
//! ```text
//! object = load mutator + top
//! top    = object + BYTES
//! brif top > load mutator + zeroed limit, slow, fast
//! fast:  store top; jump made(object)
//! slow:  object = call allocate_zeroed; brif object, made(object), out of memory       cold
//! made(object): header, length
//! ```
//!
//! Cranelift generates the emitter's code with one more instruction: it loads the limit into a
//! register before the compare.
//!
//! Refused: a load in place of a prefetch. It faults beyond the heap's end, and waits where a
//! prefetch does not.

use super::lowering::{Callee, Lowering, cold, enter, leave_above, offset_by, trusted};
use super::zeroes;
use crate::EmitError;
use crate::allocation::{Allocation, Initialise, MAX_INLINE_BYTES, Size, always_whole, fold, longest_inline};
use allotment::raw::{Header, Hot, LENGTH_OFFSET, ShapeRef, WORD};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;

/// The contents of one bump.
struct Bump<'a> {
    first: Allocation<Value>,
    all: &'a [Allocation<Value>],
    total: Option<usize>,
    offsets: Vec<usize>,
}

impl Lowering {
    /// Allocates objects of constant sizes and returns their addresses. Several objects are one
    /// bump and one compare, and follow each other in memory.
    ///
    /// If there is no room, the function continues in `out_of_memory`, a block without parameters.
    /// The call of the slow path is a safepoint. The objects are declared to need a stack map.
    ///
    /// # Errors
    /// [`EmitError`], and then nothing was built; [`EmitError::InRegister`] for an allocation whose
    /// size is in a register.
    pub fn allocate(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        allocations: &[Allocation],
        out_of_memory: Block,
    ) -> Result<Vec<Value>, EmitError> {
        let constant = |allocation: &Allocation| match allocation.size {
            Size::Constant { bytes, length } => {
                Ok(Allocation { header: allocation.header, size: Size::Constant { bytes, length } })
            }
            Size::Bytes { place } | Size::Length { place, .. } => Err(EmitError::InRegister(place)),
        };
        let all: Vec<Allocation<Value>> = allocations.iter().map(constant).collect::<Result<_, _>>()?;
        let (first, total, offsets) = fold(&all)?;
        Ok(self.bump(builder, &Bump { first, all: &all, total, offsets }, out_of_memory))
    }

    /// Allocates an array of `length` elements, an `i64`, and returns its address. The rest is as
    /// in [`allocate`](Self::allocate).
    ///
    /// # Errors
    /// [`EmitError`], and then nothing was built.
    pub fn allocate_array(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        shape: ShapeRef,
        length: Value,
        out_of_memory: Block,
    ) -> Result<Value, EmitError> {
        Ok(self.one(builder, Allocation::with_length_in(shape, length)?, out_of_memory))
    }

    /// Allocates an object with that header and of `bytes`, an `i64` that is a multiple of 8 and at
    /// least 16. Returns its address. If the shape has a tail, the caller writes the length. The
    /// rest is as in [`allocate`](Self::allocate).
    pub fn allocate_sized(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        header: Header,
        bytes: Value,
        out_of_memory: Block,
    ) -> Value {
        self.one(builder, Allocation::with_bytes_in(header, bytes), out_of_memory)
    }

    /// Allocates by calling a [`stub`](crate::Emitter::stub). The stub prefetches by the heap's
    /// options and initialises the object in its own way. `size` is the stub's size or length, an
    /// `i64`, if it takes one. The rest is as in [`allocate`](Self::allocate).
    ///
    /// Add [`FunctionMaps::of_stub`](super::FunctionMaps::of_stub) to the stack maps.
    pub fn allocate_by_stub(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        stub: Callee,
        size: Option<Value>,
        out_of_memory: Block,
    ) -> Value {
        let arguments: Vec<Value> = [self.mutator].into_iter().chain(size).collect();
        let object = self.called(builder, stub, &arguments);
        builder.declare_value_needs_stack_map(object);
        let made = builder.create_block();
        builder.ins().brif(object, made, &[], out_of_memory, &[]);
        enter(builder, made);
        object
    }

    fn one(&mut self, builder: &mut FunctionBuilder<'_>, first: Allocation<Value>, no_room: Block) -> Value {
        let bump = Bump { first, all: &[first], total: None, offsets: vec![0] };
        self.bump(builder, &bump, no_room)[0]
    }

    fn bump(&mut self, builder: &mut FunctionBuilder<'_>, bump: &Bump<'_>, no_room: Block) -> Vec<Value> {
        let (slow, made) = (cold(builder), builder.create_block());
        let object = builder.append_block_param(made, I64);
        self.fast(builder, bump, slow, made);
        enter(builder, slow);
        let memory = self.slow(builder, bump);
        builder.ins().brif(memory, made, &[memory.into()], no_room, &[]);
        enter(builder, made);
        for (allocation, offset) in bump.all.iter().zip(&bump.offsets) {
            self.initialised(builder, allocation, object, *offset as i32);
        }
        let objects = bump.offsets.iter().map(|offset| offset_by(builder, object, *offset as i64));
        let objects: Vec<Value> = objects.collect();
        objects.iter().for_each(|object| builder.declare_value_needs_stack_map(*object));
        objects
    }

    /// The part from the load of the top to the store of the new top.
    fn fast(&self, builder: &mut FunctionBuilder<'_>, bump: &Bump<'_>, slow: Block, made: Block) {
        // Above the inline limit the sum could wrap: the heap does the arithmetic.
        match bump.first.size {
            Size::Constant { .. } => {}
            Size::Bytes { place } => {
                let most = builder.ins().iconst(I64, MAX_INLINE_BYTES as i64);
                leave_above(builder, place, most, slow);
            }
            Size::Length { place, fixed_bytes, element_bytes } => {
                let most = builder.ins().iconst(I64, longest_inline(fixed_bytes, element_bytes) as i64);
                leave_above(builder, place, most, slow);
            }
        }
        let object = builder.ins().load(I64, trusted(), self.mutator, Hot::TOP_OFFSET as i32);
        let top = match bump.first.size {
            Size::Constant { bytes, .. } => offset_by(builder, object, bump.total.unwrap_or(bytes) as i64),
            Size::Bytes { place } => builder.ins().iadd(object, place),
            Size::Length { place, fixed_bytes, element_bytes } => {
                let whole = always_whole(fixed_bytes, element_bytes);
                let elements = builder.ins().ishl_imm_u(place, i64::from(element_bytes.ilog2()));
                let end = builder.ins().iadd(object, elements);
                let end = offset_by(builder, end, (fixed_bytes + if whole { 0 } else { WORD - 1 }) as i64);
                if whole { end } else { builder.ins().band_imm_s(end, -(WORD as i64)) }
            }
        };
        let limit = match self.initialise {
            Initialise::Ahead => Hot::ZEROED_LIMIT_OFFSET,
            Initialise::ByCaller | Initialise::PerObject => Hot::LIMIT_OFFSET,
        };
        let limit = builder.ins().load(I64, trusted(), self.mutator, limit as i32);
        leave_above(builder, top, limit, slow);
        builder.ins().store(trusted(), top, self.mutator, Hot::TOP_OFFSET as i32);
        if self.initialise == Initialise::PerObject && bump.total.is_none() {
            zeroes::turns(builder, object, WORD as i32, top, WORD as i32);
        }
        builder.ins().jump(made, &[BlockArg::from(object)]);
    }

    /// Memory from the slow path, or 0.
    fn slow(&mut self, builder: &mut FunctionBuilder<'_>, bump: &Bump<'_>) -> Value {
        let zeroed = self.initialise.slow_path_zeroes(bump.total.is_some());
        let calls = &self.calls;
        let (callee, array) = match zeroed {
            false => (calls.allocate, calls.allocate_array),
            true => (calls.allocate_zeroed, calls.allocate_array_zeroed),
        };
        let mut constant = |number: usize| builder.ins().iconst(I64, number as i64);
        let mutator = self.mutator;
        match bump.first.size {
            Size::Constant { bytes, .. } => {
                let bytes = constant(bump.total.unwrap_or(bytes));
                self.called(builder, callee, &[mutator, bytes])
            }
            Size::Bytes { place } => self.called(builder, callee, &[mutator, place]),
            Size::Length { place, fixed_bytes, element_bytes } => {
                let (element_bytes, fixed_bytes) = (constant(element_bytes), constant(fixed_bytes));
                self.called(builder, array, &[mutator, place, element_bytes, fixed_bytes])
            }
        }
    }

    /// The result of a call to an allocating function.
    pub(super) fn called(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        callee: Callee,
        arguments: &[Value],
    ) -> Value {
        let result = self.call(builder, callee, arguments, true);
        // An embedder's function without a result counts as an allocator without memory.
        result.unwrap_or_else(|| builder.ins().iconst(I64, 0))
    }

    /// Header, length and body of an object at `object + offset`.
    fn initialised(
        &self,
        builder: &mut FunctionBuilder<'_>,
        allocation: &Allocation<Value>,
        object: Value,
        offset: i32,
    ) {
        if let (Size::Constant { bytes, .. }, Initialise::PerObject) = (allocation.size, self.initialise) {
            zeroes::constant(builder, object, offset + WORD as i32, offset + bytes as i32);
        }
        let header = builder.ins().iconst(I64, allocation.header as i64);
        builder.ins().store(trusted(), header, object, offset);
        let length = match allocation.size {
            Size::Constant { length: Some(length), .. } => builder.ins().iconst(I64, length as i64),
            Size::Length { place, .. } => place,
            Size::Constant { length: None, .. } | Size::Bytes { .. } => return,
        };
        builder.ins().store(trusted(), length, object, offset + LENGTH_OFFSET as i32);
    }
}
