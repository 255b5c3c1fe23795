//! The memory that this process may use, and the default heap size that follows from it.
//!
//! In a container the machine's memory is the wrong measure. The bound is the least of the
//! machine's memory and the limits of all control groups around the process. The system kills a
//! process whose heap is sized by anything larger.
//!
//! Two quantities do not count. Swap does not, because a collector that runs from swap is worse
//! than one with less memory. `memory.high` does not, because it slows a process down without
//! bounding it.

use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};

use super::linux::cgroup::{CgroupVersion, cgroups};
use super::linux::pseudo_files::{below, field, read, read_number};

/// HotSpot's `MinRAMPercentage`: the share of a small machine that its heap may take.
const MIN_RAM_PERCENTAGE: f64 = 50.0;

/// HotSpot's default `MaxHeapSize` on 64-bit machines, in bytes: 96 MiB times 1.3, whole words.
const SMALL_HEAP_BYTES: usize = (96 << 20) * 13 / 10 / 8 * 8;

/// An upper bound on the memory of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The bound, in bytes.
    pub bytes: usize,
    /// The directory of the control group that sets the bound: the process's own group or one above
    /// it. `None` if the machine has no more memory.
    pub control_group: Option<PathBuf>,
}

/// Memory of the machine in bytes, for all processes together. The value is `MemTotal` of
/// `/proc/meminfo`, which container tools such as lxcfs adapt, or else the kernel's answer.
pub(crate) fn physical_memory() -> usize {
    physical_memory_in(Path::new("/")).unwrap_or_else(|| {
        let system = rustix::system::sysinfo();
        (system.totalram as usize).saturating_mul(system.mem_unit as usize)
    })
}

/// The least of the machine's memory and the limits of all control groups around this process.
///
/// The call reads a few files, so ask once. Limits can change while a process runs.
pub fn available_memory() -> MemoryLimit {
    available_memory_in(Path::new("/"), physical_memory())
}

/// The maximum heap size, in bytes, of an embedder that names none: `max_ram_percentage` (HotSpot's
/// `MaxRAMPercentage`, 25 by default) of [`available_memory`].
///
/// As in HotSpot, a heap is at least 124.8 MiB, unless 124.8 MiB is more than half of the memory;
/// then the heap is half of the memory. Where the address space is limited (`ulimit -v`), the heap
/// takes at most half of that space. The default has no upper bound of 32 GiB (JDK-8369346). A
/// percentage outside 0 to 100 counts as the nearest of the two, NaN as 0.
pub(crate) fn default_max_heap_size(max_ram_percentage: f64) -> usize {
    let address_space = getrlimit(Resource::As).current.map(|bytes| bytes as usize);
    heap_size_for(available_memory().bytes, address_space, max_ram_percentage)
}

fn heap_size_for(memory: usize, address_space: Option<usize>, max_ram_percentage: f64) -> usize {
    let share = |percentage: f64| (memory as f64 * percentage / 100.0) as usize;
    let half = share(MIN_RAM_PERCENTAGE);
    let size = if half < SMALL_HEAP_BYTES {
        half
    } else {
        share(max_ram_percentage.clamp(0.0, 100.0)).max(SMALL_HEAP_BYTES)
    };
    address_space.map_or(size, |limit| size.min(limit / 2))
}

