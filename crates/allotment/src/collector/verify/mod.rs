//! The verifier: walks a stopped heap and proves that it is consistent.
//!
//! If a collector loses a reference, a program notices it much later, when it reads wrong data. So
//! the heap can be checked before and after each collection (`VerifyBeforeGC`, `VerifyAfterGC`),
//! and whenever its embedder asks ([`Heap::verify`](crate::Heap::verify)). Between two collections
//! each reference of a root or live object leads to the first byte of an object.
//!
//! The contents of dead objects depend on the collector, which describes them by
//! [`keeps_dead_references`](crate::mutator::Collector::keeps_dead_references). Some collectors
//! cover each object that they find dead, or keep its referents. Then the references of dead
//! objects lead to objects too, and are checked. Other collectors leave a dead object as it is, in
//! a region that they do not evacuate, while its referents move or vanish. Then the verifier finds
//! the live objects by itself (`reach.rs`), and checks their references alone. Refused: the live
//! objects of all heaps. A check of dead objects finds a lost reference even if its holder has died
//! since, and needs less memory than marking.
//!
//! | level | checks |
//! |---|---|
//! | 1 | the free set, states of regions, every region parsable; the places of attached threads |
//! | 2 | and every strong reference in objects and roots, every pin, cards of old-to-young slots, handles of young objects |
//! | 3 | and the weak ones, and that no code wrote to memory without objects |
//!
//! [`CheckedObjects`] are the objects of levels 2 and 3. Level 1 checks all objects.
//!
//! The verifier shares no table with a collector, so it cannot share the collector's errors. It
//! reads cards only to check them.

mod fault;
mod freed;
mod handles;
mod reach;
mod starts;
mod stopped;
mod summary;
#[cfg(all(test, not(loom)))]
mod tests;

pub use fault::{BadReference, Fault, Holder, Problem, SlotPlace};
pub(crate) use handles::verify_handles;
pub(crate) use stopped::Checks;
pub use summary::VerifySummary;

use super::kernel::Roots;
use crate::mutator::Collector;
use crate::object::{
    Object, Shape, Shapes, SlotKind, SlotVisitor, WalkError, for_each_fixed_slot, reference, tail_slots, walk,
};
use crate::region::{CardTable, FreeSet, Space, State};
use starts::Starts;

/// The extent of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Structure,
    References,
    Everything,
}

impl Level {
    /// The level with this number, as `VerifyGCLevel` counts.
    pub(crate) fn from_number(number: usize) -> Level {
        match number {
            0 | 1 => Level::Structure,
            2 => Level::References,
            _ => Level::Everything,
        }
    }

    fn includes(self, kind: SlotKind) -> bool {
        self >= if kind == SlotKind::Weak { Level::Everything } else { Level::References }
    }
}

/// The objects whose references are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedObjects {
    /// All objects on the walk.
    All,
    /// The objects that roots and pins reach over strong slots.
    Live,
}

impl CheckedObjects {
    /// The most objects whose references are in order in the heaps of this collector.
    pub(crate) fn of(collector: &dyn Collector) -> CheckedObjects {
        if collector.keeps_dead_references() { CheckedObjects::All } else { CheckedObjects::Live }
    }
}

/// Checks a heap.
///
/// # Errors
/// The first fault found.
///
/// # Safety
/// - No mutator is between two safepoints until this returns, and no buffer has an uncovered tail.
/// - The slots that `roots` visits are readable.
pub(crate) unsafe fn verify(
    space: &Space,
    roots: &mut Roots<'_>,
    level: Level,
    objects: CheckedObjects,
) -> Result<VerifySummary, Fault> {
    let Space { free, shapes, cards, .. } = space;
    free.verify().map_err(Fault::FreeSet)?;
    let verifier = Verifier { free, shapes, cards, level };
    // SAFETY: the caller's predicates are those of all these.
    unsafe {
        let (census, starts) = verifier.walk()?;
        match objects {
            _ if level < Level::References => {}
            CheckedObjects::All => {
                verifier.check_objects(&starts)?;
                verifier.check_roots(&starts, roots, &mut |_| Ok(()))?;
            }
            CheckedObjects::Live => verifier.check_live_objects(&starts, roots)?,
        }
        if level >= Level::Everything {
            (0..free.table().len()).try_for_each(|index| freed::verify_room(free, index))?;
        }
        Ok(census)
    }
}

/// Takes the address of an object to which a strong reference or a pin leads.
type Follow<'f> = dyn FnMut(usize) -> Result<(), Fault> + 'f;

struct Verifier<'h> {
    free: &'h FreeSet,
    shapes: &'h Shapes,
    cards: &'h CardTable,
    level: Level,
}

