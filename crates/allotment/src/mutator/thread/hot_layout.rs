//! The public fields of the hot part as a table, from which headers for other languages are printed.

use super::hot::Hot;

/// A public field of the hot part: [`Hot::layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotField {
    /// The field's name in other languages.
    pub name: &'static str,
    /// Bytes from the start of the hot part to the field.
    pub offset: usize,
    /// Bytes of the field: 4 or 8.
    pub bytes: usize,
    /// What the field holds, in one line.
    pub text: &'static str,
}

const fn field(name: &'static str, offset: usize, bytes: usize, text: &'static str) -> HotField {
    HotField { name, offset, bytes, text }
}

/// In order of offset.
const FIELDS: &[HotField] = &[
    field("top", Hot::TOP_OFFSET, 8, "address of the next free byte"),
    field("limit", Hot::LIMIT_OFFSET, 8, "limit for memory that need not be zero"),
    field("zeroed_limit", Hot::ZEROED_LIMIT_OFFSET, 8, "limit for memory that must be zero"),
    field("requested", Hot::REQUESTED_OFFSET, 4, "not 0 while a stop is requested"),
    field("barriers", Hot::BARRIERS_OFFSET, 4, "the barriers in force, as bits"),
    field("watermark", Hot::WATERMARK_OFFSET, 8, "the top at which code prefetches again"),
    field("cards", Hot::CARDS_OFFSET, 8, "biased address of the card table"),
    field("frame", Hot::FRAME_OFFSET, 8, "the frame that called the heap last"),
    field("load_slow", Hot::LOAD_SLOW_OFFSET, 8, "slow path of a load"),
    field("load_weak_slow", Hot::LOAD_WEAK_SLOW_OFFSET, 8, "slow path of a load from a weak slot"),
    field("store_slow", Hot::STORE_SLOW_OFFSET, 8, "slow path before a store"),
    field(
        "compare_exchange_slow",
        Hot::COMPARE_EXCHANGE_SLOW_OFFSET,
        8,
        "slow path of a compare-and-exchange",
    ),
    field("region", Hot::REGION_OFFSET, 8, "region of a thread without buffers"),
    field("region_objects", Hot::REGION_OBJECTS_OFFSET, 8, "objects taken from such regions"),
    field("region_bytes", Hot::REGION_BYTES_OFFSET, 8, "bytes of those objects"),
    field("region_failures", Hot::REGION_FAILURES_OFFSET, 8, "failed swaps on such a region's top"),
    field("links", Hot::LINKS_OFFSET, 8, "head of the list of roots in frames"),
];

impl Hot {
    /// The public fields, in order of their offsets. The offsets are those of the constants, such
    /// as [`TOP_OFFSET`](Self::TOP_OFFSET).
    ///
    /// ```
    /// use allotment::raw::Hot;
    /// let barriers = Hot::layout().iter().find(|field| field.name == "barriers");
    /// assert_eq!(barriers.map(|field| (field.offset, field.bytes)), Some((Hot::BARRIERS_OFFSET, 4)));
    /// ```
    pub const fn layout() -> &'static [HotField] {
        FIELDS
    }
}
