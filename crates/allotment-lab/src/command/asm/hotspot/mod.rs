//! HotSpot's side: the sequence that its C2 compiler makes of the same allocation, in this
//! project's own words.
//!
//! The sequence is computed, not recorded. The steps, their operands and their order follow from
//! the settings, by the definitions of HotSpot's options. The registers are examples, as a compiler
//! assigns them. HotSpot's scheduler may exchange neighbours, such as the store of the top and the
//! prefetches. `r15` is the thread; `tlab.` names fields of the thread.
//!
//! Sources: the options' own descriptions (`globals.hpp`), JEP 331 (samples), JEP 450 (headers),
//! JDK-8139457 (where elements begin).

#[cfg(test)]
mod tests;

use super::arguments::{Form, Length, Question, What};
use super::stage::Stage;
use crate::format::phrase::count;
use allotment::raw::{PrefetchInstruction, PrefetchSettings, PrefetchStyle};
use allotment_jit::{Initialise, Part};

/// `FastAllocateSizeLimit`, in words of 8 bytes.
const FAST_WORDS: usize = 128 << 10;

/// A line of HotSpot's sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The purpose of the step.
    pub(super) stage: Stage,
    /// In line, or out of line.
    pub(super) part: Part,
    /// The number of instructions of the step; `None` if the number depends on the processor and
    /// the size.
    pub(super) instructions: Option<usize>,
    /// The step in Intel's syntax; `{..}` stands for anything that is not a single instruction.
    pub(super) assembly: String,
    /// A note on the purpose.
    pub(super) note: String,
    /// How the step differs from this project's, and why.
    pub(super) differs: Option<String>,
}

impl Step {
    fn new(stage: Stage, assembly: impl Into<String>, note: impl Into<String>) -> Step {
        Step {
            stage,
            part: Part::Hot,
            instructions: Some(1),
            assembly: assembly.into(),
            note: note.into(),
            differs: None,
        }
    }

    fn cold(self) -> Step {
        Step { part: Part::Cold, ..self }
    }

    /// Sets the number of instructions, instead of one.
    fn instructions(self, instructions: Option<usize>) -> Step {
        Step { instructions, ..self }
    }

    fn differs(self, how: impl Into<String>) -> Step {
        Step { differs: Some(how.into()), ..self }
    }
}

/// The base address of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The new top.
    NewTop,
    /// The watermark, already raised.
    Watermark,
    /// The old top, `ahead` of it, rounded down to a multiple of `step`.
    Line {
        /// Distance plus step.
        ahead: usize,
        /// The step.
        step: usize,
    },
}

/// The targets of a site's prefetches: the base, and the displacement of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefetches {
    /// The base of the addresses.
    pub(super) base: Base,
    /// Bytes from the base.
    pub(super) displacements: Vec<usize>,
}

/// The settings as HotSpot takes them. HotSpot has no 0 for lines, so a 0 is replaced. `bytes` is
/// the size of this project's object.
pub(super) fn as_hotspot_takes_them(settings: &PrefetchSettings, bytes: Option<usize>) -> PrefetchSettings {
    let settings = settings.normalized();
    PrefetchSettings {
        lines: settings.lines_for(true, bytes),
        instance_lines: settings.lines_for(false, bytes),
        ..settings
    }
}

/// The prefetches of a site with those settings: on each allocation or, in style 2, at each
/// watermark. The number of lines depends on the site, not on the object's size.
pub(super) fn prefetches(settings: &PrefetchSettings, array: bool) -> Option<Prefetches> {
    let lines = if array { settings.lines } else { settings.instance_lines };
    let (base, first) = match settings.style {
        PrefetchStyle::None => return None,
        PrefetchStyle::Always => (Base::NewTop, settings.distance),
        PrefetchStyle::Watermark => (Base::Watermark, 0),
        PrefetchStyle::Lines => {
            (Base::Line { ahead: settings.distance + settings.step, step: settings.step }, 0)
        }
    };
    let displacements = (0..lines).map(|line| first + line * settings.step).collect();
    Some(Prefetches { base, displacements })
}

/// The layout of HotSpot's objects.
struct ObjectLayout {
    /// Bytes of an instance's header, and thus the offset of its fields.
    header: usize,
    /// The offset of an array's length.
    length: usize,
    /// The offset of an array's elements.
    elements: usize,
}

