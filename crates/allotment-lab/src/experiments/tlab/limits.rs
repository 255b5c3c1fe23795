//! The limits that no heap can beat: a bump loop written by hand, and memset.

use super::eden::{Eden, HEADER, calls};
use super::widest::{Loop, Only, is_wide, widest};
use crate::harness::{Bench, Case, Worker, keep};
use allotment::internals::platform::write_word_and_zeroes;
use allotment::raw::Prefetch;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes an object of `BYTES` bytes at `address`: header, and zeroes for the rest.
///
/// # Safety
/// - `[address, address + BYTES)` belongs to the caller, and `address` is a multiple of 8.
#[inline(always)]
pub(super) unsafe fn write_object<const BYTES: usize>(address: usize) {
    // SAFETY: the caller's predicate.
    unsafe { write_word_and_zeroes(address as *mut u8, HEADER, BYTES) };
    keep(address as *const u8);
}

/// A buffer as JIT code uses it: in memory, loaded and stored for each object.
struct Bare<const BYTES: usize, P> {
    top: AtomicUsize,
    limit: AtomicUsize,
    pairs: usize,
    eden: Eden,
    prefetch: PhantomData<P>,
}

impl<const BYTES: usize, P: Prefetch> Bare<BYTES, P> {
    /// Allocates one object, unless the buffer is full.
    #[inline(always)]
    fn bump(&self) -> bool {
        // Relaxed atomics are plain loads and stores that the compiler keeps in memory.
        let start = self.top.load(Ordering::Relaxed);
        let top = start + BYTES;
        if top > self.limit.load(Ordering::Relaxed) {
            return false;
        }
        self.top.store(top, Ordering::Relaxed);
        P::ahead(top, BYTES);
        // SAFETY: below the limit, and thus in this thread's eden.
        unsafe { write_object::<BYTES>(start) };
        true
    }
}

impl<const BYTES: usize, P: Prefetch> Loop<&Bare<BYTES, P>> for Only {
    #[inline(always)]
    fn run(&self, buffer: &Bare<BYTES, P>) -> u64 {
        for _ in 0..buffer.pairs {
            if !(buffer.bump() && buffer.bump()) {
                break;
            }
        }
        2 * buffer.pairs as u64
    }
}

impl<const BYTES: usize, P: Prefetch> Worker for Bare<BYTES, P> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let allocated = widest(&Only, &*self);
        self.start_over();
        allocated
    }
}

impl<const BYTES: usize, P> Bare<BYTES, P> {
    fn new(bytes: usize) -> anyhow::Result<Self> {
        let (pairs, calls) = calls(BYTES, bytes);
        let eden = Eden::new(bytes)?;
        let limit = AtomicUsize::new(eden.base() + calls * pairs * 2 * BYTES);
        Ok(Bare { top: AtomicUsize::new(eden.base()), limit, pairs, eden, prefetch: PhantomData })
    }

    /// Starts the eden over if another call would not fit.
    #[inline(always)]
    fn start_over(&self) {
        if self.top.load(Ordering::Relaxed) + BYTES * 2 * self.pairs > self.limit.load(Ordering::Relaxed) {
            self.top.store(self.eden.base(), Ordering::Relaxed);
        }
    }
}

/// Mode `bare`.
pub(super) fn bare<const BYTES: usize, P: Prefetch>(
    case: &Case,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let bytes = case.size("eden")?;
    bench.measure(|_| Bare::<BYTES, P>::new(bytes))
}

/// `Bare`, with each object made by a call of a function.
struct Called<const BYTES: usize, P>(Bare<BYTES, P>);

impl<const BYTES: usize, P: Prefetch> Called<BYTES, P> {
    /// A function as a compiler makes it for the processor at hand.
    ///
    /// # Safety
    /// - [`is_wide`].
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    #[inline(never)]
    unsafe fn wide(buffer: &Bare<BYTES, P>) -> bool {
        buffer.bump()
    }

    #[inline(never)]
    fn narrow(buffer: &Bare<BYTES, P>) -> bool {
        buffer.bump()
    }
}

impl<const BYTES: usize, P: Prefetch> Worker for Called<BYTES, P> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let wide = is_wide();
        for _ in 0..2 * self.0.pairs {
            // SAFETY: `wide` is true only where `is_wide` is.
            let made = if wide { unsafe { Self::wide(&self.0) } } else { Self::narrow(&self.0) };
            if !made {
                break;
            }
        }
        self.0.start_over();
        2 * self.0.pairs as u64
    }
}

/// Mode `called`.
pub(super) fn called<const BYTES: usize, P: Prefetch>(
    case: &Case,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let bytes = case.size("eden")?;
    bench.measure(|_| Ok(Called(Bare::<BYTES, P>::new(bytes)?)))
}

struct Memset {
    at: usize,
    /// Bytes that a call zeroes, and calls until the eden is full.
    bytes: usize,
    calls: usize,
    objects: u64,
    eden: Eden,
}

impl Worker for Memset {
    #[inline]
    fn batch(&mut self) -> u64 {
        let from = self.eden.base() + self.at * self.bytes;
        // SAFETY: a part of this thread's eden.
        unsafe { (from as *mut u8).write_bytes(0, self.bytes) };
        keep(from as *const u8);
        self.at = if self.at + 1 == self.calls { 0 } else { self.at + 1 };
        self.objects
    }
}

/// Mode `memset`.
pub(super) fn memset<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let bytes = case.size("eden")?;
    bench.measure(|_| {
        let (pairs, calls) = calls(BYTES, bytes);
        let objects = 2 * pairs;
        Ok(Memset { at: 0, bytes: objects * BYTES, calls, objects: objects as u64, eden: Eden::new(bytes)? })
    })
}
