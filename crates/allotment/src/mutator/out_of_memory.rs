//! The error of an allocation.
//!
//! One word, so that a `Result` of a pointer and this is a pair that functions return in registers. It is what every
//! function that allocates returns: with an error of three words each wrote its result to memory, and each caller read
//! it back. Refused: two words of which one is never 0, which is as small and still goes by memory, since it is no pair
//! to the compiler; and both numbers in one word, which is not exact. The box is no loss where memory is short: it is
//! not the heap's memory, and who passes an error on as a `Box<dyn Error>` makes one anyway.

use super::GcOverhead;
use super::gc_overhead::Reason;
use std::fmt;

/// The heap has no room for an allocation.
///
/// That is so where all that lives leaves none. It is also so where collections take nearly all of
/// the time and free nearly nothing ([`gc_overhead`](Self::gc_overhead)): a heap that is full but
/// for some objects of garbage finds room for a few at each full collection, and its program does
/// not get on. The options `UseGCOverheadLimit`, `GCTimeLimit` and `GCHeapFreeLimit` say when that
/// is. The heap stays usable after either. Who lets go of objects and tries again has a collection
/// first. Where the option `ZealOutOfMemory` makes an allocation fail on purpose, the text says so.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {0}")]
pub struct OutOfMemory(Box<Details>);
crate::debug::debug_is_display!(OutOfMemory);

const _: () = assert!(size_of::<Result<(), OutOfMemory>>() == size_of::<usize>());

#[derive(Clone, PartialEq, Eq)]
struct Details {
    bytes: usize,
    heap_bytes: usize,
    refused_by_system: bool,
    /// `ZealOutOfMemory` ended memory here; what the heap has was not asked.
    on_purpose: bool,
    overhead: Option<GcOverhead>,
}

impl fmt::Display for Details {
    /// What there is no room for, why, and what would help.
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
            write!(out, ": {}", Reason(overhead))?;
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
    pub(super) fn new(bytes: usize, heap_bytes: usize, refused_by_system: bool) -> OutOfMemory {
        OutOfMemory(Box::new(Details {
            bytes,
            heap_bytes,
            refused_by_system,
            on_purpose: false,
            overhead: None,
        }))
    }

    /// Bytes asked for; `usize::MAX` where the size does not fit a number.
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

    /// What collections took and left, where they took too much of the time for what they freed;
    /// `None` where there was no room at all.
    pub fn gc_overhead(&self) -> Option<&GcOverhead> {
        self.0.overhead.as_ref()
    }

    pub(super) fn set_gc_overhead(&mut self, overhead: GcOverhead) {
        self.0.overhead = Some(overhead);
    }

    pub(super) fn set_refused_by_system(&mut self) {
        self.0.refused_by_system = true;
    }

    /// The option `ZealOutOfMemory` ended memory here.
    pub(super) fn set_on_purpose(&mut self) {
        self.0.on_purpose = true;
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
