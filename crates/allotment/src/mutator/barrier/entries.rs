//! The slow paths of barriers, for generated code, and for loads and stores of Rust code.
//!
//! Each entry saves the registers that a C function may change, calls the slow path of Rust code,
//! and restores the registers. [`BarrierCalls`] says which registers an entry keeps. An entry
//! aligns the stack itself. It needs no frame for collectors, as no slow path reaches a safepoint.
//!
//! Refused: a slow path written in assembly, which would save only what it uses. It would be a
//! second copy of each barrier.

use crate::mutator::thread::state::State;
use crate::mutator::{BarrierCalls, Hot, Mutator};
use std::arch::{asm, naked_asm};
use std::sync::atomic::AtomicU64;

impl BarrierCalls {
    /// The functions of this library.
    pub(in crate::mutator) const fn new() -> BarrierCalls {
        BarrierCalls {
            load: load_entry,
            load_weak: load_weak_entry,
            store: store_entry,
            compare_exchange: compare_exchange_entry,
        }
    }
}

/// An entry of generated code that keeps all registers but those of `$result`: `rax`, or none.
///
/// `rbp` leads back to the nine saved words, so the alignment of the stack need not be known.
macro_rules! entry {
    ($(#[doc = $text:literal])+ $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $restore_rax:literal
        => $target:path) => {
        $(#[doc = $text])+
        ///
        /// # Safety
        /// - As the type of the field says.
        #[cold]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(hot: *const Hot, $($argument: $type),*) $(-> $result)? {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                ".irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11",
                r"push \register",
                ".endr",
                "sub rsp, 256",
                "and rsp, -16",
                ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
                r"movaps [rsp + 16 * \number], xmm\number",
                ".endr",
                "call {target}",
                ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
                r"movaps xmm\number, [rsp + 16 * \number]",
                ".endr",
                "lea rsp, [rbp - 72]",
                ".irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx",
                r"pop \register",
                ".endr",
                $restore_rax,
                "pop rbp",
                "ret",
                target = sym $target,
            )
        }
    };
}

entry!(
    /// [`BarrierCalls::load`].
    load_entry(slot: *const u64, bits: u64) -> u64, "add rsp, 8" => load
);
entry!(
    /// [`BarrierCalls::load_weak`].
    load_weak_entry(slot: *const u64, bits: u64) -> u64, "add rsp, 8" => load_weak
);
entry!(
    /// [`BarrierCalls::store`].
    store_entry(slot: *const u64), "pop rax" => store
);
entry!(
    /// [`BarrierCalls::compare_exchange`].
    compare_exchange_entry(slot: *mut u64, expected: u64, new: u64) -> u64, "add rsp, 8" => compare_exchange
);

/// Calls an entry from Rust code, whose values stay in registers: a plain call would make the code
/// around each barrier save them, whether the barrier is in force or not. That cost a program of
/// loads and stores a tenth of its speed. The call steps over the red zone by itself and entries
/// align the stack, so that a function of nothing but barriers needs no frame (`nostack`).
macro_rules! call {
    ($entry:ident, ($hot:expr, $slot:expr), $($more:tt)*) => {
        asm!(
            "lea rsp, [rsp - 128]",
            "call {entry}",
            "lea rsp, [rsp + 128]",
            entry = sym $entry,
            in("rdi") $hot,
            in("rsi") $slot,
            // What an entry does not keep, as `BarrierCalls` says: a part of these.
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _,
            out("xmm20") _, out("xmm21") _, out("xmm22") _, out("xmm23") _,
            out("xmm24") _, out("xmm25") _, out("xmm26") _, out("xmm27") _,
            out("xmm28") _, out("xmm29") _, out("xmm30") _, out("xmm31") _,
            out("k0") _, out("k1") _, out("k2") _, out("k3") _,
            out("k4") _, out("k5") _, out("k6") _, out("k7") _,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            out("mm0") _, out("mm1") _, out("mm2") _, out("mm3") _,
            out("mm4") _, out("mm5") _, out("mm6") _, out("mm7") _,
            $($more)*
            options(nostack),
        )
    };
}

/// The slow path of a load.
///
/// # Safety
/// - As for [`LoadSlow`](crate::mutator::LoadSlow).
#[inline(always)]
pub(super) unsafe fn call_load(hot: *const Hot, slot: *mut u64, bits: u64) -> u64 {
    let word;
    // SAFETY: the caller's predicate.
    unsafe { call!(load_entry, (hot, slot), in("rdx") bits, lateout("rax") word,) }
    word
}

/// The slow path in front of a store.
///
/// # Safety
/// - As for [`StoreSlow`](crate::mutator::StoreSlow).
#[inline(always)]
pub(super) unsafe fn call_store(hot: *const Hot, slot: *mut u64) {
    // SAFETY: the caller's predicate.
    unsafe { call!(store_entry, (hot, slot),) }
}

// `extern "C"`: a panic ends the process instead of unwinding into frames without unwind tables.
// Each asks for its barrier again, so that generated code may test more bits than it has to.

extern "C" fn load(state: &State, slot: &AtomicU64, bits: u64) -> u64 {
    let mutator = Mutator::new(state);
    if mutator.raw().has_barrier(Hot::FORWARDING) { mutator.raw().load_forwarded(slot, bits) } else { bits }
}

extern "C" fn load_weak(state: &State, slot: &AtomicU64, bits: u64) -> u64 {
    Mutator::new(state).raw().load_weak_slow(slot, bits)
}

extern "C" fn store(state: &State, slot: &AtomicU64) {
    let mutator = Mutator::new(state);
    if mutator.raw().has_barrier(Hot::MARKING) {
        mutator.raw().record_old(slot);
    }
}

