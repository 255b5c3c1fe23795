//! Single instructions of AArch64 that the heap needs by name.
//!
//! The names are those of `platform/x86_64`, so that nothing above knows the machine. `PRFM` is a
//! hint as prefetches are on x86-64: it reads and writes nothing that the program can see, never
//! faults and accepts every address. So prefetches are safe functions of a plain number.
//!
//! Refused: vector intrinsics for zeroes. LLVM makes `stp xzr, xzr` and `stp q, q` of plain stores,
//! and there is no wider store that a function could be compiled for.

pub(crate) mod entries;
mod processor;

use core::arch::asm;
use core::ptr::NonNull;
pub(crate) use processor::HAS_LONG_VECTORS;
pub(super) use processor::processor;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// Bits of an address of a process, at most: 39, 42 and 47 are configured, too. 52 are there only for
/// a process that asks for addresses above 2^48, which this library never does.
pub(super) const ADDRESS_BITS: u32 = 48;

/// Whether each load of the machine acquires, so that an Acquire costs nothing.
pub(crate) const LOADS_ACQUIRE: bool = false;

/// Counts bits. Every processor of this architecture has the instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PopulationCount;

impl PopulationCount {
    pub(crate) fn detect() -> PopulationCount {
        PopulationCount
    }

    /// The number of set bits.
    #[inline(always)]
    pub(crate) fn of(self, bits: u64) -> usize {
        bits.count_ones() as usize
    }
}

/// Fetches the line at `addr + OFFSET` bytes for writing (`PRFM PSTL1KEEP`). Any address is
/// allowed.
#[inline(always)]
pub(crate) fn prefetch_write<const OFFSET: usize>(addr: usize) {
    // The instruction's own offset is a multiple of 8 of 15 bits: no addition is spent on it.
    let offset_fits = const { OFFSET.is_multiple_of(8) && OFFSET <= 32760 };
    // SAFETY: PRFM changes no register, no flag and no memory the program can see, uses no stack
    // and never faults. `nomem` lets the compiler keep values in registers across it.
    unsafe {
        if offset_fits {
            asm!("prfm pstl1keep, [{}, {}]", in(reg) addr, const OFFSET & 32760, options(nomem, nostack, preserves_flags));
        } else {
            asm!("prfm pstl1keep, [{}]", in(reg) addr.wrapping_add(OFFSET), options(nomem, nostack, preserves_flags));
        }
    }
}

/// Fetches the line of `addr` for reading (`PRFM PLDL1KEEP`). Any address is allowed.
#[inline(always)]
pub(crate) fn prefetch_read(addr: usize) {
    // SAFETY: as in `prefetch_write`.
    unsafe { asm!("prfm pldl1keep, [{}]", in(reg) addr, options(nomem, nostack, preserves_flags)) };
}

/// The word at `base` and the sum of that word and `bytes`, unless the sum is above the word at
/// `base + LIMIT` bytes. Both words are read as by Relaxed atomic loads.
///
/// One `ldp` reads both words where they are neighbours: LLVM joins no atomic loads. Each half of
/// an aligned pair is read in one move. The comparison jumps itself, because LLVM would select the
/// outcome and test it once more. Assembly that jumps may have no outputs, so there are two pieces.
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
    let (start, limit): (usize, usize);
    // SAFETY: the caller's predicates.
    unsafe {
        if LIMIT == 8 {
            asm!("ldp {}, {}, [{}]", out(reg) start, out(reg) limit, in(reg) base,
                options(nostack, readonly, preserves_flags));
        } else {
            asm!("ldr {}, [{}]", lateout(reg) start, in(reg) base, options(nostack, readonly, preserves_flags));
            asm!("ldr {}, [{}, {}]", lateout(reg) limit, in(reg) base, const LIMIT,
                options(nostack, readonly, preserves_flags));
        }
        let top = start.unchecked_add(bytes);
        asm!(
            "cmp {top}, {limit}",
            "b.hi {above}",
            top = in(reg) top,
            limit = in(reg) limit,
            above = label { return None },
            options(nostack, nomem),
        );
        Some((start, top))
    }
}

