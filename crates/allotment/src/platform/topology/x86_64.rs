//! The processor's own description (`CPUID`), for sandboxes that mount no `/sys` and no `/proc`.
//!
//! Leaf 4 (Intel) and leaf 8000_001Dh (AMD) describe the caches of the CPU that executes the
//! instruction. They bound the number of CPUs that share each cache, but do not say which CPUs. So
//! the other CPUs are assumed to be alike, which is wrong on hybrid processors only, and only here.
//!
//! Refused: `CPUID` on every CPU in turn, which would move the thread between CPUs.

use raw_cpuid::{CacheType, CpuId};

use super::{Cache, CacheKind, Cpu};

/// The processor's name for people.
pub(super) fn model_name() -> Option<String> {
    CpuId::new().get_processor_brand_string().map(|name| name.as_str().trim().to_owned())
}

/// The caches of these CPUs, ascending by level. Each CPU is assumed to be like the one that asks.
pub(super) fn caches(cpus: &[Cpu]) -> Vec<Cache> {
    let mut caches: Vec<Cache> = CpuId::new()
        .get_cache_parameters()
        .into_iter()
        .flatten()
        .filter_map(|told| {
            let kind = match told.cache_type() {
                CacheType::Data => CacheKind::Data,
                CacheType::Instruction => CacheKind::Instruction,
                CacheType::Unified => CacheKind::Unified,
                CacheType::Null | CacheType::Reserved => return None,
            };
            let line_bytes = told.coherency_line_size();
            let bytes = told.sets() * told.associativity() * told.physical_line_partitions() * line_bytes;
            let whole = Cache { level: told.level(), kind, bytes, line_bytes, shared_cpus: Vec::new() };
            Some(share_out(cpus, whole, told.max_cores_for_cache()))
        })
        .flatten()
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// One copy of the cache for each group of at most `sharers` CPUs. Hardware threads of a core stay
/// together.
fn share_out(cpus: &[Cpu], cache: Cache, sharers: usize) -> Vec<Cache> {
    let mut ordered = cpus.to_vec();
    ordered.sort_by_key(|cpu| (cpu.core, cpu.number));
    ordered
        .chunks(sharers.max(1))
        .map(|group| {
            let mut shared_cpus: Vec<usize> = group.iter().map(|cpu| cpu.number).collect();
            shared_cpus.sort_unstable();
            Cache { shared_cpus, ..cache.clone() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_describes_plausible_caches() {
        let cpus = [Cpu { number: 0, core: 0 }, Cpu { number: 1, core: 1 }];
        for cache in caches(&cpus) {
            assert!((1..=4).contains(&cache.level), "{cache:?}");
            assert!(cache.line_bytes.is_power_of_two() && cache.bytes >= 1024, "{cache:?}");
            assert!(!cache.shared_cpus.is_empty(), "{cache:?}");
        }
    }

    #[test]
    fn siblings_share_before_strangers_do() {
        let cpus = [(0, 0), (1, 1), (2, 0), (3, 1)].map(|(number, core)| Cpu { number, core });
        let cache =
            Cache { level: 2, kind: CacheKind::Unified, bytes: 1, line_bytes: 64, shared_cpus: Vec::new() };
        let groups = |sharers| -> Vec<Vec<usize>> {
            share_out(&cpus, cache.clone(), sharers).into_iter().map(|cache| cache.shared_cpus).collect()
        };
        assert_eq!(groups(0), [[0], [2], [1], [3]]);
        assert_eq!(groups(2), [[0, 2], [1, 3]]);
        assert_eq!(groups(64), [[0, 1, 2, 3]]);
    }
}
