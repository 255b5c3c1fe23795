//! The machine code between generated code and the library, for AArch64.
//!
//! The macros are bodies of naked functions and calls of them. Their docs, their types and their
//! promises are in `mutator/generated.rs` and `mutator/barrier/entries.rs`, which know no machine.
//!
//! x16 and x17 belong to nobody across a call: a veneer of the linker may change them. So the
//! entries use them freely.

/// The body of an entry that keeps a `GeneratedFrame` on the stack while `$target` runs.
///
/// The four words of the frame are: the previous frame, the caller's frame pointer, its return
/// address, and the hot part. The stack stays aligned to 16 bytes.
macro_rules! generated_entry {
    ($frame_offset:expr, $target:path) => {
        std::arch::naked_asm!(
            "hint #34",
            "sub sp, sp, #32",
            "ldr x16, [x0, {frame}]",
            "stp x16, x29, [sp]",
            "stp x30, x0, [sp, #16]",
            "mov x16, sp",
            "str x16, [x0, {frame}]",
            "bl {target}",
            "ldr x17, [sp]",
            "ldr x16, [sp, #24]",
            "str x17, [x16, {frame}]",
            "ldp x29, x30, [sp, #8]",
            "add sp, sp, #32",
            "ret",
            frame = const $frame_offset,
            target = sym $target,
        )
    };
}

