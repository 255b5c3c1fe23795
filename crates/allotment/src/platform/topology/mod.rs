//! The CPUs this process may use, and the caches they share.
//!
//! A heap hands a buffer back to the core that wrote it last, and sizes buffers by the cache of a
//! core. For both it needs the CPUs of *this process*: a container with two CPUs of a machine with
//! 128 shares its caches with strangers, and only its own two CPUs matter to it.
//!
//! Linux describes all of this in `/sys/devices/system/cpu`, hybrid processors and offline CPUs
//! included. `CPUID` describes only the CPU it runs on, and is used only where `/sys` is not
//! mounted.
//!
//! A topology is a snapshot. Affinity and quotas may change later; [`Topology::dense_index`] then
//! still gives valid indices.
//!
//! Refused: a library for the purpose (hwloc). It would add a C build to save the parsing of four
//! files.

pub(super) mod cpu_list;
mod quota;
mod sysfs;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::path::Path;

use super::linux;
use super::linux::pseudo_files::{below, field, read};

/// A CPU that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cpu {
    /// Its number in the operating system.
    pub number: usize,
    /// Index of its core, from 0. CPUs with the same core are hardware threads of it (SMT
    /// siblings).
    pub core: usize,
}

/// The contents of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache of the machine that at least one of this process's CPUs uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// 1 is closest to the core.
    pub level: u8,
    /// The cache's contents.
    pub kind: CacheKind,
    /// Capacity in bytes.
    pub bytes: usize,
    /// Line size in bytes.
    pub line_bytes: usize,
    /// Numbers of the CPUs of this process that use it, ascending.
    pub shared_cpus: Vec<usize>,
}

/// The data (or unified) caches of one level, summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLevel {
    /// Capacity of one cache in bytes; of the smallest if they differ, as in a hybrid processor.
    pub bytes: usize,
    /// The number of such caches that this process's CPUs have.
    pub instances: usize,
}

/// The machine as this process may use it.
///
/// # Examples
/// ```
/// use allotment::internals::platform::Topology;
///
/// let topology = Topology::detect();
/// assert!(topology.dense_index(0) < topology.cpus().len());
/// println!("{:?}: L2 {:?} bytes", topology.model_name(), topology.l2_bytes());
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    /// Never empty, ascending by number.
    cpus: Box<[Cpu]>,
    /// Ascending by level.
    caches: Box<[Cache]>,
    /// Indexed by CPU number: its index in `cpus`, or the folded index if the CPU is not there.
    dense: Box<[u32]>,
    cpu_quota: Option<f64>,
    model_name: Option<String>,
}

impl Topology {
    /// Describes this machine for the CPUs that the calling thread may run on. If that thread is
    /// bound to one CPU, the CPUs of the process's first thread count, too. A program that also
    /// binds its first thread should make its heaps before that, or in an unbound thread.
    ///
    /// The call reads a dozen files per CPU, so ask once. It cannot fail: an unknown fact is
    /// absent, and in the worst case there is one CPU without caches.
    pub fn detect() -> Topology {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "nothing is added"))]
        let mut topology = Topology::from_root(Path::new("/"), &linux::allowed_cpus());
        // A program on AArch64 may not read the registers that describe caches.
        #[cfg(target_arch = "x86_64")]
        {
            if topology.caches.is_empty() {
                topology.caches = x86_64::caches(&topology.cpus).into();
            }
            topology.model_name = topology.model_name.or_else(x86_64::model_name);
        }
        topology
    }

    /// Describes the machine whose `/proc` and `/sys` lie below `root`, for the CPUs with the
    /// numbers in `allowed`.
    ///
    /// Besides tests, this serves to study a machine from a copy of its files. Numbers from 65536
    /// on and offline CPUs are left out. If all CPUs are offline, all count; if `allowed` is empty,
    /// CPU 0 counts.
    pub fn from_root(root: &Path, allowed: &[usize]) -> Topology {
        let cpus = sysfs::cpus(root, allowed);
        let info = read(below(root, "/proc/cpuinfo")).unwrap_or_default();
        Topology {
            dense: dense_table(&cpus),
            caches: sysfs::caches(root, &cpus).into(),
            cpus: cpus.into(),
            cpu_quota: quota::cpu_quota(root),
            model_name: field(&info, "model name").map(str::to_owned),
        }
    }

    /// The CPUs of this process, ascending by number; at least one.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The number of cores that these CPUs belong to.
    pub fn cores(&self) -> usize {
        // Cores are numbered without gaps.
        self.cpus.iter().map(|cpu| cpu.core + 1).max().unwrap_or(1)
    }

    /// The caches of these CPUs, ascending by level, instruction caches included.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// The data caches of one level together; `None` if none is known.
    pub fn data_caches(&self, level: u8) -> Option<CacheLevel> {
        let all = self.caches.iter().filter(|c| c.level == level && c.kind != CacheKind::Instruction);
        let bytes = all.clone().map(|cache| cache.bytes).min()?;
        Some(CacheLevel { bytes, instances: all.count() })
    }

    /// Capacity of one second-level cache in bytes, as [`data_caches`](Self::data_caches).
    pub fn l2_bytes(&self) -> Option<usize> {
        self.data_caches(2).map(|level| level.bytes)
    }

    /// CPUs' worth of time per unit of time that control groups allow this process; `None` if they
    /// set no limit.
    pub fn cpu_quota(&self) -> Option<f64> {
        self.cpu_quota
    }

    /// The number of threads that can run at once: the number of CPUs, or the quota
    /// rounded up if that is less; at least 1.
    ///
    /// The quota is rounded up as in HotSpot: a quota of 1.5 CPUs gives two workers, which finish a
    /// pause sooner than one. CPU shares do not count, because they only limit while other
    /// processes compete (JDK-8281181).
    pub fn available_parallelism(&self) -> usize {
        let cpus = self.cpus.len();
        self.cpu_quota.map_or(cpus, |quota| (quota.ceil() as usize).clamp(1, cpus))
    }

    /// The processor's name for people.
    pub fn model_name(&self) -> Option<&str> {
        self.model_name.as_deref()
    }

    /// The index, from 0 and less than the number of CPUs, of the CPU with this number in the
    /// operating system.
    ///
    /// CPUs of this process get distinct indices. Any other number, seen after a later change of
    /// the affinity, is folded to one of these indices by its remainder. The lookup is one load
    /// from a table, meant for use with [`current_cpu`](super::current_cpu).
    #[inline]
    pub fn dense_index(&self, cpu: usize) -> usize {
        match self.dense.get(cpu) {
            Some(&index) => index as usize,
            None => cpu % self.cpus.len(),
        }
    }
}

fn dense_table(cpus: &[Cpu]) -> Box<[u32]> {
    let last = cpus.last().map_or(0, |cpu| cpu.number);
    let mut table: Box<[u32]> = (0..=last).map(|number| (number % cpus.len().max(1)) as u32).collect();
    for (index, cpu) in cpus.iter().enumerate() {
        table[cpu.number] = index as u32;
    }
    table
}

#[cfg(test)]
mod tests;
