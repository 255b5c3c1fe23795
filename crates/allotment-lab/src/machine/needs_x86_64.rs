//! Parts of the lab that need an x86-64 processor: they make x86-64's instructions, or read them.
//!
//! Each part asks [`require_x86_64`] for the processor. On another machine the error is one sentence, which
//! leaves a row out or ends the command. Refused: `#[cfg]` at each part, which tests cannot choose.

use allotment::raw::{Processor, X86_64};

/// A part of the lab needs x86-64, and this machine is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs x86-64, and this machine is {here}")]
pub struct NeedsX86_64 {
    what: &'static str,
    here: &'static str,
}

/// The processor of x86-64 that `what`, the subject of the error's sentence, needs.
///
/// # Errors
/// The processor is of another machine.
pub fn require_x86_64(processor: Processor, what: &'static str) -> Result<X86_64, NeedsX86_64> {
    match processor {
        Processor::X86_64(processor) => Ok(processor),
        Processor::AArch64(_) => Err(NeedsX86_64 { what, here: "AArch64" }),
        _ => Err(NeedsX86_64 { what, here: "another one" }),
    }
}

/// Processors for tests, a value of each machine.
#[cfg(test)]
pub(crate) mod examples {
    use allotment::raw::{AArch64, Processor, Vendor, X86_64};

    pub(crate) const ZEN: Processor = Processor::X86_64(X86_64 {
        vendor: Vendor::Amd,
        family: 0x19,
        sse3: true,
        sse4_2: true,
        hyper_threading: true,
        avx2: true,
        prefetchw: true,
        line_bytes: 64,
    });

    pub(crate) const NEOVERSE: Processor = Processor::AArch64(AArch64 {
        identity: Some((0x41, 0xD0C)),
        lse: true,
        line_bytes: 64,
        zva_bytes: Some(64),
    });
}

#[cfg(test)]
mod tests {
    use super::examples::{NEOVERSE, ZEN};
    use super::*;

    #[test]
    fn another_machine_is_refused_in_a_sentence() {
        assert_eq!(require_x86_64(ZEN, "the row").map(Processor::from), Ok(ZEN));
        let refused = require_x86_64(NEOVERSE, "the row").unwrap_err().to_string();
        assert_eq!(refused, "the row needs x86-64, and this machine is AArch64");
    }
}
