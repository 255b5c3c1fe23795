//! Resident memory of this process, as the system counts it.
//!
//! Refused: `getrusage`. It has the peak, and not the present value.

use std::{fs, io};

/// Resident memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Bytes now (`VmRSS`).
    pub bytes: u64,
    /// The most bytes since the process began (`VmHWM`).
    pub peak_bytes: u64,
}

impl Resident {
    /// Reads the counts of the system.
    ///
    /// # Errors
    /// `/proc` is not mounted, or its file lacks the lines.
    pub fn of_this_process() -> io::Result<Resident> {
        let text = fs::read_to_string("/proc/self/status")?;
        parse(&text).ok_or_else(|| io::Error::other("/proc/self/status does not say VmRSS and VmHWM in kB"))
    }
}

fn parse(status: &str) -> Option<Resident> {
    let kibibytes = |name: &str| {
        let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
        rest.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(Resident { bytes: kibibytes("VmRSS:")?, peak_bytes: kibibytes("VmHWM:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_name_and_are_kibibytes() {
        let status = "Name:\tx\nVmHWM:\t    2112 kB\nVmRSS:\t    1024 kB\nRssAnon:\t 3 kB\n";
        assert_eq!(parse(status), Some(Resident { bytes: 1 << 20, peak_bytes: 2112 << 10 }));
        assert_eq!(parse("VmRSS:\t 1024 kB\n"), None);
        assert_eq!(parse("VmHWM:\t 1 MB\nVmRSS:\t 1 MB\n"), None);
    }

    #[test]
    fn memory_that_is_written_to_is_resident() {
        let before = Resident::of_this_process().unwrap();
        let filled = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = Resident::of_this_process().unwrap();
        assert_eq!(filled[1 << 20], 1);
        assert!(after.bytes >= before.bytes + (32 << 20), "{before:?} {after:?}");
        assert!(after.peak_bytes >= after.bytes);
    }
}
