//! Reads `/sys/devices/system/cpu`, the kernel's description of CPUs, cores and caches.
//!
//! Every CPU describes the caches it uses, so each user of a shared cache describes it once. The
//! level, the kind and the set of all users together identify a cache. The `id` file would too, but
//! virtual machines often have none.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{Cache, CacheKind, Cpu, cpu_list};
use crate::platform::linux::pseudo_files::{below, read, read_number};

/// The directory in which the kernel describes the CPU with this number.
fn directory(root: &Path, cpu: usize) -> PathBuf {
    below(root, "/sys/devices/system/cpu").join(format!("cpu{cpu}"))
}

/// The allowed CPUs that are online, ascending, with their cores numbered in that order; never
/// empty. Invalid numbers are left out, because the numbers index a table.
pub(super) fn cpus(root: &Path, allowed: &[usize]) -> Vec<Cpu> {
    let list = |file| cpu_list::parse(&read(file)?);
    let mut numbers: Vec<usize> =
        allowed.iter().copied().filter(|&number| number < cpu_list::MAX_CPUS).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if let Some(online) = list(below(root, "/sys/devices/system/cpu/online")) {
        let there: Vec<usize> = numbers.iter().copied().filter(|cpu| online.contains(cpu)).collect();
        if !there.is_empty() {
            numbers = there;
        }
    }
    if numbers.is_empty() {
        numbers.push(0);
    }
    // The least sibling represents the core, whether this process may use it or not.
    let mut cores = Vec::new();
    numbers
        .into_iter()
        .map(|number| {
            let topology = directory(root, number).join("topology");
            let siblings = ["core_cpus_list", "thread_siblings_list"]
                .into_iter()
                .find_map(|file| list(topology.join(file)))
                .unwrap_or_default();
            let first = siblings.first().map_or(number, |&first| first.min(number));
            let core = cores.iter().position(|&core| core == first).unwrap_or_else(|| {
                cores.push(first);
                cores.len() - 1
            });
            Cpu { number, core }
        })
        .collect()
}

/// The caches that these CPUs use, ascending by level; empty if the kernel does not tell.
pub(super) fn caches(root: &Path, cpus: &[Cpu]) -> Vec<Cache> {
    let mut caches = Vec::new();
    // Level, kind and all users of the caches found so far, users outside this process included.
    let mut seen = HashSet::new();
    for cpu in cpus {
        let directory = directory(root, cpu.number).join("cache");
        for index in 0.. {
            let directory = directory.join(format!("index{index}"));
            if !directory.is_dir() {
                break;
            }
            let Some((mut cache, mut users)) = cache(&directory) else { continue };
            if let Err(place) = users.binary_search(&cpu.number) {
                users.insert(place, cpu.number);
            }
            let ours = |number: &usize| cpus.binary_search_by_key(number, |cpu| cpu.number).is_ok();
            cache.shared_cpus = users.iter().copied().filter(ours).collect();
            if seen.insert((cache.level, cache.kind, users)) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// One cache without its users in this process, and all its users; `None` if an essential file is
/// missing.
fn cache(directory: &Path) -> Option<(Cache, Vec<usize>)> {
    let kind = match read(directory.join("type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let cache = Cache {
        level: read_number(directory.join("level"))?,
        kind,
        bytes: size(&read(directory.join("size"))?)?,
        // Every x86-64 processor so far has lines of 64 bytes.
        line_bytes: read_number(directory.join("coherency_line_size")).unwrap_or(64),
        shared_cpus: Vec::new(),
    };
    let users = read(directory.join("shared_cpu_list")).and_then(|text| cpu_list::parse(&text));
    Some((cache, users.unwrap_or_default()))
}

/// A size such as `32K`, in bytes; `None` for other text and for zero, which some hypervisors
/// write.
fn size(text: &str) -> Option<usize> {
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let suffixed = units.iter().find_map(|(suffix, unit)| Some((text.strip_suffix(*suffix)?, *unit)));
    let (digits, unit) = suffixed.unwrap_or((text, 1));
    digits.parse::<usize>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("32K", Some(32 << 10)),
            ("2M", Some(2 << 20)),
            ("1G", Some(1 << 30)),
            ("512", Some(512)),
            ("0K", None),
            ("K", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}
