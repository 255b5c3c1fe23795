//! A program's allocations by emitted code: stubs that are called, and sequences in a frame that
//! checks every register.

use super::kit::{Conventions, word};
use super::machine::{RegisterFile, framed, targets};
use super::program::{BEYOND, Function, Program, ShapeKit, Way, What};
use allotment::Mutator;
use allotment::raw::{AArch64, Hot, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, X86_64};
use allotment_jit::{
    Allocation, Code, CodeBuffer, Emitter, FunctionId, Initialise, MAX_INLINE_BYTES, Machine, Register,
    Sequence, Site, SlowCall,
};
use std::mem::transmute;
use std::ptr::NonNull;

/// Emitted code.
pub(crate) struct Emitted<'p> {
    program: &'p Program,
    kit: ShapeKit,
    code: Code,
    functions: Vec<(FunctionId, Sequence)>,
    runs: u64,
    /// The number of allocations on the fast path; below, those past buffers, and those without
    /// room.
    pub(crate) fast: usize,
    pub(crate) past: usize,
    pub(crate) no_room: usize,
}

impl Function {
    fn is_stub(&self) -> bool {
        let several = matches!(&self.what, What::Constant(pieces) if pieces.len() > 1);
        self.stub && !several
    }

    fn emit(&self, kit: &ShapeKit) -> Sequence {
        let input = if self.is_stub() { Machine::HOST.second_argument() } else { self.assignment.input() };
        let allocation = |piece| match kit.piece(piece) {
            (shape, length) if shape.has_tail() => Allocation::array(shape, length).unwrap(),
            (shape, _) => Allocation::object(shape).unwrap(),
        };
        let allocations: Vec<Allocation> = match &self.what {
            What::Constant(pieces) => pieces.iter().copied().map(allocation).collect(),
            What::LengthIn(index) => vec![Allocation::array_in(kit.arrays[*index], input).unwrap()],
            What::SizeIn(index) => vec![Allocation::sized_in(kit.arrays[*index].header(), input)],
        };
        let here = Processor::detect();
        let writes = here.prefetches_for_writing();
        let instruction = if writes { self.settings.instruction } else { PrefetchInstruction::T0 };
        let settings = PrefetchSettings { instruction, ..self.settings };
        let processor: Processor = match here {
            Processor::X86_64(here) => X86_64 { avx2: here.avx2 && self.features, ..here }.into(),
            Processor::AArch64(here) => AArch64 { lse: here.lse && self.features, ..here }.into(),
            other => other,
        };
        let emitter = Emitter::new(processor, settings).unwrap();
        let emitter = emitter.past_buffers(self.past_buffers);
        if self.is_stub() {
            return emitter.stub(allocations[0], self.initialise).unwrap();
        }
        let preserve = self.assignment.preserve();
        let slow = SlowCall { preserve: &preserve, misaligned: self.assignment.misaligned };
        let (initialise, registers) = (self.initialise, self.assignment.registers());
        emitter.allocate(&Site { allocations: &allocations, initialise, registers, slow }).unwrap()
    }
}

impl Function {
    /// Whether an allocation of `bytes` goes past buffers without a call.
    fn goes_past(&self, hot: *const Hot, bytes: usize) -> bool {
        let registers = self.assignment.registers();
        let has_input = !matches!(self.what, What::Constant(_));
        // On x86-64 the exchange needs `rax`.
        let is_rax = |register| register == Register::RAX;
        let taken = is_rax(registers.mutator) || has_input && is_rax(self.assignment.input());
        let region = word(hot, Hot::REGION_OFFSET);
        let requested = word(hot, Hot::REQUESTED_OFFSET) as u32;
        if !self.past_buffers
            || self.initialise == Initialise::Ahead
            || bytes > MAX_INLINE_BYTES
            || (taken && !self.is_stub())
            || region == 0
            || requested != 0
        {
            return false;
        }
        // SAFETY: the address of a region, which has two words.
        let of_region = |offset: usize| unsafe {
            std::ptr::with_exposed_provenance::<usize>(region + offset).read_volatile()
        };
        of_region(Hot::REGION_TOP_OFFSET) + bytes <= of_region(Hot::REGION_END_OFFSET)
    }
}

