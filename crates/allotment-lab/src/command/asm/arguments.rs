//! The arguments of `allotment asm`, and the question that they ask.

use crate::format::{number, time};
use crate::machine::require_x86_64;
use allotment::raw::{PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, Vendor, X86_64};
use allotment_jit::{EmitError, Initialise, MAX_INLINE_BYTES};
use allotment_report::command::Failure;
use clap::ValueEnum;
use std::time::Duration;

/// The arguments of `allotment asm`.
#[derive(Clone, Debug, clap::Args)]
pub struct AsmArguments {
    /// Bytes of the object, header included: a multiple of 8 [default: 64].
    #[arg(long, value_name = "BYTES", value_parser = number::parse_size, conflicts_with = "array")]
    pub(super) size: Option<u64>,

    /// Allocate an array instead of an object of fixed size.
    #[arg(long)]
    pub(super) array: bool,

    /// Bytes of an element: 1, 2, 4 or 8 [default: 8].
    #[arg(long, value_name = "BYTES", value_parser = element, requires = "array")]
    pub(super) element: Option<usize>,

    /// Elements of the array: a number, or `register` for a length that only the running program
    /// knows [default: register].
    #[arg(long, value_name = "N|register", value_parser = length, requires = "array")]
    pub(super) length: Option<Length>,

    /// AllocatePrefetchStyle: 0 none, 1 at each allocation, 2 at the watermark, 3 whole lines
    /// [default: see --defaults].
    #[arg(long, value_name = "0..3", value_parser = style)]
    pub(super) style: Option<PrefetchStyle>,

    /// AllocatePrefetchDistance: bytes ahead of the top, 0 to 512 [default: see --defaults].
    #[arg(long, value_name = "BYTES")]
    pub(super) distance: Option<usize>,

    /// AllocatePrefetchLines: lines for an array, 1 to 64; 0 for as many as it has, at most 3
    /// [default: see --defaults].
    #[arg(long, value_name = "N")]
    pub(super) lines: Option<usize>,

    /// AllocateInstancePrefetchLines: lines for any other object, with the values of --lines
    /// [default: see --defaults].
    #[arg(long, value_name = "N")]
    pub(super) instance_lines: Option<usize>,

    /// AllocatePrefetchStepSize: bytes from line to line, 1 to 512 [default: see --defaults].
    #[arg(long, value_name = "BYTES")]
    pub(super) step: Option<usize>,

    /// AllocatePrefetchInstr: nta (0), t0 (1), t2 (2) or w (3) [default: see --defaults].
    #[arg(long, value_name = "NAME", value_parser = instruction)]
    pub(super) instr: Option<PrefetchInstruction>,

    /// The side whose defaults fill in the prefetch options that are not given.
    #[arg(long, value_name = "WHOSE", default_value = "ours")]
    pub(super) defaults: Defaults,

    /// The code that writes the memory after the header.
    #[arg(long, value_name = "WHO", default_value = "object")]
    pub(super) zeroing: Zeroing,

    /// The number of objects that lie side by side and share one bump of the top.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) count: u32,

    /// The emitted form: pasted into a compiler's code, or a function to call.
    #[arg(long, value_name = "FORM", default_value = "pasted")]
    pub(super) form: Form,

    /// The processor of x86-64 to emit for.
    #[arg(long, value_name = "NAME", default_value = "this")]
    pub(super) processor: Target,

    /// Give HotSpot's objects headers of 8 bytes (JEP 450).
    #[arg(long)]
    pub(super) compact_headers: bool,

    /// Print the barriers of a store and a load and a safepoint poll too.
    #[arg(long)]
    pub(super) barriers: bool,

    /// The place of HotSpot's sequence: beside ours, or below.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(super) layout: Arrangement,

