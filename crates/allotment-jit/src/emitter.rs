//! The emitter: settings and a processor, from which sequences are made.
//!
//! HotSpot's C2 builds this sequence in its graph. Here it is a list of instructions, in the same
//! order: load the top, add, compare, jump out of line, prefetch, store the top, header, body.
//!
//! The checks of a site hold for every machine and are made here. `x86_64` and `aarch64` are the
//! machines' own code, with the same functions. Both are there on either machine, so a compiler
//! emits for the machine that it does not run on.
//!
//! Refused: only a compiler's own intermediate form. Each compiler has another one, and none that
//! can be embedded has all the prefetch instructions.

use crate::allocation::{Allocation, Initialise};
use crate::barrier::{self, CompareExchange, Load, Store};
use crate::register::Machine;
use crate::registers::Registers;
use crate::site::{Bump, Poll, Settings, Site, SlowCall};
use crate::{EmitError, Sequence, aarch64, x86_64};
use allotment::Heap;
use allotment::raw::{AArch64, PrefetchError, PrefetchSettings, PrefetchStyle, Processor, X86_64};

/// Makes sequences for one processor and one setting of prefetch.
#[derive(Clone, Copy, Debug)]
pub struct Emitter {
    processor: KnownProcessor,
    settings: Settings,
}

/// The processor, of a machine that there is code for.
#[derive(Clone, Copy, Debug)]
enum KnownProcessor {
    X86_64(X86_64),
    AArch64(AArch64),
}

impl KnownProcessor {
    fn new(processor: Processor) -> Result<KnownProcessor, EmitError> {
        match processor {
            Processor::X86_64(processor) => Ok(KnownProcessor::X86_64(processor)),
            Processor::AArch64(processor) => Ok(KnownProcessor::AArch64(processor)),
            _ => Err(EmitError::Processor),
        }
    }
}

impl Emitter {
    /// An emitter for that processor.
    ///
    /// # Errors
    /// [`EmitError::Prefetch`]: settings outside HotSpot's ranges, or that the processor cannot
    /// execute.
    pub fn new(processor: impl Into<Processor>, prefetch: PrefetchSettings) -> Result<Emitter, EmitError> {
        let processor = processor.into();
        prefetch.check(&processor)?;
        Emitter::with(processor, prefetch)
    }

    /// An emitter for settings that were checked.
    fn with(processor: Processor, prefetch: PrefetchSettings) -> Result<Emitter, EmitError> {
        let settings = Settings { prefetch: prefetch.normalized(), past_buffers: false };
        Ok(Emitter { processor: KnownProcessor::new(processor)?, settings })
    }

    /// Switches allocation without buffers in line on or off, for a heap with `UseTLAB=false`. If a
    /// thread has no buffer, the code then takes memory by compare-and-swap from a region that all
    /// threads share, without a call. The code is right for any heap, and some 60 bytes longer out
    /// of line.
    #[must_use]
    pub fn past_buffers(self, past_buffers: bool) -> Emitter {
        Emitter { settings: Settings { past_buffers, ..self.settings }, ..self }
    }

