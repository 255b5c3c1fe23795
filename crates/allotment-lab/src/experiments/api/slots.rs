//! Reading and writing slots: through the API, and through raw pointers to the same memory.
//!
//! Raw pointers pass the barriers of a concurrent collector by. So a raw batch begins when no
//! barrier is in force for the thread. Batches have no safepoint, so none comes into force
//! meanwhile.

use super::super::collectors::without_barriers;
use super::Way;
use super::attached::Attached;
use super::limits::{heap, slots_heap};
use super::node::{LEFT, NewNode, Node, address, key, slot};
use crate::harness::{Bench, Case, NoProbe, Play, keep, keep_value};
use allotment::{Array, Field, Gc, Local, Mutator, NewArray, OutOfMemory, alloc, rebind, root};
use std::ptr;

/// Modes `load`, `store` and `list`. Raw: pointers to the same memory.
pub(super) fn run(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let length = case.size("length")?;
    let heap = heap(case, slots_heap(length, case.threads))?;
    bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| match case.mode.as_str() {
        "list" => run_list(way, length, mutator, play),
        mode => run_array(way, mode == "store", length, mutator, play),
    })
}

fn run_list(way: Way, length: usize, mutator: &mut Mutator<'_>, play: Play<'_>) -> anyhow::Result<()> {
    root!(mutator, head = list(mutator, length)?);
    let operations = length as u64;
    match way {
        Way::Safe => play.play(Attached::new(mutator, |mutator| {
            keep_value(walk(mutator, head.get(mutator)));
            operations
        })),
        Way::Raw => play.play(Attached::new(mutator, |mutator| {
            without_barriers(mutator);
            let first = head.get(mutator).map_or(ptr::null(), address);
            // SAFETY: the list is live, no thread changes it, and there is no safepoint.
            keep_value(unsafe { walk_raw(first) });
            operations
        })),
    }
}

/// A list of nodes, linked by their left slots. The last node comes first in memory.
fn list<'m>(mutator: &'m mut Mutator<'_>, length: usize) -> Result<Option<Gc<'m, Node>>, OutOfMemory> {
    let mut list = None;
    for key in 0..length as u64 {
        list = Some(alloc!(mutator, NewNode { left: list, right: None, key })?);
    }
    Ok(rebind!(mutator, list))
}

#[inline(never)]
fn walk<'g>(mutator: &'g Mutator<'_>, mut at: Option<Gc<'g, Node>>) -> u64 {
    let mut sum: u64 = 0;
    while let Some(node) = at {
        sum = sum.wrapping_add(node.key);
        at = node.left.load(mutator);
    }
    sum
}

/// # Safety
/// - `at` is null or the address of a live node, as are all nodes that follow, with no safepoint
///   meanwhile.
#[inline(never)]
unsafe fn walk_raw(mut at: *const u8) -> u64 {
    let mut sum: u64 = 0;
    while !at.is_null() {
        // SAFETY: the caller's predicate.
        unsafe {
            sum = sum.wrapping_add(key(at));
            at = slot::<LEFT>(at);
        }
    }
    sum
}

fn run_array(
    way: Way,
    stores: bool,
    length: usize,
    mutator: &mut Mutator<'_>,
    play: Play<'_>,
) -> anyhow::Result<()> {
    root!(mutator, node = alloc!(mutator, NewNode { left: None, right: None, key: 1 })?);
    let first = node.get(mutator);
    root!(mutator, array = alloc!(mutator, NewArray::<Node>::new(length, first))?);
    let operations = length as u64;
    match (way, stores) {
        (Way::Safe, false) => play.play(Attached::new(mutator, |mutator| {
            load(mutator, array.get(mutator));
            operations
        })),
        (Way::Raw, false) => play.play(Attached::new(mutator, |mutator| {
            without_barriers(mutator);
            // SAFETY: the array is live, no thread changes it, and there is no safepoint.
            unsafe { load_raw(first_slot(mutator, array), length) };
            operations
        })),
        (Way::Safe, true) => play.play(Attached::new(mutator, |mutator| {
            store(mutator, array.get(mutator), node.get(mutator));
            operations
        })),
        (Way::Raw, true) => play.play(Attached::new(mutator, |mutator| {
            without_barriers(mutator);
            let bits = address(node.get(mutator)).addr() as u64;
            // SAFETY: the array is live, no other thread uses it, and there is no safepoint.
            unsafe { store_raw(first_slot(mutator, array).cast_mut(), length, bits) };
            operations
        })),
    }
}

