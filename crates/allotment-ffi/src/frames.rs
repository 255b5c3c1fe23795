//! Frames: ranges of words on a thread's list of roots, which the header's inlines link and unlink.

use crate::border::{Wrong, al_mutator, is_blocked, own, runs, with_any};
use allotment::raw::{Hot, RootRange};
use std::ptr::{self, NonNull};

/// `al_frame`: the memory of a [`RootRange`], whose members C code writes.
#[repr(C)]
pub(crate) struct al_frame {
    pub(crate) below: usize,
    /// With [`CHECKED`] added in files that are compiled with `AL_CHECK`.
    mutator: *mut al_mutator,
    pub(crate) words: *mut u64,
    pub(crate) count: usize,
}

const _: () = assert!(size_of::<al_frame>() == size_of::<RootRange>());

/// Bits of an entry that say what it points to. A frame has [`Hot::RANGE_LINK`].
const KIND: usize = 3;

/// The bit of a frame's mutator that files compiled with `AL_CHECK` set.
const CHECKED: usize = 1;

/// The frame of an entry; `None` at the end of the list.
///
/// # Safety
/// - The entry is 0, or that of a frame that lives for `'f`.
unsafe fn frame_at<'f>(entry: usize) -> Option<&'f al_frame> {
    // SAFETY: the caller's predicate.
    unsafe { ((entry & !KIND) as *const al_frame).as_ref() }
}

/// The head of a thread's list.
///
/// # Safety
/// - `mu` is the calling thread's mutator.
unsafe fn head<'m>(mu: *mut al_mutator) -> &'m mut usize {
    // SAFETY: the caller's predicate. The thread alone uses the head while it runs.
    unsafe { &mut *mu.cast::<usize>().byte_add(Hot::LINKS_OFFSET) }
}

/// Whether frames are on a thread's list. They may be gone: a `longjmp` leaves the list as it was.
///
/// # Safety
/// - `mu` is the calling thread's mutator, and the thread is not blocked.
pub(crate) unsafe fn has_frames(mu: *mut al_mutator) -> bool {
    // SAFETY: the caller's predicate.
    unsafe { *head(mu) != 0 }
}

/// Whether that frame is on a thread's list.
///
/// # Safety
/// - `mu` is the calling thread's mutator, and the thread is not blocked; frames on its list are
///   alive.
pub(crate) unsafe fn is_linked(mu: *mut al_mutator, frame: *const al_frame) -> bool {
    // SAFETY: the caller's predicates.
    unsafe {
        let mut frames = std::iter::successors(frame_at(*head(mu)), |frame| frame_at(frame.below));
        frames.any(|linked| ptr::eq(linked, frame))
    }
}

/// The frames from the head of a thread's list up to the first entry that Rust code linked.
///
/// # Safety
/// - As for [`linked_frames`]; the frames stay linked for `'f`.
pub(crate) unsafe fn ranges<'f>(mu: *mut al_mutator) -> impl Iterator<Item = &'f al_frame> {
    let range = |entry: usize| {
        // SAFETY: the caller's predicate.
        if entry & KIND == Hot::RANGE_LINK { unsafe { frame_at(entry) } } else { None }
    };
    // SAFETY: the caller's predicate.
    std::iter::successors(range(unsafe { *head(mu) }), move |frame| range(frame.below))
}

/// Calls `visit` with each word of the frames from an entry on.
///
/// # Safety
/// - The entry is 0, or that of a frame; this frame and those below are alive, and their words are
///   readable.
pub(crate) unsafe fn for_each_word(entry: usize, mut visit: impl FnMut(*mut u64)) {
    // SAFETY: the caller's predicate.
    unsafe {
        for frame in std::iter::successors(frame_at(entry), |frame| frame_at(frame.below)) {
            (0..frame.count).for_each(|index| visit(frame.words.add(index)));
        }
    }
}

/// `al_unlink_slow`.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_unlink_slow(mu: *mut al_mutator, frame: *mut al_frame) {
    const NAME: &str = "al_unlink";
    let Some(range) = NonNull::new(frame.cast::<RootRange>()) else {
        Wrong(NAME).end(format_args!("`frame` is NULL, and must point to something"));
    };
    own(NAME, mu);
    // SAFETY: this thread's mutator. While the thread is blocked, its list is out of reach.
    if !is_blocked(NAME, mu) && !unsafe { is_linked(mu, frame) } {
        Wrong(NAME).end(format_args!(
            "the frame is not on the list of its thread: call al_unlink once for each al_link, and not after \
             al_frames_reset took the frame off"
        ));
    }
    // SAFETY: the frame is on this thread's list; of a blocked thread the header's rules say so.
    with_any(NAME, mu, |raw| unsafe { raw.unlink_range(range) });
}

/// `al_link` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_link(mu: *mut al_mutator, frame: *mut al_frame, words: *mut u64, count: usize) {
    runs("al_link", mu);
    // SAFETY: the header's rules: memory for a frame, which outlives its link; and the calling
    // thread's mutator.
    unsafe {
        let head = head(mu);
        frame.write(al_frame { below: *head, mutator: mu, words, count });
        *head = frame.expose_provenance() | Hot::RANGE_LINK;
    }
}

/// `al_unlink` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_unlink(frame: *mut al_frame) {
    // SAFETY: the header's rules: a frame that is on this thread's list.
    unsafe { al_unlink_slow((*frame).mutator.map_addr(|address| address & !CHECKED), frame) }
}

/// `al_words_set` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_words_set(frame: *mut al_frame, words: *mut u64, count: usize) {
    // SAFETY: the header's rules: a frame of this thread, which is not blocked.
    unsafe {
        (*frame).words = words;
        (*frame).count = count;
    }
}

/// `al_frames` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_frames(mu: *mut al_mutator) -> usize {
    runs("al_frames", mu);
    // SAFETY: the calling thread's mutator.
    unsafe { *head(mu) }
}

/// `al_frames_reset` out of line.
#[unsafe(no_mangle)]
unsafe extern "C" fn al_frames_reset(mu: *mut al_mutator, mark: usize) {
    runs("al_frames_reset", mu);
    // SAFETY: the calling thread's mutator, and the header's rules: a mark of this list.
    unsafe { *head(mu) = mark };
}
