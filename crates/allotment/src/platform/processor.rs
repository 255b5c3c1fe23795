//! The processor's identity and features, as far as machine code depends on them.
//!
//! The description is plain data, of every machine on every machine. So a choice by processor is a
//! function that tests run over a table of processors, and a compiler can make code for a processor
//! that it does not run on. Each machine's folder has the detector of its own processor.

use super::machine;

/// The processor, as far as machine code depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Processor {
    /// x86-64.
    X86_64(X86_64),
    /// AArch64.
    AArch64(AArch64),
}

/// The maker of an x86-64 processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Vendor {
    /// `GenuineIntel`.
    Intel,
    /// `AuthenticAMD`.
    Amd,
    /// `HygonGenuine`: Zen under licence.
    Hygon,
    /// `CentaurHauls`, and `Shanghai` after spaces.
    Zhaoxin,
    /// Another maker, or an unknown one.
    Other,
}

/// A processor of x86-64 (`CPUID`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct X86_64 {
    /// The maker.
    pub vendor: Vendor,
    /// Its family, the extended one included: 6 of Intel's since the Pentium Pro, 17h and up of
    /// AMD's Zen.
    pub family: u32,
    /// Whether it has SSE3.
    pub sse3: bool,
    /// Whether it has SSE4.2.
    pub sse4_2: bool,
    /// The hyper-threading bit: a package may have several hardware threads. Set on every current
    /// processor.
    pub hyper_threading: bool,
    /// Whether it has AVX2, and the system keeps the registers.
    pub avx2: bool,
    /// Whether `PREFETCHW` has an effect (8000_0001h, ECX bit 8).
    pub prefetchw: bool,
    /// Bytes of a line of the first-level cache.
    pub line_bytes: usize,
}

/// A processor of AArch64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AArch64 {
    /// The implementer and the part (`MIDR_EL1`, bits 24 to 31 and 4 to 15), such as 0x41 and 0xD40
    /// of Arm's Neoverse V1. `None` if the kernel does not tell.
    pub identity: Option<(u8, u16)>,
    /// Whether it has the atomic instructions of the Large System Extensions.
    pub lse: bool,
    /// Bytes of a line of the first-level cache: the smallest of all data caches (`CTR_EL0`).
    pub line_bytes: usize,
    /// Bytes that `DC ZVA` zeroes at once; `None` where the system forbids it (`DCZID_EL0`).
    pub zva_bytes: Option<usize>,
}

impl X86_64 {
    /// Whether it is one of AMD's processors since Zen, or derived from them.
    #[must_use]
    pub fn is_zen(&self) -> bool {
        matches!(self.vendor, Vendor::Amd | Vendor::Hygon) && self.family >= 0x17
    }
}

impl Processor {
    /// The processor that the caller runs on, which is detected once.
    pub fn detect() -> Processor {
        machine::processor()
    }

    /// Bytes of a line of the first-level cache.
    pub fn line_bytes(&self) -> usize {
        match self {
            Processor::X86_64(processor) => processor.line_bytes,
            Processor::AArch64(processor) => processor.line_bytes,
        }
    }

    /// Whether a prefetch for writing has an effect: `PREFETCHW`, or `PRFM PSTL1KEEP`, which every
    /// AArch64 processor has.
    pub fn prefetches_for_writing(&self) -> bool {
        match self {
            Processor::X86_64(processor) => processor.prefetchw,
            Processor::AArch64(_) => true,
        }
    }
}

impl From<X86_64> for Processor {
    fn from(processor: X86_64) -> Processor {
        Processor::X86_64(processor)
    }
}

impl From<AArch64> for Processor {
    fn from(processor: AArch64) -> Processor {
        Processor::AArch64(processor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_of_the_tests_is_described() {
        let processor = Processor::detect();
        assert_eq!(processor, Processor::detect());
        assert!(processor.line_bytes() >= 16 && processor.line_bytes().is_power_of_two(), "{processor:?}");
        #[cfg(target_arch = "x86_64")]
        assert!(
            matches!(processor, Processor::X86_64(X86_64 { family, sse4_2, .. })
                if family >= 5 && sse4_2 == std::arch::is_x86_feature_detected!("sse4.2")),
            "{processor:?}"
        );
    }
}
