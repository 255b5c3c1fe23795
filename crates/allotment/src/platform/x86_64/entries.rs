//! The machine code between generated code and the library, for x86-64.
//!
//! The macros are bodies of naked functions, and calls of them. Their docs, types and promises are
//! in `mutator/generated.rs` and `mutator/barrier/entries.rs`, which know no machine.

/// The body of an entry that keeps a `GeneratedFrame` on the stack while `$target` runs.
///
/// After the call that led here, the stack is 8 bytes off a multiple of 16. After three pushed
/// words it is aligned.
macro_rules! generated_entry {
    ($frame_offset:expr, $target:path) => {
        std::arch::naked_asm!(
            "push rbp",
            "push qword ptr [rdi + {frame}]",
            "mov [rdi + {frame}], rsp",
            "push rdi",
            "call {target}",
            "pop rdi",
            "pop qword ptr [rdi + {frame}]",
            "pop rbp",
            "ret",
            frame = const $frame_offset,
            target = sym $target,
        )
    };
}

/// The body of an entry that keeps all registers except the result's: `rax` where the entry
/// `returns` one, none where it `keeps` that, too.
///
/// An entry that `loads` returns a word, and one that `stores` keeps all registers. These two first
/// look whether there is anything to do. `$hot` has the bits, and the offsets of a hot part and of
/// its `BarrierTables`. A look changes no register but `rax` of a load, and `$target` runs if the
/// look has no answer.
///
/// `rbp` leads back to the nine saved words, so the alignment of the stack need not be known.
macro_rules! barrier_entry {
    (returns $target:path) => { $crate::platform::barrier_entry!([] "add rsp, 8", $target,) };
    (keeps $target:path) => { $crate::platform::barrier_entry!([] "pop rax", $target,) };
    (loads $target:path, $hot:ty) => {
        $crate::platform::barrier_entry!(
            [
                "mov rax, rdx",
                "test byte ptr [rdi + {barriers}], {forwarding}",
                "jz 2f",
                // An immediate, or null.
                "test dl, 1",
                "jnz 2f",
                "mov rax, {address_mask}",
                "and rax, rdx",
                "jz 3f",
                // The referent's region.
                "sub rax, [rdi + {heap}]",
                "cmp rax, [rdi + {heap_bytes}]",
                "jae 4f",
                "push rcx",
                "mov rcx, [rdi + {region_shift}]",
                "shr rax, cl",
                "pop rcx",
                // Its objects stay.
                "add rax, [rdi + {moving}]",
                "cmp byte ptr [rax], 0",
                "jne 4f",
                "3:",
                "mov rax, rdx",
                "2:",
                "ret",
                "4:",
            ]
            "add rsp, 8", $target,
            barriers = const <$hot>::BARRIERS_OFFSET,
            forwarding = const <$hot>::FORWARDING,
            address_mask = const <$hot>::ADDRESS_MASK,
            heap = const <$hot>::HEAP_OFFSET,
            heap_bytes = const <$hot>::HEAP_BYTES_OFFSET,
            region_shift = const <$hot>::REGION_SHIFT_OFFSET,
            moving = const <$hot>::MOVING_OFFSET,
        )
    };
    (stores $target:path, $hot:ty) => {
        $crate::platform::barrier_entry!(
            [
                "test byte ptr [rdi + {barriers}], {marking}",
                "jz 2f",
                "push rax",
                "push rcx",
                "push rdx",
                // An immediate, or null.
                "mov rax, [rsi]",
                "test al, 1",
                "jnz 3f",
                "mov rcx, {address_mask}",
                "and rax, rcx",
                "jz 3f",
                // The referent's region. The slot of a new object may hold anything.
                "mov rdx, rax",
                "sub rdx, [rdi + {heap}]",
                "cmp rdx, [rdi + {heap_bytes}]",
                "jae 4f",
                "mov rcx, [rdi + {region_shift}]",
                "shr rdx, cl",
                // At or above the border.
                "shl rdx, 4",
                "add rdx, [rdi + {borders}]",
                "cmp rax, [rdx]",
                "jae 3f",
                // Marked.
                "mov rdx, rax",
                "sub rdx, [rdi + {heap}]",
                "shr rdx, 9",
                "shl rdx, 4",
                "add rdx, [rdi + {marks}]",
                "mov rdx, [rdx]",
                "shr rax, 3",
                "bt rdx, rax",
                "jnc 4f",
                "3:",
                "pop rdx",
                "pop rcx",
                "pop rax",
                "2:",
                "ret",
                "4:",
                "pop rdx",
                "pop rcx",
                "pop rax",
            ]
            "pop rax", $target,
            barriers = const <$hot>::BARRIERS_OFFSET,
            marking = const <$hot>::MARKING,
            address_mask = const <$hot>::ADDRESS_MASK,
            heap = const <$hot>::HEAP_OFFSET,
            heap_bytes = const <$hot>::HEAP_BYTES_OFFSET,
            region_shift = const <$hot>::REGION_SHIFT_OFFSET,
            borders = const <$hot>::BORDERS_OFFSET,
            marks = const <$hot>::MARKS_OFFSET,
        )
    };
    ([$($look:literal,)*] $restore_rax:literal, $target:path, $($operand:tt)*) => {
        std::arch::naked_asm!(
            $($look,)*
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
            $($operand)*
        )
    };
}

