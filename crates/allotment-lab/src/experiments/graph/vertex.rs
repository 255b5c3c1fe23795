//! The objects of the graph: vertices with edges that know their way back, and the vertices' loads.
//!
//! A vertex has [`EDGES`] slots. Where slot `i` of `v` refers to `w`, a slot `j` of `w` refers to
//! `v`, and `v` stores `j` for `i`. So a vertex can be taken out of the graph in constant time. A
//! reference that a collector forgot to update is found by following the edge there and back.

use super::load::Load;
use allotment::{
    Array, Field, Gc, Mutator, NewArray, NewSlots, Object, OutOfMemory, Plain, Slots, alloc, root,
};

/// Edges of a vertex.
pub(super) const EDGES: usize = 4;

/// One slot of this many in an array of references holds a leaf.
pub(super) const LEAF_EVERY: usize = 8;

/// Bytes before an object's fields.
const HEADER: usize = 8;

/// Bytes before the elements of an array.
const ARRAY: usize = 16;

/// A vertex.
#[derive(Object)]
pub(super) struct Vertex {
    edge0: Field<Option<Vertex>>,
    edge1: Field<Option<Vertex>>,
    edge2: Field<Option<Vertex>>,
    edge3: Field<Option<Vertex>>,
    /// For each edge the slot of its way back, a byte each.
    back: Plain<u64>,
    /// The vertex's number.
    pub(super) number: u64,
    /// The vertex's place in the table of its part.
    pub(super) place: u64,
    /// A leaf from the board, perhaps made by another thread.
    pub(super) cross: Field<Option<Leaf>>,
    medium: Field<Option<Medium>>,
    bytes: Field<Option<Slots<u8>>>,
    pub(super) array: Field<Option<Array<Option<Leaf>>>>,
}

/// The smallest object: a number, and the same number inverted.
#[derive(Object)]
pub(super) struct Leaf {
    number: u64,
    inverted: u64,
}

/// An object of 128 bytes.
#[derive(Object)]
pub(super) struct Medium {
    words: [u64; 15],
}

impl Load {
    /// Bytes of a vertex with this load, all its objects included.
    pub(super) const fn bytes(self) -> usize {
        let own = HEADER + size_of::<Vertex>() + LEAF_BYTES;
        own + match self {
            Load::Nothing => 0,
            Load::Medium => HEADER + size_of::<Medium>(),
            Load::Bytes(length) => ARRAY + length.next_multiple_of(8),
            Load::Array(length) => ARRAY + 8 * length + length.div_ceil(LEAF_EVERY) * LEAF_BYTES,
        }
    }
}

/// Bytes of a leaf.
pub(super) const LEAF_BYTES: usize = HEADER + size_of::<Leaf>();

/// The initialiser of a leaf.
pub(super) fn leaf(number: u64) -> NewLeaf {
    NewLeaf { number, inverted: !number }
}

impl Leaf {
    /// Whether the leaf is as it was made.
    pub(super) fn is_whole(&self) -> bool {
        self.inverted == !self.number
    }
}

impl Vertex {
    #[inline]
    fn edge(&self, slot: usize) -> &Field<Option<Vertex>> {
        match slot {
            0 => &self.edge0,
            1 => &self.edge1,
            2 => &self.edge2,
            _ => &self.edge3,
        }
    }

    /// The vertex that a slot refers to, and its slot that leads back.
    #[inline]
    pub(super) fn neighbour<'g>(
        &self,
        mutator: &'g Mutator<'_>,
        slot: usize,
    ) -> Option<(Gc<'g, Vertex>, usize)> {
        let back = (self.back.get() >> (8 * slot)) & 0xFF;
        self.edge(slot).load(mutator).map(|vertex| (vertex, back as usize))
    }

    fn lead(&self, mutator: &Mutator<'_>, slot: usize, to: Gc<'_, Vertex>, back: usize) {
        self.edge(slot).store(mutator, Some(to));
        let others = self.back.get() & !(0xFF << (8 * slot));
        self.back.set(others | (back as u64) << (8 * slot));
    }

    /// The load of the vertex.
    pub(super) fn load(&self, mutator: &Mutator<'_>) -> Load {
        if self.medium.load(mutator).is_some() {
            Load::Medium
        } else if let Some(bytes) = self.bytes.load(mutator) {
            Load::Bytes(bytes.len())
        } else if let Some(array) = self.array.load(mutator) {
            Load::Array(array.len())
        } else {
            Load::Nothing
        }
    }

    /// Whether the load is as it was made.
    pub(super) fn is_whole(&self, mutator: &Mutator<'_>) -> bool {
        let leaf = |field: &Field<Option<Leaf>>| field.load(mutator).is_some_and(|leaf| leaf.is_whole());
        leaf(&self.cross)
            && self.medium.load(mutator).is_none_or(|medium| medium.words == [self.number; 15])
            && self.bytes.load(mutator).is_none_or(|bytes| bytes.iter().all(|byte| byte == self.number as u8))
            && self
                .array
                .load(mutator)
                .is_none_or(|array| array.as_ref().iter().step_by(LEAF_EVERY).all(leaf))
    }
}

/// Makes slot `i` of `v` and slot `j` of `w` one edge.
#[inline]
pub(super) fn connect(mutator: &Mutator<'_>, v: Gc<'_, Vertex>, i: usize, w: Gc<'_, Vertex>, j: usize) {
    v.lead(mutator, i, w, j);
    w.lead(mutator, j, v, i);
}

/// A vertex without edges.
///
/// # Errors
/// The heap is full.
pub(super) fn make<'m>(
    mutator: &'m mut Mutator<'_>,
    load: Load,
    number: u64,
    place: u64,
) -> Result<Gc<'m, Vertex>, OutOfMemory> {
    root!(mutator, cross = alloc!(mutator, leaf(number))?);
    root!(mutator, mut medium = None, mut bytes = None, mut array = None);
    match load {
        Load::Nothing => {}
        Load::Medium => {
            let made = alloc!(mutator, NewMedium { words: [number; 15] })?;
            medium.set(mutator, Some(made));
        }
        Load::Bytes(length) => {
            let made = alloc!(mutator, NewSlots::<u8>::new(length, number as u8))?;
            bytes.set(mutator, Some(made));
        }
        Load::Array(length) => {
            root!(mutator, made = alloc!(mutator, NewArray::<Option<Leaf>>::new(length, None))?);
            for slot in (0..length).step_by(LEAF_EVERY) {
                let leaf = alloc!(mutator, leaf(number))?;
                made.get(mutator).at(slot).store(mutator, Some(leaf));
            }
            array.set(mutator, Some(made.get(mutator)));
        }
    }
    let (cross, medium) = (Some(cross.get(mutator)), medium.get(mutator));
    let (bytes, array) = (bytes.get(mutator), array.get(mutator));
    alloc!(
        mutator,
        NewVertex {
            edge0: None,
            edge1: None,
            edge2: None,
            edge3: None,
            back: Plain::new(0),
            number,
            place,
            cross,
            medium,
            bytes,
            array
        }
    )
}
