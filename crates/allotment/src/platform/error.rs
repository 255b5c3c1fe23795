//! The errors of address space, with texts that say what to change.
//!
//! The layer has one enumeration. Its callers either pass the text on or shrink the request; for
//! both, the operation, the range and the kernel's answer are enough. The kernel's answer is part
//! of the text and not a `source()`: an embedder that prints only the error must still see the
//! reason.

use std::{fmt, io};

use super::machine::ADDRESS_BITS;
use rustix::io::Errno;

/// The most bytes of address space that Linux gives a process by default. A kernel for AArch64 may
/// be configured to give fewer: 2^39, 2^42 or 2^47.
pub(super) const ADDRESS_SPACE_BYTES: usize = 1 << ADDRESS_BITS;

/// A request for memory that cannot be met. All sizes are bytes.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A reservation of nothing.
    #[error("cannot reserve 0 bytes of address space: ask for at least one page, {}", Bytes(*.page))]
    Empty {
        /// Page size.
        page: usize,
    },
    /// An alignment that is not a power of two.
    #[error(
        "cannot align a reservation to {alignment} bytes: an alignment is a power of two, such as 2097152"
    )]
    Alignment {
        /// The alignment requested.
        alignment: usize,
    },
    /// More than the address space of any process holds.
    #[error(
        "cannot reserve {} aligned to {}: the address space of a process is {ADDRESS_BITS} bits, {} in all",
        Bytes(*.bytes), Bytes(*.alignment), Bytes(ADDRESS_SPACE_BYTES)
    )]
    TooLarge {
        /// Size asked for.
        bytes: usize,
        /// Alignment asked for.
        alignment: usize,
    },
    /// The kernel gave no address space.
    #[error(
        "cannot reserve {} of address space: {cause}{}",
        Bytes(*.bytes), hint(Operation::Reserve, .cause)
    )]
    Reserve {
        /// Size asked for, rounded up to whole pages.
        bytes: usize,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A range that does not begin and end at a page.
    #[error(
        "cannot {operation} {bytes} bytes at offset {offset}: both must be multiples of the page size, \
         {page} bytes"
    )]
    Misaligned {
        /// The operation.
        operation: Operation,
        /// First byte, relative to the base of the reservation.
        offset: usize,
        /// Length.
        bytes: usize,
        /// Page size.
        page: usize,
    },
    /// A range that leaves the reservation.
    #[error("cannot {operation} {bytes} bytes at offset {offset}: the reservation has {reserved} bytes")]
    OutOfRange {
        /// The operation.
        operation: Operation,
        /// First byte, relative to the base of the reservation.
        offset: usize,
        /// Length.
        bytes: usize,
        /// Size of the reservation.
        reserved: usize,
    },
    /// The kernel refused to change a range of the reservation.
    #[error("cannot {operation} {} at {address:#x}: {cause}{}", Bytes(*.bytes), hint(*.operation, .cause))]
    Refused {
        /// The operation.
        operation: Operation,
        /// First address of the range.
        address: usize,
        /// Length.
        bytes: usize,
        /// The kernel's answer.
        cause: io::Error,
    },
}
crate::debug::debug_is_display!(MemoryError);

/// The operation during which an error came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Reserve address space.
    Reserve,
    /// Make a range usable.
    Commit,
    /// Give the memory of a range back.
    Uncommit,
    /// Back a range by memory now instead of at the first use.
    Pretouch,
    /// Ask for transparent huge pages.
    AdviseHugePages,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Reserve => "reserve",
            Operation::Commit => "commit",
            Operation::Uncommit => "uncommit",
            Operation::Pretouch => "pre-touch",
            Operation::AdviseHugePages => "advise huge pages for",
        })
    }
}

/// The advice to an administrator or a caller about the kernel's answer; empty where none is known.
fn hint(operation: Operation, cause: &io::Error) -> &'static str {
    match (operation, Errno::from_io_error(cause)) {
        (Operation::Reserve, Some(Errno::NOMEM)) if cfg!(target_arch = "aarch64") => {
            "; check `ulimit -v`, vm.overcommit_memory (2 forbids large reservations) and \
             vm.max_map_count, or ask for a smaller heap: a kernel for this machine may be built for addresses \
             of 39 or 42 bits"
        }
        (Operation::Reserve, Some(Errno::NOMEM)) => {
            "; check `ulimit -v`, vm.overcommit_memory (2 forbids large reservations) and \
             vm.max_map_count, or ask for a smaller heap"
        }
        (Operation::Reserve, Some(Errno::INVAL)) => {
            "; a tool that runs the program, such as valgrind, has less address space to give than the system: ask for a \
             smaller heap"
        }
        (Operation::Commit, Some(Errno::NOMEM)) => {
            "; check vm.overcommit_memory (2 limits committed memory), `ulimit -v`, `ulimit -d` \
             and vm.max_map_count"
        }
        (Operation::Uncommit, Some(Errno::INVAL)) => {
            "; locked pages cannot be given back: do without mlockall, or unlock this range"
        }
        (Operation::Uncommit, Some(Errno::NOMEM)) => "; check vm.max_map_count",
        (Operation::Pretouch, Some(Errno::NOMEM | Errno::FAULT)) => {
            "; the machine or the control group has no memory left: ask for a smaller heap"
        }
        (Operation::AdviseHugePages, Some(Errno::INVAL)) => {
            "; this kernel has no transparent huge pages: leave them off"
        }
        _ => "",
    }
}

/// A size for people: in the largest binary unit that is not larger than the size, exact or to one
/// decimal.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let index = (self.0.checked_ilog2().unwrap_or(0) as usize / 10).min(UNITS.len() - 1);
        let (unit, name) = (1 << (10 * index), UNITS[index]);
        if self.0.is_multiple_of(unit) {
            write!(f, "{} {name}", self.0 / unit)
        } else {
            write!(f, "{:.1} {name}", self.0 as f64 / unit as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_their_own_unit() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (1 << 20, "1 MiB"),
            (1 << 47, "128 TiB"),
            (4096 << 40, "4 PiB"),
            (usize::MAX, "16384.0 PiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_refusal_names_the_range_the_reason_and_the_remedy() {
        let error = MemoryError::Refused {
            operation: Operation::Commit,
            address: 0x7000_0000,
            bytes: 32 << 20,
            cause: Errno::NOMEM.into(),
        };
        let text = error.to_string();
        assert!(text.starts_with("cannot commit 32 MiB at 0x70000000: Cannot allocate memory"), "{text}");
        assert!(text.contains("vm.overcommit_memory") && text.contains("ulimit -v"), "{text}");
    }

    #[test]
    fn an_unknown_refusal_gets_no_invented_remedy() {
        let error = MemoryError::Reserve { bytes: 4096, cause: Errno::PERM.into() };
        assert!(error.to_string().ends_with("(os error 1)"), "{error}");
    }
}
