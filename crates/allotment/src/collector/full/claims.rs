//! Who has marked an object: claims of markers, without locked instructions where there are two of them.
//!
//! A bit is set by reading 64 of them and writing them back, and what another marker wrote in between would be lost. A
//! locked instruction prevents that, and takes 18 cycles, a third of what marking an object takes; no load begins
//! meanwhile, so that the fetches ahead, which marking lives on, come late, too. But a block has a second word, which nobody needs
//! before there is a plan: where the objects of the block go. So there are two *lanes*. Each marker
//! reads both, and sets bits in one of them, markers with even numbers in the first, others in the second. Only where there
//! are more than two a lane has more than one writer, and needs the instruction.
//!
//! What is lost is certainty: two markers in different lanes may claim the same object at the same moment, each
//! before it could see what the other wrote. It does no harm to look at an object's slots twice, or at
//! once ([`TraceFn`](crate::object::TraceFn) bears it). When all is marked,
//! [`unite`] makes one lane of both, and finds the objects that two have counted: those whose bits are in both.
//!
//! Refused: a byte for each word while marking (eight times the memory, to be cleared and read again); a bit in the header (to be
//! cleared one by one); to collect the bits of a block in a register, and set them at once (only neighbours gain by it,
//! and the locked instruction waits for more).

use super::Subject;
use super::broken::broken;
use super::live_map::{BLOCK_BYTES, LiveMap, bit, ones};
use super::live_objects::ShapeCache;
use crate::collector::work::{Team, Turns};
use crate::object::{WORD, size_of_object, walk};
use crate::region::{Backing, State};
use crate::sync::{AtomicU64, Ordering};

/// Markers that need no locked instruction: as many as there are lanes.
pub(super) const LANES: usize = 2;

/// The claims of one marker; `LOCKED`: of more than [`LANES`].
pub(super) struct Claims<'h, const LOCKED: bool> {
    map: &'h LiveMap,
    /// Where it sets its bits.
    lane: usize,
    /// What it claimed.
    count: Count,
}

/// Objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) objects: u64,
    pub(super) bytes: u64,
}

impl<'h, const LOCKED: bool> Claims<'h, LOCKED> {
    /// None, of marker `number`.
    pub(super) fn new(map: &'h LiveMap, number: usize) -> Self {
        Claims { map, lane: number % LANES, count: Count::default() }
    }

    /// Objects that it claimed; some of them another has claimed and counted, too.
    pub(super) fn count(&self) -> Count {
        self.count
    }

    /// Whether somebody has claimed the object at `address`; it may be that somebody just does.
    #[inline(always)]
    pub(super) fn has(&self, address: usize) -> bool {
        self.map.block(address).marked() >> bit(address) & 1 != 0
    }

    /// Claims the object at `address`, of `bytes`, by the bits of its first `marked` bytes;
    /// `false`: somebody did. `alone`: no other marker claims anything meanwhile, and what others
    /// claimed is seen.
    #[inline(always)]
    pub(super) fn claim(&mut self, address: usize, bytes: usize, marked: usize, alone: bool) -> bool {
        let first = (marked / WORD).min(64 - bit(address));
        let block = self.map.block(address);
        if block.marked() >> bit(address) & 1 != 0 {
            return false;
        }
        // Of those in the same lane only one gets the header's bit.
        let words = ones(first) << bit(address);
        let before = if LOCKED && !alone {
            block.mark::<true>(self.lane, words)
        } else {
            block.mark::<false>(self.lane, words)
        };
        if before >> bit(address) & 1 != 0 {
            return false;
        }
        if first * WORD < marked {
            self.claim_rest(address + first * WORD, address + marked);
        }
        self.count.objects += 1;
        self.count.bytes += bytes as u64;
        true
    }

    /// The words from `at` on, which begin a block.
    #[inline(never)]
    fn claim_rest(&self, at: usize, end: usize) {
        for at in (at..end).step_by(BLOCK_BYTES) {
            self.map.block(at).mark::<LOCKED>(self.lane, ones((end - at) / WORD));
        }
    }
}

/// Makes the map say what both lanes say; what was counted twice.
///
/// # Safety
/// - What is marked in the map is objects, whole and unmoved.
/// - Nobody marks.
pub(super) unsafe fn unite<B: Backing>(subject: Subject<'_, B>, map: &LiveMap, team: Team<'_>) -> Count {
    let table = subject.free.table();
    let (turns, objects, bytes) = (Turns::new(table.len()), AtomicU64::new(0), AtomicU64::new(0));
    let region_bytes = table.geometry().region_bytes();
    team.run(&|_| {
        while let Some(index) = turns.take() {
            let bottom = table.bottom(index);
            let unite = |start, end| {
                // SAFETY: the caller's predicates.
                let twice = unsafe { unite_blocks(subject, map, start, end) };
                if twice != Count::default() {
                    objects.fetch_add(twice.objects, Ordering::Relaxed);
                    bytes.fetch_add(twice.bytes, Ordering::Relaxed);
                }
            };
            match table.get(index).state() {
                // One object, of which the header is marked; or several, if the run was reserved for them.
                State::HumongousStart => {
                    // SAFETY: a run is parsable.
                    let parsed = unsafe {
                        walk(subject.shapes, bottom, subject.free.object_end(index), |object| {
                            let marked = if object.bytes > region_bytes { WORD } else { object.bytes };
                            unite(object.address, object.address + marked);
                        })
                    };
                    if parsed.is_err() {
                        broken(bottom, "a run of regions is not parsable");
                    }
                }
                state if state.begins_objects() => unite(bottom, bottom + region_bytes),
                _ => {}
            }
        }
    });
    Count { objects: objects.into_inner(), bytes: bytes.into_inner() }
}

/// The blocks of `[start, end)`.
///
/// # Safety
/// - As for [`unite`]; if an object reaches into the first of the blocks, the one before was united.
unsafe fn unite_blocks<B>(subject: Subject<'_, B>, map: &LiveMap, start: usize, end: usize) -> Count {
    let mut twice = Count::default();
    let first = start & !(BLOCK_BYTES - 1);
    // Behind the last object that was counted twice.
    let mut behind = first;
    for block in (first..end).step_by(BLOCK_BYTES) {
        let mut both = map.block(block).unite();
        while both != 0 {
            // Behind the object and the bits that it has in both lanes there is a header, or nothing.
            both &= !ones(behind.saturating_sub(block) / WORD);
            if both == 0 {
                break;
            }
            let address = block + both.trailing_zeros() as usize * WORD;
            // SAFETY: both lanes have all words of an object, or one of them has none.
            let size = unsafe { size_of_object(address, ShapeCache::new(subject).of(address)) };
            twice.objects += 1;
            twice.bytes += size as u64;
            behind = address + size;
        }
    }
    twice
}
