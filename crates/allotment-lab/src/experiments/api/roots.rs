//! Roots: in a frame, and in a handle.

use super::Way;
use super::attached::{Alone, Attached};
use super::limits::small_heap;
use super::node::{NewNode, Node, address};
use crate::harness::{Bench, Case, NoProbe, keep};
use crate::hold::hold;
use allotment::raw::RootWord;
use allotment::{Local, Mutator, Root, alloc, root};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Mutex;

/// Slots that exist from the start, as in a heap.
const SLOTS: usize = 64;

/// Roots between two checks of the harness.
const TURNS: u64 = 256;

/// Mode `root`. Raw: a local word, linked by the low-level [`RawMutator::link_word`].
pub(super) fn linked(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let heap = small_heap(case)?;
    bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
        root!(mutator, node = alloc!(mutator, NewNode { left: None, right: None, key: 1 })?);
        match way {
            Way::Safe => play.play(Attached::new(mutator, |mutator| link_safe(mutator, node))),
            Way::Raw => play.play(Attached::new(mutator, |mutator| link_raw(mutator, node))),
        }
    })
}

#[inline(never)]
fn link_safe(mutator: &mut Mutator<'_>, node: Local<'_, Node>) -> u64 {
    for _ in 0..TURNS {
        root!(mutator, linked = node.get(mutator));
        // Makes the list in the mutator's memory observable, so that the compiler keeps the writes
        // to it.
        keep(&raw const *mutator);
        let _ = linked;
    }
    TURNS
}

#[inline(never)]
fn link_raw(mutator: &mut Mutator<'_>, node: Local<'_, Node>) -> u64 {
    for _ in 0..TURNS {
        let bits = address(node.get(mutator)).addr() as u64;
        let word = RootWord::new(bits);
        // SAFETY: the word stays here until the link is dropped, at the end of this turn.
        let linked = unsafe { mutator.raw().link_word(NonNull::from(&word)) };
        keep(&raw const *mutator);
        drop(linked);
    }
    TURNS
}

/// Mode `handle`. Raw: a slot is taken from a list under a lock and given back under it.
pub(super) fn handle(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match way {
        Way::Safe => {
            let heap = small_heap(case)?;
            bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
                root!(mutator, node = alloc!(mutator, NewNode { left: None, right: None, key: 1 })?);
                play.play(Attached::new(mutator, |mutator| {
                    for _ in 0..TURNS {
                        let root = Root::new(mutator, node.get(mutator));
                        keep(&raw const *mutator);
                        drop(root);
                    }
                    TURNS
                }))
            })
        }
        Way::Raw => {
            let free: Mutex<Vec<Box<Cell<u64>>>> = Mutex::new((0..SLOTS).map(|_| Box::default()).collect());
            bench.measure(|_| {
                let free = &free;
                Ok(Alone(move || {
                    for turn in 0..TURNS {
                        let slot = hold(free).pop().unwrap_or_default();
                        slot.set(turn);
                        keep(&raw const *slot);
                        hold(free).push(slot);
                    }
                    TURNS
                }))
            })
        }
    }
}
