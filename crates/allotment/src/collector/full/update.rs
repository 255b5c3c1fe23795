//! Update: every slot gets the new address of its referent; a weak slot whose referent died gets
//! null.
//!
//! Where nothing moves and no object has a weak slot, only roots are visited.
//!
//! Other collectors keep a list of weak slots while they mark. This one needs no list, because it
//! visits all slots here anyway; a list can fail to grow.
//!
//! Workers take regions, and pieces of arrays that are larger than a region. A new address is read
//! from the map, a line for 2 KiB of heap. Where references go everywhere and the map is larger
//! than the caches, each read is a miss. There a slot waits in a short queue while its referent's
//! line is fetched ([`Ahead`]): that halves the time for 512 MiB of shuffled nodes. With a map in
//! the cache the queue would cost a nanosecond for each slot.

use super::FullStatistics;
use super::forward::Forwarding;
use super::plan::{LargeArray, Plan};
use crate::collector::kernel::{LiveMap, ShapeCache, for_each_live};
use crate::collector::work::{Claimer, Ring, Workers};
use crate::object::{
    SlotKind, SlotVisitor, for_each_fixed_slot, for_each_slot, for_each_word, reference, tail_slots,
    with_reference,
};
use crate::region::Space;
use crate::sync::{AtomicU64, Ordering};

/// Slots of a large array that are updated in one go.
const PIECE: usize = if cfg!(test) { 100 } else { 1 << 15 };

/// Added to the address of a weak slot, which is a multiple of 8.
const WEAK: usize = 1;

/// Slots whose referents' lines are being fetched.
const AHEAD: usize = 8;

/// Updates roots and all slots of live objects, which have not moved yet.
///
/// # Safety
/// - Everything live is marked, and has a new address.
/// - Slots hold references to objects of this heap or none.
pub(super) unsafe fn update(
    space: &Space,
    map: &LiveMap,
    plan: &Plan,
    workers: Workers<'_>,
    roots: &mut dyn FnMut(&mut SlotVisitor<'_>),
    statistics: &mut FullStatistics,
) {
    let forwarding = Forwarding::new(map, &plan.breaks);
    let mut cleared = 0;
    roots(&mut SlotVisitor::new(&mut |slot, kind| {
        // SAFETY: a root slot, as the caller says.
        unsafe { update_slot(forwarding, slot, kind, &mut cleared) }
    }));
    statistics.weak_cleared = cleared;
    if !plan.moves() && !statistics.weak_slots {
        return;
    }
    let total = AtomicU64::new(cleared);
    let pieces = |array: &LargeArray| array.slots.div_ceil(PIECE);
    let arrays = Claimer::new(plan.arrays.iter().map(pieces).sum());
    let regions = Claimer::new(plan.regions.len());
    let far = LiveMap::is_far(statistics.used_before);
    workers.run(&|_| {
        let mut worker = Updater { space, map, ahead: Ahead::new(forwarding) };
        while let Some(mut number) = arrays.claim() {
            for array in &plan.arrays {
                if number < pieces(array) {
                    // SAFETY: a live array, unmoved.
                    unsafe { worker.piece(array, number) };
                    break;
                }
                number -= pieces(array);
            }
        }
        while let Some(index) = regions.claim() {
            // SAFETY: nothing has moved, and marked words belong to objects, whose slots are as the
            // caller says.
            unsafe {
                if far {
                    worker.region::<true>(index);
                } else {
                    worker.region::<false>(index);
                }
            }
        }
        worker.ahead.finish();
        total.fetch_add(worker.ahead.cleared, Ordering::Relaxed);
    });
    statistics.weak_cleared = total.load(Ordering::Relaxed);
}

/// One worker that updates.
struct Updater<'h> {
    space: &'h Space,
    map: &'h LiveMap,
    ahead: Ahead<'h>,
}

