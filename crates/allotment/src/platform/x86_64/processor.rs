//! The detector of an x86-64 processor (`CPUID`).

use crate::platform::processor::{Processor, Vendor, X86_64};
use raw_cpuid::CpuId;
use std::sync::OnceLock;

impl X86_64 {
    /// The processor that the caller runs on. It is detected once: on a virtual machine the host
    /// answers each `CPUID`, which takes as long as thousands of instructions.
    pub fn detect() -> X86_64 {
        static FOUND: OnceLock<X86_64> = OnceLock::new();
        *FOUND.get_or_init(ask)
    }
}

pub(in crate::platform) fn processor() -> Processor {
    Processor::X86_64(X86_64::detect())
}

fn ask() -> X86_64 {
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
    X86_64 {
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
