//! The CPU time that the control groups allow: `cpu.max` (version 2), `cpu.cfs_quota_us` (version
//! 1).

use std::path::Path;

use crate::platform::linux::cgroup::{Cgroup, CgroupVersion, cgroups};
use crate::platform::linux::pseudo_files::{read, read_number};

/// The least quota of all control groups around this process, in CPUs; `None` if there is none.
pub(super) fn cpu_quota(root: &Path) -> Option<f64> {
    cgroups(root, "cpu").iter().filter_map(quota_of).reduce(f64::min)
}

fn quota_of(group: &Cgroup) -> Option<f64> {
    let (quota, period) = match group.version {
        CgroupVersion::V1 => (
            // -1 stands for no quota.
            read_number::<f64>(group.directory.join("cpu.cfs_quota_us"))?,
            read_number::<f64>(group.directory.join("cpu.cfs_period_us"))?,
        ),
        CgroupVersion::V2 => {
            let text = read(group.directory.join("cpu.max"))?;
            let mut words = text.split_ascii_whitespace();
            // `max` stands for no quota and is not a number.
            (words.next()?.parse().ok()?, words.next()?.parse().ok()?)
        }
    };
    let cpus = quota / period;
    (cpus.is_finite() && cpus > 0.0).then_some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake_tree::FakeTree;

    #[test]
    fn version_2_takes_the_least_on_the_way_up() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "0::/pod/container\n");
        tree.file("/proc/self/mountinfo", "35 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        assert_eq!(cpu_quota(tree.root()), None);
        tree.file("/sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
        assert_eq!(cpu_quota(tree.root()), None);
        tree.file("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
        assert_eq!(cpu_quota(tree.root()), Some(1.5));
        tree.file("/sys/fs/cgroup/pod/container/cpu.max", "50000 100000\n");
        assert_eq!(cpu_quota(tree.root()), Some(0.5));
    }

    #[test]
    fn version_1_has_two_files_and_a_word_for_none() {
        let tree = FakeTree::new();
        tree.file("/proc/self/cgroup", "1:cpu,cpuacct:/job\n");
        tree.file(
            "/proc/self/mountinfo",
            "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
        );
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
        assert_eq!(cpu_quota(tree.root()), None);
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
        assert_eq!(cpu_quota(tree.root()), Some(2.5));
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "0\n");
        assert_eq!(cpu_quota(tree.root()), None);
    }
}
