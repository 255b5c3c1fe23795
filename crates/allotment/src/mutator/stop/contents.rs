//! The contents of a stopped heap, for its embedder: each object, and each root.

use super::World;
use crate::mutator::RootKind;
use crate::object::{Object, Shape, ShapeId, SlotKind, WalkError, walk};

/// An object of a stopped heap: [`World::for_each_object`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorldObject<'w> {
    /// Address of the object's header.
    pub address: usize,
    /// Bytes of the object, header included.
    pub bytes: usize,
    /// The id of its shape.
    pub shape: ShapeId,
    /// The description of its shape.
    pub description: &'w Shape,
}

/// A root of a stopped heap that refers to an object: [`World::for_each_root`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorldRoot {
    /// The root's kind.
    pub kind: RootKind,
    /// How it keeps its referent.
    pub slot: SlotKind,
    /// Address of the referent's header.
    pub address: usize,
}

impl World<'_> {
    /// Calls `visit` with each object, in order of address, garbage that no collection has freed
    /// yet included. [`Heap::snapshot`](crate::Heap::snapshot) has the live objects alone.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, Root, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let root = heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(|text| Root::new(mu, text)))??;
    /// let (mut objects, mut bytes) = (0, 0);
    /// let walked = heap.stop_the_world(|world| {
    ///     world.for_each_object(|object| {
    ///         objects += 1;
    ///         bytes += object.bytes;
    ///     })
    /// })?;
    /// assert!(walked.is_some_and(|outcome| outcome.is_ok()));
    /// assert!(objects == 1 && bytes >= 16);
    /// # drop(root);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WalkError`] at the first place of a region that is neither an object nor free: code that
    /// uses raw pointers overwrote it, or did not initialise an object.
    pub fn for_each_object(&self, mut visit: impl FnMut(WorldObject<'_>)) -> Result<(), WalkError> {
        let space = &self.shared().space;
        let table = space.free.table();
        for index in (0..table.len()).filter(|&index| table.get(index).state().begins_objects()) {
            let object = |Object { address, bytes, shape }: Object<'_>| {
                if let Some((shape, description)) = shape {
                    visit(WorldObject { address, bytes, shape, description });
                }
            };
            // SAFETY: a region in use is committed up to the end of its objects, and no thread
            // runs.
            unsafe { walk(&space.shapes, table.bottom(index), space.free.object_end(index), object) }?;
        }
        Ok(())
    }

    /// Calls `visit` with each root that refers to an object. The roots are copied first, so `visit`
    /// may drop roots.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, Root, alloc, stats::RootKind};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let root = heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(|text| Root::new(mu, text)))??;
    /// let mut kinds = Vec::new();
    /// heap.stop_the_world(|world| world.for_each_root(|root| kinds.push(root.kind)))?;
    /// assert_eq!(kinds, [RootKind::Handle]);
    /// # drop(root);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_each_root(&self, visit: impl FnMut(WorldRoot)) {
        let mut roots = Vec::new();
        self.visit_root_targets(&mut |kind, address, slot| roots.push(WorldRoot { kind, slot, address }));
        roots.into_iter().for_each(visit);
    }
}