impl Updater<'_> {
    /// Updates the slots of the objects of region `index`, except those of large arrays. `FAR`: the
    /// lines of their referents are fetched.
    ///
    /// # Safety
    /// - As for [`update`]; no other worker has the region.
    unsafe fn region<const FAR: bool>(&mut self, index: usize) {
        let region_bytes = self.space.free.table().geometry().region_bytes();
        let ahead = &mut self.ahead;
        // A local copy, because the loop is as fast as it has registers.
        let (forwarding, mut cleared) = (ahead.forwarding, 0);
        // SAFETY: the caller's predicates.
        unsafe {
            for_each_live(self.space, self.map, index, 0, |address, layout, bytes| {
                if layout.words != 0 {
                    return for_each_word(address, layout.words, |slot| match FAR {
                        false => update_slot(forwarding, slot, SlotKind::Strong, &mut cleared),
                        true => ahead.add(slot, SlotKind::Strong),
                    });
                }
                if !layout.has_slots {
                    return;
                }
                let shape = layout.shape;
                if !FAR && bytes <= region_bytes || shape.is_traced() {
                    // Slots that a trace function shows may be gone when it returns.
                    for_each_slot(address, shape, |slot, kind| {
                        update_slot(forwarding, slot, kind, &mut cleared)
                    });
                } else if bytes > region_bytes {
                    for_each_fixed_slot(address, shape, |slot, kind| ahead.add(slot, kind));
                } else {
                    for_each_slot(address, shape, |slot, kind| ahead.add(slot, kind));
                }
            });
        }
        ahead.cleared += cleared;
    }

    /// Updates piece `number` of an array.
    ///
    /// # Safety
    /// - As for [`update`]; no other worker has the piece.
    unsafe fn piece(&mut self, array: &LargeArray, number: usize) {
        // SAFETY: the plan lists arrays of references that are alive, and nothing has moved.
        let tail =
            unsafe { tail_slots(array.address, ShapeCache::new(&self.space.shapes).of(array.address)) };
        let Some(tail) = tail else { return };
        for index in number * PIECE..tail.length.min((number + 1) * PIECE) {
            // SAFETY: a slot of the array.
            unsafe { self.ahead.add(tail.start.add(index), tail.kind) };
        }
    }
}

/// Slots that each wait for a line of the map.
struct Ahead<'p> {
    forwarding: Forwarding<'p>,
    /// The slots' addresses, plus [`WEAK`] for weak slots; 0 for none.
    waiting: Ring<AHEAD, 1>,
    cleared: u64,
}

impl<'p> Ahead<'p> {
    fn new(forwarding: Forwarding<'p>) -> Ahead<'p> {
        Ahead { forwarding, waiting: Ring::new(), cleared: 0 }
    }

    /// Queues the slot for an update soon.
    ///
    /// # Safety
    /// - The slot may be read and, until [`finish`](Self::finish), written, and no other thread
    ///   touches it; it holds a reference to an object of this heap or none.
    #[inline(always)]
    unsafe fn add(&mut self, slot: *mut u64, kind: SlotKind) {
        // SAFETY: the caller's predicate.
        let Some(address) = reference(unsafe { slot.read() }) else { return };
        self.forwarding.map.prefetch(address);
        let next = slot as usize | if kind == SlotKind::Weak { WEAK } else { 0 };
        let [due] = self.waiting.add([next]);
        self.update(due);
    }

    /// Updates a slot that has waited, if there is one.
    #[inline(always)]
    fn update(&mut self, due: usize) {
        if due != 0 {
            let kind = if due & WEAK != 0 { SlotKind::Weak } else { SlotKind::Strong };
            // SAFETY: the predicate of the call that added it.
            unsafe { update_slot(self.forwarding, (due & !WEAK) as *mut u64, kind, &mut self.cleared) };
        }
    }

    /// Updates all waiting slots.
    fn finish(&mut self) {
        while let [due] = self.waiting.take()
            && due != 0
        {
            self.update(due);
        }
    }
}

/// Gives a slot the new address of its referent, or null if the slot is weak and the referent died.
///
/// # Safety
/// - The slot may be read and written, and holds a reference to an object of this heap or none.
#[inline(always)]
unsafe fn update_slot(forwarding: Forwarding<'_>, slot: *mut u64, kind: SlotKind, cleared: &mut u64) {
    // SAFETY: the caller's predicate.
    let bits = unsafe { slot.read() };
    let Some(address) = reference(bits) else { return };
    let updated = if kind == SlotKind::Weak && !forwarding.map.is_live(address) {
        *cleared += 1;
        0
    } else {
        with_reference(bits, forwarding.of(address))
    };
    // Compare first: a page on which nothing moved stays clean.
    if updated != bits {
        // SAFETY: the caller's predicate.
        unsafe { slot.write(updated) };
    }
}
