//! HotSpot's `AllocatePrefetch` settings as data, their ranges, and the settings that suit a
//! processor.
//!
//! The machine code of an allocation depends on these settings. They are chosen when code is made,
//! not when it runs: a test of a flag costs a 16-byte allocation more than a prefetch gains.
//!
//! [`PrefetchSettings::hotspot`] gives HotSpot's defaults, those of `vm_version_x86.cpp`. Their
//! numbers were measured on processors from the Pentium III to the Core and the Opteron, and not
//! again. [`PrefetchSettings::recommended`] differs where a measurement supports it. On AMD's Zen
//! there is no prefetch, because Zen's own prefetcher keeps up with allocation. Elsewhere an
//! allocation prefetches as many lines as the object has, because one line for an object of three
//! leaves two cache misses.

use super::processor::{Processor, Vendor, X86_64};
use crate::options::table;

/// When an allocation prefetches: `AllocatePrefetchStyle`.
///
/// `T` is the old top, `N` the new one, `D` the distance, `S` the step, `L` the number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefetchStyle {
    /// 0: never.
    None,
    /// 1: always, the lines at `N + D + i*S` for `i < L`.
    Always,
    /// 2: when `N` reaches the thread's watermark `W`, which becomes `W + D`; then the lines at `W
    /// + D + i*S`.
    Watermark,
    /// 3: always, whole lines, at `((T + S + D) & -S) + i*S`.
    Lines,
}

/// Which instruction prefetches: `AllocatePrefetchInstr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefetchInstruction {
    /// 0: `PREFETCHNTA` or `PRFM PLDL1STRM`, into the first level, evicted early.
    Nta,
    /// 1: `PREFETCHT0` or `PRFM PLDL1KEEP`, into all levels.
    T0,
    /// 2: `PREFETCHT2` or `PRFM PLDL3KEEP`, into the outer levels.
    T2,
    /// 3: `PREFETCHW` or `PRFM PSTL1KEEP`, into the first level and exclusive: the store needs no
    /// upgrade.
    Write,
}

/// The prefetches of an allocation: HotSpot's `AllocatePrefetch` options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrefetchSettings {
    /// When an allocation prefetches.
    pub style: PrefetchStyle,
    /// Bytes ahead, 0 to 512; 0 means no style ([`normalized`](Self::normalized)).
    pub distance: usize,
    /// Lines for an array, 1 to 64; 0 means as many steps as the object has, at most
    /// [`MOST_LINES`](Self::MOST_LINES).
    pub lines: usize,
    /// Lines for an object without a length, in the same notation as `lines`.
    pub instance_lines: usize,
    /// Bytes from one line to the next: 1 to 512.
    pub step: usize,
    /// The instruction that prefetches.
    pub instruction: PrefetchInstruction,
}

/// The reason why settings do not work, with the nearest ones that do.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefetchError {
    /// A number is outside HotSpot's range.
    #[error("{name}={value}: {min} to {max} work; {} is the nearest", .value.clamp(.min, .max))]
    Range {
        /// The option.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The least that works.
        min: usize,
        /// The most that works.
        max: usize,
    },
    /// Style 3 (whole lines) needs a step that a mask can round to.
    #[error(
        "AllocatePrefetchStepSize={step}: style 3 rounds to it, so it must be a power of two of at least 8; {nearest} \
         is the nearest"
    )]
    Step {
        /// The step.
        step: usize,
        /// The power of two that is nearest.
        nearest: usize,
    },
    /// The processor lacks the instruction.
    #[error("AllocatePrefetchInstr=3: this processor has no PREFETCHW; 1 (PREFETCHT0) is the nearest")]
    Instruction,
}
crate::debug::debug_is_display!(PrefetchError);

impl PrefetchStyle {
    /// The style with that number.
    pub fn from_number(number: usize) -> Option<PrefetchStyle> {
        use PrefetchStyle::{Always, Lines, Watermark};
        [PrefetchStyle::None, Always, Watermark, Lines].get(number).copied()
    }

    /// The style's number in `AllocatePrefetchStyle`.
    pub const fn number(self) -> usize {
        self as usize
    }
}