    /// Run the sequence in a loop for TIME, and print which instructions take the time [without a
    /// value: 2s].
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "2s", value_parser = time::parse)]
    pub(super) profile: Option<Duration>,

    /// Bytes that the loop fills before it starts over [default: half of L2].
    #[arg(long, value_name = "SIZE", value_parser = number::parse_size, requires = "profile")]
    pub(super) eden: Option<u64>,
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// A constant number of elements.
    Constant(usize),
    /// The value of a register at run time.
    Register,
}

/// The side whose defaults apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Defaults {
    /// This library's defaults for the processor.
    Ours,
    /// HotSpot's defaults for the processor.
    Hotspot,
}

/// The code that writes the memory after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Zeroing {
    /// The code after the allocation writes every word.
    Caller,
    /// The allocation writes zeroes.
    Object,
    /// The heap writes zeroes, a window at a time.
    Ahead,
}

/// The emitted form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// The sequence falls through to the code after it.
    Pasted,
    /// A C function.
    Stub,
}

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// This machine's.
    This,
    /// AMD's processors since 2017.
    Zen,
    /// Intel's processors of 2008, without AVX2 and PREFETCHW.
    Nehalem,
    /// Intel's server processors since 2023.
    Rapids,
}

/// The place of HotSpot's sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Arrangement {
    /// Beside ours if the terminal is wide enough, otherwise below.
    Auto,
    /// Beside ours.
    Beside,
    /// Below ours.
    Below,
}

fn element(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(bytes @ (1 | 2 | 4 | 8)) => Ok(bytes),
        Ok(bytes) => {
            let nearest = [8_usize, 4, 2, 1].into_iter().min_by_key(|near| near.abs_diff(bytes)).unwrap_or(8);
            Err(format!("elements have 1, 2, 4 or 8 bytes; {nearest} is the nearest"))
        }
        Err(_) => Err("elements have 1, 2, 4 or 8 bytes".into()),
    }
}

fn length(text: &str) -> Result<Length, String> {
    if text == "register" {
        return Ok(Length::Register);
    }
    text.parse().map(Length::Constant).map_err(|_| "write a number of elements, or register".into())
}

fn style(text: &str) -> Result<PrefetchStyle, String> {
    text.parse()
        .ok()
        .and_then(PrefetchStyle::from_number)
        .ok_or_else(|| "the styles are 0 (none), 1 (always), 2 (at the watermark) and 3 (whole lines)".into())
}

fn instruction(text: &str) -> Result<PrefetchInstruction, String> {
    let named = match text {
        "nta" => Some(PrefetchInstruction::Nta),
        "t0" => Some(PrefetchInstruction::T0),
        "t2" => Some(PrefetchInstruction::T2),
        "w" => Some(PrefetchInstruction::Write),
        _ => text.parse().ok().and_then(PrefetchInstruction::from_number),
    };
    named.ok_or_else(|| "the instructions are nta (0), t0 (1), t2 (2) and w (3)".into())
}

impl Target {
    /// The processor's features that the emitter needs. `here` is this machine's processor.
    ///
    /// # Errors
    /// [`Failure::Usage`]: this machine's processor is not of x86-64.
    pub(super) fn processor(self, here: Processor) -> Result<X86_64, Failure> {
        let zen = X86_64 {
            vendor: Vendor::Amd,
            family: 0x19,
            sse3: true,
            sse4_2: true,
            hyper_threading: true,
            avx2: true,
            prefetchw: true,
            line_bytes: 64,
        };
        Ok(match self {
            Target::This => require_x86_64(here, "--processor this").map_err(|why| {
                Failure::Usage(format!("{why}: name a processor of x86-64, such as --processor zen"))
            })?,
            Target::Zen => zen,
            Target::Rapids => X86_64 { vendor: Vendor::Intel, family: 6, ..zen },
            Target::Nehalem => {
                X86_64 { vendor: Vendor::Intel, family: 6, avx2: false, prefetchw: false, ..zen }
            }
        })
    }
}

/// The object to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// An object without a length, of the given bytes.
    Object { bytes: usize },
    /// An array.
    Array { element: usize, length: Length },
}

