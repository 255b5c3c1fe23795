//! Single instructions of x86-64 that the heap needs by name.
//!
//! A prefetch is a hint: it reads and writes nothing, never faults and accepts every address,
//! mapped or not, canonical or not. So these functions are safe and take a plain number. An address
//! beyond the heap then needs no pointer, whose creation would be undefined behaviour.
//!
//! `PREFETCHW` is written in assembly because `_mm_prefetch` emits it only in builds that enable
//! the `prfchw` feature for every function.

pub(crate) mod entries;
mod population_count;
mod processor;

use core::arch::asm;
use core::arch::x86_64::{__m256i, _MM_HINT_T0, _mm_prefetch, _mm_set_epi64x, _mm_storeu_si128};
use core::mem::transmute;
use core::ptr::NonNull;
pub(crate) use population_count::PopulationCount;
pub(super) use processor::processor;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// Bits of an address of a process, with four levels of page tables.
pub(super) const ADDRESS_BITS: u32 = 47;

/// Whether each load of the machine acquires, so that an Acquire costs nothing.
pub(crate) const LOADS_ACQUIRE: bool = true;

/// Fetches the line at `addr + OFFSET` bytes in the exclusive state (`PREFETCHW`). The next
/// store then needs no upgrade.
///
/// Any address is allowed. On a processor without the instruction (`Processor::prefetchw`) the call
/// does nothing.
#[inline(always)]
pub(crate) fn prefetch_write<const OFFSET: usize>(addr: usize) {
    // SAFETY: PREFETCHW changes no register, no flag and no memory the program can see, uses no
    // stack and never faults. `nomem` lets the compiler keep values in registers across it. The
    // offset is part of the instruction: no addition is spent on it.
    unsafe {
        asm!("prefetchw [{} + {}]", in(reg) addr, const OFFSET, options(nomem, nostack, preserves_flags));
    }
}

/// The word at `base` and the sum of that word and `bytes`, unless the sum is above the word at
/// `base + LIMIT` bytes. Both words are read as by Relaxed atomic loads.
///
/// The comparison is in assembly because the compiler does not fold an atomic load into a compare.
/// The assembly jumps itself: a returned flag would be tested once more.
///
/// # Safety
/// - Both words are aligned and readable, and all concurrent writes to them are atomic.
/// - The sum does not overflow.
#[cfg(not(any(miri, loom)))]
#[inline(always)]
pub(crate) unsafe fn bump_below<const LIMIT: usize>(
    base: *const AtomicUsize,
    bytes: usize,
) -> Option<(usize, usize)> {
    // SAFETY: the caller's predicates; an aligned word is read in one move, as an atomic load does.
    unsafe {
        let start = (*base).load(Ordering::Relaxed);
        let top = start.unchecked_add(bytes);
        asm!(
            "cmp {top}, qword ptr [{base} + {offset}]",
            "ja {above}",
            top = in(reg) top,
            base = in(reg) base,
            offset = const LIMIT,
            above = label { return None },
            options(nostack, readonly),
        );
        Some((start, top))
    }
}

/// The register `rbp`: the frame of the function that this is inlined to, if it was compiled with
/// frame pointers. Otherwise its value is arbitrary.
#[cfg(not(any(miri, loom)))]
#[inline(always)]
pub(crate) fn frame_pointer() -> usize {
    let frame: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// Miri and the model checker have no such register.
#[cfg(any(miri, loom))]
pub(crate) fn frame_pointer() -> usize {
    0
}

/// Fetches the line of `addr` for reading (`PREFETCHT0`). Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_read(addr: usize) {
    // SAFETY: a prefetch reads nothing that the program can see, and never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(addr as *const i8) };
}

/// Reads a slot. What the reference leads to is as it was when the slot was stored, or later: every
/// load acquires here.
#[inline(always)]
pub(crate) fn load_reference(slot: &AtomicU64) -> u64 {
    slot.load(Ordering::Acquire)
}

/// Writes `word` at `to` and zeroes after it, `bytes` in all. It uses as few stores as the
/// function it is inlined into may use: stores of 32 bytes if that function is compiled for AVX
/// (`#[target_feature(enable = "avx2")]`, or a build with `-C target-cpu`), else of 16.
///
/// The word is part of the first vector store and has no store of its own: a core commits one
/// vector store a cycle, and small objects are bound by that. On Zen 3 an object of 16 bytes takes
/// 0.7 of the time.
///
/// The vector is written as memory, not with an intrinsic. An intrinsic for 32 bytes is not inlined
/// into a function without AVX, and a choice by `cfg` sees only the build's features, not the
/// function's.
///
/// Refused: words written one by one. LLVM turns the zeroes among them into a memset and leaves the
/// first word a store of its own.
///
/// # Safety
/// - `[to, to + bytes)` is writable, `bytes` is a multiple of 8, at least 16.
#[inline(always)]
pub unsafe fn write_word_and_zeroes(to: *mut u8, word: u64, bytes: usize) {
    debug_assert!(bytes >= 16 && bytes.is_multiple_of(8));
    if bytes >= 32 {
        // SAFETY: the caller's range holds 32 bytes; the store is unaligned.
        unsafe {
            (*to.cast::<Unaligned>()).0 = transmute::<[u64; 4], __m256i>([word, 0, 0, 0]);
            to.add(32).write_bytes(0, bytes - 32);
        }
    } else {
        // SAFETY: the caller's range holds 16 bytes; the store is unaligned; SSE2 is part of
        // x86-64.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm_set_epi64x(0, word as i64));
            to.add(16).write_bytes(0, bytes - 16);
        }
    }
}