impl PrefetchInstruction {
    /// The instruction with that number.
    pub fn from_number(number: usize) -> Option<PrefetchInstruction> {
        use PrefetchInstruction::{Nta, T0, T2, Write};
        [Nta, T0, T2, Write].get(number).copied()
    }

    /// The instruction's number in `AllocatePrefetchInstr`.
    pub const fn number(self) -> usize {
        self as usize
    }
}

impl PrefetchSettings {
    /// The largest distance in bytes, as in HotSpot.
    pub const MAX_DISTANCE: usize = table::MAX_PREFETCH_DISTANCE;
    /// The most lines, as in HotSpot.
    pub const MAX_LINES: usize = table::MAX_PREFETCH_LINES;
    /// The largest step in bytes, as in HotSpot.
    pub const MAX_STEP: usize = table::MAX_PREFETCH_STEP;
    /// The most lines where the size of the object decides the number.
    pub const MOST_LINES: usize = 3;

    /// No prefetch.
    pub const OFF: PrefetchSettings = PrefetchSettings {
        style: PrefetchStyle::None,
        distance: 256,
        lines: 3,
        instance_lines: 1,
        step: 64,
        instruction: PrefetchInstruction::Nta,
    };

    /// HotSpot's choice for that processor when no option is given: `vm_version_x86.cpp` or
    /// `vm_version_aarch64.cpp`.
    pub fn hotspot(processor: &Processor) -> PrefetchSettings {
        match processor {
            Processor::X86_64(processor) => Self::hotspot_x86_64(processor),
            // HotSpot's code for AArch64 knows one instruction, `PRFM PSTL1KEEP`.
            Processor::AArch64(processor) => PrefetchSettings {
                style: PrefetchStyle::Always,
                // HotSpot refuses its own choice for lines of 256 bytes.
                distance: (3 * processor.line_bytes).min(Self::MAX_DISTANCE),
                lines: 3,
                instance_lines: 1,
                step: processor.line_bytes,
                instruction: PrefetchInstruction::Write,
            },
        }
    }

    fn hotspot_x86_64(processor: &X86_64) -> PrefetchSettings {
        let amd = matches!(processor.vendor, Vendor::Amd | Vendor::Hygon);
        let bulldozer = processor.vendor == Vendor::Amd && processor.family == 0x15;
        // HotSpot does not restrict this test to Intel.
        let server = matches!(processor.family, 6 | 19);
        let nehalem = server && processor.sse3 && processor.sse4_2 && processor.hyper_threading;
        let write = matches!(processor.vendor, Vendor::Intel | Vendor::Zhaoxin) && processor.prefetchw;
        let style = if bulldozer { PrefetchStyle::None } else { PrefetchStyle::Always };
        let distance = match () {
            () if amd => 256,
            () if nehalem => 192,
            () if server => 256,
            () => 512,
        };
        PrefetchSettings {
            style,
            distance,
            lines: if nehalem && processor.vendor == Vendor::Intel { 4 } else { 3 },
            instance_lines: 1,
            step: processor.line_bytes.max(16),
            instruction: if write || bulldozer && processor.prefetchw {
                PrefetchInstruction::Write
            } else {
                PrefetchInstruction::Nta
            },
        }
    }

    /// This library's choice for that processor when no option is given. On AArch64 there is no
    /// prefetch, because no processor has been measured.
    pub fn recommended(processor: &Processor) -> PrefetchSettings {
        let instruction = match processor.prefetches_for_writing() {
            true => PrefetchInstruction::Write,
            false => PrefetchInstruction::T0,
        };
        let settings = PrefetchSettings {
            style: PrefetchStyle::Always,
            distance: 256,
            lines: 0,
            instance_lines: 0,
            step: processor.line_bytes().max(16),
            instruction,
        };
        match processor {
            Processor::X86_64(processor) if !processor.is_zen() => settings,
            _ => settings.off(),
        }
    }

    /// These settings without a style.
    #[must_use]
    pub fn off(self) -> PrefetchSettings {
        PrefetchSettings { style: PrefetchStyle::None, ..self }
    }

    /// These settings as HotSpot reads them: a distance of 0 means no style.
    #[must_use]
    pub fn normalized(self) -> PrefetchSettings {
        if self.distance == 0 { self.off() } else { self }
    }