/// The user's question, with every default filled in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) processor: X86_64,
    /// The settings as given: `lines` may be 0.
    pub(super) settings: PrefetchSettings,
    pub(super) what: What,
    pub(super) initialise: Initialise,
    pub(super) count: usize,
    pub(super) form: Form,
    pub(super) compact_headers: bool,
}

impl Question {
    /// The question of a command line on this machine, whose processor is `here`.
    ///
    /// # Errors
    /// [`Failure::Usage`]: options that exclude each other, or that this machine cannot follow. The
    /// emitter itself reports what it cannot emit.
    pub(super) fn of(arguments: &AsmArguments, here: Processor) -> Result<Question, Failure> {
        let usage = |text: &str| Err(Failure::Usage(text.into()));
        if arguments.profile.is_some() {
            require_x86_64(here, "--profile").map_err(|why| Failure::Usage(why.to_string()))?;
        }
        if arguments.form == Form::Stub && arguments.count > 1 {
            return usage("--form stub makes one object; leave --count out, or write --form pasted");
        }
        if arguments.profile.is_some() && arguments.processor != Target::This {
            return usage("--profile runs the code, so it is for this processor: leave --processor out");
        }
        let processor = arguments.processor.processor(here)?;
        let defaults = match arguments.defaults {
            Defaults::Ours => PrefetchSettings::recommended(&processor.into()),
            Defaults::Hotspot => PrefetchSettings::hotspot(&processor.into()),
        };
        let settings = PrefetchSettings {
            style: arguments.style.unwrap_or(defaults.style),
            distance: arguments.distance.unwrap_or(defaults.distance),
            lines: arguments.lines.unwrap_or(defaults.lines),
            instance_lines: arguments.instance_lines.unwrap_or(defaults.instance_lines),
            step: arguments.step.unwrap_or(defaults.step),
            instruction: arguments.instr.unwrap_or(defaults.instruction),
        };
        let what = if arguments.array {
            What::Array {
                element: arguments.element.unwrap_or(8),
                length: arguments.length.unwrap_or(Length::Register),
            }
        } else {
            // A size beyond the address space is also beyond what is allocated inline.
            What::Object { bytes: usize::try_from(arguments.size.unwrap_or(64)).unwrap_or(usize::MAX) }
        };
        Ok(Question {
            processor,
            settings,
            what,
            initialise: match arguments.zeroing {
                Zeroing::Caller => Initialise::ByCaller,
                Zeroing::Object => Initialise::PerObject,
                Zeroing::Ahead => Initialise::Ahead,
            },
            count: arguments.count as usize,
            form: arguments.form,
            compact_headers: arguments.compact_headers,
        })
    }

    /// Whether it is an array.
    pub(super) fn is_array(&self) -> bool {
        matches!(self.what, What::Array { .. })
    }

    /// Bytes of one of our objects, where they are known.
    pub(super) fn bytes(&self) -> Option<usize> {
        match self.what {
            What::Object { bytes } => Some(bytes),
            What::Array { element, length: Length::Constant(length) } => {
                let body = length.checked_mul(element)?.checked_add(16 + 7)?;
                Some(body / 8 * 8)
            }
            What::Array { length: Length::Register, .. } => None,
        }
    }
}

/// A usage error for a question that cannot be emitted.
pub(super) fn refused(question: &Question, error: &EmitError) -> Failure {
    let hint = match (question.what, error) {
        (What::Array { element, .. }, EmitError::TooLarge { .. }) => {
            format!("; --length {} is the nearest", (MAX_INLINE_BYTES - 16) / element)
        }
        (What::Object { .. }, EmitError::TooLarge { .. }) if question.count > 1 => {
            let most = question.bytes().map_or(1, |bytes| (MAX_INLINE_BYTES / bytes.max(1)).max(1));
            format!("; --count {most} is the nearest")
        }
        (_, EmitError::Fold(_)) => "; give the array a --length, or leave --count out".into(),
        _ => String::new(),
    };
    Failure::Usage(format!("{error}{hint}"))
}