impl ObjectLayout {
    fn of(compact: bool, element: usize) -> ObjectLayout {
        match compact {
            false => ObjectLayout { header: 12, length: 12, elements: 16 },
            // Elements of 8 bytes stay aligned.
            true => ObjectLayout { header: 8, length: 8, elements: if element == 8 { 16 } else { 12 } },
        }
    }
}

/// The end of an object: its size, or a register with its end.
#[derive(Clone, Copy)]
enum Size {
    Constant(usize),
    Register { element: usize },
}

/// HotSpot's sequence; the steps in line come first.
pub(super) fn sequence(question: &Question) -> Vec<Step> {
    let element = if let What::Array { element, .. } = question.what { element } else { 8 };
    let layout = ObjectLayout::of(question.compact_headers, element);
    let size = match question.what {
        What::Object { bytes } => Size::Constant(bytes),
        What::Array { length: Length::Constant(length), .. } => {
            Size::Constant((layout.elements + length * element).next_multiple_of(8))
        }
        What::Array { length: Length::Register, .. } => Size::Register { element },
    };
    let mut steps = Vec::new();
    bump(&mut steps, question, &layout, size);
    prefetch(&mut steps, question);
    steps.push(Step::new(Stage::Store, "mov [r15 + tlab.top], r10", "the new top"));
    object(&mut steps, question, &layout, size);
    let slow =
        Step::new(Stage::Object, "slow: call {the runtime}", "refill, allocate without a buffer, or collect")
            .cold();
    steps.push(slow.differs(
        "returns an object; ours returns memory, and the header is written where it is on the fast path",
    ));
    steps.push(Step::new(Stage::Object, "jmp back", "back in line, behind the body").cold());
    steps.sort_by_key(|step| step.part == Part::Cold);
    steps
}

/// Check, load, add, compare.
fn bump(steps: &mut Vec<Step>, question: &Question, layout: &ObjectLayout, size: Size) {
    if let Size::Register { element } = size {
        let most = FAST_WORDS * 8 / element;
        let check = Step::new(Stage::Check, format!("cmp ebx, {most}"), "too long to be in line?");
        steps.push(check.differs(
            "a length has 32 bits, and FastAllocateSizeLimit (131072 words) counts the elements alone; ours has 64, and \
             1 MiB includes header and length",
        ));
        steps.push(Step::new(Stage::Check, "ja slow", "too long to be in line?"));
    }
    let end = Step::new(Stage::Load, "mov r8, [r15 + tlab.end]", "the end of the buffer");
    steps.push(end.differs(
        "an end that only allocation samples lower (JEP 331); ours is a limit that a request to stop lowers too, so \
         that an allocation is a safepoint poll",
    ));
    steps.push(Step::new(Stage::Load, "mov rax, [r15 + tlab.top]", "the old top: the object's address"));
    let add = match size {
        Size::Constant(bytes) => Step::new(Stage::Add, format!("lea r10, [rax + {bytes}]"), "the new top"),
        Size::Register { element } => {
            let rounding = if element == 8 { 0 } else { 7 };
            let scaled = if element == 1 { "rbx".into() } else { format!("rbx*{element}") };
            let bytes = format!("lea r11, [{scaled} + {}]", layout.elements + rounding);
            steps.push(Step::new(Stage::Add, bytes, "bytes"));
            if rounding > 0 {
                steps.push(Step::new(Stage::Add, "and r11, -8", "bytes"));
            }
            Step::new(Stage::Add, "lea r10, [rax + r11]", "the new top")
        }
    };
    steps.push(match question.count {
        1 => add,
        count => add.differs(format!("one object: C2 folds none, so all of this is there {count} times")),
    });
    steps.push(Step::new(Stage::Compare, "cmp r10, r8", "at the end or beyond it?"));
    let branch = Step::new(Stage::Compare, "jae slow", "at the end or beyond it?");
    steps.push(branch.differs(
        "slow at equality: no buffer is filled to its last byte; ours is, it goes slow above the limit",
    ));
}

