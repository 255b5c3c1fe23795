//! The frames of the thread that allocates a sampled object.
//!
//! An embedder with frames of its own (an interpreter) walks them itself: [`StackWalker`].
//! Otherwise frame pointers lead from frame to frame, where the program was compiled with them (`-C
//! force-frame-pointers=yes`). That takes a few ns for each frame. A walk by unwind tables takes a
//! hundred times as long, takes locks of the loader, and may allocate.
//!
//! The walk trusts nothing. It reads only words of the thread's own stack, each frame lies above
//! the one before, and frames are aligned. So a register that holds something else ends the walk.
//!
//! Generated code calls the heap through a [`GeneratedFrame`]. The walk takes the code's return
//! address from there: the entry of the heap has no frame of its own.

use crate::mutator::GeneratedFrame;
use crate::object::WORD;
use crate::platform::frame_pointer;
use std::ops::Range;
use std::ptr;

/// The most frames of a stack. Of a deeper stack the outermost frames are cut off, and it is
/// marked.
pub const MAX_FRAMES: usize = 128;

/// Walks the stacks of threads whose frames only the embedder knows.
///
/// The heap keeps its walker. A walker with a clone of its [`Heap`](crate::Heap) keeps the heap for
/// ever, and no profile is written at its end.
///
/// ```
/// use allotment::raw::{FrameName, FrameSink, StackWalker};
/// use std::cell::RefCell;
///
/// thread_local! {
///     /// Lines of the functions that the interpreter is in, outermost first.
///     static CALLS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
/// }
/// struct Interpreter;
/// impl StackWalker for Interpreter {
///     fn walk(&self, frames: &mut FrameSink<'_>) {
///         CALLS.with_borrow(|calls| calls.iter().rev().all(|&line| frames.push(line.into())));
///     }
///     fn name(&self, frame: u64) -> FrameName {
///         let function = format!("line {frame}");
///         FrameName { function, file: "main.lisp".into(), line: frame as u32 }
///     }
/// }
/// let builder = allotment::Heap::builder().max_heap_size(16 << 20);
/// let heap = builder.stack_walker(Interpreter).build()?;
/// # Ok::<(), allotment::heap::BuildError>(())
/// ```
pub trait StackWalker: Send + Sync {
    /// Pushes the frames of the calling thread, innermost first: numbers of the embedder's choice,
    /// such as the address of a function's code. Called for each sample, inside an allocation and
    /// sometimes in the stopped world. It must be quick, and neither wait nor use the heap. If it
    /// panics, the process ends: the object that is being allocated has no header yet.
    fn walk(&self, frames: &mut FrameSink<'_>);

    /// The name of a frame that [`walk`](Self::walk) pushed. Called when a profile is taken, on the
    /// thread that takes it, perhaps long after the frame has ended.
    fn name(&self, frame: u64) -> FrameName;
}

/// What a profile shows of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameName {
    /// Name of the function.
    pub function: String,
    /// Name of its file; empty if there is none.
    pub file: String,
    /// Line of the call, from 1; 0: not known.
    pub line: u32,
}

/// The receiver of a stack's frames.
#[derive(Debug)]
pub struct FrameSink<'f> {
    frames: &'f mut Vec<u64>,
    /// Number of frames of other stacks in front.
    start: usize,
    truncated: bool,
}