/// The register `x29`: the frame of the function that this is inlined to, if it was compiled with
/// frame pointers. Otherwise its value is arbitrary.
#[cfg(not(any(miri, loom)))]
#[inline(always)]
pub(crate) fn frame_pointer() -> usize {
    let frame: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// Miri and the model checker have no such register.
#[cfg(any(miri, loom))]
pub(crate) fn frame_pointer() -> usize {
    0
}

/// Reads a slot. What the reference leads to is as it was when the slot was stored, or later.
///
/// A load of the processor is ordered before every load whose address depends on its value. So no
/// acquire is needed, and the offset of the slot is part of the instruction (`ldar` has none). The
/// fence binds the compiler alone: it moves no access of the referent in front of this load. The
/// compiler may take another word that it has found equal for the address. That word, too, was
/// loaded here or allocated by this thread since the last safepoint, so it leads to the same
/// initialised object.
///
/// Loads through other addresses are not ordered. The entries of slow paths have a fence of their
/// own.
///
/// Refused: assembly. Its operand is a register, so the offset would cost an addition.
#[inline(always)]
pub(crate) fn load_reference(slot: &AtomicU64) -> u64 {
    if cfg!(miri) {
        return slot.load(Ordering::Acquire);
    }
    let bits = slot.load(Ordering::Relaxed);
    compiler_fence(Ordering::Acquire);
    bits
}

/// Writes `word` at `to` and zeroes after it, `bytes` in all. The word is part of the first pair of
/// stores (`stp word, xzr`).
///
/// # Safety
/// - `[to, to + bytes)` is writable, `bytes` is a multiple of 8, at least 16.
#[inline(always)]
pub unsafe fn write_word_and_zeroes(to: *mut u8, word: u64, bytes: usize) {
    debug_assert!(bytes >= 16 && bytes.is_multiple_of(8));
    // SAFETY: the caller's range holds both parts.
    unsafe {
        if bytes == 16 {
            // Nothing follows that the zero could be joined with, and the compiler learns from its
            // own store that the pointer is not null.
            return to.cast::<[u64; 2]>().write_unaligned([word, 0]);
        }
        store_pair(to, word);
        to.add(16).write_bytes(0, bytes - 16);
    }
}

/// Stores `word` and a zero word (`stp word, xzr`). In assembly, because LLVM stores the word alone
/// and joins the zero with what follows, in pairs at odd words.
///
/// # Safety
/// - `[to, to + 16)` is writable.
#[inline(always)]
unsafe fn store_pair(to: *mut u8, word: u64) {
    if cfg!(miri) {
        // SAFETY: the caller's predicate.
        return unsafe { to.cast::<[u64; 2]>().write_unaligned([word, 0]) };
    }
    // SAFETY: the caller's predicate; the instruction takes any address.
    unsafe { asm!("stp {}, xzr, [{}]", in(reg) word, in(reg) to, options(nostack, preserves_flags)) };
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
    // end, and only if the range has as many: the stores stay inside the range.
    unsafe {
        if bytes > 16 {
            store_pair(to.add(bytes - 16).as_ptr(), 0);
        }
        if bytes > 32 {
            store_pair(to.add(16).as_ptr(), 0);
            store_pair(to.add(bytes - 32).as_ptr(), 0);
        }
        store_pair(to.as_ptr(), word);
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
        asm!("ldr {}, [{}]", out(reg) bytes, in(reg) from, options(readonly, nostack, preserves_flags));
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
    let least: u32;
    // SAFETY: the caller's predicates.
    unsafe {
        asm!(
            "dup {wanted:v}.16b, {byte:w}",
            "ldp {a:q}, {b:q}, [{from}]",
            "ldp {c:q}, {d:q}, [{from}, #32]",
            "cmeq {a:v}.16b, {a:v}.16b, {wanted:v}.16b",
            "cmeq {b:v}.16b, {b:v}.16b, {wanted:v}.16b",
            "cmeq {c:v}.16b, {c:v}.16b, {wanted:v}.16b",
            "cmeq {d:v}.16b, {d:v}.16b, {wanted:v}.16b",
            "and {a:v}.16b, {a:v}.16b, {b:v}.16b",
            "and {c:v}.16b, {c:v}.16b, {d:v}.16b",
            "and {a:v}.16b, {a:v}.16b, {c:v}.16b",
            "uminv {a:b}, {a:v}.16b",
            "umov {least:w}, {a:v}.b[0]",
            from = in(reg) from,
            byte = in(reg) u32::from(byte),
            wanted = out(vreg) _,
            a = out(vreg) _,
            b = out(vreg) _,
            c = out(vreg) _,
            d = out(vreg) _,
            least = lateout(reg) least,
            options(readonly, nostack, preserves_flags),
        );
    }
    least == 0xFF
}

/// Writes eight bytes at `to`, the lowest one first, as eight Relaxed atomic stores in some order;
/// see [`load_eight`].
///
/// # Safety
/// - `[to, to + 8)` is writable, and all concurrent accesses to it are atomic.
#[inline(always)]
pub(crate) unsafe fn store_eight(to: *mut u8, bytes: u64) {
    // SAFETY: the caller's predicates.
    unsafe { asm!("str {}, [{}]", in(reg) bytes, in(reg) to, options(nostack, preserves_flags)) }
}

/// Exchanges the byte at `base + offset`, a sum that wraps, for `BYTE`, with Release. The old byte is
/// not read.
///
/// The exchange is one store with release (`STLRB`) in assembly. As far as Rust can tell, the
/// assembly is an atomic exchange. So exchanges of several threads are one release sequence: a thread
/// that then exchanges the byte with Acquire sees what each of them wrote before. A store in Rust
/// would end the sequence, and an exchange in Rust would read the line. For the processor a store
/// does the same, since a store becomes visible to all other threads at once, and an acquire comes
/// after each earlier release of its thread (`region/litmus/card.litmus`).
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
            "stlrb {byte:w}, [{to}]",
            byte = in(reg) u32::from(BYTE),
            to = in(reg) base.wrapping_add(offset),
            options(nostack, preserves_flags),
        );
    }
}

/// Copies `bytes`, sixteen at a time, for objects too short to justify a call of `memcpy`.
///
/// The function is in assembly because LLVM turns a loop into that call.
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
                "ldr {pair:q}, [{from}, {at}]",
                "str {pair:q}, [{to}, {at}]",
                from = in(reg) from,
                to = in(reg) to,
                at = in(reg) at,
                pair = out(vreg) _,
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
    debug_assert!((16..=32).contains(&bytes));
    let last = bytes - 16;
    // SAFETY: sixteen bytes within both ranges each.
    unsafe {
        let first_pair = from.cast::<u128>().read_unaligned();
        let last_pair = from.add(last).cast::<u128>().read_unaligned();
        to.cast::<u128>().write_unaligned(first_pair);
        to.add(last).cast::<u128>().write_unaligned(last_pair);
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
    // SAFETY: by the caller's promise the access cannot fault. The exclusive pair writes back what
    // it read, or fails and starts again if another thread wrote in between. So for the program it
    // is no access at all.
    unsafe {
        asm!(
            "2:",
            "ldxr {word:w}, [{address}]",
            "stxr {failed:w}, {word:w}, [{address}]",
            "cbnz {failed:w}, 2b",
            address = in(reg) address,
            word = out(reg) _,
            failed = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}
