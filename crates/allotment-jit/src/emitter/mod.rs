//! The emitter: settings and a processor, from which sequences are made.
//!
//! HotSpot's C2 builds this sequence in its graph. Here it is a list of instructions, in the same
//! order: load the top, add, compare, jump out of line, prefetch, store the top, header, body.
//!
//! Refused: only a compiler's own intermediate form. Each compiler has another one, and none that
//! can be embedded has all the prefetch instructions.

mod allocate;
mod barriers;
mod initialise;
mod past_buffers;
mod polls;
mod prefetch;
mod slow;

pub use barriers::{CompareExchange, Load, LoadHook, Store};
pub use polls::Poll;
pub use slow::SlowCall;

use crate::allocation::{Allocation, Initialise};
use crate::registers::Registers;
use crate::{EmitError, Sequence};
use allotment::Heap;
use allotment::raw::{PrefetchError, PrefetchSettings, PrefetchStyle, Processor, X86_64};
use iced_x86::code_asm::{AsmRegister32, AsmRegister64, get_gpr32, get_gpr64};
use iced_x86::{Register, code_asm::AsmRegisterXmm, code_asm::get_xmm};

/// Makes sequences for one processor and one setting of prefetch.
#[derive(Clone, Copy, Debug)]
pub struct Emitter {
    processor: X86_64,
    prefetch: PrefetchSettings,
    past_buffers: bool,
}

/// A place that allocates: the objects, their initialisation, and the compiler's registers.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The objects to allocate. Several objects of constant sizes are one bump, one compare and one
    /// prefetch.
    pub allocations: &'a [Allocation],
    /// The writer of the memory after the headers.
    pub initialise: Initialise,
    /// The compiler's assignment of registers.
    pub registers: Registers,
    /// The obligations of the slow path.
    pub slow: SlowCall<'a>,
}

impl Emitter {
    /// An emitter for that processor.
    ///
    /// # Errors
    /// [`EmitError::Prefetch`]: settings outside HotSpot's ranges, or that the processor cannot
    /// execute.
    pub fn new(processor: X86_64, prefetch: PrefetchSettings) -> Result<Emitter, EmitError> {
        prefetch.check(&Processor::X86_64(processor))?;
        Ok(Emitter { processor, prefetch: prefetch.normalized(), past_buffers: false })
    }

    /// Switches allocation without buffers in line on or off, for a heap with `UseTLAB=false`. If a
    /// thread has no buffer, the code then takes memory by compare-and-swap from a region that all
    /// threads share, without a call. The code is right for any heap, and some 60 bytes longer out
    /// of line.
    #[must_use]
    pub fn past_buffers(self, past_buffers: bool) -> Emitter {
        Emitter { past_buffers, ..self }
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
    pub fn for_heap(heap: &Heap) -> Emitter {
        // The heap's own settings were checked when the heap was made.
        Emitter {
            processor: X86_64::detect(),
            prefetch: heap.prefetch_settings(),
            past_buffers: !heap.has_buffers(),
        }
    }

    /// An emitter for settings that need not be within HotSpot's ranges, to measure values beyond
    /// them: any distance and step up to a megabyte.
    ///
    /// # Errors
    /// As [`new`](Self::new), except for the ranges of distance and step.
    pub fn beyond_hotspot(processor: X86_64, prefetch: PrefetchSettings) -> Result<Emitter, EmitError> {
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
        within.check(&Processor::X86_64(processor))?;
        Ok(Emitter { processor, prefetch: prefetch.normalized(), past_buffers: false })
    }

    /// The settings by which it prefetches.
    pub fn prefetch(&self) -> PrefetchSettings {
        self.prefetch
    }

    /// Code that allocates.
    ///
    /// # Errors
    /// [`EmitError`]: the setting that does not work, with the nearest one that does.
    pub fn allocate(&self, site: &Site<'_>) -> Result<Sequence, EmitError> {
        allocate::sequence(self, site, false)
    }

    /// A function to call, which allocates one object and returns its address, or null if the heap
    /// has no room. Its signature is `extern "C" fn(*const Hot) -> *mut u8`. With a size or length
    /// in a register (`rsi`) it is `extern "C" fn(*const Hot, usize) -> *mut u8`. The call is a
    /// safepoint.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate); [`EmitError::NoGeneral`] if the size is in another register
    /// than `rsi`.
    pub fn stub(&self, allocation: Allocation, initialise: Initialise) -> Result<Sequence, EmitError> {
        if let Some((part, register)) = allocation.input()
            && register != Register::RSI
        {
            return Err(EmitError::NoGeneral { register, part, free: Register::RSI });
        }
        let site = Site {
            allocations: &[allocation],
            initialise,
            registers: Registers::C,
            slow: SlowCall { misaligned: true, ..SlowCall::default() },
        };
        allocate::sequence(self, &site, true)
    }
}

/// A general register in the assembler's type.
fn general(register: Register) -> Result<AsmRegister64, EmitError> {
    get_gpr64(register).ok_or(EmitError::NoGeneral { register, part: "an operand", free: Register::RAX })
}

/// The lower half of a general register.
fn lower(register: Register) -> Result<AsmRegister32, EmitError> {
    let half = Register::EAX + register.number() as u32;
    get_gpr32(half).ok_or(EmitError::NoGeneral { register, part: "an operand", free: Register::RAX })
}

fn vector(register: Register) -> Result<AsmRegisterXmm, EmitError> {
    get_xmm(register).ok_or(EmitError::NoVector { register })
}