    /// Checks that all settings are within HotSpot's ranges and that the processor has the
    /// instruction.
    ///
    /// # Errors
    /// [`PrefetchError`]: the first setting that does not work, with the nearest value that does.
    pub fn check(&self, processor: &Processor) -> Result<(), PrefetchError> {
        let range = |name, value, min, max| match (min..=max).contains(&value) {
            true => Ok(()),
            false => Err(PrefetchError::Range { name, value, min, max }),
        };
        range("AllocatePrefetchDistance", self.distance, 0, Self::MAX_DISTANCE)?;
        range("AllocatePrefetchLines", self.lines, 0, Self::MAX_LINES)?;
        range("AllocateInstancePrefetchLines", self.instance_lines, 0, Self::MAX_LINES)?;
        range("AllocatePrefetchStepSize", self.step, 1, Self::MAX_STEP)?;
        if self.style == PrefetchStyle::Lines && !(self.step.is_power_of_two() && self.step >= 8) {
            return Err(PrefetchError::Step { step: self.step, nearest: nearest_power_of_two(self.step) });
        }
        let prefetches = self.style != PrefetchStyle::None;
        if prefetches && self.instruction == PrefetchInstruction::Write && !processor.prefetches_for_writing()
        {
            return Err(PrefetchError::Instruction);
        }
        Ok(())
    }

    /// The number of lines that an allocation prefetches, for an array or not, of `bytes` where the
    /// size is known. A step counts as a line.
    pub fn lines_for(&self, array: bool, bytes: Option<usize>) -> usize {
        match if array { self.lines } else { self.instance_lines } {
            0 => bytes.map_or(1, |bytes| bytes.div_ceil(self.step.max(1)).clamp(1, Self::MOST_LINES)),
            lines => lines,
        }
    }
}