fn prefetch(steps: &mut Vec<Step>, question: &Question) {
    let settings = as_hotspot_takes_them(&question.settings, question.bytes());
    let array = question.is_array();
    let Some(Prefetches { base, displacements }) = prefetches(&settings, array) else { return };
    let name = match settings.instruction {
        PrefetchInstruction::Nta => "prefetchnta",
        PrefetchInstruction::T0 => "prefetcht0",
        PrefetchInstruction::T2 => "prefetcht2",
        PrefetchInstruction::Write => "prefetchw",
    };
    let stage = Stage::Prefetch;
    let (register, note, part) = match base {
        Base::NewTop => ("r10", "lines ahead of the new top", Part::Hot),
        Base::Watermark => {
            let distance = settings.distance;
            steps.push(Step::new(stage, "mov r11, [r15 + tlab.pf_top]", "the watermark"));
            steps.push(Step::new(stage, "cmp r10, r11", "has the top come to it?"));
            steps.push(Step::new(stage, "jae fetch", "has the top come to it?"));
            let raise = "the watermark goes on by the distance";
            steps.push(Step::new(stage, format!("fetch: add r11, {distance}"), raise).cold());
            steps.push(Step::new(stage, "mov [r15 + tlab.pf_top], r11", raise).cold());
            ("r11", "lines from the watermark on", Part::Cold)
        }
        Base::Line { ahead, step } => {
            let note = "whole lines ahead of the object";
            steps.push(Step::new(stage, format!("lea r11, [rax + {ahead}]"), note));
            steps.push(Step::new(stage, format!("and r11, -{step}"), note));
            ("r11", note, Part::Hot)
        }
    };
    let ours = question.settings.lines_for(array, question.bytes().map(|bytes| bytes * question.count));
    let by_size = if array { question.settings.lines } else { question.settings.instance_lines } == 0;
    for (index, displacement) in displacements.iter().enumerate() {
        let address =
            if *displacement == 0 { register.into() } else { format!("{register} + {displacement}") };
        let step = Step { part, ..Step::new(stage, format!("{name} [{address}]"), note) };
        steps.push(match (index, by_size) {
            (0, true) => step.differs(format!(
                "{} at every site, whatever the size; ours has as many as the object has lines, at most 3: here {ours}",
                count(displacements.len(), "line")
            )),
            _ => step,
        });
    }
    if base == Base::Watermark {
        steps.push(Step::new(stage, "jmp back", "back in line").cold());
    }
}

/// Header, length, body, barrier.
fn object(steps: &mut Vec<Step>, question: &Question, layout: &ObjectLayout, size: Size) {
    let stage = Stage::Object;
    if question.compact_headers {
        let mark =
            Step::new(stage, "mov qword ptr [rax], {mark and class}", "mark word, with the class (JEP 450)");
        steps.push(mark.differs("one word, as ours: shape, age, mark and hash"));
    } else {
        steps.push(Step::new(stage, "mov qword ptr [rax], 1", "mark word: unlocked, no hash"));
        let class = Step::new(stage, "mov dword ptr [rax + 8], {class}", "class, compressed");
        steps.push(
            class.differs("a header of 12 to 16 bytes; ours is one word (8 with --compact-headers, JEP 450)"),
        );
    }
    let mut from = layout.header;
    if let What::Array { length, .. } = question.what {
        let value = match length {
            Length::Constant(length) => length.to_string(),
            Length::Register => "ebx".into(),
        };
        let at = layout.length;
        let step = Step::new(stage, format!("mov dword ptr [rax + {at}], {value}"), "length");
        steps.push(step.differs("32 bits; ours has 64, at 8"));
        from = layout.elements;
    }
    let to = match size {
        Size::Constant(bytes) if bytes == from => None,
        Size::Constant(bytes) => Some(format!("rax + {bytes}")),
        Size::Register { .. } => Some("r10".into()),
    };
    let at = if from == 0 { "rax".into() } else { format!("rax + {from}") };
    if let Some(to) = to {
        let clear = Step::new(stage, format!("{{clear {at} to {to}}}"), "zeroes").instructions(None);
        steps.push(match question.initialise {
            Initialise::PerObject => clear.differs(
                "per object too: plain stores where it is short, vectors or rep stosb (UseXMMForObjInit, UseFastStosb) \
                 where it is long; stores of a constructor that cover words take their zeroes' place",
            ),
            Initialise::ByCaller => clear.differs(
                "left out as far as stores of the constructor cover it; ours trusts the caller with all of it",
            ),
            Initialise::Ahead => clear.differs(
                "per object; ours was zeroed a window ahead. The nearest there is +ZeroTLAB, the whole buffer at its refill",
            ),
        });
    }
    let barrier = Step::new(stage, "{store-store barrier}", "before others see it").instructions(Some(0));
    let form = match question.form {
        Form::Pasted => "",
        Form::Stub => "; no ret, since it is pasted at every site",
    };
    steps.push(barrier.differs(format!(
        "no instruction on x86, it only binds the compiler; left out where the object does not escape{form}"
    )));
}
