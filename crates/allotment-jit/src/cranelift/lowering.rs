//! The operations of a function on its heap in Cranelift's form: their settings, calls and polls.
//!
//! Each of them uses the mutator's hot part as the emitted code does, at the same offsets. A poll
//! reads a word that another thread writes, as an atomic: Cranelift may join plain loads of one
//! place. If it joined the poll of a loop with a load before the loop, the loop would never see a
//! stop. An allocation's limit is a plain load, because a store of the top, or a call, follows each
//! one.
//!
//! A reference is published by a store after which no earlier store is seen, and its card by
//! another one. Stores of x86-64 are in order, so each of the two is a plain store there: an atomic
//! one would cost a fence. Elsewhere both are atomic stores (`stlr` and `stlrb` on AArch64).
//!
//! A slow path is called by its address, a constant of this process, or as a function that the
//! embedder declared. Refused: Cranelift's own linking of symbols, because it needs a module.

use crate::Initialise;
use allotment::raw::{GeneratedCalls, Hot};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, SigRef, Signature, Value};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::FunctionBuilder;

/// The target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The address of a C function of this process, built into the code.
    Address(usize),
    /// A function that the embedder declared in the function being built, with
    /// [`CallConv::SystemV`], an `i64` for each argument, and an `i64` for a result. It is a
    /// symbol, for code that is linked later.
    Function(FuncRef),
}

/// The targets of the slow paths. [`GeneratedCalls`] describes their arguments.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// Memory that need not be zero.
    pub allocate: Callee,
    /// Memory that is zero.
    pub allocate_zeroed: Callee,
    /// An array that need not be zero.
    pub allocate_array: Callee,
    /// An array that is zero.
    pub allocate_array_zeroed: Callee,
    /// A safepoint.
    pub safepoint: Callee,
    /// The embedder's own [`LoadHook`](crate::LoadHook), if there is one.
    pub load_hook: Option<Callee>,
}

impl Default for Calls {
    /// The library's functions in this process, by address, and no hook.
    fn default() -> Calls {
        let calls = GeneratedCalls::new();
        Calls {
            allocate: Callee::Address(calls.allocate as usize),
            allocate_zeroed: Callee::Address(calls.allocate_zeroed as usize),
            allocate_array: Callee::Address(calls.allocate_array as usize),
            allocate_array_zeroed: Callee::Address(calls.allocate_array_zeroed as usize),
            safepoint: Callee::Address(calls.safepoint as usize),
            load_hook: None,
        }
    }
}

/// Builds a function's heap operations into a [`FunctionBuilder`]. A value serves one function
/// only.
///
/// Each method appends to the current block. If it needs a slow path, it leaves a new block
/// current. The embedder seals the blocks that it made itself.
#[derive(Debug)]
pub struct Lowering {
    pub(super) mutator: Value,
    pub(super) initialise: Initialise,
    pub(super) calls: Calls,
    /// Whether the machine's plain stores are seen in their order.
    stores_in_order: bool,
    /// The signature for each number of arguments, with or without a result.
    signatures: Vec<(usize, bool, SigRef)>,
    /// The signature of a slow path that keeps all registers.
    pub(super) keeping: Option<SigRef>,
}

impl Lowering {
    /// Builds all operations on `mutator`, an `i64`: [`hot`](allotment::raw::RawMutator::hot). The
    /// function is compiled for `isa`, such as that of the module: the orders of stores depend on
    /// the machine.
    ///
    /// Memory is zeroed ahead ([`Initialise::Ahead`]), which brings it into the cache as a prefetch
    /// would.
    pub fn new(isa: &dyn TargetIsa, mutator: Value) -> Lowering {
        Lowering {
            mutator,
            initialise: Initialise::Ahead,
            calls: Calls::default(),
            stores_in_order: isa.name() == "x64",
            signatures: Vec::new(),
            keeping: None,
        }
    }

    /// Sets the writer of the memory after the headers, from here on.
    pub fn initialise(&mut self, initialise: Initialise) -> &mut Lowering {
        self.initialise = initialise;
        self
    }

    /// Sets the targets of the slow paths, from here on.
    pub fn calls(&mut self, calls: Calls) -> &mut Lowering {
        self.calls = calls;
        self
    }

    /// Checks whether a stop is requested, and then comes to a safepoint.
    pub fn poll(&mut self, builder: &mut FunctionBuilder<'_>) {
        let (stop, go_on) = (cold(builder), builder.create_block());
        let requested = offset_by(builder, self.mutator, Hot::REQUESTED_OFFSET as i64);
        let requested = builder.ins().atomic_load(I32, trusted(), requested);
        builder.ins().brif(requested, stop, &[], go_on, &[]);
        enter(builder, stop);
        self.call(builder, self.calls.safepoint, &[self.mutator], false);
        builder.ins().jump(go_on, &[]);
        enter(builder, go_on);
    }

    /// Stores a word or a byte that other threads read, and that is seen after all stores before
    /// it.
    pub(super) fn publish(&self, builder: &mut FunctionBuilder<'_>, value: Value, base: Value, offset: i32) {
        if self.stores_in_order {
            builder.ins().store(trusted(), value, base, offset);
        } else {
            let place = offset_by(builder, base, offset.into());
            builder.ins().atomic_store(trusted(), value, place);
        }
    }

    /// Calls a C function with numbers as arguments. Returns its result, if it has one.
    pub(super) fn call(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        callee: Callee,
        arguments: &[Value],
        has_result: bool,
    ) -> Option<Value> {
        let call = match callee {
            Callee::Function(function) => builder.ins().call(function, arguments),
            Callee::Address(address) => {
                let signature = self.signature(builder, arguments.len(), has_result);
                let address = builder.ins().iconst(I64, address as i64);
                builder.ins().call_indirect(signature, address, arguments)
            }
        };
        builder.inst_results(call).first().copied()
    }

    pub(super) fn signature(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        arguments: usize,
        has_result: bool,
    ) -> SigRef {
        let known = self.signatures.iter().find(|known| (known.0, known.1) == (arguments, has_result));
        if let Some((.., signature)) = known {
            return *signature;
        }
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(I64); arguments];
        signature.returns = vec![AbiParam::new(I64); has_result.into()];
        let signature = builder.import_signature(signature);
        self.signatures.push((arguments, has_result, signature));
        signature
    }
}

/// An access that is aligned and does not fault.
pub(super) fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// `base + offset`.
pub(super) fn offset_by(builder: &mut FunctionBuilder<'_>, base: Value, offset: i64) -> Value {
    if offset == 0 { base } else { builder.ins().iadd_imm_s(base, offset) }
}

/// A new cold block.
pub(super) fn cold(builder: &mut FunctionBuilder<'_>) -> Block {
    let block = builder.create_block();
    builder.set_cold_block(block);
    block
}

/// Continues in a block that no other code will jump to.
pub(super) fn enter(builder: &mut FunctionBuilder<'_>, block: Block) {
    builder.seal_block(block);
    builder.switch_to_block(block);
}

/// Branches to `slow` if `left > right`, as unsigned numbers, and continues otherwise.
pub(super) fn leave_above(builder: &mut FunctionBuilder<'_>, left: Value, right: Value, slow: Block) {
    let above = builder.ins().icmp(IntCC::UnsignedGreaterThan, left, right);
    let below = builder.create_block();
    builder.ins().brif(above, slow, &[], below, &[]);
    enter(builder, below);
}
