//! Loops of emitted code: the code that a JIT would make of a program that allocates, with work in
//! between.
//!
//! ```text
//! extern "C" fn(hot, turns, work) -> turns left
//! turn:  allocate; work; allocate; work; count down
//! ```
//!
//! A turn allocates two objects, as in the compiled loops beside it. The work is a chain of
//! dependent instructions through one register, so its time is proportional to its length, whatever
//! the processor executes in parallel. A read of the working set is part of the chain. An
//! allocation-only loop has neither, and a real program has both.
//!
//! The loop around the sequences is made for x86-64 alone. The modes that run it are named in
//! [`Experiment::x86_64`](crate::harness::Experiment::x86_64).

use crate::machine::{NeedsX86_64, require_x86_64};
use allotment::Mutator;
use allotment::raw::{Hot, Processor, X86_64};
use allotment_jit::{
    Allocation, Code, CodeBuffer, Emitter, FunctionId, Initialise, Jump, Machine, Part, PerfMap, Register,
    Registers, Sequence, Site, SlowCall, Target,
};
use anyhow::Context;
use iced_x86::code_asm::registers::gpr64::{r12, r13, r14, r15, rax, rbx, rcx, rdi, rdx, rsi};
use iced_x86::code_asm::{ptr, qword_ptr};
use iced_x86::{IcedError, code_asm::CodeAssembler};

/// The largest number of dependent instructions between two allocations: they are emitted one by
/// one.
pub(super) const MAX_INSTRUCTIONS: usize = 10_000;

/// The processor that loops are made for: this machine's.
///
/// # Errors
/// It is not of x86-64.
pub(super) fn processor() -> Result<X86_64, NeedsX86_64> {
    require_x86_64(Processor::detect(), "a loop of machine code")
}

/// How the loop allocates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The sequence in line.
    Pasted,
    /// A call of a function.
    Stub,
}

/// The work between two allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Between {
    /// Instructions, each of which needs the last one's result.
    pub(super) instructions: usize,
    /// Whether a word of the working set is read, at a random place.
    pub(super) reads: bool,
}

/// The state of the work between allocations.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Work {
    /// The chain's register.
    chain: u64,
    words: *const u64,
    /// The number of words, a power of two, less one.
    mask: u64,
    /// The memory that `words` points to.
    _memory: Vec<u64>,
}

impl Work {
    /// Work on a working set of `bytes`, rounded down to a power of two; all of the set is touched.
    pub(super) fn new(bytes: usize) -> Work {
        let words = (bytes / 8).max(1);
        let words = 1 << words.ilog2();
        // The words are written; otherwise all pages would be the same page of zeroes.
        let memory: Vec<u64> = (0..words as u64).map(|word| word & 1).collect();
        Work { chain: 0x9E37_79B9_7F4A_7C15, words: memory.as_ptr(), mask: words as u64 - 1, _memory: memory }
    }
}

/// An executable loop.
#[derive(Debug)]
pub(super) struct EmittedLoop {
    code: Code,
    function: FunctionId,
    /// Bytes in front of the loop's own entry.
    entry: usize,
}

