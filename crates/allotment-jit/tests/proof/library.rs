//! A program's allocations by the library's own path. An allocation that `try_` refuses goes into a
//! reservation.

use super::kit::word;
use super::program::{BEYOND, Program, ShapeKit, Way, What};
use allotment::raw::{
    Ahead, ArraySite, ByCaller, Header, Hot, LENGTH_OFFSET, NoPrefetch, PerObject, ShapeRef, Site, Zeroing,
};
use allotment::{Mutator, Reservation};
use allotment_jit::{Initialise, MAX_INLINE_BYTES};
use std::ptr::NonNull;

/// The library's own path.
pub(crate) struct Library<'p> {
    pub(crate) program: &'p Program,
    pub(crate) kit: ShapeKit,
}

impl Way for Library<'_> {
    fn allocate(&mut self, mutator: &mut Mutator<'_>, function: usize, length: usize) -> Option<NonNull<u8>> {
        let function = &self.program.functions[function];
        let Some(bytes) = self.kit.bytes(&function.what, length) else {
            // No array is that long, so the path must not search for memory. A plain size does not
            // show that.
            let What::SizeIn(index) = function.what else { return None };
            // SAFETY: there is no such object.
            return unsafe { with_header::<Ahead>(mutator, self.kit.arrays[index].header(), BEYOND) };
        };
        let by_register = !matches!(function.what, What::Constant(_));
        let fits = bytes <= MAX_INLINE_BYTES
            && word(mutator.raw().hot(), Hot::TOP_OFFSET) + bytes
                <= word(mutator.raw().hot(), Hot::LIMIT_OFFSET);
        match function.initialise {
            Initialise::ByCaller => self.block::<ByCaller>(mutator, &function.what, length, bytes),
            // For a size in a register, the slow path gives zeroes to emitted code, which zeroes
            // all other memory itself.
            Initialise::PerObject if by_register && !fits => {
                self.block::<Ahead>(mutator, &function.what, length, bytes)
            }
            Initialise::PerObject => self.block::<PerObject>(mutator, &function.what, length, bytes),
            Initialise::Ahead => self.block::<Ahead>(mutator, &function.what, length, bytes),
        }
    }
}

impl Library<'_> {
    fn block<Z: Zeroing>(
        &self,
        mutator: &mut Mutator<'_>,
        what: &What,
        length: usize,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let objects = self.kit.objects(what, length)?;
        let (_, shape, _) = objects[0];
        // SAFETY: the shapes are the heap's, and `use_block` writes every word before the next
        // safepoint.
        unsafe {
            match what {
                What::SizeIn(_) => with_header::<Z>(mutator, shape.header(), bytes),
                What::Constant(_) if objects.len() == 1 && !shape.has_tail() => match bytes {
                    16 => fixed::<16, Z>(mutator, shape),
                    24 => fixed::<24, Z>(mutator, shape),
                    48 => fixed::<48, Z>(mutator, shape),
                    144 => fixed::<144, Z>(mutator, shape),
                    _ => with_header::<Z>(mutator, shape.header(), bytes),
                },
                What::Constant(_) if objects.len() == 1 => array::<Z>(mutator, shape, objects[0].2),
                What::LengthIn(_) => array::<Z>(mutator, shape, length),
                What::Constant(_) => {
                    let block = with_header::<Z>(mutator, shape.header(), bytes)?;
                    for (at, shape, length) in objects {
                        let object = block.byte_add(at).cast::<u64>();
                        object.write(shape.header().bits());
                        if shape.has_tail() {
                            object.byte_add(LENGTH_OFFSET).write(length as u64);
                        }
                    }
                    Some(block)
                }
            }
        }
    }
}

fn room<'t>(mutator: &mut Mutator<'t>, bytes: usize) -> Option<Reservation<'t>> {
    mutator.make_room(bytes).ok()
}

/// # Safety
/// As for [`RawMutator::try_alloc_with_header`].
unsafe fn with_header<Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    header: Header,
    bytes: usize,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.raw().try_alloc_with_header::<Z, NoPrefetch>(header, bytes).or_else(|| {
            let mut room = room(mutator, bytes)?;
            mutator.raw().alloc_in_with_header::<Z>(&mut room, header, bytes)
        })
    }
}

/// # Safety
/// As for [`RawMutator::try_alloc_raw`].
unsafe fn fixed<const BYTES: usize, Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    shape: ShapeRef,
) -> Option<NonNull<u8>> {
    let site = Site::<BYTES, Z>::new(shape)?;
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.raw().try_alloc_raw(site).or_else(|| {
            let mut room = room(mutator, BYTES)?;
            mutator.raw().alloc_in_raw(&mut room, site)
        })
    }
}

/// # Safety
/// As for [`RawMutator::try_alloc_array_raw`].
unsafe fn array<Z: Zeroing>(
    mutator: &mut Mutator<'_>,
    shape: ShapeRef,
    length: usize,
) -> Option<NonNull<u8>> {
    let site = ArraySite::<Z>::new(shape);
    // SAFETY: the caller's predicates.
    unsafe {
        mutator.raw().try_alloc_array_raw(site, length).or_else(|| {
            let mut room = room(mutator, shape.bytes_for(length)?)?;
            mutator.raw().alloc_in_array_raw(&mut room, site, length)
        })
    }
}