/// As [`write_word_and_zeroes`], for a size that is known only at run time and is most often small.
/// Up to 64 bytes are written by overlapping stores, since a call of memset takes longer. Returns
/// `to`.
///
/// # Safety
/// As for [`write_word_and_zeroes`].
#[inline(always)]
pub(crate) unsafe fn write_word_and_any_zeroes(to: NonNull<u8>, word: u64, bytes: usize) -> NonNull<u8> {
    debug_assert!(bytes >= 16 && bytes.is_multiple_of(8));
    if bytes > 64 {
        // SAFETY: the caller's predicates.
        return unsafe { write_word_and_many_zeroes(to, word, bytes) };
    }
    // SAFETY: each store writes 16 bytes, unaligned, either 16 bytes from the start on or up to the
    // end, and only if the range has as many: the stores stay inside the range. SSE2 is part of
    // x86-64.
    unsafe {
        let zeroes = _mm_set_epi64x(0, 0);
        if bytes > 16 {
            _mm_storeu_si128(to.add(bytes - 16).as_ptr().cast(), zeroes);
        }
        if bytes > 32 {
            _mm_storeu_si128(to.add(16).as_ptr().cast(), zeroes);
            _mm_storeu_si128(to.add(bytes - 32).as_ptr().cast(), zeroes);
        }
        _mm_storeu_si128(to.as_ptr().cast(), _mm_set_epi64x(0, word as i64));
    }
    to
}

/// The call of memset, out of line. If this is a caller's last call, the caller need not save
/// registers.
///
/// # Safety
/// As for [`write_word_and_zeroes`].
#[inline(never)]
unsafe fn write_word_and_many_zeroes(to: NonNull<u8>, word: u64, bytes: usize) -> NonNull<u8> {
    // SAFETY: the caller's predicates.
    unsafe { write_word_and_zeroes(to.as_ptr(), word, bytes) };
    to
}

/// The type of a vector that is stored as one value.
/// [`ptr::write_unaligned`](core::ptr::write_unaligned) copies bytes, which LLVM splits into words
/// again.
#[repr(C, packed)]
struct Unaligned(__m256i);

/// The eight bytes at `from`, the first one lowest, as eight Relaxed atomic loads in some order.
///
/// The function is one load in assembly. In Rust, an atomic access is undefined if other threads
/// access the same bytes with another size at the same time; for the processor it is not. As far as
/// Rust can tell, the assembly does eight loads of a byte.
///
/// # Safety
/// - `[from, from + 8)` is readable, and all concurrent writes to it are atomic.
#[inline(always)]
pub(crate) unsafe fn load_eight(from: *const u8) -> u64 {
    let bytes;
    // SAFETY: the caller's predicates.
    unsafe {
        asm!("mov {}, [{}]", out(reg) bytes, in(reg) from, options(readonly, nostack, preserves_flags));
    }
    bytes
}

/// Whether each of the 64 bytes at `from` is `byte`, as 64 Relaxed atomic loads in some order; see
/// [`load_eight`].
///
/// # Safety
/// - `[from, from + 64)` is readable, and all concurrent writes to it are atomic.
#[inline(always)]
pub(crate) unsafe fn all_64_are(from: *const u8, byte: u8) -> bool {
    let equal: u32;
    // SAFETY: the caller's predicates.
    unsafe {
        asm!(
            "movq {wanted}, {byte}",
            "punpcklqdq {wanted}, {wanted}",
            "movdqu {a}, [{from}]",
            "movdqu {b}, [{from} + 16]",
            "movdqu {c}, [{from} + 32]",
            "movdqu {d}, [{from} + 48]",
            "pcmpeqb {a}, {wanted}",
            "pcmpeqb {b}, {wanted}",
            "pcmpeqb {c}, {wanted}",
            "pcmpeqb {d}, {wanted}",
            "pand {a}, {b}",
            "pand {c}, {d}",
            "pand {a}, {c}",
            "pmovmskb {equal:e}, {a}",
            from = in(reg) from,
            byte = in(reg) u64::from_ne_bytes([byte; 8]),
            wanted = out(xmm_reg) _,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            equal = out(reg) equal,
            options(readonly, nostack, preserves_flags),
        );
    }
    equal == 0xFFFF
}

