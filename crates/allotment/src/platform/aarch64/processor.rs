//! The detector of an AArch64 processor.
//!
//! `CTR_EL0` and `DCZID_EL0` may be read by programs. `MIDR_EL1` is read by the kernel for the
//! program, where the capability `CPUID` says so.

use crate::platform::processor::{AArch64, Processor};
use rustix::param::linux_hwcap;
use std::arch::asm;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// `HWCAP_ATOMICS` of Linux's `asm/hwcap.h`.
const HWCAP_ATOMICS: usize = 1 << 8;
/// `HWCAP_CPUID`.
const HWCAP_CPUID: usize = 1 << 11;
/// `HWCAP_SVE`.
const HWCAP_SVE: usize = 1 << 22;

/// 1 on a processor with SVE. The entries of slow paths read it. [`AArch64::detect`] writes it, which
/// every heap calls before it has a thread.
pub(crate) static HAS_LONG_VECTORS: AtomicU8 = AtomicU8::new(0);

impl AArch64 {
    /// The processor that the caller runs on. It is detected once, as the kernel answers for
    /// `MIDR_EL1`.
    pub fn detect() -> AArch64 {
        static FOUND: OnceLock<AArch64> = OnceLock::new();
        *FOUND.get_or_init(ask)
    }
}

pub(in crate::platform) fn processor() -> Processor {
    Processor::AArch64(AArch64::detect())
}

fn ask() -> AArch64 {
    let (capabilities, _) = linux_hwcap();
    HAS_LONG_VECTORS.store(u8::from(capabilities & HWCAP_SVE != 0), Ordering::Relaxed);
    let (caches, zeroes): (u64, u64);
    // SAFETY: both registers may be read by every program.
    unsafe {
        asm!("mrs {}, ctr_el0", out(reg) caches, options(nomem, nostack, preserves_flags, pure));
        asm!("mrs {}, dczid_el0", out(reg) zeroes, options(nomem, nostack, preserves_flags, pure));
    }
    let identity = (capabilities & HWCAP_CPUID != 0).then(|| {
        let identity: u64;
        // SAFETY: the kernel reads the register for the program, as the capability says.
        unsafe {
            asm!("mrs {}, midr_el1", out(reg) identity, options(nomem, nostack, preserves_flags, pure))
        };
        ((identity >> 24) as u8, (identity >> 4 & 0xFFF) as u16)
    });
    AArch64 {
        identity,
        lse: capabilities & HWCAP_ATOMICS != 0,
        // Bits 16 to 19: the binary logarithm of the words of 4 bytes of the smallest line.
        line_bytes: 4 << (caches >> 16 & 0xF),
        // Bits 0 to 3 the same, of the block; bit 4: forbidden.
        zva_bytes: (zeroes & 1 << 4 == 0).then(|| 4 << (zeroes & 0xF)),
    }
}
