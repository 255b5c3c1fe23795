//! Places outside the heap that hold references: every kind of root there is.

use crate::Heap;
use crate::mutator::{LinkedRoot, Mutator, Pin, ProviderId, RootHandle, RootLink, RootProvider, RootVisitor};
use crate::object::{SlotVisitor, reference};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kind of root of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceKind {
    Frame(usize),
    Strong(usize),
    Weak(usize),
    Provided(usize),
    ProvidedWeak,
    ProvidedPin,
    Pin(usize),
}

/// All places of a program. Those in a frame are for programs of one thread.
pub(super) const PLACES: [PlaceKind; 13] = [
    PlaceKind::Frame(0),
    PlaceKind::Frame(1),
    PlaceKind::Frame(2),
    PlaceKind::Frame(3),
    PlaceKind::Strong(0),
    PlaceKind::Strong(1),
    PlaceKind::Weak(0),
    PlaceKind::Weak(1),
    PlaceKind::Provided(0),
    PlaceKind::Provided(1),
    PlaceKind::ProvidedWeak,
    PlaceKind::ProvidedPin,
    PlaceKind::Pin(0),
];

impl PlaceKind {
    pub(super) fn is_weak(self) -> bool {
        matches!(self, PlaceKind::Weak(_) | PlaceKind::ProvidedWeak)
    }

    /// Whether a tag is kept there.
    pub(super) fn keeps_tags(self) -> bool {
        !matches!(self, PlaceKind::Pin(_))
    }

    pub(super) fn is_in_frame(self) -> bool {
        matches!(self, PlaceKind::Frame(_))
    }
}

/// Roots in the frame of a thread.
#[repr(C)]
pub(super) struct Frame {
    link: RootLink,
    slots: [AtomicU64; 4],
}

/// # Safety
/// - The link is the first field of a frame.
unsafe fn visit_frame(link: *mut RootLink, slots: &mut SlotVisitor<'_>) {
    // SAFETY: the caller's predicate.
    let frame = unsafe { &*link.cast::<Frame>() };
    frame.slots.iter().for_each(|slot| slots.strong(slot.as_ptr()));
}

impl Frame {
    pub(super) fn new() -> Box<Frame> {
        Box::new(Frame { link: RootLink::new(visit_frame), slots: Default::default() })
    }

    /// What a slot holds.
    pub(super) fn get(&self, index: usize) -> u64 {
        self.slots[index].load(Ordering::Relaxed)
    }

    /// Writes a slot.
    pub(super) fn set(&self, index: usize, bits: u64) {
        self.slots[index].store(bits, Ordering::Relaxed);
    }

    /// Links the frame, which stays where it is until the result is dropped.
    pub(super) fn link<'f>(self: &'f mut Box<Frame>, mutator: &Mutator<'_>) -> (&'f Frame, LinkedRoot<'f>) {
        let frame = NonNull::from(&mut **self);
        // SAFETY: the box is borrowed as long as the link; the link is the frame's first field, and
        // on no list.
        unsafe { (frame.as_ref(), mutator.raw().link_root(frame.cast())) }
    }
}

/// A runtime's own roots.
#[derive(Default)]
struct Own {
    strong: [AtomicU64; 2],
    weak: AtomicU64,
    pinned: AtomicU64,
}

struct Provider(Arc<Own>);

// SAFETY: the slots live as long as the provider, and hold what the program stored there.
unsafe impl RootProvider for Provider {
    fn visit_roots(&self, roots: &mut RootVisitor<'_, '_>) {
        self.0.strong.iter().for_each(|slot| roots.slot(slot.as_ptr()));
        roots.weak_slot(self.0.weak.as_ptr());
        roots.pinned(self.0.pinned.load(Ordering::Relaxed));
    }
}

/// The places of one program, without its frame.
pub(super) struct Places {
    heap: Heap,
    handles: [Option<RootHandle>; 2],
    weak: [Option<RootHandle>; 2],
    pin: Option<Pin>,
    own: Arc<Own>,
    provider: ProviderId,
}

impl Places {
    pub(super) fn new(heap: &Heap) -> Places {
        let own = Arc::new(Own::default());
        let provider = heap.add_root_provider(Box::new(Provider(own.clone())));
        Places { heap: heap.clone(), handles: [None, None], weak: [None, None], pin: None, own, provider }
    }

    /// The word there; valid until the thread's next safepoint.
    pub(super) fn get(&self, mutator: &Mutator<'_>, frame: Option<&Frame>, place: PlaceKind) -> u64 {
        let handle = |handle: &Option<RootHandle>| {
            handle.as_ref().map_or(0, |handle| handle.get(mutator).expect("a root of this heap"))
        };
        match place {
            PlaceKind::Frame(index) => frame.expect("a program with a frame").get(index),
            PlaceKind::Strong(index) => handle(&self.handles[index]),
            PlaceKind::Weak(index) => handle(&self.weak[index]),
            PlaceKind::Provided(index) => self.own.strong[index].load(Ordering::Relaxed),
            PlaceKind::ProvidedWeak => self.own.weak.load(Ordering::Relaxed),
            PlaceKind::ProvidedPin => self.own.pinned.load(Ordering::Relaxed),
            PlaceKind::Pin(_) => self.pin.as_ref().map_or(0, |pin| pin.object().addr().get() as u64),
        }
    }

    /// Writes a word there, which refers to a live object or to none.
    pub(super) fn set(&mut self, mutator: &Mutator<'_>, frame: Option<&Frame>, place: PlaceKind, bits: u64) {
        let object = reference(bits);
        match place {
            PlaceKind::Frame(index) => {
                frame.expect("a program with a frame").set(index, bits);
            }
            // Every other time a handle is made anew, so that slots of the table change hands.
            // SAFETY: the caller's reference is good until the next safepoint.
            PlaceKind::Strong(index) => unsafe {
                match &self.handles[index] {
                    Some(handle) if object.is_some() => assert!(handle.set(mutator, bits)),
                    _ => self.handles[index] = object.map(|_| mutator.raw().new_root(bits)),
                }
            },
            // SAFETY: as above.
            PlaceKind::Weak(index) => unsafe {
                match &self.weak[index] {
                    Some(handle) if object.is_some() => assert!(handle.set(mutator, bits)),
                    _ => self.weak[index] = object.map(|_| mutator.raw().new_weak_root(bits)),
                }
            },
            PlaceKind::Provided(index) => self.own.strong[index].store(bits, Ordering::Relaxed),
            PlaceKind::ProvidedWeak => self.own.weak.store(bits, Ordering::Relaxed),
            PlaceKind::ProvidedPin => self.own.pinned.store(bits, Ordering::Relaxed),
            PlaceKind::Pin(_) => {
                let object = object.and_then(|object| NonNull::new(object as *mut u8));
                // SAFETY: as above.
                self.pin = object.map(|object| unsafe { mutator.raw().pin(object) });
            }
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.heap.remove_root_provider(self.provider);
    }
}