impl Verifier<'_> {
    /// Regions in which objects begin.
    fn used(&self) -> impl Iterator<Item = usize> + '_ {
        let table = self.free.table();
        let used = [State::Shared, State::Exclusive, State::Survivor, State::Old, State::HumongousStart];
        (0..table.len()).filter(move |&index| used.contains(&table.get(index).state()))
    }

    /// Calls `visit` with the objects and fillers of a region.
    ///
    /// # Safety
    /// As for [`verify`].
    unsafe fn walk_region(&self, index: usize, visit: impl FnMut(Object<'_>)) -> Result<(), Fault> {
        let (bottom, top) = (self.free.table().bottom(index), self.free.object_end(index));
        // SAFETY: a region in use is committed up to its top, and no thread allocates.
        unsafe { walk(self.shapes, bottom, top, visit) }
            .map_err(|error: WalkError| Fault::Walk { region: index, error })
    }

    /// Counts the objects of all regions, and notes their starts if the level needs these.
    ///
    /// # Safety
    /// As for [`verify`].
    unsafe fn walk(&self) -> Result<(VerifySummary, Starts), Fault> {
        let table = self.free.table();
        // The first level needs no memory.
        let look_up = self.level >= Level::References;
        let (mut census, mut starts) =
            (VerifySummary::default(), Starts::new(if look_up { table.len() } else { 0 })?);
        (0..table.len()).for_each(|index| census.count_region(table.get(index).state()));
        for index in self.used() {
            if look_up {
                starts.open(index, table.get(index).state(), table.geometry().region_bytes())?;
            }
            // SAFETY: the caller's predicates.
            unsafe {
                self.walk_region(index, |object| {
                    census.count(&object);
                    if look_up && object.shape.is_some() {
                        starts.note(index, object.address - table.bottom(index));
                    }
                })?;
            }
        }
        Ok((census, starts))
    }

    /// Checks the references of all objects.
    ///
    /// # Safety
    /// As for [`verify`].
    unsafe fn check_objects(&self, starts: &Starts) -> Result<(), Fault> {
        for index in self.used() {
            let mut outcome = Ok(());
            // SAFETY: the caller's predicates; a walk that succeeded before meets objects of these
            // shapes.
            unsafe {
                self.walk_region(index, |object| {
                    if let (Ok(()), Some((_, shape))) = (&outcome, object.shape) {
                        outcome = self.check_object(starts, object.address, shape, &mut |_| Ok(()));
                    }
                })?;
            }
            outcome?;
        }
        Ok(())
    }

    /// Checks the references of an object. Gives `follow` the referents of strong slots.
    ///
    /// # Safety
    /// - `address` is the header of an object of `shape`, and no thread writes to the object.
    unsafe fn check_object(
        &self,
        starts: &Starts,
        address: usize,
        shape: &Shape,
        follow: &mut Follow<'_>,
    ) -> Result<(), Fault> {
        let holder =
            |place, kind| Holder::Object { address, shape: shape.name().to_owned(), slot: place, kind };
        let place = |slot: usize| {
            let described = shape.slots().iter().find(|described| address + described.offset == slot);
            match described.filter(|_| !shape.is_traced()) {
                Some(described) => SlotPlace::Named(described.name.to_string()),
                None => SlotPlace::Traced(slot),
            }
        };
        let mut outcome = Ok(());
        // SAFETY: the caller's predicate.
        unsafe {
            for_each_fixed_slot(address, shape, |slot, kind| {
                if outcome.is_ok() {
                    outcome =
                        self.check_slot(starts, slot, kind, || holder(place(slot.addr()), kind), follow);
                }
            });
            outcome?;
            let Some(tail) = tail_slots(address, shape) else { return Ok(()) };
            (0..tail.length).try_for_each(|index| {
                let slot = tail.start.wrapping_add(index);
                let holder = || holder(SlotPlace::Element(index), tail.kind);
                self.check_slot(starts, slot, tail.kind, holder, follow)
            })
        }
    }

    /// Checks roots and pins. Gives `follow` the referents of strong roots and of pins.
    ///
    /// # Safety
    /// As for [`verify`].
    unsafe fn check_roots(
        &self,
        starts: &Starts,
        roots: &mut Roots<'_>,
        follow: &mut Follow<'_>,
    ) -> Result<(), Fault> {
        let mut outcome = Ok(());
        (roots.slots)(&mut SlotVisitor::new(&mut |slot, kind| {
            if outcome.is_ok() {
                let holder = || Holder::Root { slot: slot.addr(), kind };
                // SAFETY: the caller says that roots are readable.
                outcome = unsafe { self.check_slot(starts, slot, kind, holder, follow) };
            }
        }));
        outcome?;
        let mut outcome = Ok(());
        (roots.pinned)(&mut |address| {
            if outcome.is_ok() {
                let problem = starts.problem_with(self.free, address);
                outcome =
                    report(problem, address as u64, address, || Holder::Pin).and_then(|()| follow(address));
            }
        });
        outcome
    }

    /// # Safety
    /// - The slot is readable.
    unsafe fn check_slot(
        &self,
        starts: &Starts,
        slot: *const u64,
        kind: SlotKind,
        holder: impl FnOnce() -> Holder,
        follow: &mut Follow<'_>,
    ) -> Result<(), Fault> {
        if !self.level.includes(kind) {
            return Ok(());
        }
        // SAFETY: the caller's predicate.
        let bits = unsafe { slot.read() };
        let Some(target) = reference(bits) else { return Ok(()) };
        let problem =
            starts.problem_with(self.free, target).or_else(|| self.problem_with_card(slot.addr(), target));
        report(problem, bits, target, holder)?;
        if kind == SlotKind::Strong { follow(target) } else { Ok(()) }
    }

    /// The problem of a slot of an old object that refers to a young one while its card is clean.
    fn problem_with_card(&self, slot: usize, target: usize) -> Option<Problem> {
        let table = self.free.table();
        let is_old = |address| table.is_old(table.index_of(address));
        let is_root = !(table.base()..table.bottom(table.len())).contains(&slot);
        (!is_root && is_old(slot) && !is_old(target) && !self.cards.is_dirty(slot))
            .then_some(Problem::CleanCard { slot })
    }
}

fn report(
    problem: Option<Problem>,
    bits: u64,
    target: usize,
    holder: impl FnOnce() -> Holder,
) -> Result<(), Fault> {
    problem.map_or(Ok(()), |problem| {
        Err(Fault::Reference(Box::new(BadReference { holder: holder(), bits, target, problem })))
    })
}
