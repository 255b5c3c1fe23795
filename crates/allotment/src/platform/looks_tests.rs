//! Looks of barriers' entries, for the tests of each machine: a hot part and tables of a small
//! heap, words, and the answers that a model gives.

use crate::random::Random;

const REGIONS: usize = 4;
const REGION_BYTES: usize = 4096;
const HEAP: usize = 0x0001_2345_0000;
const MARK_BYTES: usize = 512;

/// The part of a hot part that entries read.
#[derive(Default)]
#[repr(C)]
pub(super) struct LookHot {
    cards: u64,
    barriers: u64,
    heap: usize,
    heap_bytes: usize,
    region_shift: usize,
    moving: usize,
    borders: usize,
    marks: usize,
}

impl LookHot {
    pub(super) const ADDRESS_MASK: u64 = 0x0000_FFFF_FFFF_FFF8;
    pub(super) const MARKING: u32 = 1;
    pub(super) const FORWARDING: u32 = 4;
    pub(super) const BARRIERS_OFFSET: usize = std::mem::offset_of!(LookHot, barriers);
    pub(super) const HEAP_OFFSET: usize = std::mem::offset_of!(LookHot, heap);
    pub(super) const HEAP_BYTES_OFFSET: usize = std::mem::offset_of!(LookHot, heap_bytes);
    pub(super) const REGION_SHIFT_OFFSET: usize = std::mem::offset_of!(LookHot, region_shift);
    pub(super) const MOVING_OFFSET: usize = std::mem::offset_of!(LookHot, moving);
    pub(super) const BORDERS_OFFSET: usize = std::mem::offset_of!(LookHot, borders);
    pub(super) const MARKS_OFFSET: usize = std::mem::offset_of!(LookHot, marks);
}

/// One look, and whether it has an answer.
pub(super) struct Look<'t> {
    pub(super) hot: &'t LookHot,
    /// The word of the slot.
    pub(super) word: u64,
    pub(super) load_is_answered: bool,
    pub(super) store_is_answered: bool,
}

/// The tables of the heap.
struct Tables {
    moving: [u8; REGIONS],
    borders: [[usize; 2]; REGIONS],
    marks: [[u64; 2]; REGIONS * REGION_BYTES / MARK_BYTES],
}

impl Tables {
    fn random(random: &Random) -> Tables {
        let border = |region: usize| HEAP + region * REGION_BYTES + random.next() as usize % 513 * 8;
        // The second words are not those of a border or of marks.
        Tables {
            moving: std::array::from_fn(|_| (random.next() % 3) as u8),
            borders: std::array::from_fn(|region| [border(region), random.next() as usize]),
            marks: std::array::from_fn(|_| [random.next(), random.next()]),
        }
    }

    /// Gives a hot part these tables.
    fn fill(&self, hot: &mut LookHot) {
        hot.heap = HEAP;
        hot.heap_bytes = REGIONS * REGION_BYTES;
        hot.region_shift = REGION_BYTES.trailing_zeros() as usize;
        hot.moving = self.moving.as_ptr().expose_provenance();
        hot.borders = self.borders.as_ptr().expose_provenance();
        hot.marks = self.marks.as_ptr().expose_provenance();
    }
}

/// Calls `check` with looks at words of all kinds, under each set of barriers. The last hot part
/// has zeroes in place of tables, as in a heap whose collector has none: no reference is answered
/// there.
pub(super) fn for_each_look(mut check: impl FnMut(&Look<'_>)) {
    let random = Random::new(7);
    let (mut loads, mut stores) = ([0; 2], [0; 2]);
    for number in 0..=200 {
        let (tables, has_tables) = (Tables::random(&random), number < 200);
        for barriers in 0..8_u32 {
            let mut hot =
                LookHot { cards: random.next(), barriers: u64::from(barriers), ..LookHot::default() };
            if has_tables {
                tables.fill(&mut hot);
            }
            for word in words(&random) {
                let reference = word & 1 == 0 && word & LookHot::ADDRESS_MASK != 0;
                let address = (word & LookHot::ADDRESS_MASK) as usize;
                let offset = address.wrapping_sub(HEAP);
                let is_inside = has_tables && offset < REGIONS * REGION_BYTES;
                let stays = || tables.moving[offset / REGION_BYTES] == 0;
                let is_found = || {
                    let marks = tables.marks[offset / MARK_BYTES][0];
                    address >= tables.borders[offset / REGION_BYTES][0]
                        || marks >> (offset % 512 / 8) & 1 != 0
                };
                let look = Look {
                    hot: &hot,
                    word,
                    load_is_answered: barriers & LookHot::FORWARDING == 0
                        || !reference
                        || is_inside && stays(),
                    store_is_answered: barriers & LookHot::MARKING == 0
                        || !reference
                        || is_inside && is_found(),
                };
                loads[usize::from(look.load_is_answered)] += 1;
                stores[usize::from(look.store_is_answered)] += 1;
                check(&look);
            }
        }
    }
    let least = loads.into_iter().chain(stores).min();
    assert!(least > Some(1000), "loads {loads:?}, stores {stores:?}");
}

/// Null, an immediate, and references into the heap, with tags, and to the addresses beside it.
fn words(random: &Random) -> [u64; 10] {
    let end = (HEAP + REGIONS * REGION_BYTES) as u64;
    let tag = random.next() & !LookHot::ADDRESS_MASK & !1;
    let inside = || HEAP as u64 + random.next() % (REGIONS * REGION_BYTES) as u64 / 8 * 8;
    let at_region = HEAP as u64 + random.next() % REGIONS as u64 * REGION_BYTES as u64;
    [
        0,
        tag,
        random.next() | 1,
        inside() | 1,
        inside(),
        inside() | tag,
        at_region,
        HEAP as u64 - 8,
        end - 8,
        end | tag,
    ]
}