/// The body of an entry that keeps all registers except x16, x17, x30 and the result: x0 where it
/// `returns` one, none where it `keeps` x0. It does not keep predicates (p0 to p15, ffr).
///
/// The called function keeps x19 to x29 and the lower halves of v8 to v15. The entry saves the
/// rest: 17 general registers (x0 to x15 and x18) and all vectors. A processor with SVE has longer
/// vectors, and `ldr q` would clear their upper parts. A function that Rust compiled for SVE may
/// have values there, whatever the build says. So the entry saves whole vectors where `$longer`
/// says so, a byte that is not 0 on such a processor.
///
/// An entry that returns a word was called after a plain load of a slot. The load becomes an
/// acquire by the fence in front.
///
/// An entry that `loads` returns a word, and one that `stores` keeps all registers. These two first
/// look whether there is anything to do. `$hot` has the bits, and the offsets of a hot part and of
/// its `BarrierTables`. A look changes x16, x17, and x0 of a load. `$target` runs if the look has
/// no answer.
///
/// A look needs no fence. Tables that change beside mutators are read at addresses that depend on
/// the word of the slot, and the word that a load returns is the word that was loaded.
macro_rules! barrier_entry {
    (loads $target:path, $hot:ty) => {
        $crate::platform::barrier_entry!(
            [
                "ldr w16, [x0, {barriers}]",
                "tst w16, {forwarding}",
                "b.eq 4f",
                // An immediate, or null.
                "tbnz w2, #0, 4f",
                "ands x16, x2, {address_mask}",
                "b.eq 4f",
                // The referent's region.
                "ldr x17, [x0, {heap}]",
                "sub x16, x16, x17",
                "ldr x17, [x0, {heap_bytes}]",
                "cmp x16, x17",
                "b.hs 5f",
                "ldr x17, [x0, {region_shift}]",
                "lsr x16, x16, x17",
                // Its objects stay.
                "ldr x17, [x0, {moving}]",
                "ldrb w16, [x17, x16]",
                "cbnz w16, 5f",
                "4:",
                "mov x0, x2",
                "ret",
                "5:",
                "dmb ishld",
            ]
            "", $target, $crate::platform::HAS_LONG_VECTORS,
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
                "ldr w16, [x0, {barriers}]",
                "tst w16, {marking}",
                "b.eq 4f",
                // An immediate, or null.
                "ldr x16, [x1]",
                "tbnz w16, #0, 4f",
                "ands x16, x16, {address_mask}",
                "b.eq 4f",
                // The referent's region. The slot of a new object may hold anything.
                "stp x2, x3, [sp, #-16]!",
                "ldr x17, [x0, {heap}]",
                "sub x2, x16, x17",
                "ldr x17, [x0, {heap_bytes}]",
                "cmp x2, x17",
                "b.hs 5f",
                "ldr x17, [x0, {region_shift}]",
                "lsr x3, x2, x17",
                // At or above the border.
                "ldr x17, [x0, {borders}]",
                "add x17, x17, x3, lsl #4",
                "ldr x17, [x17]",
                "cmp x16, x17",
                "b.hs 6f",
                // Marked.
                "ldr x17, [x0, {marks}]",
                "lsr x2, x2, #9",
                "add x17, x17, x2, lsl #4",
                "ldr x17, [x17]",
                "lsr x16, x16, #3",
                "lsr x17, x17, x16",
                "tbz w17, #0, 5f",
                "6:",
                "ldp x2, x3, [sp], #16",
                "4:",
                "ret",
                "5:",
                "ldp x2, x3, [sp], #16",
            ]
            "ldr x0, [sp]", $target, $crate::platform::HAS_LONG_VECTORS,
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
    ($kind:ident $target:path) => {
        $crate::platform::barrier_entry!($kind $target, $crate::platform::HAS_LONG_VECTORS)
    };
    (returns $target:path, $longer:path) => {
        $crate::platform::barrier_entry!(["dmb ishld",] "", $target, $longer,)
    };
    (keeps $target:path, $longer:path) => {
        $crate::platform::barrier_entry!([] "ldr x0, [sp]", $target, $longer,)
    };
    ([$($first:literal,)*] $restore:literal, $target:path, $longer:path, $($operand:tt)*) => {
        std::arch::naked_asm!(
            ".arch_extension sve",
            // A landing pad, for a program whose indirect calls demand one (BTI).
            "hint #34",
            $($first,)*
            "stp x29, x30, [sp, #-16]!",
            "mov x29, sp",
            "sub sp, sp, #144",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"str x\number, [sp, #(8 * \number)]",
            ".endr",
            "str x18, [sp, #128]",
            "adrp x16, :got:{longer}",
            "ldr x16, [x16, :got_lo12:{longer}]",
            "ldrb w16, [x16]",
            "cbnz w16, 2f",
            "sub sp, sp, #512",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"str q\number, [sp, #(16 * \number)]",
            ".endr",
            ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            r"str q\number, [sp, #(16 * \number)]",
            ".endr",
            "bl {target}",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"ldr q\number, [sp, #(16 * \number)]",
            ".endr",
            ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            r"ldr q\number, [sp, #(16 * \number)]",
            ".endr",
            "add sp, sp, #512",
            "b 3f",
            "2:",
            "addvl sp, sp, #-32",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"str z\number, [sp, #\number, mul vl]",
            ".endr",
            ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            r"str z\number, [sp, #\number, mul vl]",
            ".endr",
            "bl {target}",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"ldr z\number, [sp, #\number, mul vl]",
            ".endr",
            ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            r"ldr z\number, [sp, #\number, mul vl]",
            ".endr",
            "addvl sp, sp, #31",
            "addvl sp, sp, #1",
            "3:",
            ".irp number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"ldr x\number, [sp, #(8 * \number)]",
            ".endr",
            "ldr x18, [sp, #128]",
            $restore,
            "add sp, sp, #144",
            "ldp x29, x30, [sp], #16",
            "ret",
            ".arch_extension nosve",
            target = sym $target,
            longer = sym $longer,
            $($operand)*
        )
    };
}

/// Calls an entry of a load from Rust code, and gives the word that it returns.
macro_rules! call_load_entry {
    ($entry:path, $hot:expr, $slot:expr, $bits:expr) => {{
        let word: u64;
        $crate::platform::call_barrier_entry!(
            $entry, in("x1") $slot, in("x2") $bits, inlateout("x0") $hot => word
        );
        word
    }};
}

/// Calls an entry of a store from Rust code.
macro_rules! call_store_entry {
    ($entry:path, $hot:expr, $slot:expr) => {
        $crate::platform::call_barrier_entry!($entry, in("x0") $hot, in("x1") $slot)
    };
}

/// The call itself. It saves the link register, so that a function of nothing but barriers needs no
/// frame (`nostack`): Linux has no red zone here that the push could hit.
macro_rules! call_barrier_entry {
    ($entry:path, $($operand:tt)*) => {
        std::arch::asm!(
            "str x30, [sp, #-16]!",
            "bl {entry}",
            "ldr x30, [sp], #16",
            entry = sym $entry,
            // A veneer of the linker may change these.
            out("x16") _, out("x17") _,
            // The enclosing function may be compiled for SVE, whatever the build says.
            out("p0") _, out("p1") _, out("p2") _, out("p3") _, out("p4") _, out("p5") _, out("p6") _, out("p7") _,
            out("p8") _, out("p9") _, out("p10") _, out("p11") _, out("p12") _, out("p13") _, out("p14") _,
            out("p15") _, out("ffr") _,
            $($operand)*,
            options(nostack),
        )
    };
}

pub(crate) use {barrier_entry, call_barrier_entry, call_load_entry, call_store_entry, generated_entry};

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::super::super::looks_tests::{LookHot, for_each_look};
    use crate::platform::AArch64;
    use std::arch::naked_asm;
    use std::cell::Cell;
    use std::hint::black_box;
    use std::ptr;
    use std::sync::atomic::AtomicU8;

    /// The registers that a C function may change, in the order of their places in `run`.
    #[derive(Clone, Debug, PartialEq)]
    #[repr(C)]
    struct Registers {
        /// x0 to x15, x18, and a word for the alignment.
        general: [u64; 18],
        vectors: [u128; 32],
    }

    /// A slow path that changes all registers that it may: of v8 to v15 the upper halves.
    #[unsafe(naked)]
    extern "C" fn changes_all() -> u64 {
        naked_asm!(
            ".irp number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18",
            r"mov x\number, #-1",
            ".endr",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31",
            r"movi v\number\().16b, #255",
            ".endr",
            ".irp number, 8, 9, 10, 11, 12, 13, 14, 15",
            r"fmov d\number, d\number",
            ".endr",
            "mov x0, #77",
            "ret",
        )
    }

    static SHORT: AtomicU8 = AtomicU8::new(0);

    /// As a load.
    #[unsafe(naked)]
    unsafe extern "C" fn load_like(_state: *const u8, _slot: *const u64, _bits: u64) -> u64 {
        barrier_entry!(returns changes_all)
    }

    /// As a load, on a processor without SVE.
    #[unsafe(naked)]
    unsafe extern "C" fn short_load_like(_state: *const u8, _slot: *const u64, _bits: u64) -> u64 {
        barrier_entry!(returns changes_all, SHORT)
    }

    /// As a store.
    #[unsafe(naked)]
    unsafe extern "C" fn store_like(_state: *const u8, _slot: *const u64) {
        barrier_entry!(keeps changes_all)
    }

    /// As a store, on a processor without SVE.
    #[unsafe(naked)]
    unsafe extern "C" fn short_store_like(_state: *const u8, _slot: *const u64) {
        barrier_entry!(keeps changes_all, SHORT)
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

    /// Calls `entry` with these registers.
    #[unsafe(naked)]
    unsafe extern "C" fn run(registers: *mut Registers, entry: *const ()) {
        naked_asm!(
            "stp x29, x30, [sp, #-96]!",
            "stp x19, x20, [sp, #16]",
            "stp d8, d9, [sp, #32]",
            "stp d10, d11, [sp, #48]",
            "stp d12, d13, [sp, #64]",
            "stp d14, d15, [sp, #80]",
            "mov x19, x0",
            "mov x20, x1",
            "add x16, x19, #144",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, \
             25, 26, 27, 28, 29, 30, 31",
            r"ldr q\number, [x16, #(16 * \number)]",
            ".endr",
            "ldr x18, [x19, #128]",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"ldr x\number, [x19, #(8 * \number)]",
            ".endr",
            "blr x20",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
            r"str x\number, [x19, #(8 * \number)]",
            ".endr",
            "str x18, [x19, #128]",
            "add x16, x19, #144",
            ".irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, \
             25, 26, 27, 28, 29, 30, 31",
            r"str q\number, [x16, #(16 * \number)]",
            ".endr",
            "ldp d14, d15, [sp, #80]",
            "ldp d12, d13, [sp, #64]",
            "ldp d10, d11, [sp, #48]",
            "ldp d8, d9, [sp, #32]",
            "ldp x19, x20, [sp, #16]",
            "ldp x29, x30, [sp], #96",
            "ret",
        )
    }

    #[test]
    fn all_registers_but_the_result_are_kept_whatever_the_slow_path_does() {
        let word = |number: usize| (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut before = Registers {
            general: std::array::from_fn(word),
            vectors: std::array::from_fn(|number| u128::from(word(number + 9)) << 64 | 5),
        };
        before.general[17] = 0;
        // A heap that is built asks for the processor before an entry runs.
        AArch64::detect();
        let entries: [(*const (), u64); 4] = [
            (load_like as *const (), 77),
            (short_load_like as *const (), 77),
            (store_like as *const (), before.general[0]),
            (short_store_like as *const (), before.general[0]),
        ];
        for (entry, result) in entries {
            let mut registers = before.clone();
            // SAFETY: an entry above, whose slow path uses no argument.
            unsafe { run(ptr::from_mut(&mut registers), entry) };
            let mut expected = before.clone();
            expected.general[0] = result;
            assert_eq!(registers, expected);
        }
    }

    #[test]
    fn a_look_keeps_all_registers_and_answers_as_the_model_says() {
        let word = |number: usize| (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut before = Registers {
            general: std::array::from_fn(word),
            vectors: std::array::from_fn(|number| u128::from(word(number + 9)) << 64 | 5),
        };
        before.general[17] = 0;
        // A heap that is built asks for the processor before an entry runs.
        AArch64::detect();
        for_each_look(|look| {
            let slot = look.word;
            before.general[0] = ptr::from_ref(look.hot).expose_provenance() as u64;
            before.general[1] = ptr::from_ref(&slot).expose_provenance() as u64;
            before.general[2] = look.word;
            let loaded = if look.load_is_answered { look.word } else { 77 };
            let entries: [(*const (), u64); 2] =
                [(looking_load as *const (), loaded), (looking_store as *const (), before.general[0])];
            for (entry, result) in entries {
                let mut registers = before.clone();
                // SAFETY: an entry above, with a hot part and a slot.
                unsafe { run(ptr::from_mut(&mut registers), entry) };
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

    /// The loop of a program: sums, and a barrier after each. In a function for SVE the compiler
    /// keeps a vector of `factor`, and a predicate, over the barrier.
    ///
    /// # Safety
    /// - The processor has SVE.
    #[target_feature(enable = "sve")]
    #[inline(never)]
    unsafe fn sums(rounds: usize, sums: &mut [f32], terms: &[f32], factor: f32) {
        let slot = 0_u64;
        for _ in 0..rounds {
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum += *term * factor;
            }
            // SAFETY: an entry above, whose slow path uses no argument.
            unsafe { call_store_entry!(store_like, ptr::null::<u8>(), &raw const slot) };
        }
    }

    #[test]
    fn whole_vectors_outlive_a_barrier_in_a_function_for_sve() {
        AArch64::detect();
        if !std::arch::is_aarch64_feature_detected!("sve") {
            println!("left out: this processor has no SVE");
            return;
        }
        let (mut found, terms) = ([0_f32; 64], [1_f32; 64]);
        // SAFETY: the processor has SVE.
        unsafe { sums(black_box(4), &mut found, black_box(&terms), black_box(3.0)) };
        assert_eq!(found, [12.0; 64]);
    }
}
