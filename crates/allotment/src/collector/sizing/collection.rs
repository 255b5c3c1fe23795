//! The data of a collection that the sizing uses.

use std::fmt;

/// Number of ages an object can have: collections survived, from 0; 15 also stands for more.
pub(crate) const AGES: usize = 16;

/// The part of the heap that was collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Eden and survivors.
    #[default]
    Young,
    /// All of the heap; every live object is old afterwards.
    Full,
}

/// A collection that just ended, and the heap after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collection {
    /// The part of the heap that was collected.
    pub extent: Extent,
    /// Time the world was stopped, in nanoseconds.
    pub pause_ns: u64,
    /// Time mutators ran since the collection before, in nanoseconds.
    pub mutator_ns: u64,
    /// Regions taken for allocation since the collection before, humongous runs included.
    pub eden_regions: usize,
    /// Bytes that stayed young, by the age they have now; `[0]` is 0. All are 0 after a full
    /// collection.
    pub survived: [usize; AGES],
    /// Bytes that a young collection copied and made old, because of their age or the survivor
    /// limit.
    pub promoted_bytes: usize,
    /// Bytes that a young collection made old in place, because they never move: humongous objects,
    /// and objects in regions with a pin. They cost neither work nor room for copies.
    pub stayed_bytes: usize,
    /// Bytes that a young collection left in place because there was no memory to move them to.
    pub failed_bytes: usize,
    /// Bytes of old objects and roots that a young collection scanned.
    pub scanned_bytes: usize,
    /// Bytes of old regions, up to their tops, humongous runs not included.
    pub old_bytes: usize,
    /// Regions of humongous runs.
    pub humongous_regions: usize,
    /// Live bytes; known after a full collection only.
    pub live_bytes: usize,
    /// Regions that are free, of all that MaxHeapSize allows.
    pub free_regions: usize,
    /// Attached threads.
    pub threads: usize,
    /// Weak handles, cleared ones included.
    pub weak_handles: usize,
}

impl Collection {
    /// Bytes that stayed young.
    pub(crate) fn survivor_bytes(&self) -> usize {
        self.survived.iter().sum()
    }
}

impl fmt::Display for Collection {
    /// One line, sizes in KiB.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ms, kib) = (|ns: u64| ns as f64 / 1e6, |bytes: usize| bytes.div_ceil(1024));
        let extent = match self.extent {
            Extent::Young => "young",
            Extent::Full => "full",
        };
        let (pause_ms, mutator_ms) = (ms(self.pause_ns), ms(self.mutator_ns));
        write!(
            f,
            "{extent} {pause_ms:.3} ms after {mutator_ms:.3} ms: eden {} regions, ",
            self.eden_regions
        )?;
        match self.extent {
            Extent::Young => write!(
                f,
                "survived {}k, promoted {}k, stayed {}k, failed {}k, scanned {}k",
                kib(self.survivor_bytes()),
                kib(self.promoted_bytes),
                kib(self.stayed_bytes),
                kib(self.failed_bytes),
                kib(self.scanned_bytes),
            )?,
            Extent::Full => write!(f, "live {}k", kib(self.live_bytes))?,
        }
        write!(
            f,
            ", old {}k, humongous {} regions, free {} regions, {} threads",
            kib(self.old_bytes),
            self.humongous_regions,
            self.free_regions,
            self.threads
        )
    }
}
