//! The size of a region, and the number of regions.
//!
//! Shenandoah's rule: a 2048th of the heap, a power of two from 256 KiB to 32 MiB, at least 10
//! regions. Pure numbers; a table in the tests has HotSpot's examples.

/// Bytes of the smallest region.
pub const MIN_REGION_BYTES: usize = 256 << 10;
/// Bytes of the largest region.
pub const MAX_REGION_BYTES: usize = 32 << 20;
/// The number of regions that a heap is divided into, approximately.
pub const TARGET_REGIONS: usize = 2048;
/// The least number of regions of a heap.
pub const MIN_REGIONS: usize = 10;
/// Bytes of the largest heap: the position of a spare buffer is packed into 42 bits of words.
pub const MAX_HEAP_BYTES: usize = 1 << 45;

/// The division of a heap into regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// log2 of the bytes of a region.
    pub region_shift: u32,
    /// Number of regions of the heap.
    pub regions: usize,
}

/// The reason why a heap cannot be divided in this way.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// Too few regions.
    #[error(
        "MaxHeapSize={heap} with regions of {region} bytes is {regions} regions; at least {MIN_REGIONS} work, \
         so MaxHeapSize={} or more",
        region * MIN_REGIONS
    )]
    TooFew {
        /// Bytes of the heap asked for.
        heap: usize,
        /// Bytes of a region.
        region: usize,
        /// Number of regions that this makes.
        regions: usize,
    },
    /// No such region size.
    #[error("RegionSize={region}: a power of two from 256k to 32m works")]
    Region {
        /// Bytes of a region asked for.
        region: usize,
    },
    /// The heap is larger than its addresses allow.
    #[error("MaxHeapSize={heap}: at most 32t (2^45 bytes) work")]
    TooLarge {
        /// Bytes of the heap asked for.
        heap: usize,
    },
}
crate::debug::debug_is_display!(GeometryError);

impl Geometry {
    /// The division of a heap of `heap` bytes into regions of `region` bytes, or of the ergonomic
    /// size if that is 0. The heap is rounded up to whole regions.
    ///
    /// # Errors
    /// [`GeometryError`] names the violated bound and a value that works.
    pub fn new(heap: usize, region: usize) -> Result<Geometry, GeometryError> {
        if region != 0
            && (!region.is_power_of_two() || !(MIN_REGION_BYTES..=MAX_REGION_BYTES).contains(&region))
        {
            return Err(GeometryError::Region { region });
        }
        if heap > MAX_HEAP_BYTES {
            return Err(GeometryError::TooLarge { heap });
        }
        let region = if region == 0 { ergonomic_region(heap) } else { region };
        let regions = heap.div_ceil(region);
        if regions < MIN_REGIONS {
            return Err(GeometryError::TooFew { heap, region, regions });
        }
        Ok(Geometry { region_shift: region.trailing_zeros(), regions })
    }

    /// Bytes of a region.
    pub const fn region_bytes(self) -> usize {
        1 << self.region_shift
    }

    /// Bytes of the heap.
    pub const fn heap_bytes(self) -> usize {
        self.regions << self.region_shift
    }
}

/// A 2048th of the heap, rounded down to a power of two, within the bounds (JDK: region sizing of
/// Shenandoah).
fn ergonomic_region(heap: usize) -> usize {
    let target = (heap / TARGET_REGIONS).clamp(MIN_REGION_BYTES, MAX_REGION_BYTES);
    1 << target.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hotspot_examples() {
        for (heap, region) in [
            (512 << 20, 256 << 10),
            (1 << 30, 512 << 10),
            (4 << 30, 2 << 20),
            (6 << 30, 2 << 20),
            (64 << 30, 32 << 20),
            (1 << 40, 32 << 20),
        ] {
            assert_eq!(Geometry::new(heap, 0).unwrap().region_bytes(), region, "{heap}");
        }
    }

    #[test]
    fn what_cannot_be_divided_says_what_can() {
        let text = |heap, region| Geometry::new(heap, region).unwrap_err().to_string();
        assert!(text(1 << 20, 0).contains("MaxHeapSize=2621440 or more"));
        assert!(text(64 << 20, 32 << 20).contains("2 regions"));
        assert!(text(1 << 30, 3 << 20).contains("power of two"));
        assert!(text(1 << 30, 128 << 10).contains("256k"));
        assert!(text(usize::MAX, 0).contains("32t"));
    }

    proptest! {
        #[test]
        fn bounds_hold_for_every_heap(heap in MIN_REGIONS * MIN_REGION_BYTES..MAX_HEAP_BYTES) {
            let geometry = Geometry::new(heap, 0).unwrap();
            prop_assert!((MIN_REGION_BYTES..=MAX_REGION_BYTES).contains(&geometry.region_bytes()));
            prop_assert!(geometry.regions >= MIN_REGIONS);
            prop_assert!(geometry.heap_bytes() >= heap && geometry.heap_bytes() - heap < geometry.region_bytes());
        }
    }
}
