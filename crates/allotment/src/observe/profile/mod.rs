//! Allocation profiles: which code allocates what, estimated from samples.
//!
//! A profile is a copy of the heap's samples at one moment, with the names of shapes and frames. It
//! is written in the form of pprof (`pprof.rs`), which `go tool pprof`, Speedscope and Grafana's
//! Pyroscope read. A program asks for one
//! ([`Heap::allocation_profile`](crate::Heap::allocation_profile)), and the end of a heap writes
//! one (`AllocationProfile`).
//!
//! Native functions are named when the file is written (`native.rs`), unless the embedder leaves
//! the feature `symbols` out.

mod field;
mod file;
mod heap;
mod native;
mod pprof;
mod protobuf;
mod summary;
#[cfg(all(test, not(loom)))]
mod tests;

pub use file::ProfileError;

use crate::mutator::{Bucket, DroppedSamples, FrameName, Samples, Shared, sample_probability};
use crate::object::ShapeId;
use crate::platform::{CodeFile, code_files};
use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A copy of a heap's allocation samples at one moment:
/// [`Heap::allocation_profile`](crate::Heap::allocation_profile).
///
/// `Display` prints a table of the types that have most bytes in use.
#[derive(Clone)]
pub struct AllocationProfile {
    sites: Vec<AllocationSite>,
    /// By number: 1 if outer frames were cut off, else 0; then the frames, innermost first.
    stacks: Vec<Box<[u64]>>,
    /// The embedder's names of its frames. Empty for frames of the machine's stack.
    names: HashMap<u64, FrameName>,
    /// The files that the process had loaded, if frames are of the machine's stack.
    files: Vec<CodeFile>,
    interval: usize,
    taken: SystemTime,
    /// The time since the heap was made.
    age: Duration,
    dropped: DroppedSamples,
}

/// The samples of objects of one type and size, from one stack, at one interval.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AllocationSite {
    /// Name of the objects' shape.
    pub type_name: Arc<str>,
    /// Bytes of each object, header included.
    pub bytes: usize,
    /// The interval at which they were sampled, in bytes.
    pub interval: usize,
    /// Number of samples.
    pub samples: u64,
    /// How many of the sampled objects the last collection found alive, or were allocated since.
    pub living_samples: u64,
    stack: usize,
}

impl AllocationSite {
    /// Objects that a sample stands for: `1 / (1 - e^(-bytes/interval))`.
    #[must_use]
    pub fn weight(&self) -> f64 {
        1.0 / sample_probability(self.bytes, self.interval)
    }

    /// Estimated number of objects allocated so far.
    #[must_use]
    pub fn allocated_objects(&self) -> f64 {
        self.samples as f64 * self.weight()
    }

    /// Estimated bytes allocated so far.
    #[must_use]
    pub fn allocated_bytes(&self) -> f64 {
        self.allocated_objects() * self.bytes as f64
    }

    /// Estimated number of objects in use.
    #[must_use]
    pub fn objects_in_use(&self) -> f64 {
        self.living_samples as f64 * self.weight()
    }

    /// Estimated bytes in use.
    #[must_use]
    pub fn bytes_in_use(&self) -> f64 {
        self.objects_in_use() * self.bytes as f64
    }
}

impl AllocationProfile {
    /// Copies the samples of a heap that is `age` old.
    pub(crate) fn take(shared: &Shared, age: Duration) -> AllocationProfile {
        let Samples { stacks, buckets, dropped } = shared.samples();
        let mut type_names = HashMap::new();
        let sites = buckets.iter().filter(|bucket| bucket.samples > 0);
        let sites: Vec<AllocationSite> =
            sites.map(|bucket| AllocationSite::of(shared, bucket, &mut type_names)).collect();
        let mut names = HashMap::new();
        if let Some(walker) = &shared.watch.sampler.walker {
            for frame in stacks.iter().flat_map(|words| words.iter().skip(1)) {
                names.entry(*frame).or_insert_with(|| walker.name(*frame));
            }
        }
        let files = if shared.watch.sampler.walker.is_none() { code_files() } else { Vec::new() };
        let largest = sites.iter().map(|site| site.interval).max();
        let interval = Some(shared.watch.sampler.interval()).filter(|interval| *interval != 0).or(largest);
        AllocationProfile {
            sites,
            stacks,
            names,
            files,
            interval: interval.unwrap_or(0),
            taken: SystemTime::now(),
            age,
            dropped,
        }
    }

    /// The samples, in groups with the same weight.
    #[must_use]
    pub fn sites(&self) -> &[AllocationSite] {
        &self.sites
    }

    /// The number of all samples.
    pub(super) fn samples(&self) -> u64 {
        self.sites.iter().map(|site| site.samples).sum()
    }

    /// The stack of a site of this profile, innermost frame first: what
    /// [`StackWalker`](crate::raw::StackWalker) pushed, or return addresses. The second value says
    /// whether outer frames were cut off.
    #[must_use]
    pub fn stack(&self, site: &AllocationSite) -> (&[u64], bool) {
        let words = self.stacks.get(site.stack).and_then(|words| words.split_first());
        words.map_or((&[], false), |(truncated, frames)| (frames, *truncated != 0))
    }

    /// The name that the [`StackWalker`](crate::raw::StackWalker) gave a frame.
    #[must_use]
    pub fn frame_name(&self, frame: u64) -> Option<&FrameName> {
        self.names.get(&frame)
    }

    /// The sampling interval in force, or the largest in the profile if sampling is off, in bytes.
    #[must_use]
    pub fn interval(&self) -> usize {
        self.interval
    }

    /// Samples for which there was no memory: `AllocationSampleMemory` was used up, or the system
    /// had none. They are missing in all numbers, or in the numbers of what is in use only: an
    /// object that cannot be followed counts as dead.
    #[must_use]
    pub fn dropped_samples(&self) -> u64 {
        self.dropped.samples
    }

    /// Bytes of the objects of those samples, not weighted.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.dropped.bytes
    }

    /// Samples of blocks for several objects (reserved, or of generated code) that were
    /// [recycled](crate::raw::RawMutator::recycle) before the thread came to a safepoint. Their
    /// objects are not known, so these samples are missing in all numbers.
    #[must_use]
    pub fn recycled_samples(&self) -> u64 {
        self.dropped.recycled
    }
}

impl AllocationSite {
    fn of(shared: &Shared, bucket: &Bucket, names: &mut HashMap<u32, Arc<str>>) -> AllocationSite {
        let name = || {
            let id = NonZeroU32::new(bucket.shape).map(ShapeId::from_raw);
            let shape = id.and_then(|id| shared.space.shapes.get(id));
            shape.map_or("[unknown]", |shape| shape.name()).into()
        };
        AllocationSite {
            type_name: names.entry(bucket.shape).or_insert_with(name).clone(),
            bytes: bucket.bytes,
            interval: bucket.interval,
            samples: bucket.samples,
            living_samples: bucket.living,
            stack: bucket.stack as usize,
        }
    }
}

impl fmt::Debug for AllocationProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocationProfile")
            .field("sites", &self.sites.len())
            .field("stacks", &self.stacks.len())
            .field("interval", &self.interval)
            .field("dropped_samples", &self.dropped.samples)
            .finish_non_exhaustive()
    }
}
