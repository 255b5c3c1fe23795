//! The error of an allocation.
//!
//! The error is one word, so a `Result` of a pointer and this error is a pair that functions return
//! in registers. Every function that allocates returns it. With an error of three words, each of
//! these functions wrote its result to memory, and each caller read it back. The box costs nothing
//! where memory is short: it does not use the heap's memory, and a caller that passes an error on
//! as a `Box<dyn Error>` makes a box anyway.
//!
//! Refused:
//! - Two words, one of which is never 0. They are as small, but go through memory, since the
//!   compiler does not treat them as a pair.
//! - Both numbers in one word. That is not exact.

use super::GcOverhead;
use crate::region::Space;
use std::fmt;

/// The heap has no room for an allocation.
///
/// That is so when live objects leave no room. It is also so when collections take nearly all of
/// the time and free nearly nothing ([`gc_overhead`](Self::gc_overhead)). A heap that is full
/// except for a few objects of garbage finds room for a few at each full collection, and its
/// program makes no progress. The options `UseGCOverheadLimit`, `GCTimeLimit` and `GCHeapFreeLimit`
/// set that limit. The heap stays usable after either case. A thread that releases objects and
/// tries again first gets a collection. If the option `ZealOutOfMemory` makes an allocation fail on
/// purpose, the text says so.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {0}")]
pub struct OutOfMemory(pub(super) Box<Details>);
crate::debug::debug_is_display!(OutOfMemory);

const _: () = assert!(size_of::<Result<(), OutOfMemory>>() == size_of::<usize>());

/// The numbers of a failed allocation.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Details {
    bytes: usize,
    heap_bytes: usize,
    pub(super) refused_by_system: bool,
    /// `ZealOutOfMemory` made this allocation fail. The heap's room was not checked.
    pub(super) on_purpose: bool,
    pub(super) overhead: Option<GcOverhead>,
}

impl fmt::Display for Details {
    /// Describes the missing room, the reason, and a remedy.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { bytes, heap_bytes, refused_by_system, on_purpose, overhead } = self;
        if *on_purpose {
            return write!(
                out,
                "the option ZealOutOfMemory makes this allocation of {bytes} bytes fail on purpose, whatever room \
                 the heap of {heap_bytes} bytes has"
            );
        }
        write!(out, "no room for {bytes} bytes in a heap of {heap_bytes} bytes")?;
        if let Some(overhead) = overhead {
            overhead.write_reason(out)?;
        }
        out.write_str(if *refused_by_system {
            " (the system refused to commit more memory for it)"
        } else {
            "; a larger MaxHeapSize would help"
        })
    }
}

impl OutOfMemory {
    #[cold]
    pub(super) fn new(bytes: usize, space: &Space) -> OutOfMemory {
        OutOfMemory(Box::new(Details {
            bytes,
            heap_bytes: space.free.table().geometry().heap_bytes(),
            refused_by_system: space.free.commit_failures() > 0,
            on_purpose: false,
            overhead: None,
        }))
    }

    /// Bytes asked for. `usize::MAX` if the size does not fit a number.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// MaxHeapSize in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.0.heap_bytes
    }

    /// Whether the system, not the limit, ended the heap's growth.
    pub fn refused_by_system(&self) -> bool {
        self.0.refused_by_system
    }

    /// The cost and yield of collections, if they took too much time for what they freed. `None` if
    /// there was no room at all.
    pub fn gc_overhead(&self) -> Option<&GcOverhead> {
        self.0.overhead.as_ref()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::Heap;

    #[test]
    fn an_end_of_memory_on_purpose_names_its_option_and_advises_no_larger_heap() {
        let builder = Heap::builder().options("MaxHeapSize=4m,ZealOutOfMemory=1").unwrap();
        let heap = builder.build().unwrap();
        heap.attach(|mutator| {
            let error = mutator.make_room(24).unwrap_err();
            assert_eq!((error.bytes(), error.refused_by_system()), (24, false));
            let text = error.to_string();
            assert!(text.starts_with("out of memory: the option ZealOutOfMemory makes this"), "{text}");
            assert!(text.contains("24 bytes") && !text.contains("larger"), "{text}");
            assert_eq!(format!("{error:?}"), text);
            drop(mutator.make_room(24).expect("it fails once"));
            let real = mutator.make_room(64 << 20).unwrap_err().to_string();
            assert!(real.contains("a larger MaxHeapSize would help") && !real.contains("Zeal"), "{real}");
        })
        .unwrap();
    }
}
