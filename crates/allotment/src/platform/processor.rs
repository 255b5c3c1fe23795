//! The processor's identity and features, as far as machine code depends on them (`CPUID`).
//!
//! The description is plain data with a detector beside it. So a choice by processor is a function
//! that tests run over a table of processors, on any machine. The detector depends on x86-64, as do
//! the siblings named for it.

use raw_cpuid::CpuId;
use std::sync::OnceLock;

/// The maker of a processor.
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

/// The facts about a processor that machine code depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
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

impl Processor {
    /// Whether it is one of AMD's processors since Zen, or derived from them.
    #[must_use]
    pub fn is_zen(&self) -> bool {
        matches!(self.vendor, Vendor::Amd | Vendor::Hygon) && self.family >= 0x17
    }

    /// The processor that the caller runs on. It is detected once: on a virtual machine the host
    /// answers each `CPUID`, which takes as long as thousands of instructions.
    pub fn detect() -> Processor {
        static FOUND: OnceLock<Processor> = OnceLock::new();
        *FOUND.get_or_init(Self::ask)
    }

    fn ask() -> Processor {
        let cpuid = CpuId::new();
        let vendor = match cpuid.get_vendor_info().as_ref().map(|info| info.as_str()) {
            Some("GenuineIntel") => Vendor::Intel,
            Some("AuthenticAMD") => Vendor::Amd,
            Some("HygonGenuine") => Vendor::Hygon,
            Some("CentaurHauls" | "  Shanghai  ") => Vendor::Zhaoxin,
            _ => Vendor::Other,
        };
        let features = cpuid.get_feature_info();
        let has = |feature: fn(&raw_cpuid::FeatureInfo) -> bool| features.as_ref().is_some_and(feature);
        let line = features.as_ref().map_or(0, |info| usize::from(info.cflush_cache_line_size()) * 8);
        Processor {
            vendor,
            family: features.as_ref().map_or(0, |info| info.family_id().into()),
            sse3: has(|info| info.has_sse3()),
            sse4_2: has(|info| info.has_sse42()),
            hyper_threading: has(|info| info.has_htt()),
            avx2: std::arch::is_x86_feature_detected!("avx2"),
            prefetchw: cpuid
                .get_extended_processor_and_feature_identifiers()
                .is_some_and(|features| features.has_prefetchw()),
            line_bytes: if line.is_power_of_two() { line } else { 64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_of_the_tests_is_described() {
        let processor = Processor::detect();
        assert_eq!(processor, Processor::ask());
        assert!(processor.family >= 5 && processor.line_bytes >= 16, "{processor:?}");
        assert_eq!(processor.sse4_2, std::arch::is_x86_feature_detected!("sse4.2"));
    }
}