impl<'f> FrameSink<'f> {
    pub(super) fn new(frames: &'f mut Vec<u64>) -> FrameSink<'f> {
        FrameSink { start: frames.len(), frames, truncated: false }
    }

    /// Adds a frame further out. `false`: the stack is full, and marked as cut off.
    pub fn push(&mut self, frame: u64) -> bool {
        let fits = self.frames.len() - self.start < MAX_FRAMES;
        if fits {
            self.frames.push(frame);
        }
        self.truncated |= !fits;
        fits
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.truncated
    }
}

/// Pushes the return addresses of a stack, innermost first.
///
/// `at` is the innermost frame pointer, or anything. `generated` is the frame from which generated
/// code called the heap, if it did.
///
/// # Safety
/// - `bounds` is the calling thread's stack, from its stack pointer on, or empty.
/// - `generated` is null or on that stack, and so are those that it leads to.
pub(in crate::mutator) unsafe fn frames(
    mut at: usize,
    bounds: Range<usize>,
    generated: *const GeneratedFrame,
    sink: &mut FrameSink<'_>,
) {
    // SAFETY: the caller's predicate.
    let mut generated = unsafe { generated.as_ref() };
    let within = |frame: usize, above: usize| {
        frame > above && frame.is_multiple_of(WORD) && frame.saturating_add(2 * WORD) <= bounds.end
    };
    let mut above = bounds.start.saturating_sub(1);
    loop {
        let is_frame = within(at, above);
        // The calls from generated code that lie further in than the next frame.
        while let Some(frame) = generated.filter(|frame| !is_frame || ptr::from_ref(*frame).addr() < at) {
            if !sink.push(frame.return_address() as u64) {
                return;
            }
            generated = frame.previous();
        }
        if !is_frame {
            return;
        }
        // SAFETY: two aligned words of the thread's own stack, above its stack pointer.
        let [next, address] = unsafe { *ptr::with_exposed_provenance::<[usize; 2]>(at) };
        // The outermost frame has none.
        if address == 0 || !sink.push(address as u64) {
            return;
        }
        (above, at) = (at, next);
    }
}

/// Whether this library was compiled with frame pointers: whether a function's frame leads to its
/// caller's. A program's flags hold for all of its libraries.
pub(super) fn has_frame_pointers() -> bool {
    #[inline(never)]
    fn callee(callers: usize) -> bool {
        // First, so that the function makes its frame before the register is read.
        let here = std::hint::black_box(0_u8);
        let near = std::hint::black_box(&raw const here).addr();
        let own = frame_pointer();
        // Without frame pointers both functions find the same register. The frame is compared with
        // the address of a variable before it is read.
        let is_near = own < callers && own.is_multiple_of(WORD) && own.abs_diff(near) < 4096;
        // SAFETY: an aligned word of this thread's stack, between a variable of this function and
        // one of its caller.
        is_near && unsafe { *ptr::with_exposed_provenance::<usize>(own) } == callers
    }

    #[inline(never)]
    fn caller() -> bool {
        let own = frame_pointer();
        // After the call, so that the call is not a jump.
        std::hint::black_box(callee(own))
    }

    caller()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Walks from the frame at index `first` of made-up stack words. A number from 1 to 99 in the
    /// place of a frame pointer is the index of that frame.
    fn walk(words: &[usize], first: usize) -> (Vec<u64>, bool) {
        let mut stack = words.to_vec();
        let low = stack.as_mut_ptr().expose_provenance();
        for word in &mut stack {
            if (1..100).contains(word) {
                *word = low + *word * WORD;
            }
        }
        let bounds = low..low + stack.len() * WORD;
        let mut found = Vec::new();
        let mut sink = FrameSink::new(&mut found);
        // SAFETY: the bounds are those of a vector.
        unsafe { frames(low + first * WORD, bounds, ptr::null(), &mut sink) };
        let truncated = sink.is_truncated();
        (found, truncated)
    }

    #[test]
    fn a_walk_follows_rising_frames_and_ends_where_they_end() {
        // Frames at 1, 4 and 7; the last one leads to nothing.
        let chain = [100, 4, 1000, 200, 7, 2000, 300, 400, 3000, 500];
        assert_eq!(walk(&chain, 1).0, [1000, 2000, 3000]);
        assert_eq!(walk(&chain, 4).0, [2000, 3000]);
        for (words, first, expected) in [
            // Downwards, and to itself.
            (&[0, 1000, 0, 2000][..], 2, &[2000][..]),
            (&[0, 1000], 0, &[1000]),
            // Beyond the end: half of a frame.
            (&[3, 1000, 200, 300], 0, &[1000]),
            (&[9, 1000], 1, &[]),
            // The outermost frame has no caller.
            (&[2, 1000, 0, 0], 0, &[1000]),
        ] {
            assert_eq!(walk(words, first).0, expected, "{words:?}");
        }
        // A register that is not a frame pointer.
        let (mut none, words) = (Vec::new(), [0_usize; 4]);
        let low = words.as_ptr().expose_provenance();
        let bounds = low..low + size_of_val(&words);
        for at in [0, 1, low + 1, low - WORD, bounds.end, usize::MAX - 7, usize::MAX] {
            // SAFETY: the bounds are those of an array.
            unsafe { frames(at, bounds.clone(), ptr::null(), &mut FrameSink::new(&mut none)) };
            // SAFETY: no stack at all.
            unsafe { frames(at, 0..0, ptr::null(), &mut FrameSink::new(&mut none)) };
        }
        assert!(none.is_empty());
    }

    #[test]
    fn a_deep_stack_is_cut_at_the_root_and_marked() {
        let deep = |frames: usize| {
            let mut stack: Vec<usize> = Vec::new();
            let words = vec![0_usize; 2 * frames + 2];
            stack.extend(words);
            let low = stack.as_mut_ptr().expose_provenance();
            for frame in 0..frames {
                stack[2 * frame] = low + (2 * frame + 2) * WORD;
                stack[2 * frame + 1] = 1000 + frame;
            }
            let bounds = low..low + stack.len() * WORD;
            let mut found = vec![7];
            let mut sink = FrameSink::new(&mut found);
            // SAFETY: the bounds are those of a vector.
            unsafe { frames_of(low, bounds, &mut sink) };
            let truncated = sink.is_truncated();
            (found.len() - 1, found[1], truncated)
        };
        assert_eq!(deep(MAX_FRAMES), (MAX_FRAMES, 1000, false));
        assert_eq!(deep(MAX_FRAMES + 1), (MAX_FRAMES, 1000, true));
    }

    unsafe fn frames_of(at: usize, bounds: Range<usize>, sink: &mut FrameSink<'_>) {
        // SAFETY: the caller's predicates.
        unsafe { frames(at, bounds, ptr::null(), sink) }
    }

    #[test]
    fn a_call_from_generated_code_takes_its_place_among_the_frames() {
        // A frame of the heap, the record of the entry, the frames of the code and of its caller.
        let mut words = [0_usize; 12];
        let low = words.as_mut_ptr().expose_provenance();
        let at = |index: usize| low + index * WORD;
        words[1..3].copy_from_slice(&[at(7), 1000]);
        words[3..6].copy_from_slice(&[0, at(7), 2000]);
        words[7..9].copy_from_slice(&[at(10), 3000]);
        let bounds = low..at(12);
        let generated = ptr::with_exposed_provenance::<GeneratedFrame>(at(3));
        for (first, expected) in [(at(1), &[1000, 2000, 3000][..]), (1, &[2000])] {
            let mut found = Vec::new();
            // SAFETY: the bounds are those of an array, in which the record lies.
            unsafe { frames(first, bounds.clone(), generated, &mut FrameSink::new(&mut found)) };
            assert_eq!(found, expected);
        }
    }
}