    /// An emitter for this machine, and for the heap's options `AllocatePrefetch` and `UseTLAB`.
    ///
    /// ```
    /// use allotment::{Heap, raw::{Hot, Shape}};
    /// use allotment_jit::{Allocation, CodeBuffer, Emitter, Initialise};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let point = heap.register(Shape::fixed("Point", 32))?;
    /// let emitter = Emitter::for_heap(&heap);
    /// let mut buffer = CodeBuffer::default();
    /// let stub = emitter.stub(Allocation::object(point)?, Initialise::PerObject)?;
    /// let stub = buffer.add("new_point", stub);
    /// let code = buffer.finish(|_| None)?;
    /// heap.attach(|mutator| {
    ///     // SAFETY: the code was made of a stub for objects of a constant size.
    ///     let new_point: unsafe extern "C" fn(*const Hot) -> *mut u8 =
    ///         unsafe { std::mem::transmute(code.entry(stub)) };
    ///     for _ in 0..1000 {
    ///         // SAFETY: this thread's hot part, and no reference is held over the call.
    ///         let object = unsafe { new_point(mutator.raw().hot()) };
    ///         // SAFETY: a new object of 32 bytes.
    ///         let words = unsafe { object.cast::<[u64; 4]>().read() };
    ///         assert_eq!(words, [point.header().bits(), 0, 0, 0]);
    ///     }
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::missing_panics_doc, reason = "the crate is built for machines that it knows")]
    pub fn for_heap(heap: &Heap) -> Emitter {
        // The heap's own settings were checked when the heap was made.
        let emitter = Emitter::with(Processor::detect(), heap.prefetch_settings());
        emitter.expect("the crate is built for machines that it knows").past_buffers(!heap.has_buffers())
    }

    /// An emitter for settings that need not be within HotSpot's ranges, to measure values beyond
    /// them: any distance and step up to a megabyte.
    ///
    /// # Errors
    /// As [`new`](Self::new), except for the ranges of distance and step.
    pub fn beyond_hotspot(
        processor: impl Into<Processor>,
        prefetch: PrefetchSettings,
    ) -> Result<Emitter, EmitError> {
        let processor = processor.into();
        const MOST: usize = 1 << 20;
        let PrefetchSettings { style, distance, step, .. } = prefetch;
        // Lines, the instruction, and the presence of a step are checked as in HotSpot.
        let within = PrefetchSettings { distance: 0, step: step.min(PrefetchSettings::MAX_STEP), ..prefetch };
        let range = |name, value, min| match (min..=MOST).contains(&value) {
            true => Ok(()),
            false => Err(PrefetchError::Range { name, value, min, max: MOST }),
        };
        range("AllocatePrefetchDistance", distance, 0)?;
        range("AllocatePrefetchStepSize", step, 1)?;
        if style == PrefetchStyle::Lines && step > PrefetchSettings::MAX_STEP && !step.is_power_of_two() {
            let (above, below) = (step.next_power_of_two(), step.next_power_of_two() / 2);
            let nearest = if above - step <= step - below { above } else { below };
            return Err(PrefetchError::Step { step, nearest }.into());
        }
        within.check(&processor)?;
        Emitter::with(processor, prefetch)
    }

    /// The machine that its code runs on.
    pub fn machine(&self) -> Machine {
        match self.processor {
            KnownProcessor::X86_64(_) => Machine::X86_64,
            KnownProcessor::AArch64(_) => Machine::AArch64,
        }
    }

    /// The settings by which it prefetches.
    pub fn prefetch(&self) -> PrefetchSettings {
        self.settings.prefetch
    }

    /// Code that allocates.
    ///
    /// # Errors
    /// [`EmitError`]: the setting that does not work, with the nearest one that does.
    pub fn allocate(&self, site: &Site<'_>) -> Result<Sequence, EmitError> {
        self.bump(&Bump::new(self.machine(), site, false)?)
    }

    /// A function to call, which allocates one object and returns its address, or null if the heap
    /// has no room. Its signature is `extern "C" fn(*const Hot) -> *mut u8`. With a size or length
    /// in a register, [`Machine::second_argument`], it is
    /// `extern "C" fn(*const Hot, usize) -> *mut u8`. The call is a safepoint.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate); [`EmitError::Fixed`] if the size is in another register
    /// than that of the second argument.
    pub fn stub(&self, allocation: Allocation, initialise: Initialise) -> Result<Sequence, EmitError> {
        let machine = self.machine();
        let demanded = machine.second_argument();
        if let Some((part, register)) = allocation.input()
            && register != demanded
        {
            return Err(EmitError::Fixed { register, part, demanded });
        }
        let slow = SlowCall { misaligned: machine == Machine::X86_64, ..SlowCall::default() };
        let site = Site { allocations: &[allocation], initialise, registers: Registers::c(machine), slow };
        self.bump(&Bump::new(machine, &site, true)?)
    }

    fn bump(&self, bump: &Bump<'_>) -> Result<Sequence, EmitError> {
        match self.processor {
            KnownProcessor::X86_64(processor) => x86_64::allocate(&processor, &self.settings, bump),
            KnownProcessor::AArch64(processor) => aarch64::allocate(&processor, &self.settings, bump),
        }
    }

    /// Stores a reference and dirties the slot's card, as
    /// [`store`](allotment::raw::RawMutator::store). A plain store is enough for a slot of a new
    /// object, until the thread's next safepoint and as long as no other thread can reach the object.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn store(&self, store: &Store) -> Result<Sequence, EmitError> {
        store.check(self.machine())?;
        match self.processor {
            KnownProcessor::X86_64(_) => x86_64::store(store),
            KnownProcessor::AArch64(_) => aarch64::store(store),
        }
    }

    /// Loads a reference, as [`load`](allotment::raw::RawMutator::load), and passes it to the hook
    /// while the hook is on.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn load(&self, load: &Load<'_>) -> Result<Sequence, EmitError> {
        self.loaded(load, barrier::LOAD)
    }

    /// Loads a reference from a weak slot, as
    /// [`load_weak`](allotment::raw::RawMutator::load_weak): 0 if the referent is dead. Passes it
    /// to the hook while the hook is on.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn load_weak(&self, load: &Load<'_>) -> Result<Sequence, EmitError> {
        self.loaded(load, barrier::LOAD_WEAK)
    }

    fn loaded(&self, load: &Load<'_>, barrier: barrier::Barrier) -> Result<Sequence, EmitError> {
        load.check(self.machine())?;
        let barrier = load.barrier(barrier);
        match self.processor {
            KnownProcessor::X86_64(_) => x86_64::load(load, &barrier),
            KnownProcessor::AArch64(_) => aarch64::load(load, &barrier),
        }
    }

    /// Stores a reference to a slot that holds an expected word, as
    /// [`compare_exchange`](allotment::raw::RawMutator::compare_exchange). Afterwards `held` has
    /// what the slot held. If that is the expected word, the slot holds the new one. The slot's
    /// card becomes dirty even if the exchange fails: a branch would cost more than an
    /// unnecessarily dirty card.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles; [`EmitError::Fixed`] if `held` is not the
    /// register that the machine demands.
    pub fn compare_exchange(&self, exchange: &CompareExchange) -> Result<Sequence, EmitError> {
        exchange.check(self.machine())?;
        match self.processor {
            KnownProcessor::X86_64(_) => x86_64::compare_exchange(exchange),
            KnownProcessor::AArch64(processor) => aarch64::compare_exchange(&processor, exchange),
        }
    }

    /// Checks whether a stop is requested, and then comes to a safepoint.
    ///
    /// # Errors
    /// [`EmitError`] if a register has two roles.
    pub fn poll(&self, poll: &Poll<'_>) -> Result<Sequence, EmitError> {
        poll.check(self.machine())?;
        match self.processor {
            KnownProcessor::X86_64(_) => x86_64::poll(poll),
            KnownProcessor::AArch64(_) => aarch64::poll(poll),
        }
    }
}
