//! Stores, loads and exchanges of references in Cranelift's form, with their barriers.
//!
//! A barrier tests its bits of the word at [`Hot::BARRIERS_OFFSET`], and calls a slow path of the
//! heap in a cold block, by its address in the hot part. The word changes at safepoints only. Each
//! safepoint is a call, and Cranelift moves no load across a call.
//!
//! Cranelift takes each call for a safepoint. So it keeps the declared values that live across a
//! barrier in the frame, although no slow path of a barrier moves an object. That is the price of
//! its stack maps: an instruction for each such value that the emitter's sequences do not have.
//!
//! Refused: `CallConv::PreserveAll` for a slow path with a result. Cranelift does not support it.

use super::lowering::{Lowering, cold, enter, offset_by, trusted};
use allotment::raw::{BarrierKind, Hot};
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, SigRef, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;

impl Lowering {
    /// Stores a reference at `base + offset` and dirties the slot's card, as
    /// [`store`](allotment::raw::RawMutator::store). A plain store is enough for a slot of a new
    /// object, until the thread's next safepoint and as long as no other thread can reach the object.
    /// The new object itself is published by this store, or by another one that releases what was
    /// written before.
    pub fn store(&mut self, builder: &mut FunctionBuilder<'_>, base: Value, offset: i32, value: Value) {
        let (marking, go_on) = (cold(builder), builder.create_block());
        let set = self.barriers(builder, BarrierKind::Store.bits());
        builder.ins().brif(set, marking, &[], go_on, &[]);
        enter(builder, marking);
        let slot = offset_by(builder, base, offset.into());
        let signature = self.keeping_signature(builder);
        let slow_path = self.slow_path(builder, BarrierKind::Store.slow_offset());
        builder.ins().call_indirect(signature, slow_path, &[self.mutator, slot]);
        builder.ins().jump(go_on, &[]);
        enter(builder, go_on);
        self.publish(builder, value, base, offset);
        self.dirty_card(builder, base, offset);
    }

    /// Loads a reference from `base + offset`, as [`load`](allotment::raw::RawMutator::load).
    /// Passes it to [`Calls::load_hook`](super::Calls::load_hook) while that hook is on, and
    /// declares it to need a stack map.
    pub fn load(&mut self, builder: &mut FunctionBuilder<'_>, base: Value, offset: i32) -> Value {
        self.loaded(builder, base, offset, BarrierKind::Load)
    }

    /// Loads a reference from a weak slot, as
    /// [`load_weak`](allotment::raw::RawMutator::load_weak): 0 if the referent is dead. Otherwise
    /// as [`load`](Self::load).
    pub fn load_weak(&mut self, builder: &mut FunctionBuilder<'_>, base: Value, offset: i32) -> Value {
        self.loaded(builder, base, offset, BarrierKind::LoadWeak)
    }

    /// Stores `new` at `base + offset` if the slot holds `expected`, as
    /// [`compare_exchange`](allotment::raw::RawMutator::compare_exchange). Returns what the slot
    /// held, which is declared to need a stack map. If that is `expected`, the slot holds `new`.
    ///
    /// The slot's card becomes dirty even if the exchange fails: a branch would cost more than an
    /// unnecessarily dirty card.
    pub fn compare_exchange(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        base: Value,
        offset: i32,
        expected: Value,
        new: Value,
    ) -> Value {
        let (slow, fast, done) = (cold(builder), builder.create_block(), builder.create_block());
        let held = builder.append_block_param(done, I64);
        let set = self.barriers(builder, BarrierKind::CompareExchange.bits());
        builder.ins().brif(set, slow, &[], fast, &[]);
        enter(builder, slow);
        let slot = offset_by(builder, base, offset.into());
        let arguments = [self.mutator, slot, expected, new];
        let found = self.call_slow_path(builder, BarrierKind::CompareExchange, &arguments);
        builder.ins().jump(done, &found.map(BlockArg::from));
        enter(builder, fast);
        let slot = offset_by(builder, base, offset.into());
        let found = builder.ins().atomic_cas(trusted(), slot, expected, new);
        builder.ins().jump(done, &[found.into()]);
        enter(builder, done);
        self.dirty_card(builder, base, offset);
        builder.declare_value_needs_stack_map(held);
        held
    }

    fn loaded(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        base: Value,
        offset: i32,
        kind: BarrierKind,
    ) -> Value {
        let loaded = builder.ins().load(I64, trusted(), base, offset);
        let (slow, done) = (cold(builder), builder.create_block());
        let value = builder.append_block_param(done, I64);
        let hook = self.calls.load_hook;
        let set = self.barriers(builder, kind.bits() | hook.map_or(0, |_| Hot::HOOK));
        builder.ins().brif(set, slow, &[], done, &[loaded.into()]);
        enter(builder, slow);
        let slot = offset_by(builder, base, offset.into());
        // The slow path itself checks which barrier is in force; if only the hook is on, none is.
        let mut result = self.call_slow_path(builder, kind, &[self.mutator, slot, loaded]);
        if let Some(hook) = hook {
            let hooked = cold(builder);
            let on = self.barriers(builder, Hot::HOOK);
            builder.ins().brif(on, hooked, &[], done, &result.map(BlockArg::from));
            enter(builder, hooked);
            let [forwarded] = result;
            result = [self.called(builder, hook, &[self.mutator, slot, forwarded])];
        }
        builder.ins().jump(done, &result.map(BlockArg::from));
        enter(builder, done);
        builder.declare_value_needs_stack_map(value);
        value
    }

    /// Not 0 if one of these barriers is in force.
    fn barriers(&self, builder: &mut FunctionBuilder<'_>, bits: u32) -> Value {
        // All bits are in the first byte of the word.
        let word = builder.ins().load(I8, trusted(), self.mutator, Hot::BARRIERS_OFFSET as i32);
        builder.ins().band_imm_u(word, i64::from(bits))
    }

    /// The address of a slow path, which the hot part holds.
    fn slow_path(&self, builder: &mut FunctionBuilder<'_>, offset: usize) -> Value {
        builder.ins().load(I64, trusted(), self.mutator, offset as i32)
    }

    /// The result of a slow path that has one.
    fn call_slow_path(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        kind: BarrierKind,
        arguments: &[Value],
    ) -> [Value; 1] {
        let slow_path = self.slow_path(builder, kind.slow_offset());
        let signature = self.signature(builder, arguments.len(), true);
        let call = builder.ins().call_indirect(signature, slow_path, arguments);
        [builder.inst_results(call)[0]]
    }

    /// The signature of the slow path of a store, which keeps all registers.
    fn keeping_signature(&mut self, builder: &mut FunctionBuilder<'_>) -> SigRef {
        *self.keeping.get_or_insert_with(|| {
            let mut signature = Signature::new(CallConv::PreserveAll);
            signature.params = vec![AbiParam::new(I64); 2];
            builder.import_signature(signature)
        })
    }

    fn dirty_card(&self, builder: &mut FunctionBuilder<'_>, base: Value, offset: i32) {
        let slot = offset_by(builder, base, offset.into());
        let card = builder.ins().ushr_imm_u(slot, i64::from(Hot::CARD_SHIFT));
        // The field never changes, and exists wherever the mutator does.
        let constant = trusted().with_readonly().with_can_move();
        let cards = builder.ins().load(I64, constant, self.mutator, Hot::CARDS_OFFSET as i32);
        let card = builder.ins().iadd(card, cards);
        let dirty = builder.ins().iconst(I8, i64::from(Hot::DIRTY_CARD));
        // After the reference: a marker that cleans the card sees the reference.
        self.publish(builder, dirty, card, 0);
    }
}
