//! The object of all modes: two references and a number, 32 bytes with the header.

use allotment::{Field, Gc, Object};
use std::mem::offset_of;
use std::ptr;

/// A node of a tree. In a list, `right` is null.
#[derive(Object)]
pub(super) struct Node {
    pub(super) left: Field<Option<Node>>,
    pub(super) right: Field<Option<Node>>,
    pub(super) key: u64,
}

/// Bytes before an object's fields.
const HEADER: usize = 8;

/// Bytes of a node, header included.
pub(super) const BYTES: usize = HEADER + size_of::<Node>();

/// Offsets from a node's header.
pub(super) const LEFT: usize = HEADER + offset_of!(Node, left);
pub(super) const RIGHT: usize = HEADER + offset_of!(Node, right);
pub(super) const KEY: usize = HEADER + offset_of!(Node, key);

/// The address of a node's header, as code without the API uses it; slots hold this address. Valid
/// until the next safepoint.
pub(super) fn address(node: Gc<'_, Node>) -> *const u8 {
    ptr::with_exposed_provenance(ptr::from_ref(node.as_ref()).expose_provenance() - HEADER)
}

/// Reads a node's slot.
///
/// # Safety
/// - `node` is what [`address`] or this function returned for a live node, with no safepoint since.
/// - `OFFSET` is [`LEFT`] or [`RIGHT`].
#[inline(always)]
pub(super) unsafe fn slot<const OFFSET: usize>(node: *const u8) -> *const u8 {
    // SAFETY: a word of a live node, which no thread writes meanwhile.
    ptr::with_exposed_provenance(unsafe { node.byte_add(OFFSET).cast::<usize>().read() })
}

/// Reads a node's key.
///
/// # Safety
/// - As for [`slot`].
#[inline(always)]
pub(super) unsafe fn key(node: *const u8) -> u64 {
    // SAFETY: as in `slot`.
    unsafe { node.byte_add(KEY).cast::<u64>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{Heap, NewArray, OutOfMemory, alloc};

    #[test]
    fn both_ways_see_the_same_node() {
        assert_eq!(BYTES, 32);
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mu| {
            let mut leaf = alloc!(mu, NewNode { left: None, right: None, key: 7 })?;
            let node = alloc!(mu, [leaf] => NewNode { left: Some(leaf), right: None, key: 8 })?;
            let raw = address(node);
            // SAFETY: live nodes, and no safepoint.
            unsafe {
                assert_eq!((key(raw), slot::<LEFT>(raw)), (8, address(leaf)));
                assert_eq!((key(slot::<LEFT>(raw)), slot::<RIGHT>(raw)), (7, ptr::null()));
            }
            let array = alloc!(mu, NewArray::<Option<Node>>::new(1, None))?;
            assert_eq!(array.len(), 1);
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
