//! The objects of all modes: an array of nodes that are a list as well, with a dead node before
//! each.
//!
//! The dead nodes make all regions worth a move. Without them a cycle would end after marking.

use allotment::{Array, Field, Gc, Mutator, NewArray, Object, OutOfMemory, WeakField, alloc, root};

/// A node. It refers to the next one, and weakly to itself.
#[derive(Object)]
pub(super) struct Node {
    pub(super) next: Field<Option<Node>>,
    pub(super) own: WeakField<Node>,
    pub(super) key: u64,
}

/// Bytes of a node, header included.
pub(super) const BYTES: usize = 8 + size_of::<Node>();

/// The array.
pub(super) type Nodes = Array<Option<Node>>;

/// Makes `length` nodes with the keys from 0 on.
///
/// # Errors
/// The heap is full.
pub(super) fn make<'m>(mutator: &'m mut Mutator<'_>, length: usize) -> Result<Gc<'m, Nodes>, OutOfMemory> {
    root!(mutator, nodes = alloc!(mutator, NewArray::new(length, None))?);
    for key in 0..length {
        alloc!(mutator, NewNode { next: None, own: None, key: 0 })?;
        let node = alloc!(mutator, NewNode { next: None, own: None, key: key as u64 })?;
        nodes.get(mutator).at(key).store(mutator, Some(node));
    }
    let array = nodes.get(mutator);
    let mut next = None;
    for field in array.as_ref().iter().rev() {
        let Some(node) = field.load(mutator) else { continue };
        node.next.store(mutator, next);
        node.own.store(mutator, Some(node));
        next = Some(node);
    }
    Ok(nodes.get(mutator))
}

/// The first node.
#[inline(always)]
pub(super) fn first<'g>(mutator: &'g Mutator<'_>, nodes: Gc<'g, Nodes>) -> Option<Gc<'g, Node>> {
    nodes.as_ref().first()?.load(mutator)
}
