//! Detects the processor, as far as its events differ, by the numbers that CPUID gives.
//!
//! Models that are not distinguished here have no events of their own names. Their codes can still
//! be given as numbers.

use serde::Deserialize;
use std::fmt;

/// Processors with the same events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Haswell for one socket.
    Haswell,
    /// Haswell for several sockets, which also counts lines from another socket.
    HaswellServer,
    /// Skylake for one socket, and its successors Kaby, Coffee and Comet Lake.
    Skylake,
    /// Skylake-SP and Cascade Lake.
    SkylakeServer,
    /// Ice Lake-SP.
    IceLakeServer,
    /// Sapphire and Emerald Rapids.
    SapphireRapids,
    /// Zen 2.
    Zen2,
    /// Zen 3.
    Zen3,
    /// Zen 4.
    Zen4,
}

impl Family {
    /// This processor's; `None` if no events by code are known for it.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Option<Family> {
        let cpuid = raw_cpuid::CpuId::new();
        let (vendor, features) = (cpuid.get_vendor_info()?, cpuid.get_feature_info()?);
        Family::of(vendor.as_str(), features.family_id().into(), features.model_id().into())
    }

    /// `None`: events by code are known for processors of x86-64 alone.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Option<Family> {
        None
    }

    /// By CPUID's vendor, family and model, the extended ones included.
    pub fn of(vendor: &str, family: u32, model: u32) -> Option<Family> {
        Some(match (vendor, family, model) {
            ("GenuineIntel", 6, 0x3C | 0x45 | 0x46) => Family::Haswell,
            ("GenuineIntel", 6, 0x3F) => Family::HaswellServer,
            ("GenuineIntel", 6, 0x4E | 0x5E | 0x8E | 0x9E | 0xA5 | 0xA6) => Family::Skylake,
            ("GenuineIntel", 6, 0x55) => Family::SkylakeServer,
            ("GenuineIntel", 6, 0x6A | 0x6C) => Family::IceLakeServer,
            ("GenuineIntel", 6, 0x8F | 0xCF) => Family::SapphireRapids,
            ("AuthenticAMD", 0x17, 0x30..) => Family::Zen2,
            ("AuthenticAMD", 0x19, 0x10..=0x1F | 0x60..=0xAF) => Family::Zen4,
            ("AuthenticAMD", 0x19, _) => Family::Zen3,
            _ => return None,
        })
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Family::Haswell => "Haswell",
            Family::HaswellServer => "Haswell (server)",
            Family::Skylake => "Skylake",
            Family::SkylakeServer => "Skylake-SP, Cascade Lake",
            Family::IceLakeServer => "Ice Lake-SP",
            Family::SapphireRapids => "Sapphire or Emerald Rapids",
            Family::Zen2 => "Zen 2",
            Family::Zen3 => "Zen 3",
            Family::Zen4 => "Zen 4",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_apart() {
        for (vendor, family, model, expected) in [
            ("GenuineIntel", 6, 0x3C, Some(Family::Haswell)),
            ("GenuineIntel", 6, 0x3F, Some(Family::HaswellServer)),
            ("GenuineIntel", 6, 0x55, Some(Family::SkylakeServer)),
            ("GenuineIntel", 6, 0x6A, Some(Family::IceLakeServer)),
            ("GenuineIntel", 6, 0x8F, Some(Family::SapphireRapids)),
            ("GenuineIntel", 6, 0x0F, None),
            ("GenuineIntel", 15, 0x3C, None),
            ("AuthenticAMD", 0x17, 0x01, None),
            ("AuthenticAMD", 0x17, 0x31, Some(Family::Zen2)),
            ("AuthenticAMD", 0x19, 0x01, Some(Family::Zen3)),
            ("AuthenticAMD", 0x19, 0x11, Some(Family::Zen4)),
            ("AuthenticAMD", 0x19, 0x61, Some(Family::Zen4)),
            ("HygonGenuine", 0x19, 0x01, None),
        ] {
            assert_eq!(Family::of(vendor, family, model), expected, "{vendor} {family:x} {model:x}");
        }
    }
}
