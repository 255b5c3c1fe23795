//! The alternatives to a bump allocator: a free list, or an arena.
//!
//! malloc recycles the memory of a ring of live objects, which stays in the caches whatever the
//! size of the eden. This is malloc's strength, and the reason why a comparison has to state the
//! eden.

use super::eden::HEADER;
use super::widest::{Loop, Only, widest};
#[cfg(feature = "peers")]
use crate::harness::Case;
use crate::harness::{Bench, Worker, keep};
use allotment::internals::platform::write_word_and_zeroes;
use std::alloc::{GlobalAlloc, Layout};

/// Objects alive at a time.
const LIVE: usize = 1024;

/// Objects that a call allocates.
const OBJECTS: usize = 256;

struct Ring<'a, const BYTES: usize, A: GlobalAlloc> {
    allocator: &'a A,
    objects: Vec<*mut u8>,
    oldest: usize,
}

impl<const BYTES: usize, A: GlobalAlloc> Ring<'_, BYTES, A> {
    const LAYOUT: Layout = match Layout::from_size_align(BYTES, 8) {
        Ok(layout) => layout,
        Err(_) => panic!("8 is a power of two"),
    };

    /// Allocates an object and frees the oldest.
    #[inline(always)]
    fn replace(&mut self) {
        // SAFETY: the layout is not empty; a block is written in its bounds and freed once.
        unsafe {
            let block = self.allocator.alloc(Self::LAYOUT);
            if block.is_null() {
                std::alloc::handle_alloc_error(Self::LAYOUT);
            }
            write_word_and_zeroes(block, HEADER, BYTES);
            keep(block);
            let dead = std::mem::replace(&mut self.objects[self.oldest], block);
            if !dead.is_null() {
                self.allocator.dealloc(dead, Self::LAYOUT);
            }
        }
        self.oldest = (self.oldest + 1) % LIVE;
    }
}

impl<const BYTES: usize, A: GlobalAlloc> Loop<&mut Ring<'_, BYTES, A>> for Only {
    #[inline(always)]
    fn run(&self, ring: &mut Ring<'_, BYTES, A>) -> u64 {
        for _ in 0..OBJECTS {
            ring.replace();
        }
        OBJECTS as u64
    }
}

impl<const BYTES: usize, A: GlobalAlloc> Worker for Ring<'_, BYTES, A> {
    #[inline]
    fn batch(&mut self) -> u64 {
        widest(&Only, self)
    }
}

impl<const BYTES: usize, A: GlobalAlloc> Drop for Ring<'_, BYTES, A> {
    fn drop(&mut self) {
        for object in self.objects.iter().filter(|object| !object.is_null()) {
            // SAFETY: the object is still alive, and is freed once.
            unsafe { self.allocator.dealloc(*object, Self::LAYOUT) };
        }
    }
}

/// A ring of live objects in any allocator.
pub(super) fn ring<const BYTES: usize, A: GlobalAlloc + Sync>(
    allocator: &A,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    bench
        .measure(|_| Ok(Ring::<BYTES, A> { allocator, objects: vec![std::ptr::null_mut(); LIVE], oldest: 0 }))
}

/// bumpalo: an arena of the eden's size.
#[cfg(feature = "peers")]
pub(super) fn arena<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    struct Arena<const BYTES: usize> {
        bump: bumpalo::Bump,
        objects: usize,
        calls: usize,
        left: usize,
    }
    impl<const BYTES: usize> Loop<&Arena<BYTES>> for Only {
        #[inline(always)]
        fn run(&self, arena: &Arena<BYTES>) -> u64 {
            let Ok(layout) = Layout::from_size_align(BYTES, 8) else { return 0 };
            for _ in 0..arena.objects {
                let block = arena.bump.alloc_layout(layout).as_ptr();
                // SAFETY: the block is of that layout.
                unsafe { write_word_and_zeroes(block, HEADER, BYTES) };
                keep(block);
            }
            arena.objects as u64
        }
    }
    impl<const BYTES: usize> Worker for Arena<BYTES> {
        #[inline]
        fn batch(&mut self) -> u64 {
            let allocated = widest(&Only, &*self);
            self.left -= 1;
            if self.left == 0 {
                self.left = self.calls;
                self.bump.reset();
            }
            allocated
        }
    }
    let eden = case.size("eden")?;
    let (pairs, calls) = super::eden::calls(BYTES, eden);
    let objects = 2 * pairs;
    bench.measure(|_| {
        Ok(Arena::<BYTES> { bump: bumpalo::Bump::with_capacity(eden + 4096), objects, calls, left: calls })
    })
}
