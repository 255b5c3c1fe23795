//! The objects that roots and pins reach, and the check of their references.
//!
//! A concurrent collector updates the references of objects that it has marked. An object that it
//! has not marked, in a region that it does not evacuate, keeps the addresses of referents that
//! moved or died. So only the references of live objects can be checked there, and the verifier
//! marks to find these objects. It has bits of its own: a collector's marks are part of what it
//! checks.
//!
//! An object goes to the work list once, when it is reached first. So the list never holds more
//! than one word for each object, however often a long array names it. Refused: recursion, which
//! needs a frame for each node of a list. Refused: reversed pointers, which write to the checked
//! heap.

use super::starts::{Starts, reserve, zeroes};
use super::{Fault, Verifier};
use crate::collector::kernel::Roots;
use crate::object::{Header, Kind, Shape};
use crate::region::FreeSet;

/// The entries for which the work list gets memory first.
const FIRST_ENTRIES: usize = 1024;

/// The objects that were reached so far.
pub(super) struct Reached {
    /// By region: a bit for each number that [`Starts`] gives to an object there.
    marks: Vec<Vec<u64>>,
    /// Reached objects whose slots were not checked yet; each object once.
    pub(super) work: Vec<usize>,
}

impl Reached {
    /// No object of `starts` is reached yet. `starts` gets no more objects from now on.
    pub(super) fn new(starts: &Starts) -> Result<Reached, Fault> {
        let mut marks = Vec::new();
        reserve(&mut marks, starts.numbers().len())?;
        for numbers in starts.numbers() {
            marks.push(zeroes(numbers)?);
        }
        Ok(Reached { marks, work: Vec::new() })
    }

    /// Notes that a reference leads to the object at `address`.
    pub(super) fn reach(&mut self, starts: &Starts, free: &FreeSet, address: usize) -> Result<(), Fault> {
        let (region, number) = starts.number_of(free, address);
        let (word, bit) = (&mut self.marks[region][number / 64], 1 << (number % 64));
        if *word & bit != 0 {
            return Ok(());
        }
        *word |= bit;
        if self.work.len() == self.work.capacity() {
            let entries = self.work.len().max(FIRST_ENTRIES);
            reserve(&mut self.work, entries)?;
        }
        self.work.push(address);
        Ok(())
    }
}

impl Verifier<'_> {
    /// Checks roots, pins, and the slots of each object that these reach over strong slots.
    ///
    /// # Safety
    /// As for [`verify`](super::verify).
    pub(super) unsafe fn check_live_objects(
        &self,
        starts: &Starts,
        roots: &mut Roots<'_>,
    ) -> Result<(), Fault> {
        let mut reached = Reached::new(starts)?;
        // SAFETY: the caller's predicate.
        unsafe {
            self.check_roots(starts, roots, &mut |target| reached.reach(starts, self.free, target))?;
        }
        while let Some(address) = reached.work.pop() {
            // SAFETY: only addresses at which the walk met an object are reached, and no thread
            // writes to objects.
            unsafe {
                let shape = self.shape_of(address);
                self.check_object(starts, address, shape, &mut |target| {
                    reached.reach(starts, self.free, target)
                })?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// - The walk met an object at `address`.
    unsafe fn shape_of(&self, address: usize) -> &Shape {
        // SAFETY: the caller says that an object begins there.
        let header = Header::from_bits(unsafe { (address as *const u64).read() });
        let shape = match header.kind() {
            Kind::Object(id) => self.shapes.get(id),
            _ => None,
        };
        shape.expect("the walk met an object of a known shape here")
    }
}