impl<'p> Emitted<'p> {
    pub(crate) fn new(program: &'p Program, kit: ShapeKit) -> Emitted<'p> {
        let mut buffer = CodeBuffer::default();
        let mut functions = Vec::new();
        for (index, function) in program.functions.iter().enumerate() {
            let sequence = function.emit(&kit);
            let whole = match function.is_stub() {
                true => sequence.clone(),
                false => framed(&[&sequence], function.assignment.misaligned),
            };
            functions.push((buffer.add(format!("allocate{index}"), whole), sequence));
        }
        let code = buffer.finish(targets(0)).unwrap();
        Emitted { program, kit, code, functions, runs: 0, fast: 0, past: 0, no_room: 0 }
    }

    /// The function's argument in its register.
    fn argument(&self, what: &What, length: usize) -> usize {
        match what {
            What::Constant(_) => 0,
            What::LengthIn(_) => length,
            What::SizeIn(_) => self.kit.bytes(what, length).unwrap_or(BEYOND),
        }
    }

    fn stub(&self, hot: *const Hot, id: FunctionId, argument: usize) -> usize {
        // SAFETY: a stub has this signature, or one argument less, which nothing notices.
        let stub: unsafe extern "C" fn(*const Hot, usize) -> *mut u8 =
            unsafe { transmute(self.code.entry(id)) };
        // SAFETY: this thread's hot part; no reference is held.
        unsafe { stub(hot, argument) }.addr()
    }

    fn pasted(
        &mut self,
        hot: *const Hot,
        function: &Function,
        index: usize,
        argument: usize,
        fast: bool,
    ) -> usize {
        let (id, sequence) = &self.functions[index];
        self.runs += 1;
        let mut before = RegisterFile::patterned(self.runs);
        let (registers, input) = (function.assignment.registers(), function.assignment.input());
        before.set(registers.mutator, hot.addr() as u64);
        if !matches!(function.what, What::Constant(_)) {
            before.set(input, argument as u64);
        }
        let mut after = before.clone();
        // SAFETY: the function is framed. Its inputs are this thread's hot part and the argument,
        // and no reference is held.
        unsafe { after.run(&self.code, *id) };
        let object = after.get(registers.object);
        assert_eq!(after.no_room(), object == 0);
        let preserve = function.assignment.preserve();
        let all = function.assignment.all().into_iter().chain(Machine::HOST.vectors());
        let callee_saved = Machine::HOST.callee_saved();
        for register in all.filter(|register| *register != registers.object) {
            let promised = if fast {
                !sequence.clobbers().contains(&register)
            } else {
                register == registers.mutator
                    || (register == input && !matches!(function.what, What::Constant(_)))
                    || preserve.contains(&register)
                    || (callee_saved.contains(&register) && !sequence.clobbers().contains(&register))
            };
            assert!(
                !promised || before.get(register) == after.get(register),
                "{register:?} has changed; fast: {fast}, clobbers: {:?}",
                sequence.clobbers()
            );
        }
        object as usize
    }
}

impl Way for Emitted<'_> {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, index: usize, length: usize) -> Option<NonNull<u8>> {
        let function = &self.program.functions[index];
        let (hot, argument) = (mutator.raw().hot(), self.argument(&function.what, length));
        let bytes = self.kit.bytes(&function.what, length).unwrap_or(usize::MAX);
        let limit = match function.initialise {
            Initialise::Ahead => Hot::ZEROED_LIMIT_OFFSET,
            _ => Hot::LIMIT_OFFSET,
        };
        let top = word(hot, Hot::TOP_OFFSET).saturating_add(bytes);
        let fast = bytes <= MAX_INLINE_BYTES && top <= word(hot, limit);
        let past = !fast && function.goes_past(hot, bytes);
        let taken = word(hot, Hot::REGION_OBJECTS_OFFSET);
        let watermark = word(hot, Hot::WATERMARK_OFFSET);
        let object = match function.is_stub() {
            true => self.stub(hot, self.functions[index].0, argument),
            // Where no function is called, only the clobbers change.
            false => self.pasted(hot, function, index, argument, fast || past),
        };
        self.check_watermark(function, hot, watermark, fast.then_some(top), object);
        if past {
            assert_eq!(word(hot, Hot::REGION_OBJECTS_OFFSET), taken + 1);
            self.past += 1;
        }
        (self.fast, self.no_room) = (self.fast + usize::from(fast), self.no_room + usize::from(object == 0));
        NonNull::new(std::ptr::with_exposed_provenance_mut(object))
    }
}

impl Emitted<'_> {
    /// On the fast path the watermark follows style 2. On the slow path it is at the start of a new
    /// buffer, or unchanged.
    fn check_watermark(
        &self,
        function: &Function,
        hot: *const Hot,
        before: usize,
        top: Option<usize>,
        object: usize,
    ) {
        let after = word(hot, Hot::WATERMARK_OFFSET);
        let settings = function.settings.normalized();
        match top {
            Some(top) if settings.style == PrefetchStyle::Watermark && top >= before => {
                assert_eq!(after, before + settings.distance);
            }
            Some(_) => assert_eq!(after, before),
            None => assert!(after == before || after == object, "{after:#x} {before:#x} {object:#x}"),
        }
    }
}
