//! This project's side: the emitted sequence and the barriers.

use super::arguments::{Form, Length, Question, What};
use allotment::raw::{Element, Header, Shape, ShapeRef, Shapes};
use allotment_jit::{
    Allocation, EmitError, Emitter, Line, Load, Machine, Poll, Register, Registers, Sequence, Site, SlowCall,
    Store,
};

/// The register of an array's length in either form: the second argument of a C function.
const LENGTH: Register = Register::RSI;

/// A piece of code that goes with allocations in a compiler's code.
pub(super) struct Barrier {
    /// The name of the barrier.
    pub(super) name: &'static str,
    /// The barrier's code.
    pub(super) sequence: Sequence,
    /// HotSpot's counterpart.
    pub(super) hotspot: &'static str,
}

/// The emitted code of a question.
pub(super) struct Ours {
    /// The allocation.
    pub(super) sequence: Sequence,
    /// The instructions of the allocation.
    pub(super) lines: Vec<Line>,
    emitter: Emitter,
}

impl Ours {
    /// Emits the sequence of a question.
    ///
    /// # Errors
    /// [`EmitError`] for a sequence that cannot be emitted, with the nearest that can.
    pub(super) fn emit(question: &Question) -> Result<Ours, EmitError> {
        let emitter = Emitter::new(question.processor, question.settings)?;
        let shape = register(question, &Shapes::default())?;
        let allocation = match question.what {
            What::Object { .. } => Allocation::object(shape)?,
            What::Array { length: Length::Constant(length), .. } => Allocation::array(shape, length)?,
            What::Array { length: Length::Register, .. } => Allocation::array_in(shape, LENGTH)?,
        };
        let sequence = match question.form {
            Form::Stub => emitter.stub(allocation, question.initialise)?,
            Form::Pasted => emitter.allocate(&Site {
                allocations: &vec![allocation; question.count],
                initialise: question.initialise,
                registers: Registers::c(Machine::X86_64),
                slow: SlowCall::default(),
            })?,
        };
        let lines = sequence.lines();
        Ok(Ours { sequence, lines, emitter })
    }

    /// A store, a load and a poll.
    ///
    /// # Errors
    /// None for the registers chosen here.
    pub(super) fn barriers(&self) -> Result<[Barrier; 3], EmitError> {
        let Registers { mutator, object: base, top: value, scratch, .. } = Registers::c(Machine::X86_64);
        let store = Store { mutator, base, displacement: 8, value, scratch };
        let load = Load { mutator, base, displacement: 8, value, hook: None };
        let poll = Poll { mutator, slow: SlowCall::default() };
        Ok([
            Barrier {
                name: "store of a reference",
                sequence: self.emitter.store(&store)?,
                hotspot: "Parallel and Serial dirty a card as well; the card table's address is a constant of the code, \
                          not a load",
            },
            Barrier {
                name: "load of a reference",
                sequence: self.emitter.load(&load)?,
                hotspot: "a plain load with collectors that stop the world; Shenandoah's and ZGC's test and call",
            },
            Barrier {
                name: "safepoint poll",
                sequence: self.emitter.poll(&poll)?,
                hotspot: "in loops and at returns, of a word of the thread as well (JEP 312)",
            },
        ])
    }
}

/// Registers the shape of the object and returns it.
///
/// # Errors
/// [`EmitError::Size`], [`EmitError::TooLarge`]: no object has that size, or no object of that size
/// is allocated inline.
pub(super) fn register(question: &Question, shapes: &Shapes) -> Result<ShapeRef, EmitError> {
    let shape = match question.what {
        What::Object { bytes } => {
            // The shape's own error would not name the nearest size.
            Allocation::with_header(Header::from_bits(0), bytes)?;
            Shape::fixed("object", bytes)
        }
        What::Array { element, .. } => Shape::array("array", 16, Element::Plain { bytes: element }),
    };
    shapes.register(shape).map_err(|_| EmitError::Shape("no heap takes an object of that shape"))
}