fn physical_memory_in(root: &Path) -> Option<usize> {
    let text = read(below(root, "/proc/meminfo"))?;
    let kib: usize = field(&text, "MemTotal")?.strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn available_memory_in(root: &Path, physical: usize) -> MemoryLimit {
    let mut least = MemoryLimit { bytes: physical, control_group: None };
    for group in cgroups(root, "memory") {
        let file = match group.version {
            CgroupVersion::V1 => "memory.limit_in_bytes",
            CgroupVersion::V2 => "memory.max",
        };
        // In version 2, `max` means no limit and is not a number. Version 1 writes a number beyond
        // any machine.
        let limit = read_number::<usize>(group.directory.join(file));
        if let Some(bytes) = limit.filter(|&bytes| bytes < least.bytes) {
            least = MemoryLimit { bytes, control_group: Some(group.directory) };
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::super::linux::fake_tree::FakeTree;
    use super::*;

    const GIB: usize = 1 << 30;
    const V2: &str = "35 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

    #[test]
    fn this_machine_has_memory() {
        let limit = available_memory();
        assert!(limit.bytes > 0 && limit.bytes <= physical_memory());
        let size = default_max_heap_size(25.0);
        assert!(size > 0 && size <= limit.bytes / 2 + 1);
    }

    #[test]
    fn the_machine_is_read_from_meminfo() {
        let tree = FakeTree::new();
        assert_eq!(physical_memory_in(tree.root()), None);
        tree.file("/proc/meminfo", "MemTotal:       24682416 kB\nMemFree:        23914688 kB\n");
        assert_eq!(physical_memory_in(tree.root()), Some(24_682_416 * 1024));
    }

    #[test]
    fn without_groups_the_machine_is_the_limit() {
        let tree = FakeTree::new();
        let limit = available_memory_in(tree.root(), 8 * GIB);
        assert_eq!(limit, MemoryLimit { bytes: 8 * GIB, control_group: None });
    }

    #[test]
    fn the_least_limit_on_the_way_up_counts_in_version_2() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "0::/pod/container\n").file("/proc/self/mountinfo", V2);
        tree.file("/sys/fs/cgroup/pod/container/memory.max", "max\n");
        assert_eq!(available_memory_in(tree.root(), 8 * GIB).control_group, None);
        tree.file("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
        let limit = available_memory_in(tree.root(), 8 * GIB);
        assert_eq!(limit.bytes, GIB);
        let directory = tree.root().join("sys/fs/cgroup/pod");
        assert_eq!(limit.control_group, Some(directory));
        tree.file("/sys/fs/cgroup/pod/container/memory.max", "536870912\n");
        assert_eq!(available_memory_in(tree.root(), 8 * GIB).bytes, GIB / 2);
    }

    #[test]
    fn the_unlimited_value_of_version_1_is_no_limit() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "4:memory:/job\n0::/\n").file("/proc/self/mountinfo", V1);
        tree.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        tree.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(available_memory_in(tree.root(), 8 * GIB).control_group, None);
        tree.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
        let limit = available_memory_in(tree.root(), 8 * GIB);
        assert_eq!(limit.bytes, 2 * GIB);
        assert_eq!(limit.control_group, Some(tree.root().join("sys/fs/cgroup/memory/job")));
    }

    #[test]
    fn a_hybrid_machine_obeys_both_versions() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "4:memory:/job\n0::/job\n");
        tree.file("/proc/self/mountinfo", &format!("{V1}{V2}"));
        tree.file("/sys/fs/cgroup/job/memory.max", "4294967296\n");
        tree.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n");
        assert_eq!(available_memory_in(tree.root(), 8 * GIB).bytes, 2 * GIB);
    }

    #[test]
    fn the_heap_takes_hotspots_share() {
        const MIB: usize = 1 << 20;
        for (memory, percentage, size) in [
            (16 * GIB, 25.0, 4 * GIB),
            (1024 * GIB, 25.0, 256 * GIB),
            (16 * GIB, 100.0, 16 * GIB),
            (16 * GIB, 250.0, 16 * GIB),
            (400 * MIB, 25.0, SMALL_HEAP_BYTES),
            (16 * GIB, 0.0, SMALL_HEAP_BYTES),
            (16 * GIB, -5.0, SMALL_HEAP_BYTES),
            (16 * GIB, f64::NAN, SMALL_HEAP_BYTES),
            (200 * MIB, 25.0, 100 * MIB),
            (200 * MIB, 90.0, 100 * MIB),
            (0, 25.0, 0),
        ] {
            assert_eq!(heap_size_for(memory, None, percentage), size, "{percentage} % of {memory}");
        }
        assert_eq!(SMALL_HEAP_BYTES, 130_862_280);
    }

    #[test]
    fn a_limited_address_space_halves_the_heap() {
        assert_eq!(heap_size_for(16 * GIB, Some(2 * GIB), 25.0), GIB);
        assert_eq!(heap_size_for(16 * GIB, Some(64 * GIB), 25.0), 4 * GIB);
    }
}