impl EmittedLoop {
    /// Makes the loop that allocates that object.
    ///
    /// # Errors
    /// The loop cannot be emitted.
    pub(super) fn new(
        emitter: &Emitter,
        allocation: Allocation,
        initialise: Initialise,
        form: Form,
        between: Between,
    ) -> anyhow::Result<EmittedLoop> {
        let mut whole = match form {
            Form::Pasted => Sequence::new(Machine::X86_64),
            Form::Stub => emitter.stub(allocation, initialise)?,
        };
        align(&mut whole)?;
        let entry = whole.hot().len();
        whole.append(&assembled(|asm| {
            for register in [rbx, r12, r13, r14, r15] {
                asm.push(register)?;
            }
            asm.mov(rbx, rdi)?;
            asm.mov(r12, rsi)?;
            asm.push(rdx)?;
            // Seven words and the return address: a multiple of 16, as a call wants it.
            asm.push(rdx)?;
            asm.mov(r13, qword_ptr(ptr(rdx)))?;
            asm.mov(r14, qword_ptr(rdx + 8))?;
            asm.mov(r15, qword_ptr(rdx + 16))
        })?)?;
        align(&mut whole)?;
        let turn = whole.hot().len();
        let registers = Registers { mutator: Register::RBX, ..Registers::c(Machine::X86_64) };
        let site = Site { allocations: &[allocation], initialise, registers, slow: SlowCall::default() };
        let pasted = emitter.allocate(&site)?;
        let work = assembled(|asm| work(asm, between))?;
        for _ in 0..2 {
            match form {
                Form::Pasted => whole.append(&pasted)?,
                Form::Stub => {
                    whole.append(&assembled(|asm| asm.mov(rdi, rbx))?)?;
                    whole.jump(Jump::Call, Target::Inside(Part::Hot, 0));
                    whole.append(&assembled(|asm| asm.test(rax, rax))?)?;
                    whole.jump(Jump::IfEqual, Target::OutOfMemory);
                }
            }
            whole.append(&work)?;
        }
        whole.append(&assembled(|asm| asm.dec(r12))?)?;
        whole.jump(Jump::IfNotEqual, Target::Inside(Part::Hot, turn));
        let end = whole.hot().len();
        whole.bind(Target::OutOfMemory, end);
        whole.append(&assembled(|asm| {
            asm.pop(rdx)?;
            asm.pop(rdx)?;
            asm.mov(qword_ptr(ptr(rdx)), r13)?;
            asm.mov(rax, r12)?;
            for register in [r15, r14, r13, r12, rbx] {
                asm.pop(register)?;
            }
            asm.ret()
        })?)?;
        let mut buffer = CodeBuffer::default();
        let function = buffer.add("allocation_loop", whole);
        let code = buffer.finish(|_| None).context("the loop cannot be made")?;
        if PerfMap::path().exists() {
            // For profilers. Without its name the loop is only an address.
            let _ = PerfMap::open().and_then(|mut map| code.publish(&mut map));
        }
        Ok(EmittedLoop { code, function, entry })
    }

    /// Allocates `pairs` pairs of objects, which are not used. Returns the number of objects that fit.
    #[inline(always)]
    pub(super) fn allocate(&self, mutator: &mut Mutator<'_>, pairs: usize, work: &mut Work) -> u64 {
        // SAFETY: this thread's mutator; no code uses the objects, nor holds a reference.
        let left = unsafe { self.run(mutator.raw().hot(), pairs as u64, work) };
        2 * (pairs as u64 - left)
    }

    /// Runs `turns` turns, of two objects each. Returns the turns that were left when there was no
    /// room.
    ///
    /// # Safety
    /// - `hot` is that of this thread's mutator, of the heap whose header the objects have.
    /// - The objects are not used, and no reference is held over the call.
    #[inline]
    unsafe fn run(&self, hot: *const Hot, turns: u64, work: &mut Work) -> u64 {
        let entry = self.code.entry(self.function).wrapping_add(self.entry);
        // SAFETY: the loop was made with this signature.
        let entry: unsafe extern "C" fn(*const Hot, u64, *mut Work) -> u64 =
            unsafe { std::mem::transmute(entry) };
        // SAFETY: the caller's predicates; the work's words lie in its memory.
        unsafe { entry(hot, turns, work) }
    }
}