extern "C" fn compare_exchange(state: &State, slot: &AtomicU64, expected: u64, new: u64) -> u64 {
    Mutator::new(state).raw().compare_exchange_slow(slot, expected, new).unwrap_or_else(|held| held)
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::arch::x86_64::{__m512i, _mm512_cmpeq_epi8_mask, _mm512_movm_epi8};
    use std::ptr;

    /// The registers that a C function may change, in the order of their places in `run`.
    #[derive(Clone, Debug, PartialEq)]
    #[repr(C)]
    struct Registers {
        general: [u64; 9],
        vectors: [u128; 16],
    }

    /// A slow path that changes all registers that it may.
    #[unsafe(naked)]
    extern "C" fn changes_all() -> u64 {
        naked_asm!(
            ".irp register, rcx, rdx, rsi, rdi, r8, r9, r10, r11",
            r"mov \register, -1",
            ".endr",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"pcmpeqd xmm\number, xmm\number",
            ".endr",
            // Faults unless the stack is aligned.
            "movaps [rsp - 24], xmm0",
            "mov eax, 77",
            "ret",
        )
    }

    entry!(
        /// As a load.
        load_like(slot: *const u64, bits: u64) -> u64, "add rsp, 8" => changes_all
    );
    entry!(
        /// As a store.
        store_like(slot: *const u64), "pop rax" => changes_all
    );

    /// A slow path that changes all mask registers.
    #[unsafe(naked)]
    extern "C" fn changes_masks() {
        naked_asm!(
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7",
            r"kxnorw k\number, k\number, k\number",
            ".endr",
            "ret",
        )
    }

    entry!(
        /// As a store.
        store_that_changes_masks(slot: *const u64), "pop rax" => changes_masks
    );

    /// Leaves -1 in the bytes of `found` where exactly one of two comparisons finds equal bytes: of
    /// `one` and `two` before a barrier, of `three` and `two` after it.
    #[target_feature(enable = "avx512bw")]
    #[inline(never)]
    fn masks_around_a_barrier(one: &__m512i, two: &__m512i, three: &__m512i, found: &mut __m512i) {
        let before = _mm512_cmpeq_epi8_mask(*one, *two);
        // SAFETY: an entry above, whose slow path uses no argument.
        unsafe { call!(store_that_changes_masks, (ptr::null::<Hot>(), ptr::null_mut::<u64>()),) };
        let after = _mm512_cmpeq_epi8_mask(*three, *two);
        *found = _mm512_movm_epi8(before ^ after);
    }

    /// Calls `entry` with these registers, and with the stack lower by that many bytes.
    #[unsafe(naked)]
    unsafe extern "C" fn run(registers: *mut Registers, entry: *const (), lower: usize) {
        naked_asm!(
            "push rbx",
            "push r12",
            "push r13",
            "mov rbx, rdi",
            "mov r12, rsi",
            "mov r13, rsp",
            "sub rsp, rdx",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"movups xmm\number, [rbx + {vectors} + 16 * \number]",
            ".endr",
            "mov rax, [rbx]",
            "mov rcx, [rbx + 8]",
            "mov rdx, [rbx + 16]",
            "mov rsi, [rbx + 24]",
            "mov rdi, [rbx + 32]",
            "mov r8, [rbx + 40]",
            "mov r9, [rbx + 48]",
            "mov r10, [rbx + 56]",
            "mov r11, [rbx + 64]",
            "call r12",
            "mov [rbx], rax",
            "mov [rbx + 8], rcx",
            "mov [rbx + 16], rdx",
            "mov [rbx + 24], rsi",
            "mov [rbx + 32], rdi",
            "mov [rbx + 40], r8",
            "mov [rbx + 48], r9",
            "mov [rbx + 56], r10",
            "mov [rbx + 64], r11",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"movups [rbx + {vectors} + 16 * \number], xmm\number",
            ".endr",
            "mov rsp, r13",
            "pop r13",
            "pop r12",
            "pop rbx",
            "ret",
            vectors = const std::mem::offset_of!(Registers, vectors),
        )
    }

    #[test]
    fn all_registers_but_the_result_are_kept_whatever_the_slow_path_does() {
        let word = |number: usize| (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let before = Registers {
            general: std::array::from_fn(word),
            vectors: std::array::from_fn(|number| u128::from(word(number + 9)) << 64 | 5),
        };
        let entries: [(*const (), u64); 2] =
            [(load_like as *const (), 77), (store_like as *const (), before.general[0])];
        for (entry, result) in entries {
            for lower in [0, 8] {
                let mut registers = before.clone();
                // SAFETY: an entry above, whose slow path uses no argument.
                unsafe { run(ptr::from_mut(&mut registers), entry, lower) };
                let mut expected = before.clone();
                expected.general[0] = result;
                assert_eq!(registers, expected, "{lower} bytes lower");
            }
        }
    }
    /// In optimised code the compiler keeps the first mask in `k0`, where the barrier permits it.
    #[test]
    fn a_mask_outlives_a_barrier() {
        if !is_x86_feature_detected!("avx512bw") {
            return;
        }
        let bytes: [i8; 64] = std::array::from_fn(|byte| byte as i8 % 3);
        let expected = bytes.map(|byte| if byte == 0 { -1 } else { 0 });
        // SAFETY: the processor has the instructions; vectors and arrays of numbers have the same
        // bytes.
        let found: [i8; 64] = unsafe {
            let vector = |bytes: [i8; 64]| std::mem::transmute::<[i8; 64], __m512i>(bytes);
            let mut found = vector([0; 64]);
            masks_around_a_barrier(&vector(bytes), &vector([0; 64]), &vector([7; 64]), &mut found);
            std::mem::transmute(found)
        };
        assert_eq!(found, expected);
    }
}
