//! The share of the handed-out memory that held no object at the first collection after the start.
//!
//! Buffers that were taken and not used are the subject of `storm` and of `extremem`. A heap shows
//! them when it takes them back, at a collection. Totals at the end would not do, since by then the
//! buffers have the sizes that suit their threads.
//!
//! Refused: the heap's own waste (`TlabStatistics::waste_percent`). It does not count the end of a
//! buffer that the heap can lend to the next thread, although no other thread could use that memory
//! until then.
//!
//! A heap reports a collection when the other threads run again. The figure therefore includes the
//! memory that they took and used in the microseconds since.

use crate::hold::hold;
use allotment::Heap;
use allotment::stats::{CollectionRecord, TlabStatistics};
use std::sync::{Arc, Mutex};

/// Reads a heap's statistics at the first collection after `begin`.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstCollection(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    /// A heap that owns its own hook is never freed. So a caller of `begin` also calls `end`.
    Waiting { heap: Heap, before: TlabStatistics },
    /// The percentage of the handed-out bytes.
    Seen(f64),
}

impl FirstCollection {
    /// The hook to build the heap with.
    pub(super) fn hook(&self) -> impl Fn(&CollectionRecord) + Send + Sync + 'static {
        let first = self.clone();
        move |_| first.look()
    }

    /// Marks the next collection of `heap` as the first. No thread has a buffer.
    pub(super) fn begin(&self, heap: &Heap) {
        let before = heap.tlab_totals().sum;
        *hold(&self.0) = State::Waiting { heap: heap.clone(), before };
    }

    fn look(&self) {
        let mut state = hold(&self.0);
        let State::Waiting { heap, before } = &*state else { return };
        let of = heap.tlab_totals().sum.since(before);
        let in_use: usize = heap.threads().iter().map(|thread| thread.buffer_used_bytes).sum();
        let (handed, objects) = (of.allocated_in_all() as f64, (of.object_bytes() + in_use as u64) as f64);
        *state = State::Seen((1.0 - objects / handed).max(0.0) * 100.0);
    }

    /// The percentage of the handed-out bytes that held no object; `None` without a collection. No
    /// collection is waited for any more.
    pub(super) fn end(&self) -> Option<f64> {
        match std::mem::take(&mut *hold(&self.0)) {
            State::Seen(waste) => Some(waste),
            State::Idle | State::Waiting { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{NewSlots, OutOfMemory, alloc};

    #[test]
    fn the_first_collection_since_the_beginning_is_seen_and_no_other() {
        let first = FirstCollection::default();
        let builder = Heap::builder().options("TLABSize=64k,MinTLABSize=64k,-ResizeTLAB").unwrap();
        let heap = builder.max_heap_size(16 << 20).on_collection(first.hook()).build().unwrap();
        heap.attach(|mutator| {
            mutator.collect();
            assert_eq!(first.end(), None);
            first.begin(&heap);
            assert_eq!(first.end(), None);
            first.begin(&heap);
            let before = heap.tlab_totals().sum;
            alloc!(mutator, NewSlots::new(16 << 10, 0_u8))?;
            mutator.collect();
            let handed = heap.tlab_totals().sum.since(&before).allocated;
            assert!(handed >= 64 << 10, "{handed}");
            mutator.collect();
            let waste = first.end().unwrap();
            let expected = 100.0 - 100.0 * f64::from((16 << 10) + 16) / handed as f64;
            assert!((waste - expected).abs() < 1e-9, "{waste} {expected}");
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