/// The power of two nearest to `step`, at least 8 and at most 512.
fn nearest_power_of_two(step: usize) -> usize {
    let above = step.clamp(8, PrefetchSettings::MAX_STEP).next_power_of_two();
    let below = (above / 2).max(8);
    if above - step.min(above) <= step.saturating_sub(below) { above } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::processor::AArch64;

    const ZEN: X86_64 = X86_64 {
        vendor: Vendor::Amd,
        family: 0x19,
        sse3: true,
        sse4_2: true,
        hyper_threading: true,
        avx2: true,
        prefetchw: true,
        line_bytes: 64,
    };
    const NEHALEM: X86_64 = X86_64 { vendor: Vendor::Intel, family: 6, avx2: false, prefetchw: false, ..ZEN };
    const RAPIDS: X86_64 = X86_64 { prefetchw: true, avx2: true, ..NEHALEM };

    fn settings(
        style: usize,
        distance: usize,
        lines: usize,
        instance_lines: usize,
        instruction: usize,
    ) -> PrefetchSettings {
        PrefetchSettings {
            style: PrefetchStyle::from_number(style).unwrap(),
            distance,
            lines,
            instance_lines,
            step: 64,
            instruction: PrefetchInstruction::from_number(instruction).unwrap(),
        }
    }

    #[test]
    fn defaults_by_processor() {
        let core = X86_64 { sse4_2: false, ..NEHALEM };
        let pentium_m = X86_64 { sse3: false, ..core };
        let pentium_4 = X86_64 { family: 15, ..core };
        let bulldozer = X86_64 { family: 0x15, ..ZEN };
        let hygon = X86_64 { vendor: Vendor::Hygon, family: 0x18, ..ZEN };
        let zhaoxin = X86_64 { vendor: Vendor::Zhaoxin, family: 7, ..ZEN };
        for (processor, hotspot, ours) in [
            (RAPIDS, settings(1, 192, 4, 1, 3), settings(1, 256, 0, 0, 3)),
            (NEHALEM, settings(1, 192, 4, 1, 0), settings(1, 256, 0, 0, 1)),
            (core, settings(1, 256, 3, 1, 0), settings(1, 256, 0, 0, 1)),
            (pentium_m, settings(1, 256, 3, 1, 0), settings(1, 256, 0, 0, 1)),
            (pentium_4, settings(1, 512, 3, 1, 0), settings(1, 256, 0, 0, 1)),
            (ZEN, settings(1, 256, 3, 1, 0), settings(0, 256, 0, 0, 3)),
            (hygon, settings(1, 256, 3, 1, 0), settings(0, 256, 0, 0, 3)),
            (bulldozer, settings(0, 256, 3, 1, 3), settings(1, 256, 0, 0, 3)),
            (zhaoxin, settings(1, 512, 3, 1, 3), settings(1, 256, 0, 0, 3)),
        ] {
            let processor = Processor::X86_64(processor);
            assert_eq!(PrefetchSettings::hotspot(&processor), hotspot, "{processor:?}");
            assert_eq!(PrefetchSettings::recommended(&processor), ours, "{processor:?}");
            assert_eq!(hotspot.check(&processor), Ok(()));
            assert_eq!(ours.check(&processor), Ok(()));
        }
    }

    #[test]
    fn aarch64_prefetches_three_lines_ahead_in_hotspot_and_not_here() {
        for line_bytes in [64, 128, 256] {
            let processor =
                Processor::AArch64(AArch64 { identity: None, lse: true, line_bytes, zva_bytes: Some(64) });
            let hotspot = PrefetchSettings::hotspot(&processor);
            assert_eq!((hotspot.distance, hotspot.step), ((3 * line_bytes).min(512), line_bytes));
            assert_eq!(hotspot.check(&processor), Ok(()));
            assert_eq!(PrefetchSettings::recommended(&processor).style, PrefetchStyle::None);
        }
    }

    #[test]
    fn what_does_not_work_is_refused_with_the_nearest_that_does() {
        let good = settings(3, 256, 3, 1, 3);
        for (bad, processor, expected) in [
            (
                PrefetchSettings { distance: 600, ..good },
                ZEN,
                "AllocatePrefetchDistance=600: 0 to 512 work; 512",
            ),
            (PrefetchSettings { lines: 65, ..good }, ZEN, "AllocatePrefetchLines=65: 0 to 64 work; 64"),
            (PrefetchSettings { instance_lines: 99, ..good }, ZEN, "AllocateInstancePrefetchLines=99"),
            (PrefetchSettings { step: 0, ..good }, ZEN, "AllocatePrefetchStepSize=0: 1 to 512 work; 1"),
            (PrefetchSettings { step: 513, ..good }, ZEN, "AllocatePrefetchStepSize=513"),
            (PrefetchSettings { step: 48, ..good }, ZEN, "64 is the nearest"),
            (PrefetchSettings { step: 40, ..good }, ZEN, "32 is the nearest"),
            (PrefetchSettings { step: 1, ..good }, ZEN, "8 is the nearest"),
            (PrefetchSettings { step: 500, ..good }, ZEN, "512 is the nearest"),
            (good, NEHALEM, "1 (PREFETCHT0) is the nearest"),
        ] {
            let error = bad.check(&Processor::X86_64(processor)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(
            PrefetchSettings { step: 48, ..settings(1, 1, 1, 1, 0) }.check(&Processor::X86_64(NEHALEM)),
            Ok(())
        );
        assert_eq!(
            PrefetchSettings { ..good.off() }.check(&Processor::X86_64(NEHALEM)),
            Ok(()),
            "style 0 needs no instruction"
        );
    }

    #[test]
    fn lines_are_the_sites_or_the_objects() {
        let by_site = settings(1, 256, 4, 1, 0);
        assert_eq!((by_site.lines_for(true, None), by_site.lines_for(false, Some(640))), (4, 1));
        let by_object = settings(1, 256, 0, 0, 0);
        let lines = [16, 64, 65, 144, 4096].map(|bytes| by_object.lines_for(false, Some(bytes)));
        assert_eq!((lines, by_object.lines_for(true, None)), ([1, 1, 2, 3, 3], 1));
    }

    #[test]
    fn numbers_name_styles_and_instructions() {
        for number in 0..4 {
            assert_eq!(PrefetchStyle::from_number(number).unwrap().number(), number);
            assert_eq!(PrefetchInstruction::from_number(number).unwrap().number(), number);
        }
        assert_eq!((PrefetchStyle::from_number(4), PrefetchInstruction::from_number(4)), (None, None));
        assert_eq!(settings(2, 0, 3, 1, 0).normalized().style, PrefetchStyle::None);
    }
}
