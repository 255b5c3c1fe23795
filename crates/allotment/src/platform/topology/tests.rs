//! Tests of the topology on made-up machines and on this one.

use super::*;
use crate::platform::current_cpu;
use crate::platform::linux::fake_tree::FakeTree;

/// Describes one cache of one CPU.
fn cache(tree: &FakeTree, cpu: usize, index: usize, level: u8, kind: &str, size: &str, users: &str) {
    let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
    tree.file(&format!("{directory}/level"), &format!("{level}\n"));
    tree.file(&format!("{directory}/type"), &format!("{kind}\n"));
    tree.file(&format!("{directory}/size"), &format!("{size}\n"));
    tree.file(&format!("{directory}/coherency_line_size"), "64\n");
    tree.file(&format!("{directory}/shared_cpu_list"), &format!("{users}\n"));
}

fn siblings(tree: &FakeTree, cpu: usize, users: &str) {
    tree.file(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list"), &format!("{users}\n"));
}

/// Four cores with two hardware threads each, numbered i and i + 4; two L3 caches.
fn smt_machine() -> FakeTree {
    let tree = FakeTree::new();
    tree.file("/sys/devices/system/cpu/online", "0-7\n");
    for cpu in 0..8 {
        let core = format!("{},{}", cpu % 4, cpu % 4 + 4);
        siblings(&tree, cpu, &core);
        cache(&tree, cpu, 0, 1, "Data", "48K", &core);
        cache(&tree, cpu, 1, 1, "Instruction", "32K", &core);
        cache(&tree, cpu, 2, 2, "Unified", "2048K", &core);
        let l3 = if cpu % 4 < 2 { "0-1,4-5" } else { "2-3,6-7" };
        cache(&tree, cpu, 3, 3, "Unified", "16384K", l3);
    }
    tree
}

fn bytes_of(topology: &Topology, level: u8) -> Option<usize> {
    topology.data_caches(level).map(|caches| caches.bytes)
}

/// The most CPUs of the process that share a cache of this level.
fn most_sharers(topology: &Topology, level: u8) -> usize {
    let caches = topology.caches().iter().filter(|cache| cache.level == level);
    caches.map(|cache| cache.shared_cpus.len()).max().unwrap_or(0)
}

#[test]
fn hardware_threads_share_their_core_and_its_caches() {
    let tree = smt_machine();
    let topology = Topology::from_root(tree.root(), &[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(topology.cores(), 4);
    assert_eq!(topology.cpus().iter().map(|cpu| cpu.core).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(topology.caches().len(), 4 + 4 + 4 + 2);
    assert_eq!(bytes_of(&topology, 1), Some(48 << 10));
    assert_eq!(topology.l2_bytes(), Some(2 << 20));
    assert_eq!(bytes_of(&topology, 3), Some(16 << 20));
    let instances = |level| topology.data_caches(level).map(|caches| caches.instances);
    assert_eq!([1, 2, 3, 4].map(instances), [Some(4), Some(4), Some(2), None]);
    assert_eq!([1, 2, 3].map(|level| most_sharers(&topology, level)), [2, 2, 4]);
    assert!(topology.caches().iter().all(|cache| cache.line_bytes == 64));
}

#[test]
fn only_the_cpus_of_this_process_count() {
    let tree = smt_machine();
    let topology = Topology::from_root(tree.root(), &[6, 3, 6]);
    assert_eq!(topology.cpus(), [Cpu { number: 3, core: 0 }, Cpu { number: 6, core: 1 }]);
    assert_eq!(topology.cores(), 2);
    assert_eq!([2, 3].map(|level| topology.data_caches(level).unwrap().instances), [2, 1]);
    assert_eq!([2, 3].map(|level| most_sharers(&topology, level)), [1, 2]);
    let l3 = topology.caches().last().unwrap();
    assert_eq!((l3.level, l3.kind, &l3.shared_cpus[..]), (3, CacheKind::Unified, &[3, 6][..]));
}

#[test]
fn a_hybrid_machine_shows_its_least_favourable_values() {
    let tree = FakeTree::new();
    // One large core with two hardware threads, four small ones around one L2.
    for cpu in 0..6 {
        let large = cpu < 2;
        let core = if large { "0-1".to_owned() } else { cpu.to_string() };
        siblings(&tree, cpu, &core);
        cache(&tree, cpu, 0, 1, "Data", if large { "48K" } else { "32K" }, &core);
        let (size, users) = if large { ("2M", "0-1") } else { ("4M", "2-5") };
        cache(&tree, cpu, 1, 2, "Unified", size, users);
        cache(&tree, cpu, 2, 3, "Unified", "24M", "0-5");
    }
    let topology = Topology::from_root(tree.root(), &[0, 1, 2, 3, 4, 5]);
    assert_eq!(topology.cores(), 5);
    assert_eq!(bytes_of(&topology, 1), Some(32 << 10));
    let l2 = topology.data_caches(2).unwrap();
    assert_eq!((l2.bytes, l2.instances), (2 << 20, 2));
    assert_eq!([2, 3].map(|level| most_sharers(&topology, level)), [4, 6]);
}

#[test]
fn offline_cpus_are_left_out() {
    let tree = smt_machine();
    tree.file("/sys/devices/system/cpu/online", "0-2\n");
    let topology = Topology::from_root(tree.root(), &[0, 2, 5, 7]);
    assert_eq!(topology.cpus().iter().map(|cpu| cpu.number).collect::<Vec<_>>(), [0, 2]);
    // Nothing allowed is online: believe the scheduler, which runs us somewhere.
    let topology = Topology::from_root(tree.root(), &[5]);
    assert_eq!(topology.cpus(), [Cpu { number: 5, core: 0 }]);
}

#[test]
fn impossible_cpu_numbers_are_left_out() {
    let tree = FakeTree::new();
    let topology = Topology::from_root(tree.root(), &[usize::MAX, 1, 1 << 16]);
    assert_eq!(topology.cpus(), [Cpu { number: 1, core: 0 }]);
}

#[test]
fn a_machine_that_tells_nothing_still_has_a_cpu() {
    let tree = FakeTree::new();
    let topology = Topology::from_root(tree.root(), &[]);
    assert_eq!(topology.cpus(), [Cpu { number: 0, core: 0 }]);
    assert_eq!(topology.cores(), 1);
    assert_eq!(topology.caches(), []);
    assert_eq!(bytes_of(&topology, 1), None);
    assert_eq!(topology.l2_bytes(), None);
    assert_eq!(bytes_of(&topology, 3), None);
    assert_eq!(topology.model_name(), None);
    assert_eq!(topology.available_parallelism(), 1);
    assert_eq!(topology.dense_index(usize::MAX), 0);
}

#[test]
fn older_kernels_name_the_siblings_otherwise() {
    let tree = FakeTree::new();
    for cpu in 0..2 {
        tree.file(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), "0-1\n");
    }
    assert_eq!(Topology::from_root(tree.root(), &[0, 1]).cores(), 1);
}

#[test]
fn incomplete_caches_are_skipped() {
    let tree = FakeTree::new();
    cache(&tree, 0, 0, 1, "Data", "nonsense", "0");
    cache(&tree, 0, 1, 1, "Trace", "32K", "0");
    cache(&tree, 0, 2, 2, "Unified", "512K", "");
    let topology = Topology::from_root(tree.root(), &[0]);
    let caches = topology.caches();
    assert_eq!(caches.len(), 1);
    // A cache that names no user has at least the one that described it.
    assert_eq!((caches[0].bytes, &caches[0].shared_cpus[..]), (512 << 10, &[0][..]));
}

#[test]
fn dense_indices_are_distinct_and_fold_the_rest() {
    let tree = FakeTree::new();
    let topology = Topology::from_root(tree.root(), &[2, 40, 7]);
    assert_eq!([2, 7, 40].map(|cpu| topology.dense_index(cpu)), [0, 1, 2]);
    for cpu in (0..200).chain([usize::MAX]).filter(|cpu| ![2, 7, 40].contains(cpu)) {
        assert_eq!(topology.dense_index(cpu), cpu % 3);
    }
}

#[test]
fn the_quota_bounds_the_parallelism() {
    let tree = smt_machine();
    tree.file("/proc/self/cgroup", "0::/\n");
    tree.file("/proc/self/mountinfo", "35 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    for (quota, cpus) in [
        ("max 100000", 4),
        ("250000 100000", 3),
        ("200000 100000", 2),
        ("1000 100000", 1),
        ("900000 100000", 4),
    ] {
        tree.file("/sys/fs/cgroup/cpu.max", quota);
        let topology = Topology::from_root(tree.root(), &[0, 1, 2, 3]);
        assert_eq!(topology.available_parallelism(), cpus, "{quota}");
        assert_eq!(topology.cpu_quota().is_none(), quota.starts_with("max"));
    }
}

#[test]
fn cpuinfo_names_the_model() {
    let tree = FakeTree::new();
    tree.file("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Imaginary 9000\nflags\t\t: fpu sse\n");
    let topology = Topology::from_root(tree.root(), &[0]);
    assert_eq!(topology.model_name(), Some("Imaginary 9000"));
}

#[test]
fn this_machine_is_described_consistently() {
    let topology = Topology::detect();
    assert!(topology.cores() <= topology.cpus().len());
    assert!((1..=topology.cpus().len()).contains(&topology.available_parallelism()));
    assert!(topology.dense_index(current_cpu()) < topology.cpus().len());
    for (index, cpu) in topology.cpus().iter().enumerate() {
        assert_eq!(topology.dense_index(cpu.number), index);
    }
    for cache in topology.caches() {
        assert!(cache.bytes >= cache.line_bytes && !cache.shared_cpus.is_empty(), "{cache:?}");
        assert!(cache.shared_cpus.iter().all(|n| topology.cpus().iter().any(|cpu| cpu.number == *n)));
    }
}
