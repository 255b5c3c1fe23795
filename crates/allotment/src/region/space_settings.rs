//! The options about a heap's regions and their memory, in the terms of this layer.

use super::{Disposal, Geometry, RefillMode};
use crate::options::{Options, RefillStrategy};
use crate::platform::huge_page_size;

/// How a [`Space`](super::Space) gets memory, and how threads take it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceSettings {
    /// Bytes from the bottom on that are touched when the space is made.
    pub(crate) touched_bytes: usize,
    /// `AlwaysPreTouch`: later memory is touched when it is committed.
    pub(crate) pre_touch: bool,
    /// `UseTransparentHugePages`.
    pub(crate) huge_pages: bool,
    /// `RefillStrategy`.
    pub(crate) mode: RefillMode,
    /// `AllocationRegions`: regions that threads take memory from at the same time.
    pub(crate) homes: usize,
    pub(crate) disposal: Disposal,
}

impl SpaceSettings {
    /// Bytes of address space that become writable together.
    pub(super) fn granule(&self, geometry: Geometry) -> usize {
        // A protected region must not become accessible together with its neighbour.
        let by_huge_page = self.huge_pages && !self.disposal.protect;
        let huge = if by_huge_page { huge_page_size() } else { 0 };
        geometry.region_bytes().max(huge)
    }
}

impl From<&Options> for SpaceSettings {
    fn from(options: &Options) -> SpaceSettings {
        SpaceSettings {
            touched_bytes: if options.always_pre_touch { options.initial_heap_size } else { 0 },
            pre_touch: options.always_pre_touch,
            huge_pages: options.use_transparent_huge_pages,
            mode: match options.refill_strategy {
                RefillStrategy::Cas => RefillMode::CompareAndSwap,
                RefillStrategy::Lock => RefillMode::Lock,
            },
            homes: options.allocation_regions,
            disposal: Disposal {
                poison: options.zeal_poison,
                protect: options.zeal_protect,
                quarantine: options.zeal_quarantine,
            },
        }
    }
}