/// Code of the lab's own between allocations.
///
/// # Errors
/// The assembler refuses an instruction.
pub(crate) fn assembled(
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> anyhow::Result<Sequence> {
    let mut assembler = CodeAssembler::new(64)?;
    write(&mut assembler)?;
    // Nobody asks for the registers that it changes.
    Ok(Sequence::code(Machine::X86_64, &assembler.assemble(0)?, &[])?)
}

/// Fills up to a good alignment for a branch target.
fn align(sequence: &mut Sequence) -> anyhow::Result<()> {
    let missing = sequence.hot().len().next_multiple_of(32) - sequence.hot().len();
    if missing > 0 {
        sequence.append(&assembled(|asm| asm.nops_with_size(missing))?)?;
    }
    Ok(())
}

fn work(asm: &mut CodeAssembler, between: Between) -> Result<(), IcedError> {
    for index in 0..between.instructions {
        if index % 2 == 0 {
            asm.add(r13, 7)?;
        } else {
            asm.rol(r13, 5_u32)?;
        }
    }
    if between.reads {
        // A step of a linear congruential generator (Knuth's MMIX). Its upper bits choose the word.
        asm.mov(rax, 6_364_136_223_846_793_005_u64)?;
        asm.imul_2(r13, rax)?;
        asm.add(r13, 1_442_695_041)?;
        asm.mov(rcx, r13)?;
        asm.shr(rcx, 24_u32)?;
        asm.and(rcx, r15)?;
        asm.add(r13, qword_ptr(r14 + rcx * 8))?;
    }
    Ok(())
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::experiments::tlab::eden::heap_of_edens;
    use allotment::raw::{PrefetchInstruction, PrefetchSettings, PrefetchStyle, Shape};

    /// Emitted code allocates the stated number of objects, and does its work, in both forms.
    #[test]
    fn a_loop_allocates_two_objects_a_turn_and_stops_where_there_is_no_room() {
        let settings = PrefetchSettings {
            style: PrefetchStyle::Lines,
            instruction: PrefetchInstruction::T0,
            ..PrefetchSettings::OFF
        };
        let emitter = Emitter::new(processor().unwrap(), settings).unwrap();
        for (form, reads) in
            [(Form::Pasted, false), (Form::Stub, false), (Form::Pasted, true), (Form::Stub, true)]
        {
            let heap = heap_of_edens(1 << 20, 1).unwrap();
            let shape = heap.register(Shape::fixed("object", 48)).unwrap();
            let object = Allocation::object(shape).unwrap();
            let between = Between { instructions: 3, reads };
            let body = EmittedLoop::new(&emitter, object, Initialise::PerObject, form, between).unwrap();
            heap.attach(|mutator| {
                let mut work = Work::new(4096);
                let chain = work.chain;
                // SAFETY: this thread's mutator; the objects are not used.
                assert_eq!(unsafe { body.run(mutator.raw().hot(), 100, &mut work) }, 0);
                assert_ne!(work.chain, chain);
                // SAFETY: as above.
                let left = unsafe { body.run(mutator.raw().hot(), 1 << 20, &mut work) };
                assert!(left > 0 && left < 1 << 20, "{left}");
            })
            .unwrap();
            let found = heap.verify().unwrap().objects(shape.id());
            assert!(found > 200, "{form:?}: {found}");
        }
    }

    #[test]
    fn work_is_a_chain_through_one_register() {
        // The computation of the emitted chain, in Rust.
        let mut chain = Work::new(8).chain;
        for index in 0..5 {
            chain = if index % 2 == 0 { chain.wrapping_add(7) } else { chain.rotate_left(5) };
        }
        let mut buffer = CodeBuffer::default();
        let function = assembled(|asm| {
            asm.push(r13)?;
            asm.mov(r13, rdi)?;
            work(asm, Between { instructions: 5, reads: false })?;
            asm.mov(rax, r13)?;
            asm.pop(r13)?;
            asm.ret()
        });
        let id = buffer.add("work", function.unwrap());
        let code = buffer.finish(|_| None).unwrap();
        // SAFETY: a function of one number, made above.
        let run: extern "C" fn(u64) -> u64 = unsafe { std::mem::transmute(code.entry(id)) };
        assert_eq!(run(Work::new(8).chain), chain);
    }
}