/// Calls an entry of a load from Rust code. The value is the word that the entry returns.
macro_rules! call_load_entry {
    ($entry:path, $hot:expr, $slot:expr, $bits:expr) => {{
        let word: u64;
        $crate::platform::call_barrier_entry!($entry, $hot, $slot, in("rdx") $bits, lateout("rax") word,);
        word
    }};
}

/// Calls an entry of a store from Rust code.
macro_rules! call_store_entry {
    ($entry:path, $hot:expr, $slot:expr) => {
        $crate::platform::call_barrier_entry!($entry, $hot, $slot,)
    };
}

/// Calls an entry from Rust code, whose values stay in registers: a plain call would make the code
/// around each barrier save them, whether the barrier is in force or not. That cost a program of
/// loads and stores a tenth of its speed. The call steps over the red zone by itself and entries
/// align the stack, so that a function of nothing but barriers needs no frame (`nostack`).
macro_rules! call_barrier_entry {
    ($entry:path, $hot:expr, $slot:expr, $($more:tt)*) => {
        std::arch::asm!(
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

pub(crate) use {barrier_entry, call_barrier_entry, call_load_entry, call_store_entry, generated_entry};

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::super::super::looks_tests::{LookHot, for_each_look};
    use std::arch::naked_asm;
    use std::arch::x86_64::{__m512i, _mm512_cmpeq_epi8_mask, _mm512_movm_epi8};
    use std::cell::Cell;
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

    /// As a load.
    #[unsafe(naked)]
    unsafe extern "C" fn load_like(_state: *const u8, _slot: *const u64, _bits: u64) -> u64 {
        barrier_entry!(returns changes_all)
    }
    /// As a store.
    #[unsafe(naked)]
    unsafe extern "C" fn store_like(_state: *const u8, _slot: *const u64) {
        barrier_entry!(keeps changes_all)
    }

    /// As a load that looks first.
    #[unsafe(naked)]
    unsafe extern "C" fn looking_load(_hot: *const LookHot, _slot: *const u64, _bits: u64) -> u64 {
        barrier_entry!(loads changes_all, LookHot)
    }

    /// As a store that looks first.
    #[unsafe(naked)]
    unsafe extern "C" fn looking_store(_hot: *const LookHot, _slot: *const u64) {
        barrier_entry!(stores changes_all, LookHot)
    }

    /// As a store that looks first, and counts what has no answer.
    #[unsafe(naked)]
    unsafe extern "C" fn counting_store(_hot: *const LookHot, _slot: *const u64) {
        barrier_entry!(stores count, LookHot)
    }

    thread_local! {
        /// Stores without an answer.
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    extern "C" fn count() {
        COUNT.set(COUNT.get() + 1);
    }

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

    /// As a store.
    #[unsafe(naked)]
    unsafe extern "C" fn store_that_changes_masks(_state: *const u8, _slot: *const u64) {
        barrier_entry!(keeps changes_masks)
    }

    /// Leaves -1 in the bytes of `found` where exactly one of two comparisons finds equal bytes: of
    /// `one` and `two` before a barrier, of `three` and `two` after it.
    #[target_feature(enable = "avx512bw")]
    #[inline(never)]
    fn masks_around_a_barrier(one: &__m512i, two: &__m512i, three: &__m512i, found: &mut __m512i) {
        let before = _mm512_cmpeq_epi8_mask(*one, *two);
        // SAFETY: an entry above, whose slow path uses no argument.
        unsafe { call_store_entry!(store_that_changes_masks, ptr::null::<u8>(), ptr::null_mut::<u64>()) };
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

    #[test]
    fn a_look_keeps_all_registers_and_answers_as_the_model_says() {
        let word = |number: usize| (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut before = Registers {
            general: std::array::from_fn(word),
            vectors: std::array::from_fn(|number| u128::from(word(number + 9)) << 64 | 5),
        };
        for_each_look(|look| {
            let slot = look.word;
            // In the order of `run`: rdx, rsi, rdi.
            before.general[2] = look.word;
            before.general[3] = ptr::from_ref(&slot).expose_provenance() as u64;
            before.general[4] = ptr::from_ref(look.hot).expose_provenance() as u64;
            let loaded = if look.load_is_answered { look.word } else { 77 };
            let entries: [(*const (), u64); 2] =
                [(looking_load as *const (), loaded), (looking_store as *const (), before.general[0])];
            for (entry, result) in entries {
                let mut registers = before.clone();
                // SAFETY: an entry above, with a hot part and a slot.
                unsafe { run(ptr::from_mut(&mut registers), entry, 8) };
                let mut expected = before.clone();
                expected.general[0] = result;
                assert_eq!(registers, expected, "{:#x}", look.word);
            }
            COUNT.set(0);
            // SAFETY: as above.
            unsafe { counting_store(look.hot, &raw const slot) };
            assert_eq!(COUNT.get(), usize::from(!look.store_is_answered), "{:#x}", look.word);
        });
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
