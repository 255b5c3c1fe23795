//! The memory that a process could use now without another process being killed.

use allotment::internals::platform::available_memory;
use std::fs;

/// Bytes that are free or can be freed at once (`MemAvailable`), at most the limit of the control
/// groups. Without `/proc` it is the limit.
pub fn free_memory() -> usize {
    let limit = available_memory().bytes;
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    parse(&meminfo).map_or(limit, |free| free.min(limit))
}

fn parse(meminfo: &str) -> Option<usize> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    rest.trim().strip_suffix("kB")?.trim_end().parse::<usize>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_counts_in_kibibytes() {
        assert_eq!(parse("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(parse("MemTotal: 9 kB\n"), None);
        assert_eq!(parse("MemAvailable: many kB\n"), None);
        assert!(free_memory() > 0 && free_memory() <= available_memory().bytes);
    }
}
