//! The ways in which a thread attaches and detaches: around a body, without one, and from C.

use super::Way;
use super::attached::Alone;
use super::limits::small_heap;
use crate::c::attach_and_detach;
use crate::harness::{Bench, Case, keep};
use crate::hold::hold;
use allotment_ffi::CHeap;
use std::sync::Mutex;

/// Times between two checks of the harness.
const TURNS: u64 = 256;

/// Modes `attach`, `attach-thread` and `attach-c`. Raw: an entry is put into a list under a lock,
/// and taken out again under the lock.
pub(super) fn run(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    if way == Way::Raw {
        return listed(bench);
    }
    let heap = small_heap(case)?;
    match case.mode.as_str() {
        "attach" => repeat(bench, || heap.attach(|mutator| keep(&raw const *mutator)).is_ok()),
        "attach-thread" => repeat(bench, || heap.attach_thread().map(|own| keep(own.hot())).is_ok()),
        _ => {
            let heap = CHeap::new(heap);
            repeat(bench, || attach_and_detach(&heap, keep))
        }
    }
}

/// Measures `once`, which returns whether it attached the thread.
fn repeat(bench: &mut Bench<'_>, once: impl Fn() -> bool + Sync) -> anyhow::Result<()> {
    bench.measure(|_| Ok(Alone(|| (0..TURNS).map(|_| u64::from(once())).sum())))
}

fn listed(bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let list = Mutex::new(Vec::new());
    bench.measure(|thread| {
        let (list, own) = (&list, thread.index);
        Ok(Alone(move || {
            for _ in 0..TURNS {
                enter(list, own);
                keep(&raw const *list);
                leave(list, own);
            }
            TURNS
        }))
    })
}

fn enter(list: &Mutex<Vec<usize>>, own: usize) {
    hold(list).push(own);
}

fn leave(list: &Mutex<Vec<usize>>, own: usize) {
    let mut list = hold(list);
    if let Some(place) = list.iter().position(|&entry| entry == own) {
        list.swap_remove(place);
    }
}