/// Writes eight bytes at `to`, the lowest one first, as eight Relaxed atomic stores in some order;
/// see [`load_eight`].
///
/// # Safety
/// - `[to, to + 8)` is writable, and all concurrent accesses to it are atomic.
#[inline(always)]
pub(crate) unsafe fn store_eight(to: *mut u8, bytes: u64) {
    // SAFETY: the caller's predicates.
    unsafe { asm!("mov [{}], {}", in(reg) to, in(reg) bytes, options(nostack, preserves_flags)) }
}

/// Exchanges the byte at `base + offset`, a sum that wraps, for `BYTE`, with Release. The old byte is
/// not read.
///
/// The exchange is one plain store in assembly. As far as Rust can tell, the assembly is an atomic
/// exchange. So exchanges of several threads are one release sequence: a thread that then exchanges
/// the byte with Acquire sees what each of them wrote before. A store in Rust would end the
/// sequence, and an exchange in Rust would lock the bus. For the processor a plain store does the
/// same, since the stores of all threads become visible in one order.
///
/// # Safety
/// - The byte is writable, and all concurrent accesses to it are atomic.
/// - A thread that relies on what others wrote before exchanges the byte, too. (A load would find
///   the thread's own store before the stores of the others are visible.)
#[inline(always)]
pub(crate) unsafe fn exchange_unread<const BYTE: u8>(base: usize, offset: usize) {
    if cfg!(miri) {
        let byte = base.wrapping_add(offset) as *mut u8;
        // SAFETY: the caller's predicates.
        unsafe { AtomicU8::from_ptr(byte).swap(BYTE, Ordering::Release) };
        return;
    }
    // SAFETY: the caller's predicates.
    unsafe {
        asm!(
            "mov byte ptr [{base} + {offset}], {byte}",
            base = in(reg) base,
            offset = in(reg) offset,
            byte = const BYTE,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies `bytes`, sixteen at a time, for objects too short to justify a call of `memcpy`.
///
/// The function is in assembly because LLVM turns a loop into that call. If the words are copied
/// one by one, an evacuation of small objects takes 3 to 5 % longer.
///
/// # Safety
/// - `bytes` is a multiple of 8. That many bytes may be read at `from` and written at `to`, and the
///   two ranges do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
    if cfg!(miri) {
        // SAFETY: the caller's predicates.
        return unsafe { core::ptr::copy_nonoverlapping(from, to, bytes) };
    }
    let pairs = bytes & !15;
    if pairs < bytes {
        // SAFETY: the last word of an odd number of words.
        unsafe {
            to.add(pairs).cast::<u64>().write_unaligned(from.add(pairs).cast::<u64>().read_unaligned())
        };
    }
    for at in (0..pairs).step_by(16) {
        // SAFETY: sixteen bytes within both ranges.
        unsafe {
            asm!(
                "movups {pair}, [{from} + {at}]",
                "movups [{to} + {at}], {pair}",
                from = in(reg) from,
                to = in(reg) to,
                at = in(reg) at,
                pair = out(xmm_reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Copies 16 to 32 bytes: the first 16 and the last 16, which may overlap. There is no branch, and
/// a load of a word soon afterwards finds the word in one of the two stores.
///
/// # Safety
/// - That many bytes may be read at `from` and written at `to`, and the two ranges do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_two_pairs(from: *const u8, to: *mut u8, bytes: usize) {
    use core::arch::x86_64::{_mm_loadu_si128, _mm_storeu_si128};
    debug_assert!((16..=32).contains(&bytes));
    let last = bytes - 16;
    // SAFETY: sixteen bytes within both ranges each; every x86-64 processor has these instructions.
    unsafe {
        let (first_pair, last_pair) = (_mm_loadu_si128(from.cast()), _mm_loadu_si128(from.add(last).cast()));
        _mm_storeu_si128(to.cast(), first_pair);
        _mm_storeu_si128(to.add(last).cast(), last_pair);
    }
}

/// Makes the kernel back the page of `address` by memory, and leaves its contents as they are.
///
/// The function is in assembly because LLVM drops an atomic addition of 0 whose result is unused.
/// The page would then never be written.
///
/// # Safety
/// - `address` is a multiple of 4.
/// - The four bytes at `address` are mapped readable and writable.
#[inline]
pub(super) unsafe fn touch_for_write(address: *mut u8) {
    // SAFETY: by the caller's promise the access cannot fault. A locked addition of 0 changes
    // nothing, whatever other threads do with the word, so for the program it is not an access.
    unsafe { asm!("lock add dword ptr [{}], 0", in(reg) address, options(nostack)) }
}