/// The address of an array's elements. Valid until the next safepoint.
fn first_slot(mutator: &Mutator<'_>, array: Local<'_, Array<Node>>) -> *const u64 {
    // The body of an object is memory that any pointer may read and write, as a field's own type
    // allows.
    array.get(mutator).as_ref().as_ptr().cast()
}

/// A program uses the fields after the header of a referenced object, so both loops add eight.
const FIELDS: u64 = 8;

/// Slots per turn. With one slot, a turn is so short that its position across 64 bytes of code
/// decides.
const TURN: usize = 8;

#[inline(never)]
fn load(mutator: &Mutator<'_>, array: Gc<'_, Array<Node>>) {
    let one = |field: &Field<Node>| {
        let node = field.load(mutator);
        keep_value(ptr::from_ref(node.as_ref()).addr() as u64);
    };
    let (turns, rest) = array.as_ref().as_chunks::<TURN>();
    turns.iter().for_each(|turn| turn.iter().for_each(one));
    rest.iter().for_each(one);
}

/// # Safety
/// - `[first, first + length)` are slots that no thread writes meanwhile.
#[inline(never)]
unsafe fn load_raw(first: *const u64, length: usize) {
    // SAFETY: the caller's predicate, for an index below `length`.
    let one = |index: usize| keep_value(unsafe { first.add(index).read() } + FIELDS);
    let whole = length - length % TURN;
    (0..whole).step_by(TURN).for_each(|turn| (turn..turn + TURN).for_each(one));
    (whole..length).for_each(one);
}

#[inline(never)]
fn store(mutator: &Mutator<'_>, array: Gc<'_, Array<Node>>, node: Gc<'_, Node>) {
    for field in array.as_ref() {
        field.store(mutator, node);
    }
    keep(array.as_ref().as_ptr());
}

/// # Safety
/// - `[first, first + length)` are slots that no other thread uses meanwhile.
#[inline(never)]
unsafe fn store_raw(first: *mut u64, length: usize, bits: u64) {
    for index in 0..length {
        // SAFETY: the caller's predicate. Volatile, since the compiler would otherwise join stores
        // to vectors. Stores to slots that other threads may read cannot be joined.
        unsafe { first.add(index).write_volatile(bits) };
    }
    keep(first);
}

#[cfg(test)]
mod tests {
    use super::super::limits::test_heap;
    use super::*;

    #[test]
    fn both_ways_walk_the_whole_list() {
        test_heap()
            .attach(|mutator| {
                let head = rebind!(list(mutator, 100))?;
                assert_eq!(walk(mutator, head), 4950);
                // SAFETY: a live list, and no safepoint.
                assert_eq!(unsafe { walk_raw(head.map_or(ptr::null(), address)) }, 4950);
                Ok::<(), OutOfMemory>(())
            })
            .unwrap()
            .unwrap();
    }

    #[test]
    fn both_ways_store_the_same_slots() {
        test_heap()
            .attach(|mutator| {
                root!(mutator, one = alloc!(mutator, NewNode { left: None, right: None, key: 1 })?);
                root!(mutator, two = alloc!(mutator, NewNode { left: None, right: None, key: 2 })?);
                let first = one.get(mutator);
                root!(mutator, array = alloc!(mutator, NewArray::<Node>::new(9, first))?);
                let keys = |mutator: &Mutator<'_>| {
                    array.get(mutator).iter(mutator).map(|node| node.key).collect::<Vec<_>>()
                };
                store(mutator, array.get(mutator), two.get(mutator));
                assert_eq!(keys(mutator), [2; 9]);
                let bits = address(one.get(mutator)).addr() as u64;
                // SAFETY: the array is live and belongs to this thread alone, and there is no
                // safepoint.
                unsafe { store_raw(first_slot(mutator, array).cast_mut(), 9, bits) };
                assert_eq!(keys(mutator), [1; 9]);
                Ok::<(), OutOfMemory>(())
            })
            .unwrap()
            .unwrap();
    }
}
